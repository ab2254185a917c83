// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// What moves data forwards moves cotangents back: broadcast and sum, slice and
// pad, concatenate and slices, dynamic slice and update.

func.func private @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = hjx.broadcast_in_dim %x shape = [2, 3, 4] dims = [1, 2] : tensor<3x1xf32> -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
func.func @t_broadcast(%x: tensor<3x1xf32>, %ct: tensor<2x3x4xf32>) -> tensor<3x1xf32> {
  %y, %xb = hjx.vjp @broadcast(%x) cotangents(%ct) active = [true] : (tensor<3x1xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x1xf32>)
  return %xb : tensor<3x1xf32>
}
// CHECK-LABEL: func.func private @broadcast.lin.1.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<2x3x4xf32>)
// CHECK: %[[SUM:.*]] = hjx.reduce_sum %[[Y_BAR]] axes = [0, 2]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.reshape %[[SUM]] shape = [3, 1]
// CHECK-NEXT: return %[[X_BAR]]

// -----

func.func private @order(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %r = hjx.rev %x dims = [0, 2] : tensor<2x3x4xf32>
  %t = hjx.transpose %r permutation = [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %y = hjx.reshape %t shape = [4, 6] : tensor<4x2x3xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @t_order(%x: tensor<2x3x4xf32>, %ct: tensor<4x6xf32>) -> tensor<2x3x4xf32> {
  %y, %xb = hjx.vjp @order(%x) cotangents(%ct) active = [true] : (tensor<2x3x4xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3x4xf32>)
  return %xb : tensor<2x3x4xf32>
}
// CHECK-LABEL: func.func private @order.lin.1.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<4x6xf32>)
// CHECK: %[[T_BAR:.*]] = hjx.reshape %[[Y_BAR]] shape = [4, 2, 3]
// CHECK-NEXT: %[[R_BAR:.*]] = hjx.transpose %[[T_BAR]] permutation = [1, 2, 0]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.rev %[[R_BAR]] dims = [0, 2]
// CHECK-NEXT: return %[[X_BAR]]

// -----

func.func private @join(%a: tensor<1x3xf32>, %b: tensor<2x3xf32>, %c: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %y = hjx.concatenate %a, %b, %c dim = 0 : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
func.func @t_join(%a: tensor<1x3xf32>, %b: tensor<2x3xf32>, %ct: tensor<4x3xf32>) -> (tensor<1x3xf32>, tensor<2x3xf32>) {
  %y, %ab, %bb = hjx.vjp @join(%a, %b, %a) cotangents(%ct) active = [true, true, false] : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<1x3xf32>, tensor<2x3xf32>)
  return %ab, %bb : tensor<1x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func private @join.lin.110.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<4x3xf32>)
// CHECK: %[[A_BAR:.*]] = hjx.slice %[[Y_BAR]] start = [0, 0] limit = [1, 3] strides = [1, 1]
// CHECK-NEXT: %[[B_BAR:.*]] = hjx.slice %[[Y_BAR]] start = [1, 0] limit = [3, 3] strides = [1, 1]
// CHECK-NEXT: return %[[A_BAR]], %[[B_BAR]]

// -----

func.func private @pad(%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<7x2xf32> {
  %y = hjx.pad %x, %v low = [2, -1] high = [0, -1] interior = [1, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<7x2xf32>
  return %y : tensor<7x2xf32>
}
func.func @t_pad(%x: tensor<3x4xf32>, %v: tensor<f32>, %ct: tensor<7x2xf32>) -> (tensor<3x4xf32>, tensor<f32>) {
  %y, %xb, %vb = hjx.vjp @pad(%x, %v) cotangents(%ct) active = [true, true] : (tensor<3x4xf32>, tensor<f32>, tensor<7x2xf32>) -> (tensor<7x2xf32>, tensor<3x4xf32>, tensor<f32>)
  return %xb, %vb : tensor<3x4xf32>, tensor<f32>
}
// Low -1 and high -1 dropped columns: their cotangent is zero.
// CHECK-LABEL: func.func private @pad.lin.11.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<7x2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[UNPADDED:.*]] = hjx.pad %[[Y_BAR]], %[[ZERO]] low = [-2, 1] high = [0, 1] interior = [0, 0]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.slice %[[UNPADDED]] start = [0, 0] limit = [5, 4] strides = [2, 1]
// CHECK-NEXT: %[[ALL:.*]] = hjx.reduce_sum %[[Y_BAR]] axes = [0, 1]
// CHECK-NEXT: %[[OF_X:.*]] = hjx.reduce_sum %[[X_BAR]] axes = [0, 1]
// CHECK-NEXT: %[[V_BAR:.*]] = hjx.sub %[[ALL]], %[[OF_X]]
// CHECK-NEXT: return %[[X_BAR]], %[[V_BAR]]

// -----

func.func private @slice(%x: tensor<7x3xf32>) -> tensor<3x2xf32> {
  %y = hjx.slice %x start = [1, 1] limit = [6, 3] strides = [2, 1] : tensor<7x3xf32> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
func.func @t_slice(%x: tensor<7x3xf32>, %ct: tensor<3x2xf32>) -> tensor<7x3xf32> {
  %y, %xb = hjx.vjp @slice(%x) cotangents(%ct) active = [true] : (tensor<7x3xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<7x3xf32>)
  return %xb : tensor<7x3xf32>
}
// CHECK-LABEL: func.func private @slice.lin.1.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<3x2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.pad %[[Y_BAR]], %[[ZERO]] low = [1, 1] high = [1, 0] interior = [1, 0]
// CHECK-NEXT: return %[[X_BAR]]

// -----

func.func private @update(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> (tensor<5xf32>, tensor<3xf32>) {
  %y = hjx.dynamic_update_slice %x, %u [%i] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %z = hjx.dynamic_slice %x [%i] sizes = [3] : (tensor<5xf32>, tensor<i32>) -> tensor<3xf32>
  return %y, %z : tensor<5xf32>, tensor<3xf32>
}
func.func @t_update(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %ct: tensor<5xf32>, %ct2: tensor<3xf32>) -> (tensor<5xf32>, tensor<2xf32>) {
  %y, %z, %xb, %ub = hjx.vjp @update(%x, %u, %i) cotangents(%ct, %ct2) active = [true, true, false] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>, tensor<5xf32>, tensor<3xf32>) -> (tensor<5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<2xf32>)
  return %xb, %ub : tensor<5xf32>, tensor<2xf32>
}
// The box read by dynamic_slice is added in place (Accumulate.h).
// CHECK-LABEL: func.func private @update.lin.110.transpose
// CHECK-SAME: (%[[I:.*]]: tensor<i32>, %[[Y_BAR:.*]]: tensor<5xf32>, %[[Z_BAR:.*]]: tensor<3xf32>)
// CHECK: %[[NO_UPDATE:.*]] = hjx.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[FROM_Y:.*]] = hjx.dynamic_update_slice %[[Y_BAR]], %[[NO_UPDATE]][%[[I]]]
// CHECK-NEXT: %[[BOX:.*]] = hjx.dynamic_slice %[[FROM_Y]][%[[I]]] sizes = [3]
// CHECK-NEXT: %[[BOX_SUM:.*]] = hjx.add %[[BOX]], %[[Z_BAR]]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.dynamic_update_slice %[[FROM_Y]], %[[BOX_SUM]][%[[I]]]
// CHECK-NEXT: %[[U_BAR:.*]] = hjx.dynamic_slice %[[Y_BAR]][%[[I]]] sizes = [2]
// CHECK-NEXT: return %[[X_BAR]], %[[U_BAR]]
