// RUN: hjx-opt --hjx-vmap --symbol-dce %s | FileCheck %s
// The mapped axis joins the batch in front; keys that all share are repeated.

func.func private @f(%q: tensor<3x2x4xf32>, %k: tensor<5x2x4xf32>) -> tensor<3x2x4xf32> {
  %out, %sum = hjx.attention %q, %k, %k scale = 0.5 causal : (tensor<3x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x4xf32>
}
func.func @mapped(%q: tensor<3x7x2x4xf32>, %k: tensor<5x2x4xf32>) -> tensor<7x3x2x4xf32> {
  %0 = hjx.vmap @f(%q, %k) in_axes = [1, -1] out_axes = [0] size = 7 : (tensor<3x7x2x4xf32>, tensor<5x2x4xf32>) -> tensor<7x3x2x4xf32>
  return %0 : tensor<7x3x2x4xf32>
}
// CHECK-LABEL: func.func private @f.vmap.1_u.x7.to.0
// CHECK-DAG: %[[Q:.*]] = hjx.transpose %{{.*}} permutation = [1, 0, 2, 3]
// CHECK-DAG: %[[K:.*]] = hjx.broadcast_in_dim %{{.*}} shape = [7, 5, 2, 4] dims = [1, 2, 3]
// CHECK: hjx.attention %[[Q]], %[[K]], %{{.*}} scale = 5.000000e-01 causal : (tensor<7x3x2x4xf32>, tensor<7x5x2x4xf32>, tensor<7x5x2x4xf32>) -> (tensor<7x3x2x4xf32>, tensor<7x3x2xf32>)
