// RUN: hjx-opt %s --hjx-to-gpu-kernel --split-input-file | FileCheck %s
// Ops that share rows: a block per long row with barriers between ops and rows in shared memory;
// without reductions, a thread per vector and no barrier.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @main(%arg0: memref<64x500xf32>
// CHECK: gpu.launch_func @device::@rows_mulf blocks
// CHECK: gpu.func @rows_mulf({{.*}}workgroup(
// CHECK-SAME: memref<500xf32, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK: math.exp
// CHECK: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: arith.mulf
func.func @main(%x: tensor<64x500xf32>) -> tensor<64x500xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x500xf32>
  %exp = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x500xf32>) outs(%e : tensor<64x500xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<64x500xf32>
  %f = tensor.empty() : tensor<64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x500xf32>) outs(%fill : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x500xf32>, tensor<64xf32>) outs(%e : tensor<64x500xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<64x500xf32>
  return %r : tensor<64x500xf32>
}

// -----

#i = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @main(%arg0: memref<6400xf32>
// CHECK: gpu.func @rows_addf({{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK-NOT: gpu.barrier
// CHECK: vector.store
// CHECK: vector.store
func.func @main(%x: tensor<6400xf32>, %y: tensor<6400xf32>) -> (tensor<6400xf32>, tensor<6400xf32>) {
  %e = tensor.empty() : tensor<6400xf32>
  %sqrt = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<6400xf32>, tensor<6400xf32>) outs(%e : tensor<6400xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.divf %a, %b : f32
      %s = math.sqrt %d : f32
      linalg.yield %s : f32
  } -> tensor<6400xf32>
  %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
      ins(%sqrt, %y : tensor<6400xf32>, tensor<6400xf32>) outs(%e : tensor<6400xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<6400xf32>
  return %sqrt, %r : tensor<6400xf32>, tensor<6400xf32>
}
