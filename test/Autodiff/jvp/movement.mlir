// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Movement is linear: the tangent moves as the value does. Where some operands
// have no tangent, zeros take their place.

func.func private @moves(%x: tensor<2x3xf32>) -> tensor<6x2xf32> {
  %t = hjx.transpose %x permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %c = hjx.constant dense<1.0> : tensor<3x2xf32>
  %y = hjx.concatenate %t, %c dim = 0 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}
func.func @j_moves(%x: tensor<2x3xf32>) -> tensor<6x2xf32> {
  %y, %y_dot = hjx.jvp @moves(%x) tangents(%x) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xf32>)
  return %y_dot : tensor<6x2xf32>
}
// CHECK-LABEL: func.func private @moves.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[X_DOT:.*]]: tensor<2x3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT: %[[ONE:.*]] = hjx.constant dense<1.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT: %[[T:.*]] = hjx.transpose %[[X]] permutation = [1, 0]
// CHECK-NEXT: %[[T_DOT:.*]] = hjx.transpose %[[X_DOT]] permutation = [1, 0]
// CHECK-NEXT: %[[Y:.*]] = hjx.concatenate %[[T]], %[[ONE]] dim = 0
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.concatenate %[[T_DOT]], %[[ZERO]] dim = 0
// CHECK-NEXT: return %[[Y]], %[[Y_DOT]]

// -----

func.func private @update(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %y = hjx.dynamic_update_slice %x, %u [%i] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
func.func @j_update(%x: tensor<5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %y, %y_dot = hjx.jvp @update(%x, %u, %i) tangents(%u) active = [false, true, false] : (tensor<5xf32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %y_dot : tensor<5xf32>
}
// CHECK-LABEL: func.func private @update.jvp.010
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>, %[[U:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<i32>, %[[U_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-NEXT: %[[Y:.*]] = hjx.dynamic_update_slice %[[X]], %[[U]][%[[I]]]
// CHECK-NEXT: %[[Y_DOT:.*]] = hjx.dynamic_update_slice %[[ZERO]], %[[U_DOT]][%[[I]]]
// CHECK-NEXT: return %[[Y]], %[[Y_DOT]]
