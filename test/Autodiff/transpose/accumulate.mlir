// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// Cotangents of parts add up in place, without arrays of zeros.

// A table that is both looked up and multiplied with: the rows are added into
// the product.
func.func private @tied(%w: tensor<5x3xf32>, %i: tensor<2x1xi32>) -> tensor<2x5xf32> {
  %rows = hjx.gather %w, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  %y = hjx.dot_general %rows, %w contracting = [1] x [1] : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
func.func @t_tied(%w: tensor<5x3xf32>, %i: tensor<2x1xi32>, %y_bar: tensor<2x5xf32>) -> tensor<5x3xf32> {
  %y, %w_bar = hjx.vjp @tied(%w, %i) cotangents(%y_bar) active = [true, false] : (tensor<5x3xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<5x3xf32>)
  return %w_bar : tensor<5x3xf32>
}
// CHECK-LABEL: func.func private @tied.lin.10.transpose
// CHECK-SAME: (%[[I:.*]]: tensor<2x1xi32>, %[[W:.*]]: tensor<5x3xf32>, %[[ROWS:.*]]: tensor<2x3xf32>, %[[Y_BAR:.*]]: tensor<2x5xf32>)
// CHECK: %[[PRODUCT:.*]] = hjx.dot_general %[[Y_BAR]], %[[ROWS]] contracting = [0] x [0]
// CHECK-NEXT: %[[ROWS_BAR:.*]] = hjx.dot_general %[[Y_BAR]], %[[W]] contracting = [1] x [0]
// CHECK-NEXT: %[[W_BAR:.*]] = hjx.scatter add, %[[PRODUCT]], %[[I]], %[[ROWS_BAR]] {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
// CHECK-NEXT: return %[[W_BAR]]

// -----

// A table read by slices in a loop: its gradient is one carry, updated in place.
func.func private @walk(%w: tensor<4x3xf32>) -> tensor<3xf32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  %one = hjx.constant dense<1.0> : tensor<3xf32>
  %r:2 = hjx.scan consts(%w) inits(%zero, %one) xs() length = 4 : (tensor<4x3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  ^bb0(%t: tensor<4x3xf32>, %i: tensor<i32>, %s: tensor<3xf32>):
    %step = hjx.constant dense<1> : tensor<i32>
    %row = hjx.dynamic_slice %t [%i, %i] sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %v = hjx.reshape %row shape = [3] : tensor<1x3xf32> -> tensor<3xf32>
    %p = hjx.mul %s, %v : tensor<3xf32>
    %n = hjx.add %i, %step : tensor<i32>
    hjx.yield %n, %p : tensor<i32>, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}
func.func @t_walk(%w: tensor<4x3xf32>, %y_bar: tensor<3xf32>) -> tensor<4x3xf32> {
  %y, %w_bar = hjx.vjp @walk(%w) cotangents(%y_bar) active = [true] : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>)
  return %w_bar : tensor<4x3xf32>
}
// CHECK-LABEL: func.func private @walk.lin.1.transpose
// CHECK-SAME: (%[[IS:.*]]: tensor<4xi32>, %[[VS:.*]]: tensor<4x3xf32>, %[[SS:.*]]: tensor<4x3xf32>, %[[Y_BAR:.*]]: tensor<3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT: %[[R:.*]]:2 = hjx.scan consts() inits(%[[ZERO]], %[[Y_BAR]]) xs(%[[IS]], %[[VS]], %[[SS]]) length = 4 reverse : (tensor<4x3xf32>, tensor<3xf32>, tensor<4xi32>, tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[T_SUM:.*]]: tensor<4x3xf32>, %[[P_BAR:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<i32>, %[[V:.*]]: tensor<3xf32>, %[[S:.*]]: tensor<3xf32>):
// CHECK-NEXT: %[[V_BAR:.*]] = hjx.mul %[[P_BAR]], %[[S]]
// CHECK-NEXT: %[[S_BAR:.*]] = hjx.mul %[[P_BAR]], %[[V]]
// CHECK-NEXT: %[[ROW_BAR:.*]] = hjx.reshape %[[V_BAR]] shape = [1, 3]
// CHECK-NEXT: %[[OLD:.*]] = hjx.dynamic_slice %[[T_SUM]][%[[I]], %[[I]]] sizes = [1, 3]
// CHECK-NEXT: %[[NEW:.*]] = hjx.add %[[OLD]], %[[ROW_BAR]]
// CHECK-NEXT: %[[T_NEXT:.*]] = hjx.dynamic_update_slice %[[T_SUM]], %[[NEW]][%[[I]], %[[I]]]
// CHECK-NEXT: hjx.yield %[[T_NEXT]], %[[S_BAR]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0

// -----

// A split into neighbours is undone by one concatenation.
func.func private @split(%x: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>) {
  %q = hjx.slice %x start = [0, 0] limit = [2, 3] strides = [1, 1] : tensor<2x9xf32> -> tensor<2x3xf32>
  %k = hjx.slice %x start = [0, 3] limit = [2, 6] strides = [1, 1] : tensor<2x9xf32> -> tensor<2x3xf32>
  %v = hjx.slice %x start = [0, 6] limit = [2, 8] strides = [1, 1] : tensor<2x9xf32> -> tensor<2x2xf32>
  return %q, %k, %v : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>
}
func.func @t_split(%x: tensor<2x9xf32>, %q_bar: tensor<2x3xf32>, %v_bar: tensor<2x2xf32>) -> tensor<2x9xf32> {
  %q, %k, %v, %x_bar = hjx.vjp @split(%x) cotangents(%q_bar, %q_bar, %v_bar) active = [true] : (tensor<2x9xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x9xf32>)
  return %x_bar : tensor<2x9xf32>
}
// CHECK-LABEL: func.func private @split.lin.1.transpose
// CHECK-SAME: (%[[Q_BAR:.*]]: tensor<2x3xf32>, %[[K_BAR:.*]]: tensor<2x3xf32>, %[[V_BAR:.*]]: tensor<2x2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[JOINED:.*]] = hjx.concatenate %[[Q_BAR]], %[[K_BAR]], %[[V_BAR]] dim = 1
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.pad %[[JOINED]], %[[ZERO]] low = [0, 0] high = [0, 1] interior = [0, 0]
// CHECK-NEXT: return %[[X_BAR]]

// -----

// Slices that overlap are padded and added.
func.func private @overlap(%x: tensor<4xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = hjx.slice %x start = [0] limit = [3] strides = [1] : tensor<4xf32> -> tensor<3xf32>
  %b = hjx.slice %x start = [1] limit = [4] strides = [1] : tensor<4xf32> -> tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}
func.func @t_overlap(%x: tensor<4xf32>, %a_bar: tensor<3xf32>) -> tensor<4xf32> {
  %a, %b, %x_bar = hjx.vjp @overlap(%x) cotangents(%a_bar, %a_bar) active = [true] : (tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<4xf32>)
  return %x_bar : tensor<4xf32>
}
// CHECK-LABEL: func.func private @overlap.lin.1.transpose
// CHECK-SAME: (%[[A_BAR:.*]]: tensor<3xf32>, %[[B_BAR:.*]]: tensor<3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[FROM_B:.*]] = hjx.pad %[[B_BAR]], %[[ZERO]] low = [1] high = [0] interior = [0]
// CHECK-NEXT: %[[FROM_A:.*]] = hjx.pad %[[A_BAR]], %[[ZERO]] low = [0] high = [1] interior = [0]
// CHECK-NEXT: %[[X_BAR:.*]] = hjx.add %[[FROM_B]], %[[FROM_A]]
// CHECK-NEXT: return %[[X_BAR]]
