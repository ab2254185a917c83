// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// Gather and scatter-add are each other's transposes.

func.func private @rows(%x: tensor<2x5x3xf32>, %i: tensor<2x4x1xi32>) -> tensor<2x4x3xf32> {
  %y = hjx.gather %x, %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>} : (tensor<2x5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}
func.func @t_rows(%x: tensor<2x5x3xf32>, %i: tensor<2x4x1xi32>, %y_bar: tensor<2x4x3xf32>) -> tensor<2x5x3xf32> {
  %y, %x_bar = hjx.vjp @rows(%x, %i) cotangents(%y_bar) active = [true, false] : (tensor<2x5x3xf32>, tensor<2x4x1xi32>, tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x5x3xf32>)
  return %x_bar : tensor<2x5x3xf32>
}
// CHECK-LABEL: func.func private @rows.lin.10.transpose
// CHECK-SAME: (%[[I:.*]]: tensor<2x4x1xi32>, %[[Y_BAR:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<2x5x3xf32>
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.scatter add, %[[ZERO]], %[[I]], %[[Y_BAR]] {inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, update_window_dims = array<i64: 2>}
// CHECK-NEXT: return %[[X_BAR]]

// -----

func.func private @add(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %y = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
func.func @t_add(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>, %y_bar: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<4x3xf32>) {
  %y, %x_bar, %u_bar = hjx.vjp @add(%x, %i, %u) cotangents(%y_bar) active = [true, false, true] : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>, tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<4x3xf32>)
  return %x_bar, %u_bar : tensor<5x3xf32>, tensor<4x3xf32>
}
// CHECK-LABEL: func.func private @add.lin.101.transpose
// CHECK-SAME: (%[[I:.*]]: tensor<4x1xi32>, %[[Y_BAR:.*]]: tensor<5x3xf32>)
// CHECK: %[[U_BAR:.*]] = hjx.gather %[[Y_BAR]], %[[I]] {collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 0>}
// CHECK-NEXT: return %[[Y_BAR]], %[[U_BAR]]

// -----

// Of updates to one place the last survives; only it gets the cotangent.
func.func private @set(%x: tensor<5xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<5xf32> {
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
func.func @t_set(%x: tensor<5xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>, %y_bar: tensor<5xf32>) -> (tensor<5xf32>, tensor<4xf32>) {
  %y, %x_bar, %u_bar = hjx.vjp @set(%x, %i, %u) cotangents(%y_bar) active = [true, false, true] : (tensor<5xf32>, tensor<4x1xi32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<4xf32>)
  return %x_bar, %u_bar : tensor<5xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @set.lin.101.transpose
// CHECK-SAME: (%[[I:.*]]: tensor<4x1xi32>, %[[Y_BAR:.*]]: tensor<5xf32>)
// CHECK: %[[NOBODY:.*]] = hjx.constant dense<-1> : tensor<5xi32>
// CHECK-NEXT: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.scatter set, %[[Y_BAR]], %[[I]], %[[ZERO]] {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64>}
// CHECK-NEXT: %[[WINDOWS:.*]] = hjx.gather %[[Y_BAR]], %[[I]] {collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
// CHECK-NEXT: %[[OWN:.*]] = hjx.iota dim = 0
// CHECK-NEXT: %[[OWNERS:.*]] = hjx.scatter set, %[[NOBODY]], %[[I]], %[[OWN]] {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64>}
// CHECK-NEXT: %[[FOUND:.*]] = hjx.gather %[[OWNERS]], %[[I]] {collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
// CHECK-NEXT: %[[SURVIVES:.*]] = hjx.compare eq, %[[FOUND]], %[[OWN]]
// CHECK-NEXT: %[[U_BAR:.*]] = hjx.select_n %[[SURVIVES]], %[[ZERO]], %[[WINDOWS]]
// CHECK-NEXT: return %[[X_BAR]], %[[U_BAR]]

// -----

// Updates of an empty array are dropped.
func.func private @drop(%x: tensor<0xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<0xf32> {
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<0xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}
func.func @t_drop(%x: tensor<0xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>, %y_bar: tensor<0xf32>) -> tensor<4xf32> {
  %y, %u_bar = hjx.vjp @drop(%x, %i, %u) cotangents(%y_bar) active = [false, false, true] : (tensor<0xf32>, tensor<4x1xi32>, tensor<4xf32>, tensor<0xf32>) -> (tensor<0xf32>, tensor<4xf32>)
  return %u_bar : tensor<4xf32>
}
// CHECK-LABEL: func.func private @drop.lin.001.transpose
// CHECK-NEXT: return{{$}}
