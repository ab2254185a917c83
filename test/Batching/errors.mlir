// RUN: hjx-opt --hjx-vmap --verify-diagnostics --split-input-file %s
// What cannot be mapped is said where it stands.

// expected-error@+1 {{result 0 depends on a mapped operand, but out_axes says it is not mapped}}
func.func private @id(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @main(%x: tensor<5x3xf32>) -> tensor<3xf32> {
  // expected-note@+1 {{needed by this hjx.vmap}}
  %0 = hjx.vmap @id(%x) in_axes = [0] out_axes = [-1] size = 5 : (tensor<5x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func private @outside(tensor<3xf32>) -> tensor<3xf32> // expected-error {{has no body to map over}}
func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  // expected-note@+1 {{needed by this hjx.vmap}}
  %0 = hjx.vmap @outside(%x) in_axes = [0] out_axes = [0] size = 5 : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func private @self(%x: tensor<3xf32>) -> tensor<3xf32> {
  %xs = hjx.broadcast_in_dim %x shape = [5, 3] dims = [1] : tensor<3xf32> -> tensor<5x3xf32>
  // expected-error@+1 {{names @self, which is part of a cycle of functions}}
  %ys = hjx.vmap @self(%xs) in_axes = [0] out_axes = [0] size = 5 : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = hjx.reduce_sum %ys axes = [0] : tensor<5x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func private @known(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has no batching rule; run it on one element at a time in a scan, or write RuleSet::batch of the op in lib/Batching/Rules}}
  %y = tensor.cast %x : tensor<3xf32> to tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  // expected-note@+1 {{needed by this hjx.vmap}}
  %0 = hjx.vmap @known(%x) in_axes = [0] out_axes = [0] size = 5 : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
