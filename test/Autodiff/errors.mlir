// RUN: hjx-opt --hjx-expand-transforms --split-input-file --verify-diagnostics %s
// What has no derivative is said at the op that has none, and at the request.

func.func private @unbounded(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'hjx.while' op cannot be differentiated in reverse: the number of iterations is not known, so neither is the size of what they must keep; use hjx.scan, or state a bound with max_trip}}
  %r = hjx.while cond_consts() body_consts() inits(%x) : (tensor<f32>) -> tensor<f32> cond {
  ^bb0(%v: tensor<f32>):
    %limit = hjx.constant dense<9.0> : tensor<f32>
    %p = hjx.compare lt, %v, %limit : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<f32>):
    %e = hjx.exp %v : tensor<f32>
    hjx.yield %e : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @unbounded(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

// A counter that never reaches its limit has no count either.
func.func private @endless(%x: tensor<f32>) -> tensor<f32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  // expected-error@+1 {{the number of iterations is not known}}
  %r:2 = hjx.while cond_consts() body_consts() inits(%zero, %x) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) cond {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %limit = hjx.constant dense<5> : tensor<i32>
    %p = hjx.compare ne, %i, %limit : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %two = hjx.constant dense<2> : tensor<i32>
    %m = hjx.add %i, %two : tensor<i32>
    %e = hjx.exp %v : tensor<f32>
    hjx.yield %m, %e : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func @pull_back(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.vjp}}
  %y, %x_bar = hjx.vjp @endless(%x) cotangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @f_bwd(%y_bar: tensor<f32>) -> tensor<f32> {
  return %y_bar : tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'hjx.custom_vjp' op has no forward-mode derivative: @f defines its pull-back only}}
  %y = hjx.custom_vjp @f(%x) fwd = @f bwd = @f_bwd : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @push_forward(%x: tensor<f32>) -> tensor<f32> {
  // expected-note@+1 {{needed by this hjx.jvp}}
  %y, %y_dot = hjx.jvp @custom(%x) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}

// -----

// The linear map of a custom_vjp can be transposed, not applied.
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @f_bwd(%y_bar: tensor<f32>) -> tensor<f32> {
  return %y_bar : tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'hjx.custom_lin' op cannot be evaluated: forward-mode differentiation of a custom_vjp function is not defined}}
  %y = hjx.custom_vjp @f(%x) fwd = @f bwd = @f_bwd : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @apply(%x: tensor<f32>) -> tensor<f32> {
  %y, %map = hjx.linearize @custom(%x) active = [true] : (tensor<f32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<f32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
