// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Elementwise ops print and parse back.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<2x3xf32>, %i: tensor<2xui8>, %p: tensor<i1>) {
  // CHECK: hjx.neg %{{.*}} : tensor<2x3xf32>
  %0 = hjx.neg %x : tensor<2x3xf32>
  // CHECK: hjx.round to_nearest_even, %{{.*}} : tensor<2x3xf32>
  %1 = hjx.round to_nearest_even, %x : tensor<2x3xf32>
  // CHECK: hjx.is_finite %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %2 = hjx.is_finite %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.not %{{.*}} : tensor<i1>
  %3 = hjx.not %p : tensor<i1>
  // CHECK: hjx.convert %{{.*}} : tensor<2xui8> -> tensor<2xf64>
  %4 = hjx.convert %i : tensor<2xui8> -> tensor<2xf64>
  // CHECK: hjx.bitcast %{{.*}} : tensor<2x3xf32> -> tensor<2x3x4xui8>
  %5 = hjx.bitcast %x : tensor<2x3xf32> -> tensor<2x3x4xui8>
  return
}

// CHECK-LABEL: func.func @choice
func.func @choice(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %lo: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK: %[[P:.*]] = hjx.compare lt, %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  %p = hjx.compare lt, %x, %y : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: hjx.select_n %[[P]], %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = hjx.select_n %p, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: hjx.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = hjx.clamp %lo, %z, %lo : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}
