// RUN: hjx-opt %s --split-input-file --hjx-to-gpu-kernel | FileCheck %s
// RUN: hjx-opt %s --split-input-file --hjx-to-gpu-kernel=chip=sm_90a | FileCheck %s --check-prefix=HOPPER
// RUN: hjx-opt %s --split-input-file --hjx-to-gpu-kernel --hjx-to-gpu-machine --hjx-emit-ptx=chip=sm_80 -o /dev/null | FileCheck %s --check-prefix=PTX
// What the model of a chip chooses (ProductCost.h): tiles, and blocks of each. The sums that
// the blocks of a split product leave for each other count as bytes that it moves.

// CHECK: @device::@matmul_bf16_f32_128x128x32_n8_n8_2_mma blocks in (%c1024{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_128x256x64_n8_n8_2_wgmma blocks in (%c512{{[_,]}}
func.func @main(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_128x128x32_n8_n8_2_mma blocks in (%c192{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_128x256x64_n8_n8_2_wgmma blocks in (%c96{{[_,]}}
func.func @main(%a: tensor<1024x768xbf16>, %b: tensor<768x3072xbf16>) -> tensor<1024x3072xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x3072xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x3072xf32>) -> tensor<1024x3072xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x768xbf16>, tensor<768x3072xbf16>) outs(%f : tensor<1024x3072xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x3072xf32>
  return %p : tensor<1024x3072xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_n8_n8_2_mma blocks in (%c192{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_128x64x64_n8_n8_2_wgmma blocks in (%c96{{[_,]}}
func.func @main(%a: tensor<1024x768xbf16>, %b: tensor<768x768xbf16>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<1024x768xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x768xf32>
  return %p : tensor<1024x768xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_n8_n8_2_mma blocks in (%c192{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_128x64x64_n8_n8_2_wgmma blocks in (%c96{{[_,]}}
func.func @main(%a: tensor<1024x3072xbf16>, %b: tensor<3072x768xbf16>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x3072xbf16>, tensor<3072x768xbf16>) outs(%f : tensor<1024x768xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x768xf32>
  return %p : tensor<1024x768xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_t8_n8_2_mma blocks in (%c144{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_128x64x64_t8_n8_2_wgmma blocks in (%c72{{[_,]}}
func.func @main(%a: tensor<1024x768xbf16>, %b: tensor<1024x768xbf16>) -> tensor<768x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<768x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<768x768xf32>) -> tensor<768x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x768xbf16>, tensor<1024x768xbf16>) outs(%f : tensor<768x768xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<768x768xf32>
  return %p : tensor<768x768xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_128x128x32_t8_n8_2_mma_split blocks in (%c108{{[_,]}}{{.*}} {hjx.product, hjx.traffic = array<i64: 57409536, 9437184>}
// HOPPER: @device::@matmul_bf16_f32_128x128x64_t8_n8_2_wgmma_split blocks in (%c108{{[_,]}}
// Sums, the barrier of the block, and one thread's number between two fences; behind the barrier the last of the blocks goes on.
// PTX: .entry matmul_bf16_f32_128x128x32_t8_n8_2_mma_split
// PTX: st.global.v4.b32
// PTX: bar.sync
// PTX: fence.acq_rel.gpu
// PTX-NEXT: atom.global.inc.u32
// PTX-NEXT: fence.acq_rel.gpu
// PTX: bar.sync
// PTX: ld.global.v4.b32
func.func @main(%a: tensor<16384x768xbf16>, %b: tensor<16384x768xbf16>) -> tensor<768x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<768x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<768x768xf32>) -> tensor<768x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16384x768xbf16>, tensor<16384x768xbf16>) outs(%f : tensor<768x768xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<768x768xf32>
  return %p : tensor<768x768xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_n8_t8_2_raggedm_mma blocks in (%c12{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_64x64x64_n8_t8_2_raggedm_wgmma blocks in (%c12{{[_,]}}
func.func @main(%a: tensor<8x768xbf16>, %b: tensor<768x768xbf16>) -> tensor<8x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x768xf32>) -> tensor<8x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<8x768xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x768xf32>
  return %p : tensor<8x768xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_n8_n8_2_mma_split blocks in (%c32{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_64x64x64_n8_n8_2_wgmma_split blocks in (%c32{{[_,]}}
func.func @main(%a: tensor<64x65536xbf16>, %b: tensor<65536x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x65536xbf16>, tensor<65536x64xbf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// -----

// CHECK: @device::@matmul_bf16_f32_64x64x32_n8_n8_2_mma blocks in (%c1{{[_,]}}
// HOPPER: @device::@matmul_bf16_f32_64x64x64_n8_n8_2_wgmma blocks in (%c1{{[_,]}}
func.func @main(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%x0: bf16, %y0: bf16, %o: f32):
      %x = arith.extf %x0 : bf16 to f32
      %y = arith.extf %y0 : bf16 to f32
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// -----

// CHECK: @device::@matmul_f32_128x64x8_n4_n4_4 blocks in (%c96{{[_,]}}
// HOPPER: @device::@matmul_f32_128x64x8_n4_n4_4 blocks in (%c96{{[_,]}}
func.func @main(%a: tensor<1024x768xf32>, %b: tensor<768x768xf32>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x768xf32>, tensor<768x768xf32>) outs(%f : tensor<1024x768xf32>) {
    ^bb0(%x0: f32, %y0: f32, %o: f32):
      %m = arith.mulf %x0, %y0 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<1024x768xf32>
  return %p : tensor<1024x768xf32>
}

// -----

// CHECK: @device::@matmul_f32_128x64x8_t4_n4_4_split blocks in (%c216{{[_,]}}
// HOPPER: @device::@matmul_f32_128x64x8_t4_n4_4_split blocks in (%c648{{[_,]}}
func.func @main(%a: tensor<8192x768xf32>, %b: tensor<8192x768xf32>) -> tensor<768x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<768x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<768x768xf32>) -> tensor<768x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8192x768xf32>, tensor<8192x768xf32>) outs(%f : tensor<768x768xf32>) {
    ^bb0(%x0: f32, %y0: f32, %o: f32):
      %m = arith.mulf %x0, %y0 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<768x768xf32>
  return %p : tensor<768x768xf32>
}

// -----

// CHECK: @device::@matmul_f32_32x32x16_n4_n4_4_raggedm_split blocks in (%c192{{[_,]}}{{.*}} {hjx.product, hjx.traffic = array<i64: 3170304, 811008>}
// HOPPER: @device::@matmul_f32_32x32x16_n4_n4_4_raggedm_split blocks in (%c240{{[_,]}}
func.func @main(%a: tensor<8x768xf32>, %b: tensor<768x768xf32>) -> tensor<8x768xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x768xf32>) -> tensor<8x768xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x768xf32>, tensor<768x768xf32>) outs(%f : tensor<8x768xf32>) {
    ^bb0(%x0: f32, %y0: f32, %o: f32):
      %m = arith.mulf %x0, %y0 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x768xf32>
  return %p : tensor<8x768xf32>
}

// -----

// CHECK: @device::@matmul_f32_32x32x16_n4_n4_4_raggedmnk blocks in (%c1{{[_,]}}
// HOPPER: @device::@matmul_f32_32x32x16_n4_n4_4_raggedmnk blocks in (%c1{{[_,]}}
func.func @main(%a: tensor<24x24xf32>, %b: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x24xf32>) -> tensor<24x24xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<24x24xf32>, tensor<24x24xf32>) outs(%f : tensor<24x24xf32>) {
    ^bb0(%x0: f32, %y0: f32, %o: f32):
      %m = arith.mulf %x0, %y0 : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<24x24xf32>
  return %p : tensor<24x24xf32>
}
