// RUN: hjx-opt %s --hjx-generate-kernels --split-input-file | FileCheck %s
// Vector loops: elementwise with a remainder in powers of two, row and column sums, gathers.

#id = affine_map<(i) -> (i)>

// 45 = 32 + 8 + 4 + 1
// CHECK-LABEL: func.func @main
// CHECK: call @exp(%{{.*}}, %{{.*}}, %c0, %c1)
// CHECK-NOT: hjx.grain
// CHECK-LABEL: func.func private @exp
// CHECK-SAME: memref<45xf32>, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: math.exp %{{.*}} : vector<32xf32>
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: math.exp %{{.*}} : vector<4xf32>
// CHECK: math.exp %{{.*}} : f32
func.func @main(%x: memref<45xf32>, %y: memref<45xf32>) {
  call @exp(%x, %y) : (memref<45xf32>, memref<45xf32>) -> ()
  return
}
func.func private @exp(%x: memref<45xf32>, %y: memref<45xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<45xf32>) outs(%y : memref<45xf32>) {
  ^bb0(%v: f32, %o: f32):
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Rows are units; 32 partial sums and a tree. Big enough to run in parallel.
// CHECK-LABEL: func.func @main
// CHECK: call @sum(%{{.*}}, %c0, %c1024) {hjx.grain = {{[0-9]+}} : i64}
// CHECK-LABEL: func.func private @sum
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: vector.shuffle %[[SUMS]], %[[SUMS]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: memref.store
func.func @main(%x: memref<1024x768xf32>, %y: memref<1024xf32>) {
  call @sum(%x, %y) : (memref<1024x768xf32>, memref<1024xf32>) -> ()
  return
}
func.func private @sum(%x: memref<1024x768xf32>, %y: memref<1024xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1024x768xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// Column sums stay in registers while the rows go by.
// CHECK-LABEL: func.func private @sum
// CHECK: %[[OLD:.*]] = vector.load {{.*}} vector<64xf32>
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args({{.*}} = %[[OLD]]) -> (vector<64xf32>)
// CHECK: vector.store %[[SUMS]]
func.func private @sum(%x: memref<8x128xf32>, %y: memref<128xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : memref<8x128xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#ids = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// Rows of a table: the row number is uniform, the row itself one vector load.
// CHECK-LABEL: func.func private @lookup
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for
// CHECK: vector.load %{{.*}} vector<32xf32>
// CHECK-NOT: vector.from_elements
func.func private @lookup(%table: memref<7x64xf32>, %ids: memref<5xi32>, %y: memref<5x64xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [#ids, #id], iterator_types = ["parallel", "parallel"]} ins(%ids : memref<5xi32>) outs(%y : memref<5x64xf32>) {
  ^bb0(%n: i32, %o: f32):
    %i = arith.index_cast %n : i32 to index
    %j = linalg.index 1 : index
    %v = memref.load %table[%i, %j] : memref<7x64xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

#id2 = affine_map<(i, j) -> (i, j)>

// A group: one loop over rows, and a row of the buffer between its ops.
// CHECK-LABEL: func.func private @rows
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<32xf32>
// CHECK-NOT: memref<8x32xf32>
// CHECK: scf.for
// CHECK: math.exp
// CHECK: arith.addf
func.func private @rows(%z: memref<8x32xf32>, %w: memref<8x32xf32>) attributes {hjx.kernel, hjx.rows = 8 : i64} {
  %t = memref.alloca() : memref<8x32xf32>
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%z : memref<8x32xf32>) outs(%t : memref<8x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = math.exp %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%z, %t : memref<8x32xf32>, memref<8x32xf32>) outs(%w : memref<8x32xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %d = arith.addf %v, %u : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A maximum looks for NaN on the side; the index of the vector loop is one vector of the width asked for.
// CHECK-LABEL: func.func private @max
// CHECK: scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}, %[[NAN:.*]] = %{{.*}}) -> (vector<32xf32>, vector<16xi32>)
// CHECK: %[[STEP:.*]] = vector.broadcast %{{.*}} : i32 to vector<32xi32>
// CHECK: arith.addi %[[STEP]], %{{.*}} : vector<32xi32>
// CHECK: %[[X:.*]] = arith.select %{{.*}} : vector<32xi1>, vector<32xf32>
// CHECK-NOT: arith.maximumf
// CHECK: %[[ISNAN:.*]] = arith.cmpf uno, %{{.*}} : vector<16xf32>
// CHECK: %[[WORD:.*]] = arith.extsi %[[ISNAN]] : vector<16xi1> to vector<16xi32>
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[BEST]], %[[X]]
// CHECK: %[[NEXT:.*]] = arith.select %[[LARGER]], %[[BEST]], %[[X]]
// CHECK: %[[NEXTNAN:.*]] = arith.ori %[[NAN]], %[[WORD]]
// CHECK: scf.yield %[[NEXT]], %[[NEXTNAN]]
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<16xi32> into i32
// CHECK: %[[HASNAN:.*]] = arith.cmpi ne, %[[ANY]]
// CHECK: arith.select %[[HASNAN]], %{{.*}} : f32
func.func private @max(%x: memref<64x128xf32>, %y: memref<64xf32>) attributes {hjx.kernel} {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x128xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %row = arith.index_cast %i : index to i32
    %j = linalg.index 1 : index
    %column = arith.index_cast %j : index to i32
    %seen = arith.cmpi sle, %column, %row : i32
    %w = arith.select %seen, %v, %low : f32
    %m = arith.maximumf %o, %w : f32
    linalg.yield %m : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sweep: one loop for its ops, and one set of remainders (77 = 2 * 32 + 8 + 4 + 1). The sum takes the
// exponential from its register.
// CHECK-LABEL: func.func private @sweep
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[E:.*]] = math.exp %{{.*}} : vector<32xf32>
// CHECK: vector.store %[[E]]
// CHECK-NOT: vector.load
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[E]] : vector<32xf32>
// CHECK: scf.yield %[[SUM]]
// CHECK: %[[E8:.*]] = math.exp %{{.*}} : vector<8xf32>
// CHECK: vector.shuffle %[[E8]], %[[E8]]
// CHECK: math.exp %{{.*}} : vector<4xf32>
// CHECK: math.exp %{{.*}} : f32
// CHECK-NOT: scf.for
func.func private @sweep(%x: memref<64x77xf32>, %e: memref<64x77xf32>, %sum: memref<64xf32>) attributes {hjx.kernel, hjx.rows = 64 : i64} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x77xf32>) outs(%e : memref<64x77xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : memref<64x77xf32>) outs(%sum : memref<64xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Behind the diagonal the mask hides all: two loops, and in the second the condition is known. It
// begins at the first whole step behind the bound, which may be anything.
// CHECK-LABEL: func.func private @causal
// CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[BOUND:.*]] = arith.index_cast %[[ROW]] : i32 to index
// CHECK: %[[SMALL:.*]] = arith.minsi %[[BOUND]], %c128{{.*}}
// CHECK: %[[FROM:.*]] = arith.addi %[[SMALL]], %c1{{.*}}
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[FROM]], %c0{{.*}}
// CHECK: %[[UP:.*]] = arith.addi %[[CLAMPED]], %c31{{.*}}
// CHECK: %[[STEP:.*]] = arith.andi %[[UP]], %c-32{{.*}}
// CHECK: %[[MIDDLE:.*]] = arith.minsi %[[STEP]], %c128{{.*}}
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[MIDDLE]]
// CHECK: %[[MASK:.*]] = arith.cmpi sle, {{.*}} : vector<32xi32>
// CHECK: arith.select %[[MASK]],
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %c128
// CHECK-NOT: arith.cmpi
// CHECK: %[[KNOWN:.*]] = arith.constant dense<false> : vector<32xi1>
// CHECK: arith.select %[[KNOWN]],
func.func private @causal(%x: memref<64x128xf32>, %y: memref<64x128xf32>) attributes {hjx.kernel} {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x128xf32>) outs(%y : memref<64x128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %row = arith.index_cast %i : index to i32
    %j = linalg.index 1 : index
    %column = arith.index_cast %j : index to i32
    %seen = arith.cmpi sle, %column, %row : i32
    %w = arith.select %seen, %v, %low : f32
    %e = math.exp %w : f32
    linalg.yield %e : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// There is as much to do on one side of the diagonal as on the other: one loop.
// CHECK-LABEL: func.func private @two_sides
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
func.func private @two_sides(%x: memref<64x128xf32>, %z: memref<64x128xf32>, %y: memref<64x128xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %z : memref<64x128xf32>, memref<64x128xf32>) outs(%y : memref<64x128xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seen = arith.cmpi sle, %j, %i : index
    %w = arith.select %seen, %v, %u : f32
    linalg.yield %w : f32
  }
  return
}
