// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s
// A product is a launch of a kernel of its configuration; the fill before it becomes C = A * B.

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#rhsT = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: func.func @main
// CHECK-NOT: @device::@fill
// CHECK: gpu.launch_func @device::@matmul_f32_128x64x8_n4_n4_4 blocks in (%c512{{.*}} threads in (%c128
// CHECK-SAME: args(%{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// Nothing can be said about ragged, unaligned rows: single elements, and C += A * B.
// CHECK: gpu.launch_func @device::@matmul_f32_32x32x16_n1_t1_1_raggedmnk_addf blocks in (%c4{{.*}} threads in (%c64
func.func @main(%a: tensor<2048x512xf32>, %b: tensor<512x2048xf32>,
                %c: tensor<33x17xf32>, %d: tensor<45x17xf32>, %e: tensor<33x45xf32> {hjx.alias = 1 : i64})
    -> (tensor<2048x2048xf32>, tensor<33x45xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2048x2048xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2048x512xf32>, tensor<512x2048xf32>) outs(%fill : tensor<2048x2048xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<2048x2048xf32>
  %q = linalg.generic {indexing_maps = [#lhs, #rhsT, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c, %d : tensor<33x17xf32>, tensor<45x17xf32>) outs(%e : tensor<33x45xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<33x45xf32>
  return %p, %q : tensor<2048x2048xf32>, tensor<33x45xf32>
}

// 64 accumulators a thread, as vectors; the loop multiplies one half of shared memory while it
// fills the other.
// CHECK-LABEL: gpu.func @matmul_f32_128x64x8_n4_n4_4(
// CHECK-SAME: workgroup(%{{.*}} : memref<2112xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<1088xf32
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32, strided<[1], offset: ?>>, vector<4xf32>
// CHECK-COUNT-128: math.fma
// CHECK: gpu.barrier
// CHECK: vector.store

// CHECK-LABEL: gpu.func @matmul_f32_32x32x16_n1_t1_1_raggedmnk_addf(
// CHECK: arith.select
// CHECK: memref.load
