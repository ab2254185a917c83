// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Keys and bits have no tangents; what a function computes from them may have.

func.func private @noise(%x: tensor<2xf32>, %k: tensor<!hjx.key<threefry2x32>>) -> (tensor<2xf32>, tensor<2x!hjx.key<threefry2x32>>) {
  %ks = hjx.random_split %k shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %b = hjx.random_bits %k width = 32 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %n = hjx.convert %b : tensor<2xui32> -> tensor<2xf32>
  %y = hjx.mul %x, %n : tensor<2xf32>
  return %y, %ks : tensor<2xf32>, tensor<2x!hjx.key<threefry2x32>>
}
func.func @j_noise(%x: tensor<2xf32>, %k: tensor<!hjx.key<threefry2x32>>) -> tensor<2xf32> {
  %y, %ks, %y_dot = hjx.jvp @noise(%x, %k) tangents(%x) active = [true, false] : (tensor<2xf32>, tensor<!hjx.key<threefry2x32>>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x!hjx.key<threefry2x32>>, tensor<2xf32>)
  return %y_dot : tensor<2xf32>
}
// CHECK-LABEL: func.func private @noise.jvp.10
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[K:.*]]: tensor<!hjx.key<threefry2x32>>, %[[X_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[KEYS:.*]] = hjx.random_split %[[K]] shape = [2]
// CHECK-NEXT: %[[BITS:.*]] = hjx.random_bits %[[K]] width = 32 shape = [2]
// CHECK-NEXT: %[[NOISE:.*]] = hjx.convert %[[BITS]]
// CHECK-NEXT: %[[Y:.*]] = hjx.mul %[[X]], %[[NOISE]]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.mul %[[X_DOT]], %[[NOISE]]
// CHECK-NEXT: return %[[Y]], %[[KEYS]], %[[Y_DOT]]
