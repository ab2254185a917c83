// RUN: hjx-opt %s --pass-pipeline="builtin.module(func.func(hjx-join-sweeps))" --split-input-file | FileCheck %s
// Ops of a group that walk along the row in the same steps share a loop; twins that may not do not.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>

// The sum joins the exponential, past its own fill, which goes up; the quotient needs the whole sum.
// CHECK-LABEL: func.func @shares
// CHECK-SAME: %[[X:.*]]: memref<64x32xf32>, %[[Y:.*]]: memref<64x32xf32>
// CHECK: %[[E:.*]] = memref.alloc() : memref<64x32xf32>
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<64xf32>
// CHECK: linalg.generic {{.*}} outs(%[[SUM]]
// CHECK-NOT: hjx.sweep
// CHECK: linalg.yield
// CHECK: linalg.generic {{.*}} ins(%[[X]] {{.*}} outs(%[[E]] {{.*}}hjx.sweep = 0 : i64
// CHECK: linalg.generic {{.*}} ins(%[[E]] {{.*}} outs(%[[SUM]] {{.*}}hjx.sweep = 0 : i64
// CHECK: linalg.generic {{.*}} outs(%[[Y]]
// CHECK-NOT: hjx.sweep
func.func @shares(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<64x32xf32>
  %sum = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%e : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#s, #vec], iterator_types = ["parallel"]} ins(%zero : f32) outs(%sum : memref<64xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : memref<64x32xf32>) outs(%sum : memref<64xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %sum : memref<64x32xf32>, memref<64xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %r = arith.divf %v, %w : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (i, -j + 31)>

// What the second op reads, the first has written in another step.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: hjx.sweep
func.func @reversed(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %e = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%e : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%e : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Nothing that one op touches is of use to the other: a loop for each leaves more registers.
// CHECK-LABEL: func.func @strangers
// CHECK-NOT: hjx.sweep
func.func @strangers(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %z: memref<64x32xf32>, %w: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : memref<64x32xf32>) outs(%w : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Three sums of one buffer: two fit into AVX2's registers.
// CHECK-LABEL: func.func @three_sums
// CHECK-COUNT-2: hjx.sweep = 0 : i64
// CHECK-NOT: hjx.sweep
func.func @three_sums(%x: memref<64x32xf32>, %a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x32xf32>) outs(%a : memref<64xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x32xf32>) outs(%b : memref<64xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %s = arith.mulf %v, %v : f32
    %r = arith.addf %s, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x32xf32>) outs(%c : memref<64xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.mulf %v, %o : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The same memory under two names: which of them a step has written is not looked into.
// CHECK-LABEL: func.func @two_views
// CHECK-NOT: hjx.sweep
func.func @two_views(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %e = memref.alloc() : memref<2x32x32xf32>
  %f = memref.collapse_shape %e [[0, 1], [2]] : memref<2x32x32xf32> into memref<64x32xf32>
  %g = memref.collapse_shape %e [[0, 1], [2]] : memref<2x32x32xf32> into memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%f : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Numbers count within a group, so that equal groups become one kernel.
// CHECK-LABEL: func.func @two_groups
// CHECK-COUNT-4: hjx.sweep = 0 : i64
func.func @two_groups(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %z: memref<64x32xf32>, %w: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : memref<64x32xf32>) outs(%z : memref<64x32xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.negf %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 1 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : memref<64x32xf32>) outs(%w : memref<64x32xf32>) attrs = {hjx.group = 1 : i64, hjx.rows = 64 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.negf %v : f32
    linalg.yield %r : f32
  }
  return
}
