// RUN: hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a | FileCheck %s
// RUN: hjx-opt %s --hjx-to-gpu-kernel=chip=sm_90a --hjx-to-gpu-machine --hjx-emit-ptx=chip=sm_90a -o /dev/null | FileCheck %s --check-prefix=PTX
// Both gradients of a layer, products by warp groups with other layouts, are one launch: it has four tensor maps, and a
// block initializes the barriers of its own product only, in the same place. They end alike, and yet each waits for its
// own sums: ptxas knows no two wgmma apart where the sums of two loops have met.

// CHECK: gpu.launch_func @device::@[[KERNEL:matmul_bf16_f32_64x64x64_n8_t8_2_wgmma_etc_x2]] blocks in (%c14{{.*}}) threads in (%c256
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @[[KERNEL]](
// CHECK-COUNT-4: hjx.tensor_map
// CHECK: scf.if
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: // end of part 0
// CHECK: } else {
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: // end of part 1

// PTX: .entry matmul_bf16_f32_64x64x64_n8_t8_2_wgmma_etc_x2(
// PTX-COUNT-4: .param .align 64 .b8 {{.*}}[128]
// PTX: .reqntid 256
// PTX-COUNT-2: wgmma.wait_group.sync.aligned{{.*}}1;
// PTX-COUNT-2: wgmma.wait_group.sync.aligned{{.*}}0;
#mk = affine_map<(i, j, k) -> (i, k)>
#km = affine_map<(i, j, k) -> (k, i)>
#nk = affine_map<(i, j, k) -> (j, k)>
#kn = affine_map<(i, j, k) -> (k, j)>
#mn = affine_map<(i, j, k) -> (i, j)>
func.func @main(%dy: tensor<256x192xbf16>, %w: tensor<128x192xbf16>, %x: tensor<256x128xbf16>) -> (tensor<256x128xf32>, tensor<128x192xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<256x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<256x128xf32>) -> tensor<256x128xf32>
  %dx = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %w : tensor<256x192xbf16>, tensor<128x192xbf16>) outs(%f0 : tensor<256x128xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x1 = arith.extf %x0 : bf16 to f32
      %y1 = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x1, %y1 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<256x128xf32>
  %e1 = tensor.empty() : tensor<128x192xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128x192xf32>) -> tensor<128x192xf32>
  %dw = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : tensor<256x128xbf16>, tensor<256x192xbf16>) outs(%f1 : tensor<128x192xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x1 = arith.extf %x0 : bf16 to f32
      %y1 = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x1, %y1 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<128x192xf32>
  return %dx, %dw : tensor<256x128xf32>, tensor<128x192xf32>
}
