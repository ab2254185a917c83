// RUN: hjx-opt %s --hjx-to-gpu-kernel --split-input-file | FileCheck %s
// Reductions join in a fixed tree: shuffles along rows, shared memory across columns, and two
// kernels where there are few results.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Rows: 32 neighbouring threads share a row, each takes 4 elements at a time.
// CHECK-LABEL: func.func @main(%arg0: memref<5000x512xf32>
// CHECK: gpu.launch_func @device::@reduce_addf blocks
// CHECK: gpu.func @reduce_addf({{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 625, 1, 1>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<4xf32>)
// CHECK: vector.shuffle
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.if
// CHECK: memref.store
func.func @main(%x: tensor<5000x512xf32>, %y: tensor<5000xf32> {hjx.alias = 0 : i64}) -> tensor<5000xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5000x512xf32>) outs(%y : tensor<5000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<5000xf32>
  return %r : tensor<5000xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Columns: neighbouring threads have neighbouring columns; stripes of rows meet in shared memory.
// CHECK-LABEL: func.func @main(%arg0: memref<100x3000xf32>
// CHECK: gpu.func @reduce_maximumf({{.*}}workgroup(%[[SHARED:.*]] : memref<{{.*}}xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
func.func @main(%x: tensor<100x3000xf32>, %y: tensor<3000xf32> {hjx.alias = 0 : i64}) -> tensor<3000xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<100x3000xf32>) outs(%y : tensor<3000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.maximumf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<3000xf32>
  return %r : tensor<3000xf32>
}

// -----

#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// One result of a million terms: blocks leave partial sums, a second kernel adds them.
// CHECK-LABEL: func.func @main(%arg0: memref<1000000xf32>
// CHECK: %[[PARTIALS:.*]] = memref.view %{{.*}} to memref<16xf32>
// CHECK: gpu.launch_func @device::@reduce_mulf_addf blocks {{.*}} args({{.*}}, %[[PARTIALS]] : memref<16xf32>)
// CHECK: gpu.launch_func @device::@reduce_mulf_addf_join blocks {{.*}} args(%[[PARTIALS]] : memref<16xf32>
func.func @main(%x: tensor<1000000xf32>, %y: tensor<f32> {hjx.alias = 0 : i64}) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<1000000xf32>) outs(%y : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %s = arith.addf %o, %q : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
