// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Sums are linear; an extremum's tangent is the mean over the places that reach
// it; a product is a tree of pairs, exact with zeros.

func.func private @sums(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %y = hjx.reduce_sum %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %z = hjx.cumsum %x axis = 1 reverse : tensor<2x3xf32>
  return %y, %z : tensor<2xf32>, tensor<2x3xf32>
}
func.func @j_sums(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %y, %z, %y_dot, %z_dot = hjx.jvp @sums(%x) tangents(%x) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>)
  return %y_dot, %z_dot : tensor<2xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func private @sums.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[X_DOT:.*]]: tensor<2x3xf32>)
// CHECK: %[[Y:.*]] = hjx.reduce_sum %[[X]] axes = [1]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.reduce_sum %[[X_DOT]] axes = [1]
// CHECK-NEXT: %[[Z:.*]] = hjx.cumsum %[[X]] axis = 1 reverse
// CHECK-NEXT: %[[Z_DOT:.*]] = hjx.cumsum %[[X_DOT]] axis = 1 reverse
// CHECK-NEXT: return %[[Y]], %[[Z]], %[[Y_DOT]], %[[Z_DOT]]

// -----

func.func private @max(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y = hjx.reduce_max %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @j_max(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y, %y_dot = hjx.jvp @max(%x) tangents(%x) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %y_dot : tensor<2xf32>
}
// CHECK-LABEL: func.func private @max.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[X_DOT:.*]]: tensor<2x3xf32>)
// CHECK: %[[Y:.*]] = hjx.reduce_max %[[X]] axes = [1]
// CHECK-NEXT: %[[Y_EVERYWHERE:.*]] = hjx.broadcast_in_dim %[[Y]] shape = [2, 3] dims = [0]
// CHECK-NEXT: %[[IS_MAX:.*]] = hjx.compare eq, %[[X]], %[[Y_EVERYWHERE]]
// CHECK-NEXT: %[[PLACES:.*]] = hjx.convert %[[IS_MAX]]
// CHECK-NEXT: %[[COUNT:.*]] = hjx.reduce_sum %[[PLACES]] axes = [1]
// CHECK-NEXT: %[[COUNT_EVERYWHERE:.*]] = hjx.broadcast_in_dim %[[COUNT]] shape = [2, 3] dims = [0]
// CHECK-NEXT: %[[SHARE:.*]] = hjx.div %[[PLACES]], %[[COUNT_EVERYWHERE]]
// CHECK-NEXT: %[[TERMS:.*]] = hjx.mul %[[X_DOT]], %[[SHARE]]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.reduce_sum %[[TERMS]] axes = [1]
// CHECK-NEXT: return %[[Y]], %[[Y_DOT]]

// -----

func.func private @prod(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %y = hjx.reduce_prod %x axes = [0] : tensor<3x2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @j_prod(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %y, %y_dot = hjx.jvp @prod(%x) tangents(%x) active = [true] : (tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %y_dot : tensor<2xf32>
}
// Rows 0 and 1 meet, then their product and row 2.
// CHECK-LABEL: func.func private @prod.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<3x2xf32>, %[[X_DOT:.*]]: tensor<3x2xf32>)
// CHECK: %[[Y:.*]] = hjx.reduce_prod %[[X]] axes = [0]
// CHECK-NEXT: %[[X0:.*]] = hjx.slice %[[X]] start = [0, 0] limit = [1, 2] strides = [1, 1]
// CHECK-NEXT: %[[X1:.*]] = hjx.slice %[[X]] start = [1, 0] limit = [2, 2] strides = [1, 1]
// CHECK-NEXT: %[[X01:.*]] = hjx.mul %[[X0]], %[[X1]]
// CHECK-NEXT: %[[X0_DOT:.*]] = hjx.slice %[[X_DOT]] start = [0, 0] limit = [1, 2] strides = [1, 1]
// CHECK-NEXT: %[[A:.*]] = hjx.mul %[[X0_DOT]], %[[X1]]
// CHECK-NEXT: %[[X1_DOT:.*]] = hjx.slice %[[X_DOT]] start = [1, 0] limit = [2, 2] strides = [1, 1]
// CHECK-NEXT: %[[B:.*]] = hjx.mul %[[X1_DOT]], %[[X0]]
// CHECK-NEXT: %[[X01_DOT:.*]] = hjx.add %[[A]], %[[B]]
// CHECK-NEXT: %[[X2:.*]] = hjx.slice %[[X]] start = [2, 0] limit = [3, 2] strides = [1, 1]
// CHECK-NEXT: %[[XS:.*]] = hjx.concatenate %[[X01]], %[[X2]] dim = 0
// CHECK-NEXT: %[[X2_DOT:.*]] = hjx.slice %[[X_DOT]] start = [2, 0] limit = [3, 2] strides = [1, 1]
// CHECK-NEXT: %[[XS_DOT:.*]] = hjx.concatenate %[[X01_DOT]], %[[X2_DOT]] dim = 0
// CHECK-NEXT: %[[L:.*]] = hjx.slice %[[XS]] start = [0, 0] limit = [1, 2] strides = [1, 1]
// CHECK-NEXT: %[[R:.*]] = hjx.slice %[[XS]] start = [1, 0] limit = [2, 2] strides = [1, 1]
// CHECK-NEXT: %[[L_DOT:.*]] = hjx.slice %[[XS_DOT]] start = [0, 0] limit = [1, 2] strides = [1, 1]
// CHECK-NEXT: %[[C:.*]] = hjx.mul %[[L_DOT]], %[[R]]
// CHECK-NEXT: %[[R_DOT:.*]] = hjx.slice %[[XS_DOT]] start = [1, 0] limit = [2, 2] strides = [1, 1]
// CHECK-NEXT: %[[D:.*]] = hjx.mul %[[R_DOT]], %[[L]]
// CHECK-NEXT: %[[ROW_DOT:.*]] = hjx.add %[[C]], %[[D]]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.reshape %[[ROW_DOT]] shape = [2]
// CHECK-NEXT: return %[[Y]], %[[Y_DOT]]
