// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// Each operand's cotangent is a contraction of the result's with the other
// operand, in the operand order that needs no transposition where there is one.

func.func private @matmul(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %z = hjx.dot_general %x, %w contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
func.func @t_matmul(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %z_bar: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<3x4xf32>) {
  %z, %x_bar, %w_bar = hjx.vjp @matmul(%x, %w) cotangents(%z_bar) active = [true, true] : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>)
  return %x_bar, %w_bar : tensor<2x3xf32>, tensor<3x4xf32>
}
// CHECK-LABEL: func.func private @matmul.lin.11.transpose
// CHECK-SAME: (%[[W:.*]]: tensor<3x4xf32>, %[[X:.*]]: tensor<2x3xf32>, %[[Z_BAR:.*]]: tensor<2x4xf32>)
// CHECK: %[[W_BAR:.*]] = hjx.dot_general %[[X]], %[[Z_BAR]] contracting = [0] x [0]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.dot_general %[[Z_BAR]], %[[W]] contracting = [1] x [1]
// CHECK-NEXT: return %[[X_BAR]], %[[W_BAR]]

// -----

// Two batching and two contracting dimensions, none in order: the product's
// dimensions go back to their places.
func.func private @batched(%x: tensor<2x3x4x5x6xf32>, %y: tensor<6x4x7x2x5xf32>) -> tensor<2x6x3x7xf32> {
  %z = hjx.dot_general %x, %y batching = [0, 4] x [3, 0] contracting = [2, 3] x [1, 4] : (tensor<2x3x4x5x6xf32>, tensor<6x4x7x2x5xf32>) -> tensor<2x6x3x7xf32>
  return %z : tensor<2x6x3x7xf32>
}
func.func @t_batched(%x: tensor<2x3x4x5x6xf32>, %y: tensor<6x4x7x2x5xf32>, %z_bar: tensor<2x6x3x7xf32>) -> (tensor<2x3x4x5x6xf32>, tensor<6x4x7x2x5xf32>) {
  %z, %x_bar, %y_bar = hjx.vjp @batched(%x, %y) cotangents(%z_bar) active = [true, true] : (tensor<2x3x4x5x6xf32>, tensor<6x4x7x2x5xf32>, tensor<2x6x3x7xf32>) -> (tensor<2x6x3x7xf32>, tensor<2x3x4x5x6xf32>, tensor<6x4x7x2x5xf32>)
  return %x_bar, %y_bar : tensor<2x3x4x5x6xf32>, tensor<6x4x7x2x5xf32>
}
// CHECK-LABEL: func.func private @batched.lin.11.transpose
// CHECK-SAME: (%[[Y:.*]]: tensor<6x4x7x2x5xf32>, %[[X:.*]]: tensor<2x3x4x5x6xf32>, %[[Z_BAR:.*]]: tensor<2x6x3x7xf32>)
// CHECK: %[[Y_PRODUCT:.*]] = hjx.dot_general %[[Z_BAR]], %[[X]] batching = [0, 1] x [0, 4] contracting = [2] x [1]
// CHECK-NEXT: %[[Y_BAR:.*]] = hjx.transpose %[[Y_PRODUCT]] permutation = [1, 3, 2, 0, 4]
// CHECK-NEXT: %[[X_PRODUCT:.*]] = hjx.dot_general %[[Z_BAR]], %[[Y]] batching = [0, 1] x [3, 0] contracting = [3] x [2]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.transpose %[[X_PRODUCT]] permutation = [0, 2, 3, 4, 1]
// CHECK-NEXT: return %[[X_BAR]], %[[Y_BAR]]

// -----

// The cotangent of a product accumulated in f32 is rounded to the operands' type.
func.func private @mixed(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) -> tensor<2x4xf32> {
  %z = hjx.dot_general %x, %w contracting = [1] x [0] accum = f32 : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
func.func @t_mixed(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>, %z_bar: tensor<2x4xf32>) -> tensor<3x4xbf16> {
  %z, %w_bar = hjx.vjp @mixed(%x, %w) cotangents(%z_bar) active = [false, true] : (tensor<2x3xbf16>, tensor<3x4xbf16>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<3x4xbf16>)
  return %w_bar : tensor<3x4xbf16>
}
// CHECK-LABEL: func.func private @mixed.lin.01.transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xbf16>, %[[Z_BAR:.*]]: tensor<2x4xf32>)
// CHECK: %[[ROUNDED:.*]] = hjx.convert %[[Z_BAR]]
// CHECK-NEXT: %[[PRODUCT:.*]] = hjx.dot_general %[[X]], %[[ROUNDED]] contracting = [0] x [0] accum = f32
// CHECK-NEXT: %[[W_BAR:.*]] = hjx.convert %[[PRODUCT]]
// CHECK-NEXT: return %[[W_BAR]]
