// RUN: hjx-opt %s --hjx-to-lo | FileCheck %s
// RUN: hjx-opt %s --hjx-to-lo --hjx-to-tensor | FileCheck %s --check-prefix=TENSOR
// Keys become pairs of words, random ops hashes of counters.

// CHECK-LABEL: func.func @bits
// CHECK-SAME: (%[[K:.*]]: tensor<2xui32>) -> tensor<2x3xui32>
// CHECK: hjx.slice %[[K]] start = [0] limit = [1]
// CHECK: hjx.iota dim = 0 : tensor<2x3xui32>
// CHECK: %[[Y0:.*]], %[[Y1:.*]] = hjx.threefry2x32
// CHECK: hjx.xor %[[Y0]], %[[Y1]] : tensor<2x3xui32>
// One nest, from counters to bits.
// TENSOR-LABEL: func.func @bits
// TENSOR-SAME: tensor<2xi32>) -> tensor<2x3xi32>
// TENSOR-COUNT-1: linalg.generic
// TENSOR-NOT: linalg.generic
// TENSOR: return
func.func @bits(%k: tensor<!hjx.key<threefry2x32>>) -> tensor<2x3xui32> {
  %b = hjx.random_bits %k width = 32 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui32>
  return %b : tensor<2x3xui32>
}

// Keys move as rows of two words.
// CHECK-LABEL: func.func @moves
// CHECK-SAME: (%[[K:.*]]: tensor<4x2xui32>, %[[I:.*]]: tensor<i32>, %[[P:.*]]: tensor<2xi1>)
// CHECK: hjx.slice %[[K]] start = [1, 0] limit = [3, 2] strides = [1, 1]
// CHECK: hjx.dynamic_slice %[[K]][%[[I]], %{{.*}}] sizes = [2, 2]
// CHECK: %[[PW:.*]] = hjx.broadcast_in_dim %[[P]] shape = [2, 2] dims = [0]
// CHECK: hjx.select_n %[[PW]]
// CHECK: hjx.transpose {{.*}} permutation = [1, 0, 2]
func.func @moves(%k: tensor<4x!hjx.key<threefry2x32>>, %i: tensor<i32>, %p: tensor<2xi1>) -> tensor<1x2x!hjx.key<threefry2x32>> {
  %a = hjx.slice %k start = [1] limit = [3] strides = [1] : tensor<4x!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %b = hjx.dynamic_slice %k [%i] sizes = [2] : (tensor<4x!hjx.key<threefry2x32>>, tensor<i32>) -> tensor<2x!hjx.key<threefry2x32>>
  %c = hjx.select_n %p, %a, %b : (tensor<2xi1>, tensor<2x!hjx.key<threefry2x32>>, tensor<2x!hjx.key<threefry2x32>>) -> tensor<2x!hjx.key<threefry2x32>>
  %d = hjx.reshape %c shape = [2, 1] : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x1x!hjx.key<threefry2x32>>
  %e = hjx.transpose %d permutation = [1, 0] : tensor<2x1x!hjx.key<threefry2x32>> -> tensor<1x2x!hjx.key<threefry2x32>>
  return %e : tensor<1x2x!hjx.key<threefry2x32>>
}

// CHECK-LABEL: func.func @carried
// CHECK: hjx.scan consts() inits(%{{.*}}) xs() length = 3 : (tensor<2xui32>) -> tensor<2xui32>
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2xui32>):
// CHECK: hjx.yield %{{.*}} : tensor<2xui32>
func.func @carried(%k: tensor<!hjx.key<threefry2x32>>) -> tensor<!hjx.key<threefry2x32>> {
  %r = hjx.scan consts() inits(%k) xs() length = 3 : (tensor<!hjx.key<threefry2x32>>) -> tensor<!hjx.key<threefry2x32>> {
  ^bb0(%c: tensor<!hjx.key<threefry2x32>>):
    %one = hjx.constant dense<1> : tensor<ui32>
    %n = hjx.random_fold_in %c, %one : (tensor<!hjx.key<threefry2x32>>, tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>
    hjx.yield %n : tensor<!hjx.key<threefry2x32>>
  }
  return %r : tensor<!hjx.key<threefry2x32>>
}
