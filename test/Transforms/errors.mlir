// RUN: hjx-opt --hjx-expand-transforms --hjx-verify-stage=stage=pure --split-input-file --verify-diagnostics %s
// What cannot be transformed is said where it stands, and who asked for it.

func.func private @recursive(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'func.call' op names @recursive, which is part of a cycle of functions}}
  %y = func.call @recursive(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{'func.func' op has no body to transform}}
func.func private @external(tensor<f32>) -> tensor<f32>
func.func @caller(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.jvp}}
  %y, %y_dot = hjx.jvp @external(%x) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}

// -----

func.func private @foreign(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'tensor.cast' op has no jvp rule; write a derivative of the function around it with custom_jvp or custom_vjp, or RuleSet::jvp of the op in lib/Autodiff/Rules}}
  %y = tensor.cast %x : tensor<f32> to tensor<f32>
  return %y : tensor<f32>
}
func.func @caller(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @foreign(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// expected-error@+1 {{which is not allowed at the pure stage: linear maps are gone once transforms are expanded}}
func.func @escaped(%map: !hjx.linear<(tensor<f32>) -> tensor<f32>>, %x: tensor<f32>) {
  return
}
