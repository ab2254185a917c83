// RUN: hjx-opt %s --hjx-expand-math --split-input-file --verify-diagnostics
// An operation that would end in a library call is an error; tensors are for an earlier stage.

func.func @wide(%x: f80) -> f80 {
  // expected-error @+1 {{'math.exp' op has no expansion: expected f16, bf16, f32 or f64, got 'f80'}}
  %0 = math.exp %x : f80
  return %0 : f80
}

// -----

func.func @integer_power(%x: vector<2xi32>) -> vector<2xi32> {
  // expected-error @+1 {{'math.ipowi' op has no expansion: expected f16, bf16, f32 or f64, got 'vector<2xi32>'}}
  %0 = math.ipowi %x, %x : vector<2xi32>
  return %0 : vector<2xi32>
}

// -----

func.func @tensor(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = math.exp %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
