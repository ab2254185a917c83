// RUN: hjx-opt --hjx-expand-transforms --symbol-dce --split-input-file %s | FileCheck %s
// RUN: hjx-opt --hjx-to-pure --split-input-file %s | FileCheck %s --check-prefix=PURE
// Requests are expanded innermost first, each function once for each mask.

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %s = hjx.sin %x : tensor<f32>
  return %s : tensor<f32>
}
func.func private @df(%x: tensor<f32>) -> tensor<f32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %y, %x_bar = hjx.vjp @f(%x) cotangents(%one) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
// CHECK-LABEL: func.func @second_derivative
// CHECK: call @df.jvp.1
// PURE-LABEL: func.func @second_derivative
// PURE-NEXT: %[[S:.*]] = hjx.sin %arg0
// PURE-NEXT: %[[N:.*]] = hjx.neg %[[S]]
// PURE-NEXT: %[[R:.*]] = hjx.mul %arg1, %[[N]]
// PURE-NEXT: return %[[R]]
func.func @second_derivative(%x: tensor<f32>, %x_dot: tensor<f32>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @df(%x) tangents(%x_dot) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}

// -----

func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %s = hjx.exp %x : tensor<f32>
  return %s : tensor<f32>
}
// CHECK-LABEL: func.func @shared
// CHECK: call @g.jvp.1
// CHECK: call @g.jvp.1
// CHECK-NOT: func.func private @g.jvp.1_0
// PURE-LABEL: func.func @shared
func.func @shared(%x: tensor<f32>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @g(%x) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %z, %z_dot = hjx.jvp @g(%y_dot) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %z_dot : tensor<f32>
}

// -----

func.func private @h(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = hjx.exp %x : tensor<3xf32>
  return %s : tensor<3xf32>
}
// Outside of differentiation a checkpoint is a call.
// CHECK-LABEL: func.func @plain
// CHECK: call @h(%arg0)
// PURE-LABEL: func.func @plain
// PURE-NEXT: hjx.exp
func.func @plain(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.checkpoint @h(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
