// RUN: hjx-opt %s --hjx-outline-loops --split-input-file | FileCheck %s
// Elementwise ops on the result of a product become ops of its kernel, while nothing in between needs
// their order.

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// A bias and a rounding, and what reads the rounded: the sums are never in memory, what is returned is.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: (%[[A:[^:]*]]: memref<8x16xf32>, %[[B:[^:]*]]: memref<16x24xf32>, %[[BIAS:[^:]*]]: memref<24xf32>, %[[Y:[^:]*]]: memref<8x24xbf16>, %[[Z:[^:]*]]: memref<8x24xf32>)
// CHECK-NOT: memref.alloc
// CHECK: call @matmul(%[[A]], %[[B]], %[[BIAS]], %[[Y]], %[[Z]])
// CHECK-NEXT: return
// CHECK: func.func private @matmul(%[[A:[^:]*]]: memref<8x16xf32> {llvm.readonly}, %[[B:[^:]*]]: memref<16x24xf32> {llvm.readonly}, %[[BIAS:[^:]*]]: memref<24xf32> {llvm.readonly}, %[[Y:[^:]*]]: memref<8x24xbf16>, %[[Z:[^:]*]]: memref<8x24xf32>) attributes {hjx.kernel} {
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<8x24xf32>
// CHECK: linalg.generic {{.*}} outs(%[[SUMS]] :
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[SUMS]] :
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %[[BIAS]] : {{.*}}) outs(%[[Y]] :
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%[[Z]] :
func.func @bias(%a: memref<8x16xf32>, %b: memref<16x24xf32>, %bias: memref<24xf32>, %y: memref<8x24xbf16>, %z: memref<8x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x24xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<8x24xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x24xf32>) outs(%sums : memref<8x24xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #col, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<8x24xf32>, memref<24xf32>) outs(%y : memref<8x24xbf16>) {
    ^bb0(%x: f32, %w: f32, %o: bf16):
      %s = arith.addf %x, %w : f32
      %t = arith.truncf %s : f32 to bf16
      linalg.yield %t : bf16
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<8x24xbf16>) outs(%z : memref<8x24xf32>) {
    ^bb0(%x: bf16, %o: f32):
      %t = arith.extf %x : bf16 to f32
      %e = math.tanh %t : f32
      linalg.yield %e : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The maximum of a row needs all of it first. The op behind it waits for that.
// CHECK-LABEL: func.func @softmax
// CHECK: call @matmul(%[[SUMS:.*]], %{{.*}}, %{{.*}}) :
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] :
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], %{{.*}} :
func.func @softmax(%a: memref<8x16xf32>, %b: memref<16x24xf32>, %max: memref<8xf32>, %y: memref<8x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x24xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<8x24xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x24xf32>) outs(%sums : memref<8x24xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%sums : memref<8x24xf32>) outs(%max : memref<8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %m = arith.maximumf %x, %o : f32
      linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %max : memref<8x24xf32>, memref<8xf32>) outs(%y : memref<8x24xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %s = arith.subf %x, %w : f32
      linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>

// Other blocks read a factor while one writes: what replaces it stays behind.
// CHECK-LABEL: func.func @into_factor
// CHECK: call @matmul(%[[SUMS:.*]], %[[A:.*]], %{{.*}}) :
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : {{.*}}) outs(%[[A]] :
func.func @into_factor(%a: memref<16x16xf32>, %b: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<16x16xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<16x16xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x16xf32>, memref<16x16xf32>) outs(%sums : memref<16x16xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<16x16xf32>) outs(%a : memref<16x16xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %x, %o : f32
      linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(b, i, j) -> (b, i, j)>

// The product comes down to what needs an op between, though it is seen as 2 matrices of 4 rows.
// CHECK-LABEL: func.func @seen_otherwise
// CHECK: linalg.generic {{.*}} outs(%[[R:.*]] :
// CHECK: call @matmul(%{{.*}}, %{{.*}}, %[[R]])
// CHECK-NEXT: return
// CHECK: func.func private @matmul(
// CHECK: memref.expand_shape
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<2x4x24xf32>)
func.func @seen_otherwise(%a: memref<8x16xf32>, %b: memref<16x24xf32>, %r: memref<2x4x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x24xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<8x24xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x24xf32>) outs(%sums : memref<8x24xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel", "parallel"]} outs(%r : memref<2x4x24xf32>) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %o : f32
      linalg.yield %s : f32
  }
  %seen = memref.expand_shape %sums [[0, 1], [2]] output_shape [2, 4, 24] : memref<8x24xf32> into memref<2x4x24xf32>
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%seen : memref<2x4x24xf32>) outs(%r : memref<2x4x24xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %x, %o : f32
      linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b)>

// A number for each of the two: along the rows of the product there is no stride.
// CHECK-LABEL: func.func @no_stride
// CHECK: call @matmul(%[[SUMS:.*]], %{{.*}}, %{{.*}}) :
// CHECK: %[[SEEN:.*]] = memref.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[SEEN]], %{{.*}} :
func.func @no_stride(%a: memref<8x16xf32>, %b: memref<16x24xf32>, %w: memref<2xf32>, %r: memref<2x4x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x24xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<8x24xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x24xf32>) outs(%sums : memref<8x24xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  %seen = memref.expand_shape %sums [[0, 1], [2]] output_shape [2, 4, 24] : memref<8x24xf32> into memref<2x4x24xf32>
  linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%seen, %w : memref<2x4x24xf32>, memref<2xf32>) outs(%r : memref<2x4x24xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.mulf %x, %y : f32
      linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What a reduction reads is made in its kernel, from the rounded result, which is in memory anyway.
// CHECK-LABEL: func.func @reduced
// CHECK: call @matmul(%{{.*}}, %{{.*}}, %[[Y:.*]]) :
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : memref<8x24xbf16>) outs(%[[WIDE:.*]] : memref<8x24xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[WIDE]] :
func.func @reduced(%a: memref<8x16xf32>, %b: memref<16x24xf32>, %y: memref<8x24xbf16>, %r: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<8x24xf32>
  %wide = memref.alloc() : memref<8x24xf32>
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%sums : memref<8x24xf32>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x24xf32>) outs(%sums : memref<8x24xf32>) {
    ^bb0(%x: f32, %w: f32, %o: f32):
      %m = arith.mulf %x, %w : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<8x24xf32>) outs(%y : memref<8x24xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %t = arith.truncf %x : f32 to bf16
      linalg.yield %t : bf16
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<8x24xbf16>) outs(%wide : memref<8x24xf32>) {
    ^bb0(%x: bf16, %o: f32):
      %t = arith.extf %x : bf16 to f32
      linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%wide : memref<8x24xf32>) outs(%r : memref<8xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %o, %x : f32
      linalg.yield %s : f32
  }
  return
}
