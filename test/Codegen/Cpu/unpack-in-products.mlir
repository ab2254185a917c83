// RUN: hjx-opt %s --hjx-fuse-elementwise | FileCheck %s
// Whole numbers in bytes become floats inside of a product, also of two products, and there take their scales.

#id = affine_map<(i, j) -> (i, j)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#o = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @weights
// CHECK-NOT: tensor<24x16xf32>
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1 : tensor<8x16xf32>, tensor<24x16xi8>)
// CHECK: arith.sitofp
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%arg2, %arg1 : tensor<8x16xf32>, tensor<24x16xi8>)
func.func @weights(%x: tensor<8x16xf32>, %w: tensor<24x16xi8>, %y: tensor<8x16xf32>, %init: tensor<8x24xf32>) -> (tensor<8x24xf32>, tensor<8x24xf32>) {
  %e = tensor.empty() : tensor<24x16xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<24x16xi8>) outs(%e : tensor<24x16xf32>) {
  ^bb0(%v: i8, %u: f32):
    %wide = arith.sitofp %v : i8 to f32
    linalg.yield %wide : f32
  } -> tensor<24x16xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %f : tensor<8x16xf32>, tensor<24x16xf32>) outs(%init : tensor<8x24xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x24xf32>
  %q = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %f : tensor<8x16xf32>, tensor<24x16xf32>) outs(%init : tensor<8x24xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x24xf32>
  return %p, %q : tensor<8x24xf32>, tensor<8x24xf32>
}

// One factor may have scales: with two, what is in the body is no product that kernels know.
// CHECK-LABEL: func.func @scales
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%arg2, %arg3 : tensor<24x16xi8>, tensor<24xf32>)
// CHECK: %[[P:.*]] = linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1, %{{.*}} : tensor<8x16xi8>, tensor<8xf32>, tensor<24x16xf32>)
// CHECK: %[[N:.*]] = arith.sitofp
// CHECK: %[[X:.*]] = arith.mulf %[[N]]
// CHECK: arith.mulf %[[X]]
// CHECK: return %[[P]]
#row = affine_map<(i, j) -> (i)>
func.func @scales(%x: tensor<8x16xi8>, %xs: tensor<8xf32>, %w: tensor<24x16xi8>, %ws: tensor<24xf32>, %init: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %xs : tensor<8x16xi8>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%v: i8, %s: f32, %u: f32):
    %wide = arith.sitofp %v : i8 to f32
    %n = arith.mulf %wide, %s : f32
    linalg.yield %n : f32
  } -> tensor<8x16xf32>
  %g = tensor.empty() : tensor<24x16xf32>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %ws : tensor<24x16xi8>, tensor<24xf32>) outs(%g : tensor<24x16xf32>) {
  ^bb0(%v: i8, %s: f32, %u: f32):
    %wide = arith.sitofp %v : i8 to f32
    %n = arith.mulf %wide, %s : f32
    linalg.yield %n : f32
  } -> tensor<24x16xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%f, %h : tensor<8x16xf32>, tensor<24x16xf32>) outs(%init : tensor<8x24xf32>) {
  ^bb0(%l: f32, %r: f32, %c: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x24xf32>
  return %p : tensor<8x24xf32>
}
