// RUN: hjx-opt %s --canonicalize | FileCheck %s
// A reduction over no axis is its operand; one over an axis of size 1 stays (its
// result has another shape).

// CHECK-LABEL: func.func @reductions
// CHECK-SAME: (%[[X:.*]]: tensor<1x3xf32>, %[[I:.*]]: tensor<1x3xi8>)
func.func @reductions(%x: tensor<1x3xf32>, %i: tensor<1x3xi8>) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi8>, tensor<1x3xi8>, tensor<3xf32>) {
  %0 = hjx.reduce_sum %x axes = [] : tensor<1x3xf32> -> tensor<1x3xf32>
  %1 = hjx.reduce_prod %x axes = [] : tensor<1x3xf32> -> tensor<1x3xf32>
  %2 = hjx.reduce_max %x axes = [] : tensor<1x3xf32> -> tensor<1x3xf32>
  %3 = hjx.reduce_min %x axes = [] : tensor<1x3xf32> -> tensor<1x3xf32>
  %4 = hjx.reduce_and %i axes = [] : tensor<1x3xi8> -> tensor<1x3xi8>
  %5 = hjx.reduce_or %i axes = [] : tensor<1x3xi8> -> tensor<1x3xi8>
  // CHECK: %[[KEPT:.*]] = hjx.reduce_sum %[[X]] axes = [0] : tensor<1x3xf32> -> tensor<3xf32>
  %6 = hjx.reduce_sum %x axes = [0] : tensor<1x3xf32> -> tensor<3xf32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]], %[[KEPT]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi8>, tensor<1x3xi8>, tensor<3xf32>
}
