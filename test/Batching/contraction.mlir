// RUN: hjx-opt --hjx-vmap --symbol-dce %s | FileCheck %s
// The mapped axis is a batching dimension when both operands have it, else a
// free dimension that stays where it is.

func.func private @matmul(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

func.func @both(%x: tensor<2x5x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = hjx.vmap @matmul(%x, %y) in_axes = [1, 0] out_axes = [0] size = 5 : (tensor<2x5x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}
func.func @lhs_only(%x: tensor<2x5x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x5x4xf32> {
  %0 = hjx.vmap @matmul(%x, %y) in_axes = [1, -1] out_axes = [1] size = 5 : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}
func.func @rhs_only(%x: tensor<2x3xf32>, %y: tensor<3x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = hjx.vmap @matmul(%x, %y) in_axes = [-1, 2] out_axes = [2] size = 5 : (tensor<2x3xf32>, tensor<3x4x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// CHECK-LABEL: func.func private @matmul.vmap.1_0.x5.to.0
// CHECK: %[[Z:.*]] = hjx.dot_general %{{.*}}, %{{.*}} batching = [1] x [0] contracting = [2] x [1] : (tensor<2x5x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: func.func private @matmul.vmap.1_u.x5.to.1
// CHECK: %[[Z:.*]] = hjx.dot_general %{{.*}}, %{{.*}} contracting = [2] x [0] : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: func.func private @matmul.vmap.u_2.x5.to.2
// CHECK: %[[Z:.*]] = hjx.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4x5xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: return %[[Z]]
