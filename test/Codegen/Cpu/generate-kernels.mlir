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
