// RUN: hjx-opt %s --convert-hjx-to-linalg --canonicalize --cse | FileCheck %s
// Reductions start from the identity; what they reduce is computed inside.

// CHECK-LABEL: func.func @sum_of_squares
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK: %[[INIT:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<2x3xf32>) outs(%[[INIT]]
// CHECK: %[[Q:.*]] = arith.mulf
// CHECK: arith.addf %{{.*}}, %[[Q]]
// CHECK-NOT: linalg.generic
func.func @sum_of_squares(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %q = hjx.mul %x, %x : tensor<2x3xf32>
  %s = hjx.reduce_sum %q axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-DAG: arith.constant 0xFF800000 : f32
// CHECK-DAG: arith.constant -1 : i8
// CHECK-DAG: arith.constant true
// CHECK: arith.maximumf
// CHECK: arith.minui
// CHECK: arith.andi
func.func @identities(%x: tensor<3xf32>, %u: tensor<3xui8>, %p: tensor<3xi1>) -> (tensor<f32>, tensor<ui8>, tensor<i1>) {
  %a = hjx.reduce_max %x axes = [0] : tensor<3xf32> -> tensor<f32>
  %b = hjx.reduce_min %u axes = [0] : tensor<3xui8> -> tensor<ui8>
  %c = hjx.reduce_and %p axes = [0] : tensor<3xi1> -> tensor<i1>
  return %a, %b, %c : tensor<f32>, tensor<ui8>, tensor<i1>
}

// Halves are summed in f32 and rounded once.
// CHECK-LABEL: func.func @halves
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @halves(%x: tensor<2x3xbf16>) -> tensor<2xbf16> {
  %s = hjx.reduce_sum %x axes = [1] : tensor<2x3xbf16> -> tensor<2xbf16>
  return %s : tensor<2xbf16>
}

// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xi32>)
// CHECK: linalg.index 1
// CHECK: arith.select
// CHECK: arith.select
func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2xi32> {
  %i = hjx.argmax %x axis = 1 : tensor<2x3xf32> -> tensor<2xi32>
  return %i : tensor<2xi32>
}

// A reduction of what nobody stores needs its loops' bounds from somewhere.
// CHECK-LABEL: func.func @sum_of_constants
// CHECK: %[[BOUND:.*]] = tensor.empty() : tensor<5xi8>
// CHECK: linalg.generic {{.*}} ins(%[[BOUND]] : tensor<5xi8>)
func.func @sum_of_constants() -> tensor<f32> {
  %c = hjx.constant dense<0.1> : tensor<5xf32>
  %s = hjx.reduce_sum %c axes = [0] : tensor<5xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Running sums walk the axis once, on slices of what lies behind it.
// CHECK-LABEL: func.func @cumsum
// CHECK: scf.for %[[B:[a-z0-9]+]] =
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: tensor.extract_slice %{{.*}}[%[[B]], %[[I]], 0] [1, 1, 4] [1, 1, 1]
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
func.func @cumsum(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = hjx.cumsum %x axis = 1 : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
