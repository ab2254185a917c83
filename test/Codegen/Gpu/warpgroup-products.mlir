// RUN: hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a | FileCheck %s
// RUN: hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a --hjx-to-gpu-machine | FileCheck %s --check-prefix=MACHINE
// RUN: hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a --hjx-to-gpu-machine --hjx-emit-ptx=chip=sm_90a -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: not hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a --hjx-to-gpu-machine --hjx-emit-ptx=chip=sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s --check-prefix=OLDER
// A product by warp groups: B is stored n x k, A k x m. The batch is an axis of both tensor maps; B has
// the same matrix for all of it. Older chips, and chips that are named without the "a", have mma.sync.

#lhs = affine_map<(b, i, j, k) -> (b, k, i)>
#rhs = affine_map<(b, i, j, k) -> (j, k)>
#out = affine_map<(b, i, j, k) -> (b, i, j)>

// The maps are made of views with the sizes and strides of the factors.
// CHECK: %[[A:.*]] = memref.reinterpret_cast {{.*}} sizes: [3, 176, 80], strides: [14080, 80, 1]
// CHECK: %[[MAPA:.*]] = memref.cast %[[A]] : {{.*}} to memref<?x?x?xbf16, strided<[?, ?, 1], offset: ?>>
// CHECK: %[[B:.*]] = memref.reinterpret_cast {{.*}} sizes: [1, 48, 176], strides: [176, 176, 1]
// CHECK: %[[MAPB:.*]] = memref.cast %[[B]]
// CHECK: gpu.launch_func @device::@matmul_bf16_f32_64x64x64_t8_t8_2_ragged{{.*}}_batch1_wgmma blocks in (%c6{{.*}}) threads in (%c256
// CHECK-SAME: args(%[[MAPA]] : {{.*}}, %[[MAPB]] :
// CHECK: gpu.module @device [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: gpu.func @matmul_bf16_f32_64x64x64_t8_t8_2_ragged{{.*}}_wgmma(
// CHECK-SAME: {hjx.tensor_map = {box = array<i64: 1, 64, 64>, element = bf16}, llvm.readonly}
// CHECK-SAME: {hjx.tensor_map = {box = array<i64: 1, 64, 64>, element = bf16}, llvm.readonly}
// CHECK-SAME: workgroup(%{{.*}} : memref<32768xi8, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// One thread copies, a box of A (64 of its rows' 128 bytes are along m) and one of B.
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: } else {
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <col>], B[<bf16>, <one>, <col>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0

// MACHINE: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// MACHINE-COUNT-2: llvm.call @hjx_rt_tensor_map(
// MACHINE: llvm.call @hjx_rt_launch(
// MACHINE: llvm.func @matmul_bf16{{.*}}(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, llvm.readonly, nvvm.grid_constant}

// PTX: .target sm_90a
// PTX: .param .align 64 .b8 matmul_bf16{{.*}}_param_0[128]
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16

// CHIP: error: ptx: expected chip sm_90a, for which the kernels were generated, got 'sm_80'

// OLDER: @device::@matmul_bf16_f32_64x64x32_t8_t8_2_ragged{{.*}}_batch1_mma
// OLDER: gpu.module @device [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
func.func @main(%a: tensor<3x176x80xbf16>, %b: tensor<48x176xbf16>) -> tensor<3x80x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x80x48xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x80x48xf32>) -> tensor<3x80x48xf32>
  %p = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x176x80xbf16>, tensor<48x176xbf16>) outs(%fill : tensor<3x80x48xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<3x80x48xf32>
  return %p : tensor<3x80x48xf32>
}
