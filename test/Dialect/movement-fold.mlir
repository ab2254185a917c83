// RUN: hjx-opt %s --canonicalize --split-input-file | FileCheck %s
// Movement that moves nothing goes, movement of movement merges; each beside a
// twin that must stay.

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[ONE:.*]]: tensor<1xf32>)
func.func @broadcast(%x: tensor<3xf32>, %one: tensor<1xf32>) -> (tensor<3xf32>, tensor<5x2x3xf32>, tensor<2x3xi32>, tensor<3xf32>) {
  // CHECK-DAG: %[[SPLAT:.*]] = hjx.constant dense<7> : tensor<2x3xi32>
  %c = hjx.constant dense<7> : tensor<i32>
  %0 = hjx.broadcast_in_dim %x shape = [3] dims = [0] : tensor<3xf32> -> tensor<3xf32>
  // CHECK-DAG: %[[MERGED:.*]] = hjx.broadcast_in_dim %[[X]] shape = [5, 2, 3] dims = [2] : tensor<3xf32> -> tensor<5x2x3xf32>
  %1 = hjx.broadcast_in_dim %x shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %2 = hjx.broadcast_in_dim %1 shape = [5, 2, 3] dims = [1, 2] : tensor<2x3xf32> -> tensor<5x2x3xf32>
  %3 = hjx.broadcast_in_dim %c shape = [2, 3] dims = [] : tensor<i32> -> tensor<2x3xi32>
  // CHECK-DAG: %[[KEPT:.*]] = hjx.broadcast_in_dim %[[ONE]] shape = [3] dims = [0] : tensor<1xf32> -> tensor<3xf32>
  %4 = hjx.broadcast_in_dim %one shape = [3] dims = [0] : tensor<1xf32> -> tensor<3xf32>
  // CHECK: return %[[X]], %[[MERGED]], %[[SPLAT]], %[[KEPT]]
  return %0, %2, %3, %4 : tensor<3xf32>, tensor<5x2x3xf32>, tensor<2x3xi32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @reshape(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6x1xf32>, tensor<2x2xi32>, tensor<2x3xf32>) {
  // CHECK-DAG: %[[CONSTANT:.*]] = hjx.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  %c = hjx.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = hjx.reshape %x shape = [2, 3] : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-DAG: %[[MERGED:.*]] = hjx.reshape %[[X]] shape = [6, 1] : tensor<2x3xf32> -> tensor<6x1xf32>
  %1 = hjx.reshape %x shape = [6] : tensor<2x3xf32> -> tensor<6xf32>
  %2 = hjx.reshape %1 shape = [6, 1] : tensor<6xf32> -> tensor<6x1xf32>
  %3 = hjx.reshape %c shape = [2, 2] : tensor<4xi32> -> tensor<2x2xi32>
  %4 = hjx.reshape %1 shape = [2, 3] : tensor<6xf32> -> tensor<2x3xf32>
  // CHECK: return %[[X]], %[[MERGED]], %[[CONSTANT]], %[[X]]
  return %0, %2, %3, %4 : tensor<2x3xf32>, tensor<6x1xf32>, tensor<2x2xi32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[SQUARE:.*]]: tensor<3x3xf32>)
func.func @transpose(%x: tensor<2x3x4xf32>, %square: tensor<3x3xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2xi32>, tensor<3x3xf32>) {
  // CHECK-DAG: %[[SPLAT:.*]] = hjx.constant dense<7> : tensor<3x2xi32>
  %c = hjx.constant dense<7> : tensor<2x3xi32>
  %0 = hjx.transpose %x permutation = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[MERGED:.*]] = hjx.transpose %[[X]] permutation = [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %1 = hjx.transpose %x permutation = [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %2 = hjx.transpose %1 permutation = [1, 2, 0] : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %3 = hjx.transpose %c permutation = [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  // Equal types, but elements move.
  // CHECK-DAG: %[[KEPT:.*]] = hjx.transpose %[[SQUARE]] permutation = [1, 0]
  %4 = hjx.transpose %square permutation = [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  // CHECK: return %[[X]], %[[MERGED]], %[[SPLAT]], %[[KEPT]]
  return %0, %2, %3, %4 : tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2xi32>, tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @rev
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @rev(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = hjx.rev %x dims = [] : tensor<2x3xf32>
  // CHECK: %[[KEPT:.*]] = hjx.rev %[[X]] dims = [0]
  %1 = hjx.rev %x dims = [0] : tensor<2x3xf32>
  // CHECK: return %[[X]], %[[KEPT]]
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @concatenate
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @concatenate(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %0 = hjx.concatenate %x dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[KEPT:.*]] = hjx.concatenate %[[X]], %[[X]] dim = 0
  %1 = hjx.concatenate %x, %x dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: return %[[X]], %[[KEPT]]
  return %0, %1 : tensor<2x3xf32>, tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<f32>)
func.func @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<5xf32>) {
  %0 = hjx.pad %x, %v low = [0] high = [0] interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // Equal types, but elements move.
  // CHECK: %[[KEPT0:.*]] = hjx.pad %[[X]], %[[V]] low = [1] high = [-1] interior = [0]
  %1 = hjx.pad %x, %v low = [1] high = [-1] interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[KEPT1:.*]] = hjx.pad %[[X]], %[[V]] low = [0] high = [0] interior = [1]
  %2 = hjx.pad %x, %v low = [0] high = [0] interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  // CHECK: return %[[X]], %[[KEPT0]], %[[KEPT1]]
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @slice(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x2xi32>, tensor<2x2xf32>) {
  // CHECK-DAG: %[[SPLAT:.*]] = hjx.constant dense<7> : tensor<1x2xi32>
  %c = hjx.constant dense<7> : tensor<2x3xi32>
  %0 = hjx.slice %x start = [0, 0] limit = [2, 3] strides = [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = hjx.slice %c start = [1, 0] limit = [2, 3] strides = [1, 2] : tensor<2x3xi32> -> tensor<1x2xi32>
  // CHECK-DAG: %[[KEPT:.*]] = hjx.slice %[[X]] start = [0, 0] limit = [2, 3] strides = [1, 2]
  %2 = hjx.slice %x start = [0, 0] limit = [2, 3] strides = [1, 2] : tensor<2x3xf32> -> tensor<2x2xf32>
  // CHECK: return %[[X]], %[[SPLAT]], %[[KEPT]]
  return %0, %1, %2 : tensor<2x3xf32>, tensor<1x2xi32>, tensor<2x2xf32>
}

// -----

// A slice or an update of full size starts at 0, whatever the index.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[U:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<i32>)
func.func @dynamic(%x: tensor<3xf32>, %u: tensor<3xf32>, %v: tensor<2xf32>, %i: tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = hjx.dynamic_slice %x[%i] sizes = [3] : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  %1 = hjx.dynamic_update_slice %x, %u[%i] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  // CHECK: %[[KEPT0:.*]] = hjx.dynamic_slice %[[X]][%[[I]]] sizes = [2]
  %2 = hjx.dynamic_slice %x[%i] sizes = [2] : (tensor<3xf32>, tensor<i32>) -> tensor<2xf32>
  // CHECK: %[[KEPT1:.*]] = hjx.dynamic_update_slice %[[X]], %[[V]][%[[I]]]
  %3 = hjx.dynamic_update_slice %x, %v[%i] : (tensor<3xf32>, tensor<2xf32>, tensor<i32>) -> tensor<3xf32>
  // CHECK: return %[[X]], %[[U]], %[[KEPT0]], %[[KEPT1]]
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>
}
