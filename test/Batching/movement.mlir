// RUN: hjx-opt --hjx-vmap --canonicalize --symbol-dce %s | FileCheck %s
// Dimensions are named past the mapped axis, or the axis moves to the front.

func.func private @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<5xf32> {
  %0 = hjx.pad %x, %v low = [1] high = [1] interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = hjx.reshape %x shape = [6] : tensor<2x3xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func private @cat(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %0 = hjx.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
func.func private @slice(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0 = hjx.slice %x start = [0, 1] limit = [2, 3] strides = [1, 1] : tensor<2x3xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func private @rev(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = hjx.rev %x dims = [1] : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @pad_shared_value(%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<4x5xf32> {
  %0 = hjx.vmap @pad(%x, %v) in_axes = [1, -1] out_axes = [0] size = 4 : (tensor<3x4xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
func.func @pad_mapped_value(%x: tensor<3xf32>, %v: tensor<4xf32>) -> tensor<4x5xf32> {
  %0 = hjx.vmap @pad(%x, %v) in_axes = [-1, 0] out_axes = [0] size = 4 : (tensor<3xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
func.func @reshape_moves_front(%x: tensor<2x4x3xf32>) -> tensor<4x6xf32> {
  %0 = hjx.vmap @reshape(%x) in_axes = [1] out_axes = [0] size = 4 : (tensor<2x4x3xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @concatenate(%x: tensor<2x4x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x4x3xf32> {
  %0 = hjx.vmap @cat(%x, %y) in_axes = [1, -1] out_axes = [1] size = 4 : (tensor<2x4x3xf32>, tensor<1x3xf32>) -> tensor<3x4x3xf32>
  return %0 : tensor<3x4x3xf32>
}
func.func @slice_in_place(%x: tensor<2x4x3xf32>) -> tensor<2x4x2xf32> {
  %0 = hjx.vmap @slice(%x) in_axes = [1] out_axes = [1] size = 4 : (tensor<2x4x3xf32>) -> tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}
func.func @rev_in_place(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = hjx.vmap @rev(%x) in_axes = [1] out_axes = [1] size = 4 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func private @pad.vmap.1_u.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<3x4xf32>, %[[ARG1:.*]]: tensor<f32>)
// CHECK: %[[V0:.*]] = hjx.transpose %[[ARG0]] permutation = [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
// CHECK: %[[V1:.*]] = hjx.pad %[[V0]], %[[ARG1]] low = [0, 1] high = [0, 1] interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x5xf32>
// CHECK: return %[[V1]] : tensor<4x5xf32>

// CHECK-LABEL: func.func private @pad.vmap.u_0.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<3xf32>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.constant dense<false> : tensor<i1>
// CHECK: %[[V1:.*]] = hjx.constant dense<true> : tensor<4x3xi1>
// CHECK: %[[V2:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [4, 3] dims = [1] : tensor<3xf32> -> tensor<4x3xf32>
// CHECK: %[[V3:.*]] = hjx.pad %[[V1]], %[[V0]] low = [0, 1] high = [0, 1] interior = [0, 0] : (tensor<4x3xi1>, tensor<i1>) -> tensor<4x5xi1>
// CHECK: %[[V4:.*]] = hjx.slice %[[ARG1]] start = [0] limit = [1] strides = [1] : tensor<4xf32> -> tensor<1xf32>
// CHECK: %[[V5:.*]] = hjx.reshape %[[V4]] shape = [] : tensor<1xf32> -> tensor<f32>
// CHECK: %[[V6:.*]] = hjx.pad %[[V2]], %[[V5]] low = [0, 1] high = [0, 1] interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x5xf32>
// CHECK: %[[V7:.*]] = hjx.broadcast_in_dim %[[ARG1]] shape = [4, 5] dims = [0] : tensor<4xf32> -> tensor<4x5xf32>
// CHECK: %[[V8:.*]] = hjx.select_n %[[V3]], %[[V7]], %[[V6]] : (tensor<4x5xi1>, tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK: return %[[V8]] : tensor<4x5xf32>

// CHECK-LABEL: func.func private @reshape.vmap.1.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[V0:.*]] = hjx.transpose %[[ARG0]] permutation = [1, 0, 2] : tensor<2x4x3xf32> -> tensor<4x2x3xf32>
// CHECK: %[[V1:.*]] = hjx.reshape %[[V0]] shape = [4, 6] : tensor<4x2x3xf32> -> tensor<4x6xf32>
// CHECK: return %[[V1]] : tensor<4x6xf32>

// CHECK-LABEL: func.func private @cat.vmap.1_u.x4.to.1(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x4x3xf32>, %[[ARG1:.*]]: tensor<1x3xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG1]] shape = [1, 4, 3] dims = [0, 2] : tensor<1x3xf32> -> tensor<1x4x3xf32>
// CHECK: %[[V1:.*]] = hjx.concatenate %[[ARG0]], %[[V0]] dim = 0 : (tensor<2x4x3xf32>, tensor<1x4x3xf32>) -> tensor<3x4x3xf32>
// CHECK: return %[[V1]] : tensor<3x4x3xf32>

// CHECK-LABEL: func.func private @slice.vmap.1.x4.to.1(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[V0:.*]] = hjx.slice %[[ARG0]] start = [0, 0, 1] limit = [2, 4, 3] strides = [1, 1, 1] : tensor<2x4x3xf32> -> tensor<2x4x2xf32>
// CHECK: return %[[V0]] : tensor<2x4x2xf32>

// CHECK-LABEL: func.func private @rev.vmap.1.x4.to.1(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[V0:.*]] = hjx.rev %[[ARG0]] dims = [2] : tensor<2x4x3xf32>
// CHECK: return %[[V0]] : tensor<2x4x3xf32>
