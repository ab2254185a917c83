// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Movement ops print and parse back.

// CHECK-LABEL: func.func @creation
func.func @creation(%x: tensor<3xf32>) {
  // CHECK: hjx.constant dense<[1, 2]> : tensor<2xui8>
  %c = hjx.constant dense<[1, 2]> : tensor<2xui8>
  // CHECK: hjx.iota dim = 1 : tensor<2x3xi32>
  %i = hjx.iota dim = 1 : tensor<2x3xi32>
  // CHECK: hjx.broadcast_in_dim %{{.*}} shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %b = hjx.broadcast_in_dim %x shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @reordering
func.func @reordering(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>, %v: tensor<f32>) {
  // CHECK: hjx.reshape %{{.*}} shape = [6] : tensor<2x3xf32> -> tensor<6xf32>
  %reshape = hjx.reshape %x shape = [6] : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK: hjx.transpose %{{.*}} permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %transpose = hjx.transpose %x permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK: hjx.rev %{{.*}} dims = [1] : tensor<2x3xf32>
  %rev = hjx.rev %x dims = [1] : tensor<2x3xf32>
  // CHECK: hjx.concatenate %{{.*}}, %{{.*}} dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %concatenate = hjx.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  // CHECK: hjx.pad %{{.*}}, %{{.*}} low = [0, -1] high = [0, 2] interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  %pad = hjx.pad %x, %v low = [0, -1] high = [0, 2] interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<4x6xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>) {
  // CHECK: hjx.slice %{{.*}} start = [0, 1] limit = [4, 6] strides = [1, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  %slice = hjx.slice %x start = [0, 1] limit = [4, 6] strides = [1, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  // CHECK: hjx.dynamic_slice %{{.*}}[%{{.*}}, %{{.*}}] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %dslice = hjx.dynamic_slice %x[%i, %i] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: hjx.dynamic_update_slice %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %dupdate = hjx.dynamic_update_slice %x, %u[%i, %i] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @indexing
func.func @indexing(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>, %b: tensor<2x5x3xf32>, %j: tensor<2x1xi32>, %v: tensor<2x3xf32>) {
  // CHECK: hjx.gather %{{.*}}, %{{.*}} {collapsed_slice_dims = array<i64: 0>, mode = 1 : i32, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  %gather = hjx.gather %x, %i {collapsed_slice_dims = array<i64: 0>, mode = 1 : i32, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 3>, start_index_map = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  // CHECK: hjx.gather %{{.*}}, %{{.*}} {collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1, 3>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<2x5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  %gatherb = hjx.gather %b, %j {collapsed_slice_dims = array<i64: 1>, offset_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1, 3>, start_index_map = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<2x5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  // CHECK: hjx.scatter set, %{{.*}}, %{{.*}}, %{{.*}} {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, unique_indices, update_window_dims = array<i64: 1>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %set = hjx.scatter set, %x, %i, %u {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, unique_indices, update_window_dims = array<i64: 1>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  // CHECK: hjx.scatter add, %{{.*}}, %{{.*}}, %{{.*}} {inserted_window_dims = array<i64: 1>, mode = 2 : i32, operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<2x5x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>
  %add = hjx.scatter add, %b, %j, %v {inserted_window_dims = array<i64: 1>, mode = 2 : i32, operand_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<2x5x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>
  return
}
