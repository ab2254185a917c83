// RUN: hjx-opt %s --hjx-narrow-tensors --split-input-file | FileCheck %s
// What was rounded to bf16 is stored as bf16, and widened where it is read.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @rounded
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xbf16>)
// CHECK: arith.truncf
// CHECK-NOT: arith.extf
// CHECK: linalg.yield {{.*}} : bf16
// CHECK: linalg.generic {{.*}} ins(%[[N]] : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %{{.*}}: f32):
// CHECK-NEXT: arith.extf %[[A]] : bf16 to f32
// CHECK: %[[E:.*]] = tensor.extract %[[N]]
// CHECK-NEXT: arith.extf %[[E]] : bf16 to f32
func.func @rounded(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.truncf %v : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.maximumf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %s = tensor.extract %n[%c0, %c0] : tensor<4x8xf32>
  return %r, %s : tensor<4xf32>, f32
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A wide copy of a narrow tensor is that tensor; one that is a result has to be wide.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xbf16>
// CHECK: %[[E:.*]] = tensor.extract %[[X]]
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[E]] : bf16 to f32
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: return %[[W]], %[[Y]]
func.func @copies(%x: tensor<4x8xbf16>) -> (f32, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %w = arith.extf %v : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4x8xf32>
  %s = tensor.extract %n[%c0, %c0] : tensor<4x8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %w = arith.extf %v : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4x8xf32>
  return %s, %m : f32, tensor<4x8xf32>
}
