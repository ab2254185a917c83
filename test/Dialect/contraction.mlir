// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Contractions print and parse back.

// CHECK-LABEL: func.func @dot_general
func.func @dot_general(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %a: tensor<5x2x3xi8>, %b: tensor<4x5x3xi8>) {
  // CHECK: hjx.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %matmul = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: hjx.dot_general %{{.*}}, %{{.*}} contracting = [] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
  %outer = hjx.dot_general %x, %y contracting = [] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
  // CHECK: hjx.dot_general %{{.*}}, %{{.*}} batching = [0] x [1] contracting = [2] x [2] accum = i32 : (tensor<5x2x3xi8>, tensor<4x5x3xi8>) -> tensor<5x2x4xi32>
  %batched = hjx.dot_general %a, %b batching = [0] x [1] contracting = [2] x [2] accum = i32 : (tensor<5x2x3xi8>, tensor<4x5x3xi8>) -> tensor<5x2x4xi32>
  return
}
