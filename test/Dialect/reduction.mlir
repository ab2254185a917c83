// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Reductions print and parse back.

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x3xf32>, %i: tensor<2x3xui16>, %p: tensor<2x3xi1>) {
  // CHECK: hjx.reduce_sum %{{.*}} axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %sum = hjx.reduce_sum %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: hjx.reduce_prod %{{.*}} axes = [0, 1] : tensor<2x3xui16> -> tensor<ui16>
  %prod = hjx.reduce_prod %i axes = [0, 1] : tensor<2x3xui16> -> tensor<ui16>
  // CHECK: hjx.reduce_max %{{.*}} axes = [0] : tensor<2x3xf32> -> tensor<3xf32>
  %max = hjx.reduce_max %x axes = [0] : tensor<2x3xf32> -> tensor<3xf32>
  // CHECK: hjx.reduce_min %{{.*}} axes = [] : tensor<2x3xf32> -> tensor<2x3xf32>
  %min = hjx.reduce_min %x axes = [] : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: hjx.reduce_and %{{.*}} axes = [1] : tensor<2x3xi1> -> tensor<2xi1>
  %and = hjx.reduce_and %p axes = [1] : tensor<2x3xi1> -> tensor<2xi1>
  // CHECK: hjx.reduce_or %{{.*}} axes = [1] : tensor<2x3xui16> -> tensor<2xui16>
  %or = hjx.reduce_or %i axes = [1] : tensor<2x3xui16> -> tensor<2xui16>
  // CHECK: hjx.argmax %{{.*}} axis = 1 : tensor<2x3xf32> -> tensor<2xi32>
  %argmax = hjx.argmax %x axis = 1 : tensor<2x3xf32> -> tensor<2xi32>
  // CHECK: hjx.argmin %{{.*}} axis = 0 : tensor<2x3xi1> -> tensor<3xui8>
  %argmin = hjx.argmin %p axis = 0 : tensor<2x3xi1> -> tensor<3xui8>
  // CHECK: hjx.cumsum %{{.*}} axis = 1 : tensor<2x3xf32>
  %cumsum = hjx.cumsum %x axis = 1 : tensor<2x3xf32>
  // CHECK: hjx.cumsum %{{.*}} axis = 0 reverse : tensor<2x3xui16>
  %cumsumr = hjx.cumsum %i axis = 0 reverse : tensor<2x3xui16>
  return
}
