// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// A sum's cotangent spreads over what was summed; a running sum's runs back.

func.func private @sums(%x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %y = hjx.reduce_sum %x axes = [0] : tensor<2x3xf32> -> tensor<3xf32>
  %z = hjx.cumsum %x axis = 1 : tensor<2x3xf32>
  return %y, %z : tensor<3xf32>, tensor<2x3xf32>
}
func.func @t_sums(%x: tensor<2x3xf32>, %y_bar: tensor<3xf32>, %z_bar: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y, %z, %x_bar = hjx.vjp @sums(%x) cotangents(%y_bar, %z_bar) active = [true] : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return %x_bar : tensor<2x3xf32>
}
// CHECK-LABEL: func.func private @sums.lin.1.transpose
// CHECK-SAME: (%[[Y_BAR:.*]]: tensor<3xf32>, %[[Z_BAR:.*]]: tensor<2x3xf32>)
// CHECK: %[[FROM_Z:.*]] = hjx.cumsum %[[Z_BAR]] axis = 1 reverse
// CHECK-NEXT: %[[FROM_Y:.*]] = hjx.broadcast_in_dim %[[Y_BAR]] shape = [2, 3] dims = [1]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.add %[[FROM_Z]], %[[FROM_Y]]
// CHECK-NEXT: return %[[X_BAR]]

// -----

// The shares of an extremum follow from the operand, the result and the count:
// only the count, the smallest of them, is kept for the purpose.
func.func private @min(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y = hjx.reduce_min %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @t_min(%x: tensor<2x3xf32>, %y_bar: tensor<2xf32>) -> tensor<2x3xf32> {
  %y, %x_bar = hjx.vjp @min(%x) cotangents(%y_bar) active = [true] : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %x_bar : tensor<2x3xf32>
}
// CHECK-LABEL: func.func private @min.lin.1.transpose
// CHECK-SAME: (%[[COUNT:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2xf32>, %[[Y_BAR:.*]]: tensor<2xf32>)
// CHECK: %[[COUNTS:.*]] = hjx.broadcast_in_dim %[[COUNT]] shape = [2, 3] dims = [0]
// CHECK-NEXT: %[[YS:.*]] = hjx.compare eq, %[[X]], %[[COUNTS]]
// CHECK-NEXT: %[[IS_MIN:.*]] = hjx.convert %[[YS]]
// CHECK-NEXT: %[[PLACES:.*]] = hjx.broadcast_in_dim %[[Y]] shape = [2, 3] dims = [0]
// CHECK-NEXT: %[[SHARE:.*]] = hjx.div %[[IS_MIN]], %[[PLACES]]
// CHECK-NEXT: %[[YS_BAR:.*]] = hjx.broadcast_in_dim %[[Y_BAR]] shape = [2, 3] dims = [0]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.mul %[[YS_BAR]], %[[SHARE]]
// CHECK-NEXT: return %[[X_BAR]]
