// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s
// Quantized weights: the kernel of the product reads four bytes at a time, which are floats from shared
// memory on, and multiplies the sums by the scales.

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhsT = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: func.func @main
// CHECK: gpu.launch_func @device::@matmul_f32_128x128x16_n4_t4i8_2_mma_tf32_mulf blocks {{.*}}: memref<?xi8,
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @matmul_f32_128x128x16_n4_t4i8_2_mma_tf32_mulf(%{{.*}}: memref<?xf32, {{.*}}: memref<?xi8,
// CHECK: vector.load %{{.*}} : memref<?xi8, strided<[1], offset: ?>>, vector<4xi8>
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : vector<4xi8> to vector<4xf32>
// CHECK: llvm.store %[[F]], %{{.*}} : vector<4xf32>, !llvm.ptr<3>
module attributes {hjx.matmul_precision = "tf32"} {
  func.func @main(%x: tensor<4096x768xf32>, %q: tensor<768x768xi8>, %scales: tensor<768xf32>) -> tensor<4096x768xf32> {
    %zero = arith.constant 0.0 : f32
    %ew = tensor.empty() : tensor<768x768xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%q : tensor<768x768xi8>) outs(%ew : tensor<768x768xf32>) {
      ^bb0(%byte: i8, %o: f32):
        %f = arith.sitofp %byte : i8 to f32
        linalg.yield %f : f32
    } -> tensor<768x768xf32>
    %empty = tensor.empty() : tensor<4096x768xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %p = linalg.generic {indexing_maps = [#lhs, #rhsT, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4096x768xf32>, tensor<768x768xf32>) outs(%fill : tensor<4096x768xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
    } -> tensor<4096x768xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%p, %scales : tensor<4096x768xf32>, tensor<768xf32>) outs(%empty : tensor<4096x768xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %m = arith.mulf %a, %b : f32
        linalg.yield %m : f32
    } -> tensor<4096x768xf32>
    return %y : tensor<4096x768xf32>
  }
}
