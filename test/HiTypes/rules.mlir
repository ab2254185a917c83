// The rules of primitives (rules.h) in the programs that transforms make.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libRulesPlugin.so --hjx-expand-transforms --symbol-dce --split-input-file %s | FileCheck %s

// Accumulators: a cotangent that nobody wants costs no product; one with a cell is added there.
func.func private @product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = hjx.call_primitive "dot"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
// CHECK-LABEL: func.func @one_product(
// CHECK: call @product.fwd.11
// CHECK: call @product.lin.11.transpose
// CHECK-LABEL: func.func private @product.lin.11.transpose(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<2x3xf32>, %{{.*}}: tensor<3x4xf32>, %[[Y_BAR:[^ ]*]]: tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %[[X_T:.*]] = hjx.transpose %[[X]]
// CHECK-NEXT:    %[[W_BAR:.*]] = hjx.dot_general %[[X_T]], %[[Y_BAR]]
// CHECK-NEXT:    return %[[W_BAR]]
func.func @one_product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %y_bar: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %y, %map = hjx.linearize @product(%x, %w) active = [true, true] : (tensor<2x3xf32>, tensor<3x4xf32>) -> (tensor<2x4xf32>, !hjx.linear<(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>>)
  %w_bar = hjx.apply_transpose %map(%y_bar) wanted = [false, true] : (!hjx.linear<(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %w_bar : tensor<3x4xf32>
}

// -----

func.func private @product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = hjx.call_primitive "dot"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
// CHECK-LABEL: func.func private @product.lin.11.transpose(
// CHECK-SAME:    %[[CELL:[^ ]*]]: !hjx.ref<tensor<3x4xf32>>) -> tensor<2x3xf32>
// CHECK:         %[[X_BAR:.*]] = hjx.dot_general
// CHECK:         %[[W_BAR:.*]] = hjx.dot_general
// CHECK-NEXT:    hjx.ref_add %[[CELL]], %[[W_BAR]]
// CHECK-NEXT:    return %[[X_BAR]]
func.func @in_place(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %y_bar: tensor<2x4xf32>, %cell: !hjx.ref<tensor<3x4xf32>>) -> tensor<2x3xf32> {
  %y, %x_bar = hjx.vjp @product(%x, %w) cotangents(%y_bar) active = [true, true] accumulators(%cell) in_place = [false, true] : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>, !hjx.ref<tensor<3x4xf32>>) -> (tensor<2x4xf32>, tensor<2x3xf32>)
  return %x_bar : tensor<2x3xf32>
}

// -----

// One row of a cell is touched, and no table of zeros made.
func.func private @row(%table: tensor<5x3xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %y = hjx.call_primitive "take_row"(%table, %i) : (tensor<5x3xf32>, tensor<i32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func private @row.lin.10.transpose(
// CHECK-SAME:    %{{.*}}: tensor<i32>, %[[Y_BAR:[^ ]*]]: tensor<3xf32>, %[[CELL:[^ ]*]]: !hjx.ref<tensor<5x3xf32>>)
// CHECK-NOT:     -> tensor<5x3xf32>
// CHECK:         hjx.ref_add %[[CELL]][%{{.*}}, :], %[[Y_BAR]]
// CHECK-NEXT:    return
func.func @sparse(%table: tensor<5x3xf32>, %i: tensor<i32>, %y_bar: tensor<3xf32>, %cell: !hjx.ref<tensor<5x3xf32>>) {
  %y = hjx.vjp @row(%table, %i) cotangents(%y_bar) active = [true, false] accumulators(%cell) in_place = [true] : (tensor<5x3xf32>, tensor<i32>, tensor<3xf32>, !hjx.ref<tensor<5x3xf32>>) -> tensor<3xf32>
  return
}

// -----

// Halves: the slope is kept, and what the second half makes of it is the linear program.
func.func private @sine(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.call_primitive "sine"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func private @sine.fwd.1(
// CHECK-NEXT:    %[[Y:.*]] = hjx.call_primitive "sine"
// CHECK-NEXT:    %[[SLOPE:.*]] = hjx.cos
// CHECK-NEXT:    return %[[Y]], %[[SLOPE]]
// CHECK-LABEL: func.func private @sine.lin.1(
// CHECK-SAME:    %[[SLOPE:[^ ]*]]: tensor<3xf32>, %[[X_DOT:[^ ]*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[Y_DOT:.*]] = hjx.mul %[[SLOPE]], %[[X_DOT]]
// CHECK-NEXT:    return %[[Y_DOT]]
func.func @halves(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) -> tensor<3xf32> {
  %y, %map = hjx.linearize @sine(%x) active = [true] : (tensor<3xf32>) -> (tensor<3xf32>, !hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>)
  %y_dot = hjx.apply_linear %map(%x_dot) : (!hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %y_dot : tensor<3xf32>
}

// -----

// Rules for tangents and for cotangents: each use of the map takes its own.
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.call_primitive "square"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func @both(
// CHECK-DAG:     call @square.fwd.1(
// CHECK-DAG:     call @square.fwd.1.push(
// CHECK:         call @square.lin.1.push(
// CHECK:         call @square.lin.1.transpose(
func.func @both(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y, %map = hjx.linearize @square(%x) active = [true] : (tensor<3xf32>) -> (tensor<3xf32>, !hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>)
  %y_dot = hjx.apply_linear %map(%x_dot) : (!hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  %x_bar = hjx.apply_transpose %map(%y_dot) : (!hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %y_dot, %x_bar : tensor<3xf32>, tensor<3xf32>
}

// -----

// A mapped primitive stays itself; its author says that results are mapped at axis 2.
func.func private @turn(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %y = hjx.call_primitive "turn"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
// CHECK-LABEL: func.func private @turn.vmap
// CHECK-NEXT:    hjx.call_primitive "turn"(%{{.*}}) params {hjx.mapped = [{in = [0], out = [2], size = 4 : i64}]} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT:    return
func.func @axes(%x: tensor<4x2x3xf32>) -> tensor<3x2x4xf32> {
  %y = hjx.vmap @turn(%x) in_axes = [0] out_axes = [2] size = 4 : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  return %y : tensor<3x2x4xf32>
}

// -----

// A checkpoint keeps the norm, and divides again: there is no second sum over x.
func.func private @unit(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.call_primitive "normalize"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %z = hjx.sin %y : tensor<3xf32>
  return %z : tensor<3xf32>
}
func.func private @saved(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.checkpoint @unit(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func private @unit.lin.1.nothing_saveable.transpose(
// CHECK-SAME:    %[[NORM:[^:]*]]: tensor<f32>
// CHECK-NOT:     hjx.call_primitive "normalize"
// CHECK-NOT:     hjx.sqrt
// CHECK:         hjx.div
// CHECK:         return
func.func @remat(%x: tensor<3xf32>, %y_bar: tensor<3xf32>) -> tensor<3xf32> {
  %y, %x_bar = hjx.vjp @saved(%x) cotangents(%y_bar) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %x_bar : tensor<3xf32>
}

// -----

// A primitive on a ref is what it expands to before anything is transformed.
func.func private @count(%x: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  %n = hjx.call_primitive "tally"(%total, %x) : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %n : tensor<3xf32>
}
// CHECK-LABEL: func.func private @count(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<3xf32>, %[[TOTAL:[^ ]*]]: !hjx.ref<tensor<3xf32>>)
// CHECK-NEXT:    hjx.ref_add %[[TOTAL]], %[[X]]
// CHECK-NEXT:    %[[N:.*]] = hjx.ref_get %[[TOTAL]]
// CHECK-NEXT:    return %[[N]]
func.func @on_a_ref(%x: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  %n = call @count(%x, %total) : (tensor<3xf32>, !hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return %n : tensor<3xf32>
}
