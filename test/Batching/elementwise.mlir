// RUN: hjx-opt --hjx-vmap --canonicalize --symbol-dce %s | FileCheck %s
// Mapped operands move to the first mapped axis; shared ones are repeated.

func.func private @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = hjx.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @choose(%p: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = hjx.select_n %p, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @clamp(%lo: tensor<f32>, %x: tensor<f32>, %hi: tensor<f32>) -> tensor<f32> {
  %0 = hjx.clamp %lo, %x, %hi : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// The first mapped axis stays; the other operand moves to it.
func.func @both(%x: tensor<2x5x3xf32>, %y: tensor<5x2x3xf32>) -> tensor<2x5x3xf32> {
  %0 = hjx.vmap @add(%x, %y) in_axes = [1, 0] out_axes = [1] size = 5 : (tensor<2x5x3xf32>, tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}
// A shared operand is repeated.
func.func @shared(%x: tensor<2x3xf32>, %y: tensor<5x2x3xf32>) -> tensor<5x2x3xf32> {
  %0 = hjx.vmap @add(%x, %y) in_axes = [-1, 0] out_axes = [0] size = 5 : (tensor<2x3xf32>, tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}
// A shared scalar selector stays a scalar; a mapped one is repeated over the cases.
func.func @scalar_selector(%p: tensor<i1>, %ps: tensor<5xi1>, %x: tensor<5x2xf32>, %y: tensor<2xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>) {
  %0 = hjx.vmap @choose(%p, %x, %y) in_axes = [-1, 0, -1] out_axes = [0] size = 5 : (tensor<i1>, tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %1 = hjx.vmap @choose(%ps, %x, %y) in_axes = [0, 0, -1] out_axes = [0] size = 5 : (tensor<5xi1>, tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  return %0, %1 : tensor<5x2xf32>, tensor<5x2xf32>
}
func.func @scalar_bounds(%lo: tensor<f32>, %x: tensor<5xf32>, %hi: tensor<5xf32>) -> tensor<5xf32> {
  %0 = hjx.vmap @clamp(%lo, %x, %hi) in_axes = [-1, 0, 0] out_axes = [0] size = 5 : (tensor<f32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func private @add.vmap.1_0.x5.to.1(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x5x3xf32>, %[[ARG1:.*]]: tensor<5x2x3xf32>)
// CHECK: %[[V0:.*]] = hjx.transpose %[[ARG1]] permutation = [1, 0, 2] : tensor<5x2x3xf32> -> tensor<2x5x3xf32>
// CHECK: %[[V1:.*]] = hjx.add %[[ARG0]], %[[V0]] : tensor<2x5x3xf32>
// CHECK: return %[[V1]] : tensor<2x5x3xf32>

// CHECK-LABEL: func.func private @add.vmap.u_0.x5.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<2x3xf32>, %[[ARG1:.*]]: tensor<5x2x3xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [5, 2, 3] dims = [1, 2] : tensor<2x3xf32> -> tensor<5x2x3xf32>
// CHECK: %[[V1:.*]] = hjx.add %[[V0]], %[[ARG1]] : tensor<5x2x3xf32>
// CHECK: return %[[V1]] : tensor<5x2x3xf32>

// CHECK-LABEL: func.func private @choose.vmap.u_0_u.x5.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<i1>, %[[ARG1:.*]]: tensor<5x2xf32>, %[[ARG2:.*]]: tensor<2xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [5, 2] dims = [1] : tensor<2xf32> -> tensor<5x2xf32>
// CHECK: %[[V1:.*]] = hjx.select_n %[[ARG0]], %[[ARG1]], %[[V0]] : (tensor<i1>, tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
// CHECK: return %[[V1]] : tensor<5x2xf32>

// CHECK-LABEL: func.func private @choose.vmap.0_0_u.x5.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<5xi1>, %[[ARG1:.*]]: tensor<5x2xf32>, %[[ARG2:.*]]: tensor<2xf32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG0]] shape = [5, 2] dims = [0] : tensor<5xi1> -> tensor<5x2xi1>
// CHECK: %[[V1:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [5, 2] dims = [1] : tensor<2xf32> -> tensor<5x2xf32>
// CHECK: %[[V2:.*]] = hjx.select_n %[[V0]], %[[ARG1]], %[[V1]] : (tensor<5x2xi1>, tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
// CHECK: return %[[V2]] : tensor<5x2xf32>

// CHECK-LABEL: func.func private @clamp.vmap.u_0_0.x5.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<f32>, %[[ARG1:.*]]: tensor<5xf32>, %[[ARG2:.*]]: tensor<5xf32>)
// CHECK: %[[V0:.*]] = hjx.clamp %[[ARG0]], %[[ARG1]], %[[ARG2]] : (tensor<f32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
// CHECK: return %[[V0]] : tensor<5xf32>
