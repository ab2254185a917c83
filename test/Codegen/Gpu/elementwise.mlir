// RUN: hjx-opt %s --hjx-to-gpu-kernel --split-input-file | FileCheck %s
// A thread takes 16 bytes where buffers are contiguous; ragged sizes take single elements.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @main
// CHECK: %[[BLOCK:.*]] = arith.constant 32 : index
// CHECK: gpu.launch_func @device::@addf blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in (%[[BLOCK]],
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK-LABEL: gpu.func @addf(
// CHECK-SAME: %[[X:[^:]*]]: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: %[[OUT:[^:]*]]: memref<64xf32> {llvm.align = 16 : i64, llvm.noalias})
// CHECK-SAME: known_block_size = array<i32: 32, 1, 1>
// CHECK: %[[MINE:.*]] = arith.cmpi ult, %{{.*}}, %c16
// CHECK: scf.if %[[MINE]]
// CHECK: vector.load %[[X]][%{{.*}}] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[OUT]][%{{.*}}] {alignment = 16 : i64}

// -----

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: gpu.func @negf(
// CHECK: arith.cmpi ult, %{{.*}}, %c61
// CHECK: memref.load
func.func @main(%u: tensor<61xf32>) -> tensor<61xf32> {
  %f = tensor.empty() : tensor<61xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%u : tensor<61xf32>) outs(%f : tensor<61xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<61xf32>
  return %q : tensor<61xf32>
}
