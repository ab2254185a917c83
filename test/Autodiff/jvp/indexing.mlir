// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Gather and scatter are linear; where gather fills with NaN, the tangent is zero.

func.func private @rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 3>, mode = 1 : i32} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
func.func @j_rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %y, %y_dot = hjx.jvp @rows(%x, %i) tangents(%x) active = [true, false] : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<5x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %y_dot : tensor<4x3xf32>
}
// CHECK-LABEL: func.func private @rows.jvp.10
// CHECK-SAME: (%[[X:.*]]: tensor<5x3xf32>, %[[I:.*]]: tensor<4x1xi32>, %[[X_DOT:.*]]: tensor<5x3xf32>)
// CHECK: %[[LAST:.*]] = hjx.constant dense<4> : tensor<4x1xi32>
// CHECK-NEXT: %[[NOTHING:.*]] = hjx.constant dense<0.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT: %[[FIRST:.*]] = hjx.constant dense<0> : tensor<4x1xi32>
// CHECK-NEXT: %[[Y:.*]] = hjx.gather %[[X]], %[[I]] {collapsed_slice_dims = array<i64: 0>, mode = 1
// CHECK-NEXT: %[[ROWS:.*]] = hjx.gather %[[X_DOT]], %[[I]] {collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 0>}
// CHECK-NEXT: %[[BELOW:.*]] = hjx.compare le, %[[I]], %[[LAST]]
// CHECK-NEXT: %[[ABOVE:.*]] = hjx.compare ge, %[[I]], %[[FIRST]]
// CHECK-NEXT: %[[BOTH:.*]] = hjx.and %[[BELOW]], %[[ABOVE]]
// CHECK-NEXT: %[[INSIDE:.*]] = hjx.reduce_and %[[BOTH]] axes = [1]
// CHECK-NEXT: %[[INSIDE_ROWS:.*]] = hjx.broadcast_in_dim %[[INSIDE]] shape = [4, 3] dims = [0]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.select_n %[[INSIDE_ROWS]], %[[NOTHING]], %[[ROWS]]
// CHECK-NEXT: return %[[Y]], %[[Y_DOT]]
