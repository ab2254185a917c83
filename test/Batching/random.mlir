// RUN: hjx-opt --hjx-vmap --symbol-dce %s | FileCheck %s
// A batch of keys gives what a loop over them would: the mapped axis stays.

!key = tensor<!hjx.key<threefry2x32>>
func.func private @draw(%k: !key) -> tensor<2x3xui32> {
  %0 = hjx.random_bits %k width = 32 shape = [2, 3] : !key -> tensor<2x3xui32>
  return %0 : tensor<2x3xui32>
}
func.func @main(%k: tensor<5x!hjx.key<threefry2x32>>) -> tensor<2x5x3xui32> {
  %0 = hjx.vmap @draw(%k) in_axes = [0] out_axes = [1] size = 5 : (tensor<5x!hjx.key<threefry2x32>>) -> tensor<2x5x3xui32>
  return %0 : tensor<2x5x3xui32>
}

// CHECK-LABEL: func.func private @draw.vmap.0.x5.to.1
// CHECK: %[[BITS:.*]] = hjx.random_bits %{{.*}} width = 32 shape = [2, 3] : tensor<5x!hjx.key<threefry2x32>> -> tensor<5x2x3xui32>
// CHECK: hjx.transpose %[[BITS]] permutation = [1, 0, 2] : tensor<5x2x3xui32> -> tensor<2x5x3xui32>
