// RUN: hjx-opt %s --hjx-fold-accumulations --split-input-file | FileCheck %s
// A sum that is added to an accumulator starts from it.

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3xf32>, %[[START:[^:]*]]: tensor<2xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x3xf32>) outs(%[[START]] : tensor<2xf32>)
// CHECK: return %[[R]]
func.func @sum(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]}
      ins(%zero : f32) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%start, %s : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#id = affine_map<(i) -> (i)>

// A maximum is no sum; and a sum that somebody else reads stays.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<2x3xf32>, %p: tensor<2xf32>, %q: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]}
      ins(%zero : f32) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<2xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xf32>) outs(%[[ZEROS:.*]] : tensor<2xf32>)
  // CHECK: arith.maximumf
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.maximumf %o, %a : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xf32>) outs(%[[ZEROS]] : tensor<2xf32>)
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%p, %m : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  %w = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%q, %s : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  // CHECK: ins(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>)
  // CHECK: ins(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>)
  return %r, %w, %s : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// What is added to zeros is the sum.
// CHECK-LABEL: func.func @zeros
// CHECK-SAME: %[[X:[^:]*]]: tensor<2xf32>
// CHECK: return %[[X]]
func.func @zeros(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]}
      ins(%zero : f32) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%f, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Zeros that are added to something which the op computes itself.
// CHECK-LABEL: func.func @zeros
// CHECK-SAME: %[[X:[^:]*]]: tensor<2xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<2xbf16>) outs(
// CHECK-NEXT: ^bb0(%[[V:.*]]: bf16, %{{.*}}: f32):
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[V]]
// CHECK-NEXT: linalg.yield %[[W]]
func.func @zeros(%x: tensor<2xbf16>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]}
      ins(%zero : f32) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%f, %x : tensor<2xf32>, tensor<2xbf16>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: bf16, %o: f32):
      %w = arith.extf %b : bf16 to f32
      %t = arith.addf %a, %w : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}
