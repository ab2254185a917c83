// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Random ops print and parse back.

// CHECK-LABEL: func.func @random
func.func @random(%w: tensor<4x2xui32>, %c: tensor<4xui32>, %s: tensor<i64>) {
  // CHECK: hjx.threefry2x32 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xui32>
  %bits0, %bits1 = hjx.threefry2x32 %c, %c, %c, %c : tensor<4xui32>
  // CHECK: hjx.random_wrap %{{.*}} : tensor<4x2xui32> -> tensor<4x!hjx.key<threefry2x32>>
  %wrap = hjx.random_wrap %w : tensor<4x2xui32> -> tensor<4x!hjx.key<threefry2x32>>
  // CHECK: hjx.random_unwrap %{{.*}} : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x2xui32>
  %unwrap = hjx.random_unwrap %wrap : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x2xui32>
  // CHECK: hjx.random_seed %{{.*}} : tensor<i64> -> tensor<!hjx.key<threefry2x32>>
  %seed = hjx.random_seed %s : tensor<i64> -> tensor<!hjx.key<threefry2x32>>
  // CHECK: hjx.random_split %{{.*}} shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3x!hjx.key<threefry2x32>>
  %split = hjx.random_split %seed shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3x!hjx.key<threefry2x32>>
  // CHECK: hjx.random_fold_in %{{.*}}, %{{.*}} : (tensor<4x!hjx.key<threefry2x32>>, tensor<4xui32>) -> tensor<4x!hjx.key<threefry2x32>>
  %fold = hjx.random_fold_in %wrap, %c : (tensor<4x!hjx.key<threefry2x32>>, tensor<4xui32>) -> tensor<4x!hjx.key<threefry2x32>>
  // CHECK: hjx.random_bits %{{.*}} width = 16 shape = [3] : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x3xui16>
  %bits = hjx.random_bits %wrap width = 16 shape = [3] : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x3xui16>
  return
}
