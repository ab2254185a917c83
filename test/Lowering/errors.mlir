// RUN: hjx-opt %s --split-input-file --verify-diagnostics --convert-hjx-to-linalg
// What the lowering refuses, and where it says so.

// expected-error@+1 {{argument 0: expected an array of numbers or bools of static shape and without sharding, got 'tensor<!hjx.key<threefry2x32>>'}}
func.func @keys(%k: tensor<!hjx.key<threefry2x32>>) { return }

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @calls(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{expected calls to be inlined}}
  %y = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @requests(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{has no lower rule; write the op's pattern in lib/Lowering}}
  %y = hjx.checkpoint @f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func private @again(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{a function that calls itself cannot be lowered}}
  %y = func.call @again(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{result 0: expected an array of numbers or bools of static shape and without sharding, got 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<2xf32>) -> tensor<?xf32> {
  %y = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
