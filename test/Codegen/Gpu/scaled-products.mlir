// RUN: hjx-opt %s --hjx-to-gpu-kernel | FileCheck %s
// Quantized weights with groups: one launch, of a kernel that multiplies the numbers by their scales on the way into
// shared memory. Scales of a vector of columns are a vector; k = 768 is one axis although its groups are two in the text.

// CHECK-LABEL: func.func @main
// CHECK: gpu.launch_func @device::@matmul_f32_128x128x16_n4_n4i8_2_scaled1x32v_mma_tf32 blocks {{.*}}: memref<?xi8, {{.*}}: memref<?xf32, {{.*}}: memref<?xf32,
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @matmul_f32_128x128x16_n4_n4i8_2_scaled1x32v_mma_tf32(%{{.*}}: memref<?xf32, {{.*}}: memref<?xi8, {{.*}} %[[SCALES:.*]]: memref<?xf32, strided<[1], offset: ?>> {llvm.noalias, llvm.readonly}, %{{.*}}: memref<?xf32, strided<[1], offset: ?>> {llvm.noalias}
// CHECK: vector.load %{{.*}} : memref<?xi8, strided<[1], offset: ?>>, vector<4xi8>
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : vector<4xi8> to vector<4xf32>
// CHECK: %[[S:.*]] = vector.load %[[SCALES]]{{.*}} : memref<?xf32, strided<[1], offset: ?>>, vector<4xf32>
// CHECK: %[[T:.*]] = arith.select %{{.*}}, %[[S]], %{{.*}} : vector<4xf32>
// CHECK: %[[W:.*]] = arith.mulf %[[F]], %[[T]] : vector<4xf32>
// CHECK: llvm.store %[[W]], %{{.*}} : vector<4xf32>, !llvm.ptr<3>
module attributes {hjx.matmul_precision = "tf32"} {
  func.func @main(%x: tensor<4096x24x32xf32>, %q: tensor<24x32x768xi8>, %scales: tensor<24x768xf32>) -> tensor<4096x768xf32> {
    %zero = arith.constant 0.0 : f32
    %ew = tensor.empty() : tensor<24x32x768xf32>
    %w = linalg.generic {indexing_maps = [affine_map<(g, k, j) -> (g, k, j)>, affine_map<(g, k, j) -> (g, j)>, affine_map<(g, k, j) -> (g, k, j)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%q, %scales : tensor<24x32x768xi8>, tensor<24x768xf32>) outs(%ew : tensor<24x32x768xf32>) {
      ^bb0(%byte: i8, %scale: f32, %o: f32):
        %f = arith.sitofp %byte : i8 to f32
        %m = arith.mulf %f, %scale : f32
        linalg.yield %m : f32
    } -> tensor<24x32x768xf32>
    %empty = tensor.empty() : tensor<4096x768xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x768xf32>) -> tensor<4096x768xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(i, j, g, k) -> (i, g, k)>, affine_map<(i, j, g, k) -> (g, k, j)>, affine_map<(i, j, g, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<4096x24x32xf32>, tensor<24x32x768xf32>) outs(%fill : tensor<4096x768xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
    } -> tensor<4096x768xf32>
    return %p : tensor<4096x768xf32>
  }
}
