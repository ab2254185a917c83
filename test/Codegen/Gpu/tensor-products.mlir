// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s
// RUN: hjx-opt %s --hjx-to-gpu-kernel --hjx-to-gpu-machine | FileCheck %s --check-prefix=MACHINE
// RUN: hjx-opt %s --hjx-to-gpu-kernel --hjx-to-gpu-machine | FileCheck %s --check-prefix=SAID
// A product on tensor cores: a ring of three tiles, copied while others are multiplied. What f32
// adds to it does not ask for them.

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhsT = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// CHECK: gpu.launch_func @device::@matmul_bf16_f32_128x128x32_n8_t8_2_mma blocks in (%c128{{.*}} threads in (%c128
// CHECK: gpu.launch_func @device::@matmul_f32_128x64x8_
// More shared memory than a kernel may declare is said where it is launched: two rings of three
// tiles, 128 rows of 64 bytes and 16 of padding.
// MACHINE: %[[BYTES:.*]] = llvm.mlir.constant(61440 : i32) : i32
// MACHINE: llvm.call @hjx_rt_launch({{.*}}, %[[BYTES]], %{{.*}}) : (
// MACHINE: llvm.mlir.global external @hjx_dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// SAID: llvm.func @matmul_bf16_f32_128x128x32_n8_t8_2_mma({{.*}} attributes {{{.*}}hjx.dynamic_shared = 61440 : i64
func.func @main(%a: tensor<1024x512xbf16>, %b: tensor<2048x512xbf16>, %c: tensor<1024x512xf32>, %d: tensor<2048x512xf32>)
    -> tensor<1024x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x2048xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %p = linalg.generic {indexing_maps = [#lhs, #rhsT, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x512xbf16>, tensor<2048x512xbf16>) outs(%fill : tensor<1024x2048xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x2048xf32>
  %q = linalg.generic {indexing_maps = [#lhs, #rhsT, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c, %d : tensor<1024x512xf32>, tensor<2048x512xf32>) outs(%p : tensor<1024x2048xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x2048xf32>
  return %q : tensor<1024x2048xf32>
}

// Two tiles are asked for before the loop: four copies of 16 bytes of A and of B each.
// CHECK-LABEL: gpu.func @matmul_bf16_f32_128x128x32_n8_t8_2_mma(
// CHECK-SAME: workgroup(%{{.*}} : memref<30720xi8, #gpu.address_space<workgroup>>, %{{.*}} : memref<30720xi8
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-8: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK-COUNT-8: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-8: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: vector.store {{.*}} {alignment = 8 : i64}
