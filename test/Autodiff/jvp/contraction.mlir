// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// A contraction is linear in each operand: one term for each tangent.

func.func private @dot(%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>) -> tensor<2x3x5xf32> {
  %z = hjx.dot_general %x, %y batching = [0] x [2] contracting = [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4x2xf32>) -> tensor<2x3x5xf32>
  return %z : tensor<2x3x5xf32>
}
func.func @both(%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>) -> tensor<2x3x5xf32> {
  %z, %z_dot = hjx.jvp @dot(%x, %y) tangents(%x, %y) active = [true, true] : (tensor<2x3x4xf32>, tensor<5x4x2xf32>, tensor<2x3x4xf32>, tensor<5x4x2xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  return %z_dot : tensor<2x3x5xf32>
}
func.func @one(%x: tensor<2x3x4xf32>, %y: tensor<5x4x2xf32>) -> tensor<2x3x5xf32> {
  %z, %z_dot = hjx.jvp @dot(%x, %y) tangents(%y) active = [false, true] : (tensor<2x3x4xf32>, tensor<5x4x2xf32>, tensor<5x4x2xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  return %z_dot : tensor<2x3x5xf32>
}
// CHECK-LABEL: func.func private @dot.jvp.11
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<5x4x2xf32>, %[[X_DOT:.*]]: tensor<2x3x4xf32>, %[[Y_DOT:.*]]: tensor<5x4x2xf32>)
// CHECK: %[[Z:.*]] = hjx.dot_general %[[X]], %[[Y]] batching = [0] x [2] contracting = [2] x [1]
// CHECK-NEXT: %[[FIRST:.*]] = hjx.dot_general %[[X_DOT]], %[[Y]] batching = [0] x [2] contracting = [2] x [1]
// CHECK-NEXT: %[[SECOND:.*]] = hjx.dot_general %[[X]], %[[Y_DOT]] batching = [0] x [2] contracting = [2] x [1]
// CHECK-NEXT: %[[Z_DOT:.*]] = hjx.add %[[FIRST]], %[[SECOND]]
// CHECK-NEXT: return %[[Z]], %[[Z_DOT]]
// CHECK-LABEL: func.func private @dot.jvp.01
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<5x4x2xf32>, %[[Y_DOT:.*]]: tensor<5x4x2xf32>)
// CHECK: %[[Z:.*]] = hjx.dot_general %[[X]], %[[Y]] batching = [0] x [2] contracting = [2] x [1]
// CHECK-NEXT: %[[Z_DOT:.*]] = hjx.dot_general %[[X]], %[[Y_DOT]] batching = [0] x [2] contracting = [2] x [1]
// CHECK-NEXT: return %[[Z]], %[[Z_DOT]]
