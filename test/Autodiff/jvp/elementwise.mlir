// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Tangents of elementwise ops: coefficient times tangent, nothing for symbolic zeros.

func.func private @f(%x: tensor<2xf32>, %w: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
  %s = hjx.sin %x : tensor<2xf32>
  %y = hjx.mul %s, %w : tensor<2xf32>
  %p = hjx.compare lt, %y, %w : tensor<2xf32> -> tensor<2xi1>
  return %y, %p : tensor<2xf32>, tensor<2xi1>
}
// CHECK-LABEL: func.func @active_in_one
// CHECK: call @f.jvp.10(%arg0, %arg1, %arg2) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>)
func.func @active_in_one(%x: tensor<2xf32>, %w: tensor<2xf32>, %x_dot: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>) {
  %y, %p, %y_dot = hjx.jvp @f(%x, %w) tangents(%x_dot) active = [true, false] : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>)
  return %y, %p, %y_dot : tensor<2xf32>, tensor<2xi1>, tensor<2xf32>
}
// CHECK-LABEL: func.func private @f.jvp.10
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2xf32>, %[[X_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[S:.*]] = hjx.sin %[[X]]
// CHECK: %[[C:.*]] = hjx.cos %[[X]]
// CHECK: %[[S_DOT:.*]] = hjx.mul %[[X_DOT]], %[[C]]
// CHECK: %[[Y:.*]] = hjx.mul %[[S]], %[[W]]
// CHECK: %[[Y_DOT:.*]] = hjx.mul %[[S_DOT]], %[[W]]
// CHECK: %[[P:.*]] = hjx.compare lt, %[[Y]], %[[W]]
// CHECK-NEXT: return %[[Y]], %[[P]], %[[Y_DOT]]

// -----

func.func private @zero(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = hjx.floor %x : tensor<2xf32>
  %z = hjx.stop_gradient %x : tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}
// Zeros become arrays only where the request's results are.
// CHECK-LABEL: func.func @zeros_at_the_boundary
// CHECK: %[[Y:.*]]:2 = call @zero.jvp.1(%arg0, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK: return %[[ZERO]]
func.func @zeros_at_the_boundary(%x: tensor<2xf32>, %x_dot: tensor<2xf32>) -> tensor<2xf32> {
  %y, %z, %y_dot, %z_dot = hjx.jvp @zero(%x) tangents(%x_dot) active = [true] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y_dot : tensor<2xf32>
}

// -----

func.func private @tie(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = hjx.max %x, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}
func.func @ties_split_evenly(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z, %z_dot = hjx.jvp @tie(%x, %y) tangents(%x) active = [true, false] : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %z_dot : tensor<2xf32>
}
// CHECK-LABEL: func.func private @tie.jvp.10
// CHECK: %[[Z:.*]] = hjx.max %[[X:.*]], %[[Y:.*]] :
// CHECK: %[[IS_X:.*]] = hjx.compare eq, %[[X]], %[[Z]]
// CHECK: %[[ONE_OR_ZERO:.*]] = hjx.select_n %[[IS_X]]
// CHECK: %[[IS_Y:.*]] = hjx.compare eq, %[[Y]], %[[Z]]
// CHECK: %[[TWO_OR_ONE:.*]] = hjx.select_n %[[IS_Y]]
// CHECK: %[[SHARE:.*]] = hjx.div %[[ONE_OR_ZERO]], %[[TWO_OR_ONE]]
// CHECK: hjx.mul %{{.*}}, %[[SHARE]]
