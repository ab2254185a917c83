// RUN: hjx-opt %s --hjx-expand-transforms --hjx-interpret
// RUN: hjx-opt %s --hjx-expand-transforms --hjx-discharge-refs --hjx-interpret
// RUN: hjx-opt %s --hjx-to-pure --hjx-to-lo --hjx-interpret
//
// Derivatives of functions with refs, by numbers.

// x_ref = x; x_ref += x_ref; y = x_ref * x_ref: the refs that a function makes become values.
func.func @own() {
  %x = hjx.constant dense<3.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %y, %x_bar = hjx.vjp @square_of_double(%x) cotangents(%one) active = [true] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %e1 = hjx.constant dense<36.0> : tensor<f64>
  check.expect_eq %y, %e1 : tensor<f64>
  %e2 = hjx.constant dense<24.0> : tensor<f64>
  check.expect_eq %x_bar, %e2 : tensor<f64>
  %z, %z_dot = hjx.jvp @square_of_double(%x) tangents(%one) active = [true] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  check.expect_eq %z_dot, %e2 : tensor<f64>
  %xs = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %ys = hjx.vmap @square_of_double(%xs) in_axes = [0] out_axes = [0] size = 3 : (tensor<3xf64>) -> tensor<3xf64>
  %e3 = hjx.constant dense<[4.0, 16.0, 36.0]> : tensor<3xf64>
  check.expect_eq %ys, %e3 : tensor<3xf64>
  return
}
func.func private @square_of_double(%x: tensor<f64>) -> tensor<f64> {
  %r = hjx.ref_new %x : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  func.call @double(%r) : (!hjx.ref<tensor<f64>>) -> ()
  %v = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %y = hjx.mul %v, %v : tensor<f64>
  return %y : tensor<f64>
}
func.func private @double(%r: !hjx.ref<tensor<f64>>) {
  %v = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  hjx.ref_add %r, %v : (!hjx.ref<tensor<f64>>, tensor<f64>) -> ()
  return
}

// A constant written into a ref cuts the derivative of what it replaces.
func.func @overwritten() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %y, %x_bar = hjx.vjp @clear_first(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e = hjx.constant dense<[0.0, 1.0, 1.0]> : tensor<3xf64>
  check.expect_eq %x_bar, %e : tensor<3xf64>
  return
}
func.func private @clear_first(%x: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.ref_new %x : (tensor<3xf64>) -> !hjx.ref<tensor<3xf64>>
  %nine = hjx.constant dense<9.0> : tensor<f64>
  %old = hjx.ref_swap %r[0], %nine : (!hjx.ref<tensor<3xf64>>, tensor<f64>) -> tensor<f64>
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// Refs from outside: each effect runs once, in order; what was read is a constant of the
// derivative, even where it has been overwritten since.
func.func @plumbing() {
  %x = hjx.constant dense<2.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %r = hjx.ref_new %one : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  // reads 1, writes 5, reads 5: y = x * 1 * 5 * x
  %y, %x_bar = hjx.vjp @scaled(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %e1 = hjx.constant dense<20.0> : tensor<f64>
  check.expect_eq %y, %e1 : tensor<f64>
  check.expect_eq %x_bar, %e1 : tensor<f64>
  %z = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %five = hjx.constant dense<5.0> : tensor<f64>
  check.expect_eq %z, %five : tensor<f64>
  %w, %w_dot = hjx.jvp @scaled(%x, %r) tangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  // reads 5, writes 9: y = x * 5 * 9 * x
  %e2 = hjx.constant dense<180.0> : tensor<f64>
  check.expect_eq %w_dot, %e2 : tensor<f64>
  return
}
func.func private @scaled(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %four = hjx.constant dense<4.0> : tensor<f64>
  %a = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %0 = hjx.mul %x, %a : tensor<f64>
  hjx.ref_add %r, %four : (!hjx.ref<tensor<f64>>, tensor<f64>) -> ()
  %b = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %1 = hjx.mul %0, %b : tensor<f64>
  %2 = hjx.mul %1, %x : tensor<f64>
  return %2 : tensor<f64>
}

// Neither a counter nor what depends on it leaves the loop.
func.func @scan() {
  %x = hjx.constant dense<2.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %r = hjx.ref_new %zero : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y, %x_bar = hjx.vjp @powers(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  // y = (x * 1) (x * 2) (x * 3)
  %e1 = hjx.constant dense<48.0> : tensor<f64>
  check.expect_eq %y, %e1 : tensor<f64>
  %e2 = hjx.constant dense<72.0> : tensor<f64>
  check.expect_eq %x_bar, %e2 : tensor<f64>
  %n = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %three = hjx.constant dense<3.0> : tensor<f64>
  check.expect_eq %n, %three : tensor<f64>
  return
}
func.func private @powers(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %one = hjx.constant dense<1.0> : tensor<f64>
  %y = hjx.scan consts(%x, %r) inits(%one) xs() length = 3 : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> tensor<f64> {
  ^bb0(%a: tensor<f64>, %c: !hjx.ref<tensor<f64>>, %p: tensor<f64>):
    %1 = hjx.constant dense<1.0> : tensor<f64>
    hjx.ref_add %c, %1 : (!hjx.ref<tensor<f64>>, tensor<f64>) -> ()
    %n = hjx.ref_get %c : (!hjx.ref<tensor<f64>>) -> tensor<f64>
    %2 = hjx.mul %a, %n : tensor<f64>
    %3 = hjx.mul %p, %2 : tensor<f64>
    hjx.yield %3 : tensor<f64>
  }
  return %y : tensor<f64>
}

// The same as a while loop whose condition reads the ref that its body writes, under checkpoint.
func.func @checkpointed_while() {
  %x = hjx.constant dense<2.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %r = hjx.ref_new %zero : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y, %x_bar = hjx.vjp @checkpoint_powers(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %e2 = hjx.constant dense<72.0> : tensor<f64>
  check.expect_eq %x_bar, %e2 : tensor<f64>
  %n = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %three = hjx.constant dense<3.0> : tensor<f64>
  check.expect_eq %n, %three : tensor<f64>
  return
}
func.func private @checkpoint_powers(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %y = hjx.checkpoint @while_powers(%x, %r) : (tensor<f64>, !hjx.ref<tensor<f64>>) -> tensor<f64>
  return %y : tensor<f64>
}
func.func private @while_powers(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %one = hjx.constant dense<1.0> : tensor<f64>
  %y = hjx.while cond_consts(%r) body_consts(%x, %r) inits(%one) max_trip = 5 : (!hjx.ref<tensor<f64>>, tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> tensor<f64> cond {
  ^bb0(%c: !hjx.ref<tensor<f64>>, %p: tensor<f64>):
    %n = hjx.ref_get %c : (!hjx.ref<tensor<f64>>) -> tensor<f64>
    %3 = hjx.constant dense<3.0> : tensor<f64>
    %more = hjx.compare lt, %n, %3 : tensor<f64> -> tensor<i1>
    hjx.yield %more : tensor<i1>
  } body {
  ^bb0(%a: tensor<f64>, %c: !hjx.ref<tensor<f64>>, %p: tensor<f64>):
    %1 = hjx.constant dense<1.0> : tensor<f64>
    hjx.ref_add %c, %1 : (!hjx.ref<tensor<f64>>, tensor<f64>) -> ()
    %n = hjx.ref_get %c : (!hjx.ref<tensor<f64>>) -> tensor<f64>
    %2 = hjx.mul %a, %n : tensor<f64>
    %3 = hjx.mul %p, %2 : tensor<f64>
    hjx.yield %3 : tensor<f64>
  }
  return %y : tensor<f64>
}

// A checkpointed function reads and writes a ref once: 1 + 2 * 2 is read, y = x * 5 * x.
func.func @checkpoint() {
  %x = hjx.constant dense<2.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %r = hjx.ref_new %one : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y, %x_bar = hjx.vjp @outer(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %e = hjx.constant dense<20.0> : tensor<f64>
  check.expect_eq %x_bar, %e : tensor<f64>
  %last = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %five = hjx.constant dense<5.0> : tensor<f64>
  check.expect_eq %last, %five : tensor<f64>
  return
}
func.func private @outer(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %y = hjx.checkpoint @inner(%x, %r) : (tensor<f64>, !hjx.ref<tensor<f64>>) -> tensor<f64>
  return %y : tensor<f64>
}
func.func private @inner(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %s = hjx.stop_gradient %x : tensor<f64>
  %0 = hjx.mul %s, %s : tensor<f64>
  hjx.ref_add %r, %0 : (!hjx.ref<tensor<f64>>, tensor<f64>) -> ()
  %a = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %1 = hjx.mul %x, %a : tensor<f64>
  %2 = hjx.mul %1, %x : tensor<f64>
  return %2 : tensor<f64>
}

// bwd writes the cotangent that passes by into a ref: y = sin(stash(sin x)).
func.func @stash() {
  %x = hjx.constant dense<1.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %r = hjx.ref_new %zero : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y, %x_bar = hjx.vjp @stashing(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %s = hjx.sin %x : tensor<f64>
  %c = hjx.cos %s : tensor<f64>
  %cx = hjx.cos %x : tensor<f64>
  %e = hjx.mul %c, %cx : tensor<f64>
  check.expect_close %x_bar, %e rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  %kept = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  check.expect_close %kept, %c rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  return
}
func.func private @stashing(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %0 = hjx.sin %x : tensor<f64>
  %1 = hjx.custom_vjp @stash_f(%0, %r) fwd = @stash_fwd bwd = @stash_bwd : (tensor<f64>, !hjx.ref<tensor<f64>>) -> tensor<f64>
  %2 = hjx.sin %1 : tensor<f64>
  return %2 : tensor<f64>
}
func.func private @stash_f(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  return %x : tensor<f64>
}
func.func private @stash_fwd(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  return %x : tensor<f64>
}
func.func private @stash_bwd(%r: !hjx.ref<tensor<f64>>, %y_bar: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %old = hjx.ref_swap %r, %y_bar : (!hjx.ref<tensor<f64>>, tensor<f64>) -> tensor<f64>
  %zero = hjx.constant dense<0.0> : tensor<f64>
  return %y_bar, %zero : tensor<f64>, tensor<f64>
}

// In a loop the cotangent nearest the input is stashed last.
func.func @stash_in_scan() {
  %x = hjx.constant dense<1.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %r = hjx.ref_new %zero : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y, %x_bar = hjx.vjp @stashing_scan(%x, %r) cotangents(%one) active = [true, false] : (tensor<f64>, !hjx.ref<tensor<f64>>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %kept = hjx.ref_freeze %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  check.expect_close %kept, %x_bar rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  return
}
func.func private @stashing_scan(%x: tensor<f64>, %r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %y = hjx.scan consts(%r) inits(%x) xs() length = 3 : (!hjx.ref<tensor<f64>>, tensor<f64>) -> tensor<f64> {
  ^bb0(%c: !hjx.ref<tensor<f64>>, %v: tensor<f64>):
    %0 = hjx.custom_vjp @stash_f(%v, %c) fwd = @stash_fwd bwd = @stash_bwd : (tensor<f64>, !hjx.ref<tensor<f64>>) -> tensor<f64>
    %1 = hjx.sin %0 : tensor<f64>
    hjx.yield %1 : tensor<f64>
  }
  return %y : tensor<f64>
}

// A custom_vjp whose ref is made inside: its bwd gives the cotangent of what the ref held.
func.func @custom_own() {
  %x = hjx.constant dense<3.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %y, %x_bar = hjx.vjp @custom_inside(%x) cotangents(%one) active = [true] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %c = hjx.cos %x : tensor<f64>
  %five = hjx.constant dense<5.0> : tensor<f64>
  %e = hjx.mul %five, %c : tensor<f64>
  check.expect_close %x_bar, %e rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  return
}
func.func private @custom_inside(%x: tensor<f64>) -> tensor<f64> {
  %s = hjx.sin %x : tensor<f64>
  %r = hjx.ref_new %s : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %y = hjx.custom_vjp @read_f(%r) fwd = @read_fwd bwd = @read_bwd : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  return %y : tensor<f64>
}
func.func private @read_f(%r: !hjx.ref<tensor<f64>>) -> tensor<f64> {
  %y = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  return %y : tensor<f64>
}
func.func private @read_fwd(%r: !hjx.ref<tensor<f64>>) -> (tensor<f64>, tensor<f64>) {
  %y = hjx.ref_get %r : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %five = hjx.constant dense<5.0> : tensor<f64>
  return %y, %five : tensor<f64>, tensor<f64>
}
func.func private @read_bwd(%r: !hjx.ref<tensor<f64>>, %five: tensor<f64>, %y_bar: tensor<f64>) -> tensor<f64> {
  %r_bar = hjx.mul %five, %y_bar : tensor<f64>
  return %r_bar : tensor<f64>
}
