// RUN: hjx-opt %s --hjx-split-reductions --split-input-file | FileCheck %s
// A sum over everything is 64 sums and their sum; sums with many results stay.

#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> ()>

// CHECK-DAG: #[[CUT:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @loss
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [64, 2, 512]
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<64xf32>
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[CUT]], #[[PART]]], iterator_types = ["reduction", "reduction", "parallel"]} ins(%[[X]] : tensor<64x2x512xf32>) outs(%[[ZEROS]]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[PARTS]] : tensor<64xf32>) outs(%arg1 : tensor<f32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
func.func @loss(%x: tensor<128x512xf32>, %init: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<128x512xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @columns
// CHECK-NOT: tensor.expand_shape
func.func @columns(%x: tensor<128x512xf32>, %init: tensor<512xf32>) -> tensor<512xf32> {
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<128x512xf32>) outs(%init : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}
