// RUN: hjx-opt %s --hjx-generate-gpu-kernels | FileCheck %s
// RUN: sed 's/64x64 split 3/7x7/' %s | not hjx-opt --hjx-generate-gpu-kernels 2>&1 | FileCheck %s --check-prefix=ERROR
// A function says what the kernel of its product is, in place of the model of the chip; the other call keeps the model's.

// CHECK: gpu.launch_func @device::@matmul_f32_64x64x16_n4_n4_4_ragged{{[mn]*}}_addf_split blocks in (%c3{{[_,]}}
// CHECK: gpu.launch_func @device::@matmul_f32_32x32x16_n4_n4_4_ragged{{[mn]*}}_addf_split blocks in
// ERROR: 'func.func' op attribute 'hjx.product_schedule': expected one of 32x32{{.*}}, 64x64{{.*}}, got "7x7"
func.func @main(%a: memref<32x1024xf32>, %b: memref<1024x48xf32>, %c: memref<32x48xf32>, %d: memref<32x48xf32>) {
  call @told(%a, %b, %c) : (memref<32x1024xf32>, memref<1024x48xf32>, memref<32x48xf32>) -> ()
  call @free(%a, %b, %d) : (memref<32x1024xf32>, memref<1024x48xf32>, memref<32x48xf32>) -> ()
  return
}
func.func private @told(%a: memref<32x1024xf32>, %b: memref<1024x48xf32>, %c: memref<32x48xf32>)
    attributes {hjx.kernel, hjx.product_schedule = "64x64 split 3"} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x1024xf32>, memref<1024x48xf32>) outs(%c : memref<32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  return
}
func.func private @free(%a: memref<32x1024xf32>, %b: memref<1024x48xf32>, %c: memref<32x48xf32>) attributes {hjx.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x1024xf32>, memref<1024x48xf32>) outs(%c : memref<32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  }
  return
}
