// RUN: hjx-opt %s --convert-hjx-to-linalg --canonicalize --cse | FileCheck %s
// Contractions: one generic with exact maps, transposes by the maps.

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RHS_T:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[OUT_T:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>

// CHECK-LABEL: func.func @matmul
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%[[ZERO]]
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @matmul(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @transposes_are_maps
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<4x3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS_T]], #[[OUT_T]]], {{.*}} ins(%[[X]], %[[Y]]
// CHECK-NOT: linalg.generic
func.func @transposes_are_maps(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %yt = hjx.transpose %y permutation = [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %z = hjx.dot_general %x, %yt contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %zt = hjx.transpose %z permutation = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  return %zt : tensor<4x2xf32>
}

// A product with a second user is needed as it is.
// CHECK-LABEL: func.func @transpose_of_a_shared_product
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]]
// CHECK: linalg.generic
// CHECK: return
func.func @transpose_of_a_shared_product(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %zt = hjx.transpose %z permutation = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  return %z, %zt : tensor<2x4xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @batched_bf16
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<5x2x4xf32>)
// CHECK: arith.extf
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @batched_bf16(%x: tensor<2x5x3xbf16>, %y: tensor<5x3x4xbf16>) -> tensor<5x2x4xbf16> {
  %z = hjx.dot_general %x, %y batching = [1] x [0] contracting = [2] x [1] : (tensor<2x5x3xbf16>, tensor<5x3x4xbf16>) -> tensor<5x2x4xbf16>
  return %z : tensor<5x2x4xbf16>
}

// CHECK-LABEL: func.func @integers_widen_by_their_sign
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: arith.muli
func.func @integers_widen_by_their_sign(%x: tensor<2x3xui8>, %y: tensor<3x4xui8>) -> tensor<2x4xi32> {
  %z = hjx.dot_general %x, %y contracting = [1] x [0] accum = i32 : (tensor<2x3xui8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  return %z : tensor<2x4xi32>
}
