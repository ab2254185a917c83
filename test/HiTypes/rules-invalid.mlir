// What is said of rules that return something else than they should, of linear maps, and of refs.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libRulesPlugin.so --hjx-expand-transforms --split-input-file --verify-diagnostics %s

func.func @value(%total: tensor<3xf32>, %x: tensor<3xf32>) {
  // expected-error@+1 {{(C2) "tally": expected a ref as operand 0, got 'tensor<3xf32>'; make one: hjx.ref_new}}
  %n = hjx.call_primitive "tally"(%total, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @ref(%total: !hjx.ref<tensor<3xf32>>) {
  // expected-error@+1 {{(C2) "sine": expected a value as operand 0, got '!hjx.ref<tensor<3xf32>>'; read what the ref holds: hjx.ref_get}}
  %n = hjx.call_primitive "sine"(%total) : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return
}

// -----

func.func @held(%total: !hjx.ref<tensor<2xf32>>, %x: tensor<3xf32>) {
  // expected-error@+1 {{(C2) "tally": expected a total of type f32[3], got f32[2]; make a ref of the type of x}}
  %n = hjx.call_primitive "tally"(%total, %x) : (!hjx.ref<tensor<2xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @mixed(%x: tensor<2xf32>, %w: tensor<3xf32>) -> (tensor<2xf32>, tensor<f32>) {
  // expected-error@+1 {{'hjx.call_primitive' op}}
  %y, %s = hjx.call_primitive "mixed"(%x, %w) : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<i32>)
  return %y, %s : tensor<2xf32>, tensor<i32>
}

// -----

func.func @lin_unknown(%x_dot: tensor<3xf32>) {
  // expected-error@+1 {{(C1) unknown primitive "sqare"}}
  %y_dot = hjx.primitive_lin "sqare" : (tensor<3xf32>) -> tensor<3xf32> residuals() tangents(%x_dot) active = [true] : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lin_rules(%x_dot: tensor<3xf32>) {
  // expected-error@+1 {{(C1) "sine" has no rules for cotangents; give it vjp_forward and vjp_backward}}
  %y_dot = hjx.primitive_lin "sine" : (tensor<3xf32>) -> tensor<3xf32> residuals() tangents(%x_dot) active = [true] : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lin_active(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) {
  // expected-error@+1 {{(C2) active: expected one entry per operand of the signature, 1, got 2}}
  %y_dot = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%x_dot) active = [true, false] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lin_tangents(%x: tensor<3xf32>, %x_dot: tensor<2xf32>) {
  // expected-error@+1 {{(C2) tangents: expected 'tensor<3xf32>' at position 0, got 'tensor<2xf32>'}}
  %y_dot = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%x_dot) active = [true] : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lin_results(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) {
  // expected-error@+1 {{(C3) results: expected 'tensor<3xf32>' at position 0, got 'tensor<2xf32>'}}
  %y_dot = hjx.primitive_lin "square" : (tensor<3xf32>) -> tensor<3xf32> residuals(%x) tangents(%x_dot) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

// A pull-back cannot be pushed.
func.func private @product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'hjx.primitive_lin' op "dot" has no forward-mode derivative: it defines its pull-back only; use only the transpose of the map, or give it a jvp rule}}
  %y = hjx.call_primitive "dot"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @pushed(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y, %map = hjx.linearize @product(%x, %w) active = [true, false] : (tensor<2x3xf32>, tensor<3x4xf32>) -> (tensor<2x4xf32>, !hjx.linear<(tensor<2x3xf32>) -> tensor<2x4xf32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<2x3xf32>) -> tensor<2x4xf32>>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return %y_dot : tensor<2x4xf32>
}

// -----

// A tangent has no place in a ref from outside, and the expansion shows where it is written.
func.func private @count(%x: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  // expected-error@+1 {{'hjx.ref_add' op writes a value that has a tangent into a ref that has none}}
  %n = hjx.call_primitive "tally"(%total, %x) : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %n : tensor<3xf32>
}
func.func @differentiated(%x: tensor<3xf32>, %x_dot: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) {
  // expected-note@+1 {{needed by this hjx.jvp}}
  %y, %y_dot = hjx.jvp @count(%x, %total) tangents(%x_dot) active = [true, false] : (tensor<3xf32>, !hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @parts(%r: !hjx.ref<!hjx.rows<5, 3>>) {
  // expected-error@+1 {{(C1) index 5 is out of range for dimension 0}}
  %part = hjx.ref_get %r[5] : (!hjx.ref<!hjx.rows<5, 3>>) -> !hjx.rows<1, 3>
  return
}

// -----

func.func @part_type(%r: !hjx.ref<!hjx.rows<5, 3>>) {
  // expected-error@+1 {{(C2) expected a result of type '!hjx.rows<2, 3>', that of the part, got '!hjx.rows<1, 3>'}}
  %part = hjx.ref_get %r[1:3] : (!hjx.ref<!hjx.rows<5, 3>>) -> !hjx.rows<1, 3>
  return
}
