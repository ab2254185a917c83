// RUN: hjx-opt %s --hjx-compute-in-place | FileCheck %s
// An elementwise op on rows that no block can keep overwrites what it is the last to read.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// %x is an argument, so that exp has a buffer of its own; the quotient takes it over, after the sum has read it.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<2x10241xf32>
// CHECK: %[[E:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] :
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[E]] :
// CHECK: linalg.generic {{.*}} ins(%[[E]], %[[SUM]] : {{.*}}) outs(%[[E]] :
// CHECK: arith.divf
func.func @softmax(%x: tensor<2x10241xf32>, %zeros: tensor<2xf32>) -> tensor<2x10241xf32> {
  %empty = tensor.empty() : tensor<2x10241xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x10241xf32>) outs(%empty : tensor<2x10241xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<2x10241xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<2x10241xf32>) outs(%zeros : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
  } -> tensor<2xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %s : tensor<2x10241xf32>, tensor<2xf32>) outs(%empty : tensor<2x10241xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.divf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<2x10241xf32>
  return %p : tensor<2x10241xf32>
}

// Not what is needed once more, not in another order, and not where a row fits a block.
// CHECK-LABEL: func.func @others
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<10241x10241xf32>
// CHECK-COUNT-3: outs(%[[EMPTY]] :
// CHECK: %[[SMALL:.*]] = tensor.empty() : tensor<2x10240xf32>
// CHECK-COUNT-2: outs(%[[SMALL]] :
func.func @others(%x: tensor<10241x10241xf32>, %y: tensor<2x10240xf32>) -> (tensor<10241x10241xf32>, tensor<10241x10241xf32>, tensor<10241x10241xf32>, tensor<2x10240xf32>) {
  %empty = tensor.empty() : tensor<10241x10241xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<10241x10241xf32>) outs(%empty : tensor<10241x10241xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<10241x10241xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<10241x10241xf32>) outs(%empty : tensor<10241x10241xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<10241x10241xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<10241x10241xf32>) outs(%empty : tensor<10241x10241xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<10241x10241xf32>
  %small = tensor.empty() : tensor<2x10240xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x10240xf32>) outs(%small : tensor<2x10240xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<2x10240xf32>
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<2x10240xf32>) outs(%small : tensor<2x10240xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<2x10240xf32>
  return %e, %f, %g, %k : tensor<10241x10241xf32>, tensor<10241x10241xf32>, tensor<10241x10241xf32>, tensor<2x10240xf32>
}
