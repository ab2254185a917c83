// RUN: hjx-opt %s --hjx-outline-products=num-threads=2 --split-input-file | FileCheck %s
// Products become calls with strides; a fill with zeros before one goes away.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#o = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#s = affine_map<(i, j) -> ()>

// CHECK-LABEL: func.func @main
// CHECK-NOT: linalg.generic
// CHECK: %[[WORK:.*]] = memref.alloc()
// CHECK: call @matmul_8x24x16(%arg0, %arg1, %arg2, %[[WORK]])
// CHECK: func.func private @matmul_8x24x16(%{{.*}}: memref<8x16xf32> {llvm.readonly}, %{{.*}}: memref<24x16xf32> {llvm.readonly}
// CHECK: %[[ADDS:.*]] = arith.constant false
// CHECK: call @hjx_gemm_f32{{.*}}%[[ADDS]]
func.func @main(%x: memref<8x16xf32>, %y: memref<24x16xf32>, %z: memref<8x24xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#s, #id], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%z : memref<8x24xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : memref<8x16xf32>, memref<24x16xf32>) outs(%z : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>

// Two equal products share a function; without a fill it adds.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: call @matmul_8x24x16
// CHECK: func.func private @matmul_8x24x16
// CHECK: arith.constant true
// CHECK-NOT: func.func private @matmul
func.func @main(%x: memref<8x16xf32>, %y: memref<16x24xf32>, %z: memref<8x24xf32>, %w: memref<8x24xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : memref<8x16xf32>, memref<16x24xf32>) outs(%z : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : memref<8x16xf32>, memref<16x24xf32>) outs(%w : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, k) -> (m, k)>
#b = affine_map<(m, k) -> (k)>
#o = affine_map<(m, k) -> (m)>

// A matrix and a vector: loops do as well.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK-NOT: call
func.func @main(%x: memref<8x16xf32>, %y: memref<16xf32>, %z: memref<8xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "reduction"]} ins(%x, %y : memref<8x16xf32>, memref<16xf32>) outs(%z : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#o = affine_map<(m, n, k) -> (m, n)>

// A factor of whole numbers in bytes, here in their low halves, is widened by the kernel.
// CHECK-LABEL: func.func @packed
// CHECK: call @matmul_8x24x16(%arg0, %arg1, %arg2
// CHECK: call @hjx_gemm_f32_f32_f32_b4low_v
func.func @packed(%x: memref<8x16xf32>, %y: memref<24x16xi8>, %z: memref<8x24xf32>) {
  %four = arith.constant 4 : i8
  linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : memref<8x16xf32>, memref<24x16xi8>) outs(%z : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: i8, %c: f32):
    %high = arith.shli %b, %four : i8
    %low = arith.shrsi %high, %four : i8
    %wide = arith.sitofp %low : i8 to f32
    %p = arith.mulf %a, %wide : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, g, k) -> (m, g, k)>
#b = affine_map<(m, n, g, k) -> (n, g, k)>
#s = affine_map<(m, n, g, k) -> (n, g)>
#o = affine_map<(m, n, g, k) -> (m, n)>

// Bytes whose scales are those of groups along k: one product of 16 terms, as if there were no groups.
// CHECK-LABEL: func.func @scaled
// CHECK: call @matmul_8x24x16(%arg0, %arg1, %arg3, %{{.*}}, %arg2)
// CHECK: func.func private @matmul_8x24x16({{.*}}memref<24x2xf32> {llvm.readonly})
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: call @hjx_gemm_f32_f32_f32_b8_scaled_b_v
func.func @scaled(%x: memref<8x2x8xf32>, %y: memref<24x2x8xi8>, %scales: memref<24x2xf32>, %z: memref<8x24xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #s, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %y, %scales : memref<8x2x8xf32>, memref<24x2x8xi8>, memref<24x2xf32>) outs(%z : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: i8, %t: f32, %c: f32):
    %wide = arith.sitofp %b : i8 to f32
    %w = arith.mulf %t, %wide : f32
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#s = affine_map<(m, n, k) -> (m, k)>
#o = affine_map<(m, n, k) -> (m, n)>

// What goes along with the other factor is no scale of these bytes.
// CHECK-LABEL: func.func @not_scales
// CHECK: linalg.generic
// CHECK-NOT: call
func.func @not_scales(%x: memref<8x16xf32>, %y: memref<24x16xi8>, %scales: memref<8x16xf32>, %z: memref<8x24xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #s, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y, %scales : memref<8x16xf32>, memref<24x16xi8>, memref<8x16xf32>) outs(%z : memref<8x24xf32>) {
  ^bb0(%a: f32, %b: i8, %t: f32, %c: f32):
    %wide = arith.sitofp %b : i8 to f32
    %w = arith.mulf %wide, %t : f32
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
