// RUN: hjx-opt %s --hjx-place-attention --split-input-file | FileCheck %s
// What attention computes is written to where it is copied to.

// The cotangents of queries, keys and values are thirds of one matrix; the call takes its parts.
// CHECK-LABEL: func.func @thirds
// CHECK-SAME: %[[Q:[^:]*]]: memref<3x2x8xf32>, %[[L:[^:]*]]: memref<3x2xf32>
// CHECK: %[[ALL:.*]] = memref.alloc() : memref<3x48xf32>
// CHECK-DAG: %[[PART0:.*]] = memref.subview %[[ALL]][0, 0] [3, 16] [1, 1]
// CHECK-DAG: %[[BAR0:.*]] = memref.expand_shape %[[PART0]] {{\[\[}}0], [1, 2]]
// CHECK-DAG: %[[PART1:.*]] = memref.subview %[[ALL]][0, 16] [3, 16] [1, 1]
// CHECK-DAG: %[[BAR1:.*]] = memref.expand_shape %[[PART1]] {{\[\[}}0], [1, 2]]
// CHECK-DAG: %[[PART2:.*]] = memref.subview %[[ALL]][0, 32] [3, 16] [1, 1]
// CHECK-DAG: %[[BAR2:.*]] = memref.expand_shape %[[PART2]] {{\[\[}}0], [1, 2]]
// CHECK: call @attention(%[[Q]], %[[Q]], %[[Q]], %[[L]], %[[Q]], %[[L]], %[[BAR0]], %[[BAR1]], %[[BAR2]])
// CHECK-NOT: linalg.generic
// CHECK: return
// CHECK: func.func private @attention({{.*}}, memref<3x2x8xf32, strided<[48, 8, 1]>>, memref<3x2x8xf32, strided<[48, 8, 1], offset: 16>>, memref<3x2x8xf32, strided<[48, 8, 1], offset: 32>>)
#id = affine_map<(i, j) -> (i, j)>
func.func @thirds(%q: memref<3x2x8xf32>, %l: memref<3x2xf32>) -> memref<3x48xf32> {
  %b0 = memref.alloc() : memref<3x2x8xf32>
  %b1 = memref.alloc() : memref<3x2x8xf32>
  %b2 = memref.alloc() : memref<3x2x8xf32>
  call @attention(%q, %q, %q, %l, %q, %l, %b0, %b1, %b2) : (memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>) -> ()
  %f0 = memref.collapse_shape %b0 [[0], [1, 2]] : memref<3x2x8xf32> into memref<3x16xf32>
  %f1 = memref.collapse_shape %b1 [[0], [1, 2]] : memref<3x2x8xf32> into memref<3x16xf32>
  %f2 = memref.collapse_shape %b2 [[0], [1, 2]] : memref<3x2x8xf32> into memref<3x16xf32>
  %all = memref.alloc() : memref<3x48xf32>
  %p0 = memref.subview %all[0, 0] [3, 16] [1, 1] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%f0 : memref<3x16xf32>) outs(%p0 : memref<3x16xf32, strided<[48, 1]>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  %p1 = memref.subview %all[0, 16] [3, 16] [1, 1] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1], offset: 16>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%f1 : memref<3x16xf32>) outs(%p1 : memref<3x16xf32, strided<[48, 1], offset: 16>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  %p2 = memref.subview %all[0, 32] [3, 16] [1, 1] : memref<3x48xf32> to memref<3x16xf32, strided<[48, 1], offset: 32>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%f2 : memref<3x16xf32>) outs(%p2 : memref<3x16xf32, strided<[48, 1], offset: 32>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  return %all : memref<3x48xf32>
}
func.func private @attention(memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>) attributes {hjx.attention = {scale = 0.5}, hjx.kernel}

// -----

// Not where the place is still read (the query is there), where a row does not begin at 16 bytes, where
// another op reads the result, or where something else is stored at the place before the copy.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-5: linalg.generic
#id = affine_map<(i, j, k) -> (i, j, k)>
func.func @stay(%q: memref<3x2x8xf32>, %l: memref<3x2xf32>, %odd: memref<3x2x9xf32>, %u: memref<3x2x8xf32>, %v: memref<3x2x8xf32>, %x: f32) {
  %b0 = memref.alloc() : memref<3x2x8xf32>
  %b1 = memref.alloc() : memref<3x2x8xf32>
  %b2 = memref.alloc() : memref<3x2x8xf32>
  call @attention(%q, %q, %q, %l, %q, %l, %b0, %b1, %b2) : (memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b0 : memref<3x2x8xf32>) outs(%q : memref<3x2x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  %p1 = memref.subview %odd[0, 0, 0] [3, 2, 8] [1, 1, 1] : memref<3x2x9xf32> to memref<3x2x8xf32, strided<[18, 9, 1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b1 : memref<3x2x8xf32>) outs(%p1 : memref<3x2x8xf32, strided<[18, 9, 1]>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  %c0 = arith.constant 0 : index
  memref.store %x, %v[%c0, %c0, %c0] : memref<3x2x8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b2 : memref<3x2x8xf32>) outs(%v : memref<3x2x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  %b3 = memref.alloc() : memref<3x2x8xf32>
  %m = memref.alloc() : memref<3x2xf32>
  call @forward(%q, %q, %q, %m, %b3) : (memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b3 : memref<3x2x8xf32>) outs(%u : memref<3x2x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b3 : memref<3x2x8xf32>) outs(%u : memref<3x2x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %o : f32
      linalg.yield %t : f32
  }
  return
}
func.func private @attention(memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>) attributes {hjx.attention = {scale = 0.5}, hjx.kernel}
func.func private @forward(memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2x8xf32>, memref<3x2xf32>, memref<3x2x8xf32>) attributes {hjx.attention = {scale = 0.5}, hjx.kernel}
