// RUN: hjx-opt %s --convert-hjx-to-linalg --canonicalize --cse --split-input-file | FileCheck %s
// Views where the layout allows, copies by a map elsewhere.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 2)>

// CHECK-LABEL: func.func @copies
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[ALL]]]
// CHECK: linalg.generic {indexing_maps = [#[[TRANSPOSED]], #[[ALL]]]
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]], #[[ALL]]]
func.func @copies(%x: tensor<2x1xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %b = hjx.broadcast_in_dim %x shape = [2, 3] dims = [0, 1] : tensor<2x1xf32> -> tensor<2x3xf32>
  %t = hjx.transpose %y permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %r = hjx.rev %y dims = [1] : tensor<2x3xf32>
  return %b, %t, %r : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reshapes
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2, 3]] output_shape [3, 2, 2, 2] : tensor<6x4xf32> into tensor<3x2x2x2xf32>
// CHECK-NOT: linalg.generic
func.func @reshapes(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<3x2x2x2xf32>) {
  %a = hjx.reshape %x shape = [6, 4] : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %b = hjx.reshape %x shape = [3, 2, 2, 2] : tensor<2x3x4xf32> -> tensor<3x2x2x2xf32>
  return %a, %b : tensor<6x4xf32>, tensor<3x2x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @slices
// CHECK-SAME: (%[[X:.*]]: tensor<5x3xf32>, %[[U:.*]]: tensor<2x3xf32>, %[[I:.*]]: tensor<i32>)
// CHECK: tensor.extract_slice %[[X]][1, 0] [2, 3] [2, 1]
// CHECK: %[[RAW:.*]] = tensor.extract %[[I]][]
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[RAW]]
// CHECK: %[[START:.*]] = arith.minui %[[INDEX]], %c3
// CHECK: tensor.extract_slice %[[X]][%[[START]], 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %[[U]] into %[[X]][%[[START]], 0] [2, 3] [1, 1]
func.func @slices(%x: tensor<5x3xf32>, %u: tensor<2x3xf32>, %i: tensor<ui32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<5x3xf32>) {
  %a = hjx.slice %x start = [1, 0] limit = [5, 3] strides = [2, 1] : tensor<5x3xf32> -> tensor<2x3xf32>
  %b = hjx.dynamic_slice %x [%i, %i] sizes = [2, 3] : (tensor<5x3xf32>, tensor<ui32>, tensor<ui32>) -> tensor<2x3xf32>
  %c = hjx.dynamic_update_slice %x, %u [%i, %i] : (tensor<5x3xf32>, tensor<2x3xf32>, tensor<ui32>, tensor<ui32>) -> tensor<5x3xf32>
  return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<5x3xf32>
}

// -----

// Low -1 and interior 1: element 0 falls off, element 1 lands at 1.
// CHECK-LABEL: func.func @pads
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %{{.*}}[1] [2] [1]
// CHECK: tensor.insert_slice %[[KEPT]] into %[[FILLED]][1] [2] [2]
func.func @pads(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %y = hjx.pad %x, %v low = [-1] high = [2] interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @joins
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][2, 0] [1, 3] [1, 1]
func.func @joins(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %z = hjx.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %z : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @constants
// CHECK: arith.constant dense<[1, -1]> : tensor<2xi8>
// CHECK: linalg.fill
func.func @constants() -> (tensor<2xui8>, tensor<9xf32>) {
  %a = hjx.constant dense<[1, 255]> : tensor<2xui8>
  %b = hjx.constant dense<1.0> : tensor<9xf32>
  return %a, %b : tensor<2xui8>, tensor<9xf32>
}
