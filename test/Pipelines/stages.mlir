// RUN: hjx-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hjx-verify-stage{stage=lo})'
// A stage's check names the first op or type that does not belong.

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @request(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{is not allowed at the lo stage: transforms are expanded by hjx-expand-transforms}}
  %y = hjx.checkpoint @f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{has the type 'tensor<!hjx.key<threefry2x32>>', which is not allowed at the lo stage: keys are lowered to their words}}
func.func @key(%k: tensor<!hjx.key<threefry2x32>>) { return }

// -----

func.func @fine(%x: tensor<2xui32>) -> tensor<2xui32> {
  %y = hjx.neg %x : tensor<2xui32>
  return %y : tensor<2xui32>
}

// -----

// expected-error@+1 {{has the type 'memref<2xf32>', which is not allowed at the lo stage: buffers come with the kernel stage}}
func.func @buffer(%x: memref<2xf32>) { return }

// -----

// An edit of @main that the recorded signature does not know.
module attributes {hjx.signature = {arguments = [{}], results = [], type = (tensor<!hjx.key<threefry2x32>>) -> ()}} {
  // expected-error@+1 {{which does not store what 'hjx.signature' of the module records}}
  func.func @main(%k: tensor<3xui32>) { return }
}

// -----

module attributes {hjx.signature = {arguments = [{}], results = [], type = (tensor<!hjx.key<threefry2x32>>) -> ()}} {
  func.func @main(%k: tensor<2xui32>) { return }
}
