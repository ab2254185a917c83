// RUN: hjx-opt --hjx-vmap --canonicalize --symbol-dce %s | FileCheck %s
// Shared starts keep the op; mapped starts become gather and scatter with batching dimensions.

func.func private @ds(%x: tensor<7xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %0 = hjx.dynamic_slice %x [%i] sizes = [3] : (tensor<7xf32>, tensor<i32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @dus(%x: tensor<7xf32>, %u: tensor<3xf32>, %i: tensor<i32>) -> tensor<7xf32> {
  %0 = hjx.dynamic_update_slice %x, %u [%i] : (tensor<7xf32>, tensor<3xf32>, tensor<i32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func private @rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
func.func private @addrows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
func.func @slice_shared_start(%x: tensor<2x7xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {
  %0 = hjx.vmap @ds(%x, %i) in_axes = [0, -1] out_axes = [0] size = 2 : (tensor<2x7xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @slice_mapped_start(%x: tensor<7xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> {
  %0 = hjx.vmap @ds(%x, %i) in_axes = [-1, 0] out_axes = [0] size = 2 : (tensor<7xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @slice_both(%x: tensor<2x7xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> {
  %0 = hjx.vmap @ds(%x, %i) in_axes = [0, 0] out_axes = [0] size = 2 : (tensor<2x7xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @update_mapped_start(%x: tensor<7xf32>, %u: tensor<2x3xf32>, %i: tensor<2xi32>) -> tensor<2x7xf32> {
  %0 = hjx.vmap @dus(%x, %u, %i) in_axes = [-1, 0, 0] out_axes = [0] size = 2 : (tensor<7xf32>, tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}
func.func @gather_operand(%x: tensor<2x5x3xf32>, %i: tensor<4x1xi32>) -> tensor<2x4x3xf32> {
  %0 = hjx.vmap @rows(%x, %i) in_axes = [0, -1] out_axes = [0] size = 2 : (tensor<2x5x3xf32>, tensor<4x1xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
func.func @gather_indices(%x: tensor<5x3xf32>, %i: tensor<2x4x1xi32>) -> tensor<2x4x3xf32> {
  %0 = hjx.vmap @rows(%x, %i) in_axes = [-1, 0] out_axes = [0] size = 2 : (tensor<5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
func.func @gather_both(%x: tensor<2x5x3xf32>, %i: tensor<2x4x1xi32>) -> tensor<2x4x3xf32> {
  %0 = hjx.vmap @rows(%x, %i) in_axes = [0, 0] out_axes = [0] size = 2 : (tensor<2x5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
func.func @scatter_shared_indices(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<2x4x3xf32>) -> tensor<2x5x3xf32> {
  %0 = hjx.vmap @addrows(%x, %i, %u) in_axes = [-1, -1, 0] out_axes = [0] size = 2 : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}
func.func @scatter_indices(%x: tensor<5x3xf32>, %i: tensor<2x4x1xi32>, %u: tensor<4x3xf32>) -> tensor<2x5x3xf32> {
  %0 = hjx.vmap @addrows(%x, %i, %u) in_axes = [-1, 0, -1] out_axes = [0] size = 2 : (tensor<5x3xf32>, tensor<2x4x1xi32>, tensor<4x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func private @ds.vmap.0_u.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x7xf32>, %[[ARG1:.*]]: tensor<i32>)
// CHECK: %[[V0:.*]] = hjx.constant dense<0> : tensor<i32>
// CHECK: %[[V1:.*]] = hjx.dynamic_slice %[[ARG0]][%[[V0]], %[[ARG1]]] sizes = [2, 3] : (tensor<2x7xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
// CHECK: return %[[V1]] : tensor<2x3xf32>

// CHECK-LABEL: func.func private @ds.vmap.u_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<7xf32>, %[[ARG1:.*]]: tensor<2xi32>)
// CHECK: %[[V0:.*]] = hjx.reshape %[[ARG1]] shape = [2, 1] : tensor<2xi32> -> tensor<2x1xi32>
// CHECK: %[[V1:.*]] = hjx.gather %[[ARG0]], %[[V0]] {collapsed_slice_dims = array<i64>, offset_dims = array<i64: 1>, slice_sizes = array<i64: 3>, start_index_map = array<i64: 0>} : (tensor<7xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
// CHECK: return %[[V1]] : tensor<2x3xf32>

// CHECK-LABEL: func.func private @ds.vmap.0_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x7xf32>, %[[ARG1:.*]]: tensor<2xi32>)
// CHECK: %[[V0:.*]] = hjx.reshape %[[ARG1]] shape = [2, 1] : tensor<2xi32> -> tensor<2x1xi32>
// CHECK: %[[V1:.*]] = hjx.gather %[[ARG0]], %[[V0]] {collapsed_slice_dims = array<i64>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<2x7xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
// CHECK: return %[[V1]] : tensor<2x3xf32>

// CHECK-LABEL: func.func private @dus.vmap.u_0_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<7xf32>, %[[ARG1:.*]]: tensor<2x3xf32>, %[[ARG2:.*]]: tensor<2xi32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [2, 7] dims = [1] : tensor<7xf32> -> tensor<2x7xf32>
// CHECK: %[[V1:.*]] = hjx.reshape %[[ARG2]] shape = [2, 1] : tensor<2xi32> -> tensor<2x1xi32>
// CHECK: %[[V2:.*]] = hjx.scatter set, %[[V0]], %[[V1]], %[[ARG1]] {inserted_window_dims = array<i64>, operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, unique_indices, update_window_dims = array<i64: 1>} : (tensor<2x7xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x7xf32>
// CHECK: return %[[V2]] : tensor<2x7xf32>

// CHECK-LABEL: func.func private @rows.vmap.0_u.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x5x3xf32>, %[[ARG1:.*]]: tensor<4x1xi32>)
// CHECK: %[[V0:.*]] = hjx.gather %[[ARG0]], %[[ARG1]] {collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 0, 2>, slice_sizes = array<i64: 2, 1, 3>, start_index_map = array<i64: 1>} : (tensor<2x5x3xf32>, tensor<4x1xi32>) -> tensor<2x4x3xf32>
// CHECK: return %[[V0]] : tensor<2x4x3xf32>

// CHECK-LABEL: func.func private @rows.vmap.u_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<5x3xf32>, %[[ARG1:.*]]: tensor<2x4x1xi32>)
// CHECK: %[[V0:.*]] = hjx.gather %[[ARG0]], %[[ARG1]] {collapsed_slice_dims = array<i64: 0>, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 0>} : (tensor<5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
// CHECK: return %[[V0]] : tensor<2x4x3xf32>

// CHECK-LABEL: func.func private @rows.vmap.0_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x5x3xf32>, %[[ARG1:.*]]: tensor<2x4x1xi32>)
// CHECK: %[[V0:.*]] = hjx.gather %[[ARG0]], %[[ARG1]] {collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 2>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1, 3>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<2x5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
// CHECK: return %[[V0]] : tensor<2x4x3xf32>

// CHECK-LABEL: func.func private @addrows.vmap.u_u_0.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<5x3xf32>, %[[ARG1:.*]]: tensor<4x1xi32>, %[[ARG2:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [2, 5, 3] dims = [1, 2] : tensor<5x3xf32> -> tensor<2x5x3xf32>
// CHECK: %[[V1:.*]] = hjx.scatter add, %[[V0]], %[[ARG1]], %[[ARG2]] {inserted_window_dims = array<i64: 1>, scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 0, 2>} : (tensor<2x5x3xf32>, tensor<4x1xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
// CHECK: return %[[V1]] : tensor<2x5x3xf32>

// CHECK-LABEL: func.func private @addrows.vmap.u_0_u.x2.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<5x3xf32>, %[[ARG1:.*]]: tensor<2x4x1xi32>, %[[ARG2:.*]]: tensor<4x3xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [2, 5, 3] dims = [1, 2] : tensor<5x3xf32> -> tensor<2x5x3xf32>
// CHECK: %[[V1:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [2, 4, 3] dims = [1, 2] : tensor<4x3xf32> -> tensor<2x4x3xf32>
// CHECK: %[[V2:.*]] = hjx.scatter add, %[[V0]], %[[ARG1]], %[[V1]] {inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, update_window_dims = array<i64: 2>} : (tensor<2x5x3xf32>, tensor<2x4x1xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
// CHECK: return %[[V2]] : tensor<2x5x3xf32>
