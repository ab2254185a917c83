// RUN: hjx-opt --hjx-expand-transforms --split-input-file --verify-diagnostics %s
// Reverse mode takes rules that are linear in their tangents, and says of others where they are not.

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @square(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-note@+1 {{this is not linear}}
  %y_dot = hjx.mul %x_dot, %x_dot : tensor<f32>
  return %x, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'hjx.custom_jvp' op has a rule that is not linear in its tangents at hjx.mul; multiply tangents by values of the primals, and add them to tangents}}
  %y = hjx.custom_jvp @f(%x) rule = @square : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// Forwards a rule is what the user says it is.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @square(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y_dot = hjx.mul %x_dot, %x_dot : tensor<f32>
  return %x, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.custom_jvp @f(%x) rule = @square : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @push_forward(%x: tensor<f32>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @custom(%x) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}

// -----

// x_dot + 1, found through a call.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @plus_one(%x_dot: tensor<f32>) -> tensor<f32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  // expected-note@+1 {{this is not linear}}
  %y_dot = hjx.add %x_dot, %one : tensor<f32>
  return %y_dot : tensor<f32>
}
func.func private @affine(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y_dot = call @plus_one(%x_dot) : (tensor<f32>) -> tensor<f32>
  return %x, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{not linear in its tangents at hjx.add}}
  %y = hjx.custom_jvp @f(%x) rule = @affine : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// A carry that starts as a constant, and takes up a tangent only in the second iteration.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @loop(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  // expected-note@+1 {{this is not linear}}
  %r:2 = hjx.scan consts(%x_dot) inits(%x, %zero) xs() length = 3 : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%dot: tensor<f32>, %a: tensor<f32>, %b: tensor<f32>):
    %c = hjx.add %b, %dot : tensor<f32>
    hjx.yield %b, %c : tensor<f32>, tensor<f32>
  }
  return %x, %r#0 : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{not linear in its tangents at hjx.scan}}
  %y = hjx.custom_jvp @f(%x) rule = @loop : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// A choice by the tangent's sign.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @choice(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  // expected-note@+1 {{this is not linear}}
  %p = hjx.compare lt, %x_dot, %zero : tensor<f32> -> tensor<i1>
  %y_dot = hjx.select_n %p, %x_dot, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %x, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{not linear in its tangents at hjx.compare}}
  %y = hjx.custom_jvp @f(%x) rule = @choice : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @constant(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %x : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{has a rule whose tangent 0 does not depend on its tangents; return zeros, or multiply one of them}}
  %y = hjx.custom_jvp @f(%x) rule = @constant : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @swapped(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x_dot, %x_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{has a rule whose result 0 depends on its tangents; compute results from the primals alone}}
  %y = hjx.custom_jvp @f(%x) rule = @swapped : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// Linear: a loop that carries values and tangents, a quotient, a choice by a primal, a zero.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @fine(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %r:2 = hjx.scan consts(%x) inits(%x, %zero) xs() length = 3 : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%c: tensor<f32>, %a: tensor<f32>, %b: tensor<f32>):
    %s = hjx.sin %a : tensor<f32>
    %d = hjx.mul %b, %s : tensor<f32>
    hjx.yield %s, %d : tensor<f32>, tensor<f32>
  }
  %sum = hjx.add %r#1, %x_dot : tensor<f32>
  %quotient = hjx.div %sum, %r#0 : tensor<f32>
  %p = hjx.compare lt, %x, %zero : tensor<f32> -> tensor<i1>
  %y_dot = hjx.select_n %p, %quotient, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r#0, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.custom_jvp @f(%x) rule = @fine : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  %y, %x_bar = hjx.vjp @custom(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
