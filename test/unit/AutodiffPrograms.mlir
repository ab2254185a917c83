// SPDX-License-Identifier: Apache-2.0
//
// Programs for AutodiffTest: each public function is one. `test.reverse_only`
// marks those that have no forward-mode derivative. Arguments are floats in
// (0.2, 1) and integers from 0 to 2.

func.func @x_sin_x(%x: tensor<3xf64>) -> tensor<3xf64> {
  %s = hjx.sin %x : tensor<3xf64>
  %y = hjx.mul %x, %s : tensor<3xf64>
  return %y : tensor<3xf64>
}

// A dense layer and a softmax: dot_general, reductions, broadcasts.
func.func @softmax(%x: tensor<2x3xf64>, %w: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %z = hjx.dot_general %x, %w contracting = [1] x [0] : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  %m = hjx.reduce_max %z axes = [1] : tensor<2x4xf64> -> tensor<2xf64>
  %mb = hjx.broadcast_in_dim %m shape = [2, 4] dims = [0] : tensor<2xf64> -> tensor<2x4xf64>
  %d = hjx.sub %z, %mb : tensor<2x4xf64>
  %e = hjx.exp %d : tensor<2x4xf64>
  %s = hjx.reduce_sum %e axes = [1] : tensor<2x4xf64> -> tensor<2xf64>
  %sb = hjx.broadcast_in_dim %s shape = [2, 4] dims = [0] : tensor<2xf64> -> tensor<2x4xf64>
  %y = hjx.div %e, %sb : tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// One function called twice, on values that depend on each other.
func.func private @square_sin(%x: tensor<2xf64>, %k: tensor<i32>) -> (tensor<2xf64>, tensor<i32>) {
  %s = hjx.sin %x : tensor<2xf64>
  %y = hjx.mul %s, %s : tensor<2xf64>
  return %y, %k : tensor<2xf64>, tensor<i32>
}
func.func @calls(%x: tensor<2xf64>, %k: tensor<i32>) -> (tensor<2xf64>, tensor<i32>) {
  %y, %k1 = call @square_sin(%x, %k) : (tensor<2xf64>, tensor<i32>) -> (tensor<2xf64>, tensor<i32>)
  %z, %k2 = call @square_sin(%y, %k1) : (tensor<2xf64>, tensor<i32>) -> (tensor<2xf64>, tensor<i32>)
  %r = hjx.mul %z, %x : tensor<2xf64>
  return %r, %k2 : tensor<2xf64>, tensor<i32>
}

// Every role of a scan's values: a const, a carry, xs and ys, all of which matter.
func.func @scan(%w: tensor<2xf64>, %c: tensor<2xf64>, %x: tensor<4x2xf64>) -> (tensor<2xf64>, tensor<4x2xf64>) {
  %last, %ys = hjx.scan consts(%w) inits(%c) xs(%x) length = 4 : (tensor<2xf64>, tensor<2xf64>, tensor<4x2xf64>) -> (tensor<2xf64>, tensor<4x2xf64>) {
  ^bb0(%k: tensor<2xf64>, %s: tensor<2xf64>, %xi: tensor<2xf64>):
    %kk = hjx.mul %k, %k : tensor<2xf64>
    %e = hjx.sin %xi : tensor<2xf64>
    %p = hjx.mul %s, %e : tensor<2xf64>
    %q = hjx.mul %p, %kk : tensor<2xf64>
    %n = hjx.add %q, %k : tensor<2xf64>
    %y = hjx.mul %n, %xi : tensor<2xf64>
    hjx.yield %n, %y : tensor<2xf64>, tensor<2xf64>
  }
  return %last, %ys : tensor<2xf64>, tensor<4x2xf64>
}

func.func @scan_reverse(%w: tensor<2xf64>, %x: tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %zero = hjx.constant dense<0.0> : tensor<2xf64>
  // The carry has no tangent at first and gains one from xs.
  %last, %ys = hjx.scan consts(%w) inits(%zero) xs(%x) length = 3 reverse : (tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  ^bb0(%k: tensor<2xf64>, %s: tensor<2xf64>, %xi: tensor<2xf64>):
    %p = hjx.mul %xi, %k : tensor<2xf64>
    %t = hjx.tanh %p : tensor<2xf64>
    %n = hjx.add %s, %t : tensor<2xf64>
    %y = hjx.exp %n : tensor<2xf64>
    hjx.yield %n, %y : tensor<2xf64>, tensor<2xf64>
  }
  return %last, %ys : tensor<2xf64>, tensor<3x2xf64>
}

// An integer carry beside a float one that depends on it.
func.func @scan_integer_carry(%c: tensor<f64>, %x: tensor<3xf64>, %start: tensor<i32>) -> (tensor<f64>, tensor<i32>) {
  %last, %count = hjx.scan consts(%x) inits(%c, %start) xs() length = 5 : (tensor<3xf64>, tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>) {
  ^bb0(%all: tensor<3xf64>, %s: tensor<f64>, %i: tensor<i32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %next = hjx.add %i, %one : tensor<i32>
    %xi = hjx.dynamic_slice %all [%i] sizes = [1] : (tensor<3xf64>, tensor<i32>) -> tensor<1xf64>
    %v = hjx.reshape %xi shape = [] : tensor<1xf64> -> tensor<f64>
    %p = hjx.mul %s, %v : tensor<f64>
    %n = hjx.sin %p : tensor<f64>
    hjx.yield %n, %next : tensor<f64>, tensor<i32>
  }
  return %last, %count : tensor<f64>, tensor<i32>
}

// Carries that change places: activity needs several passes.
func.func @scan_rotating_carries(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
  %one = hjx.constant dense<1.0> : tensor<f64>
  %r:3 = hjx.scan consts(%b) inits(%a, %one, %one) xs() length = 4 : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  ^bb0(%k: tensor<f64>, %x: tensor<f64>, %y: tensor<f64>, %z: tensor<f64>):
    %p = hjx.mul %x, %k : tensor<f64>
    hjx.yield %z, %p, %y : tensor<f64>, tensor<f64>, tensor<f64>
  }
  %s = hjx.add %r#0, %r#1 : tensor<f64>
  %t = hjx.mul %s, %r#2 : tensor<f64>
  return %t : tensor<f64>
}

// A scan inside a scan: consts, carries and xs at both levels.
func.func @nested_scan(%w: tensor<2xf64>, %c: tensor<2xf64>, %x: tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %last, %ys = hjx.scan consts(%w, %x) inits(%c) xs(%x) length = 3 : (tensor<2xf64>, tensor<3x2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  ^bb0(%k: tensor<2xf64>, %all: tensor<3x2xf64>, %s: tensor<2xf64>, %xi: tensor<2xf64>):
    %inner, %outs = hjx.scan consts(%k, %xi) inits(%s) xs(%all) length = 3 reverse : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
    ^bb0(%k1: tensor<2xf64>, %x1: tensor<2xf64>, %s1: tensor<2xf64>, %xj: tensor<2xf64>):
      %p = hjx.mul %s1, %xj : tensor<2xf64>
      %q = hjx.mul %p, %k1 : tensor<2xf64>
      %r = hjx.add %q, %x1 : tensor<2xf64>
      %n = hjx.sin %r : tensor<2xf64>
      %o = hjx.mul %n, %xj : tensor<2xf64>
      hjx.yield %n, %o : tensor<2xf64>, tensor<2xf64>
    }
    %sum = hjx.reduce_sum %outs axes = [0] : tensor<3x2xf64> -> tensor<2xf64>
    hjx.yield %inner, %sum : tensor<2xf64>, tensor<2xf64>
  }
  return %last, %ys : tensor<2xf64>, tensor<3x2xf64>
}

// Branches that keep different residuals, an input, and a result.
func.func @cond(%i: tensor<i32>, %x: tensor<2xf64>, %w: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %y, %z = hjx.cond %i, inputs(%x, %w) : (tensor<i32>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  ^bb0(%a: tensor<2xf64>, %b: tensor<2xf64>):
    %s = hjx.sin %a : tensor<2xf64>
    %p = hjx.mul %s, %b : tensor<2xf64>
    hjx.yield %p, %a : tensor<2xf64>, tensor<2xf64>
  }, {
  ^bb0(%a: tensor<2xf64>, %b: tensor<2xf64>):
    %e = hjx.exp %a : tensor<2xf64>
    %c = hjx.constant dense<2.0> : tensor<2xf64>
    hjx.yield %e, %c : tensor<2xf64>, tensor<2xf64>
  }, {
  ^bb0(%a: tensor<2xf64>, %b: tensor<2xf64>):
    %p = hjx.mul %a, %b : tensor<2xf64>
    %q = hjx.mul %p, %p : tensor<2xf64>
    hjx.yield %b, %q : tensor<2xf64>, tensor<2xf64>
  }
  return %y, %z : tensor<2xf64>, tensor<2xf64>
}

func.func @cond_in_scan(%c: tensor<f64>, %x: tensor<4xf64>) -> (tensor<f64>, tensor<4xf64>) {
  %zero = hjx.constant dense<0> : tensor<i32>
  %last, %n, %ys = hjx.scan consts() inits(%c, %zero) xs(%x) length = 4 : (tensor<f64>, tensor<i32>, tensor<4xf64>) -> (tensor<f64>, tensor<i32>, tensor<4xf64>) {
  ^bb0(%s: tensor<f64>, %i: tensor<i32>, %xi: tensor<f64>):
    %one = hjx.constant dense<1> : tensor<i32>
    %bit = hjx.and %i, %one : tensor<i32>
    %odd = hjx.compare eq, %bit, %one : tensor<i32> -> tensor<i1>
    %v = hjx.cond %odd, inputs(%s, %xi) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64> {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %p = hjx.mul %a, %b : tensor<f64>
      %q = hjx.sin %p : tensor<f64>
      hjx.yield %q : tensor<f64>
    }, {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %p = hjx.add %a, %b : tensor<f64>
      %q = hjx.mul %p, %p : tensor<f64>
      hjx.yield %q : tensor<f64>
    }
    %next = hjx.add %i, %one : tensor<i32>
    hjx.yield %v, %next, %v : tensor<f64>, tensor<i32>, tensor<f64>
  }
  return %last, %ys : tensor<f64>, tensor<4xf64>
}

// The trip count is in the IR: from 5 down to 1.
func.func @while_counted(%x: tensor<f64>, %w: tensor<f64>) -> tensor<f64> {
  %five = hjx.constant dense<5> : tensor<i32>
  %i, %y = hjx.while cond_consts() body_consts(%w) inits(%five, %x) : (tensor<f64>, tensor<i32>, tensor<f64>) -> (tensor<i32>, tensor<f64>) cond {
  ^bb0(%n: tensor<i32>, %v: tensor<f64>):
    %one = hjx.constant dense<1> : tensor<i32>
    %p = hjx.compare lt, %one, %n : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%k: tensor<f64>, %n: tensor<i32>, %v: tensor<f64>):
    %one = hjx.constant dense<1> : tensor<i32>
    %m = hjx.sub %n, %one : tensor<i32>
    %p = hjx.mul %v, %k : tensor<f64>
    %q = hjx.sin %p : tensor<f64>
    hjx.yield %m, %q : tensor<i32>, tensor<f64>
  }
  return %y : tensor<f64>
}

// The trip count depends on the values; after it the body would divide by zero.
func.func @while_bounded(%n: tensor<i32>, %x: tensor<f64>) -> tensor<f64> {
  %three = hjx.constant dense<3> : tensor<i32>
  %i, %y = hjx.while cond_consts(%n) body_consts() inits(%three, %x) max_trip = 6 : (tensor<i32>, tensor<i32>, tensor<f64>) -> (tensor<i32>, tensor<f64>) cond {
  ^bb0(%limit: tensor<i32>, %k: tensor<i32>, %v: tensor<f64>):
    %zero = hjx.constant dense<0> : tensor<i32>
    %p = hjx.compare gt, %k, %zero : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%k: tensor<i32>, %v: tensor<f64>):
    %one = hjx.constant dense<1> : tensor<i32>
    %m = hjx.sub %k, %one : tensor<i32>
    %d = hjx.convert %k : tensor<i32> -> tensor<f64>
    %q = hjx.div %v, %d : tensor<f64>
    %r = hjx.sin %q : tensor<f64>
    hjx.yield %m, %r : tensor<i32>, tensor<f64>
  }
  return %y : tensor<f64>
}

func.func private @layer(%s: tensor<2xf64>, %w: tensor<2x2xf64>) -> tensor<2xf64> {
  %z = hjx.dot_general %s, %w contracting = [0] x [0] : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
  %t = hjx.tanh %z : tensor<2xf64>
  %e = hjx.exp %t : tensor<2xf64>
  %y = hjx.mul %e, %s : tensor<2xf64>
  return %y : tensor<2xf64>
}
func.func @checkpoint_nothing(%c: tensor<2xf64>, %w: tensor<2x2xf64>) -> tensor<2xf64> {
  %a = hjx.checkpoint @layer(%c, %w) : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
  %b = hjx.checkpoint @layer(%a, %w) policy = dots_saveable : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
  return %b : tensor<2xf64>
}
func.func @checkpoint_in_scan(%c: tensor<2xf64>, %ws: tensor<3x2x2xf64>) -> tensor<2xf64> {
  %last = hjx.scan consts() inits(%c) xs(%ws) length = 3 : (tensor<2xf64>, tensor<3x2x2xf64>) -> tensor<2xf64> {
  ^bb0(%s: tensor<2xf64>, %w: tensor<2x2xf64>):
    %y = hjx.checkpoint @layer(%s, %w) policy = dots_with_no_batch_dims_saveable : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
    hjx.yield %y : tensor<2xf64>
  }
  return %last : tensor<2xf64>
}
func.func private @three_layers(%c: tensor<2xf64>, %ws: tensor<3x2x2xf64>) -> tensor<2xf64> {
  %last = hjx.scan consts() inits(%c) xs(%ws) length = 3 : (tensor<2xf64>, tensor<3x2x2xf64>) -> tensor<2xf64> {
  ^bb0(%s: tensor<2xf64>, %w: tensor<2x2xf64>):
    %y = func.call @layer(%s, %w) : (tensor<2xf64>, tensor<2x2xf64>) -> tensor<2xf64>
    hjx.yield %y : tensor<2xf64>
  }
  return %last : tensor<2xf64>
}
func.func @scan_in_checkpoint(%c: tensor<2xf64>, %ws: tensor<3x2x2xf64>) -> tensor<2xf64> {
  %y = hjx.checkpoint @three_layers(%c, %ws) : (tensor<2xf64>, tensor<3x2x2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// x * log(x), with its derivative written by hand: (log x + 1) x_dot.
func.func private @xlogx(%x: tensor<2xf64>, %k: tensor<i32>) -> (tensor<2xf64>, tensor<i32>) {
  %l = hjx.log %x : tensor<2xf64>
  %y = hjx.mul %x, %l : tensor<2xf64>
  return %y, %k : tensor<2xf64>, tensor<i32>
}
func.func private @xlogx_jvp(%x: tensor<2xf64>, %k: tensor<i32>, %x_dot: tensor<2xf64>) -> (tensor<2xf64>, tensor<i32>, tensor<2xf64>) {
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %l = hjx.log %x : tensor<2xf64>
  %y = hjx.mul %x, %l : tensor<2xf64>
  %c = hjx.add %l, %one : tensor<2xf64>
  %y_dot = hjx.mul %x_dot, %c : tensor<2xf64>
  return %y, %k, %y_dot : tensor<2xf64>, tensor<i32>, tensor<2xf64>
}
func.func @custom_jvp(%x: tensor<2xf64>, %k: tensor<i32>) -> (tensor<2xf64>, tensor<i32>) {
  %s = hjx.mul %x, %x : tensor<2xf64>
  %y, %k1 = hjx.custom_jvp @xlogx(%s, %k) rule = @xlogx_jvp : (tensor<2xf64>, tensor<i32>) -> (tensor<2xf64>, tensor<i32>)
  return %y, %k1 : tensor<2xf64>, tensor<i32>
}

func.func private @xy(%x: tensor<2xf64>, %k: tensor<i32>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<i32>) {
  %s = hjx.sin %x : tensor<2xf64>
  %z = hjx.mul %s, %y : tensor<2xf64>
  return %z, %k : tensor<2xf64>, tensor<i32>
}
func.func private @xy_fwd(%x: tensor<2xf64>, %k: tensor<i32>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<i32>, tensor<2xf64>, tensor<2xf64>) {
  %s = hjx.sin %x : tensor<2xf64>
  %z = hjx.mul %s, %y : tensor<2xf64>
  return %z, %k, %x, %y : tensor<2xf64>, tensor<i32>, tensor<2xf64>, tensor<2xf64>
}
func.func private @xy_bwd(%x: tensor<2xf64>, %y: tensor<2xf64>, %z_bar: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %c = hjx.cos %x : tensor<2xf64>
  %cy = hjx.mul %c, %y : tensor<2xf64>
  %x_bar = hjx.mul %z_bar, %cy : tensor<2xf64>
  %s = hjx.sin %x : tensor<2xf64>
  %y_bar = hjx.mul %z_bar, %s : tensor<2xf64>
  return %x_bar, %y_bar : tensor<2xf64>, tensor<2xf64>
}
func.func @custom_vjp(%x: tensor<2xf64>, %k: tensor<i32>) -> (tensor<2xf64>, tensor<i32>) attributes {test.reverse_only} {
  %s = hjx.exp %x : tensor<2xf64>
  %z, %k1 = hjx.custom_vjp @xy(%s, %k, %x) fwd = @xy_fwd bwd = @xy_bwd : (tensor<2xf64>, tensor<i32>, tensor<2xf64>) -> (tensor<2xf64>, tensor<i32>)
  return %z, %k1 : tensor<2xf64>, tensor<i32>
}
func.func @custom_vjp_in_scan(%c: tensor<2xf64>, %x: tensor<3x2xf64>, %k: tensor<i32>) -> tensor<2xf64> attributes {test.reverse_only} {
  %last = hjx.scan consts(%k) inits(%c) xs(%x) length = 3 : (tensor<i32>, tensor<2xf64>, tensor<3x2xf64>) -> tensor<2xf64> {
  ^bb0(%i: tensor<i32>, %s: tensor<2xf64>, %xi: tensor<2xf64>):
    %z, %i1 = hjx.custom_vjp @xy(%s, %i, %xi) fwd = @xy_fwd bwd = @xy_bwd : (tensor<2xf64>, tensor<i32>, tensor<2xf64>) -> (tensor<2xf64>, tensor<i32>)
    hjx.yield %z : tensor<2xf64>
  }
  return %last : tensor<2xf64>
}

// A gradient inside a scan inside the differentiated function: descent steps.
func.func private @loss(%x: tensor<2xf64>, %w: tensor<2xf64>) -> tensor<f64> {
  %p = hjx.mul %x, %w : tensor<2xf64>
  %s = hjx.sin %p : tensor<2xf64>
  %q = hjx.mul %s, %s : tensor<2xf64>
  %y = hjx.reduce_sum %q axes = [0] : tensor<2xf64> -> tensor<f64>
  return %y : tensor<f64>
}
func.func @descent(%x: tensor<2xf64>, %w: tensor<2xf64>) -> tensor<2xf64> {
  %last = hjx.scan consts(%w) inits(%x) xs() length = 3 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64> {
  ^bb0(%k: tensor<2xf64>, %s: tensor<2xf64>):
    %one = hjx.constant dense<1.0> : tensor<f64>
    %rate = hjx.constant dense<0.1> : tensor<2xf64>
    %y, %g = hjx.vjp @loss(%s, %k) cotangents(%one) active = [true, false] : (tensor<2xf64>, tensor<2xf64>, tensor<f64>) -> (tensor<f64>, tensor<2xf64>)
    %d = hjx.mul %rate, %g : tensor<2xf64>
    %n = hjx.sub %s, %d : tensor<2xf64>
    hjx.yield %n : tensor<2xf64>
  }
  return %last : tensor<2xf64>
}

// A carry whose tangent is always zero, though its op could have one.
func.func private @steps(%x: tensor<f64>) -> tensor<f64> {
  %y = hjx.floor %x : tensor<f64>
  return %y : tensor<f64>
}
func.func private @steps_jvp(%x: tensor<f64>, %x_dot: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %y = hjx.floor %x : tensor<f64>
  return %y, %zero : tensor<f64>, tensor<f64>
}
func.func @scan_zero_tangent(%c: tensor<f64>, %x: tensor<3xf64>) -> (tensor<f64>, tensor<f64>) {
  %one = hjx.constant dense<1.0> : tensor<f64>
  %r:2 = hjx.scan consts() inits(%one, %c) xs(%x) length = 3 : (tensor<f64>, tensor<f64>, tensor<3xf64>) -> (tensor<f64>, tensor<f64>) {
  ^bb0(%n: tensor<f64>, %s: tensor<f64>, %xi: tensor<f64>):
    %k = hjx.constant dense<1.0> : tensor<f64>
    %p = hjx.mul %xi, %s : tensor<f64>
    %q = hjx.mul %p, %n : tensor<f64>
    %f = hjx.custom_jvp @steps(%xi) rule = @steps_jvp : (tensor<f64>) -> tensor<f64>
    %m = hjx.add %f, %k : tensor<f64>
    hjx.yield %m, %q : tensor<f64>, tensor<f64>
  }
  return %r#0, %r#1 : tensor<f64>, tensor<f64>
}

// A branch that keeps a random key: the other branch must give one, too.
func.func private @noisy(%x: tensor<2xf64>, %k: tensor<!hjx.key<threefry2x32>>) -> tensor<2xf64> {
  %bits = hjx.random_bits %k width = 8 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2xui8>
  %n = hjx.convert %bits : tensor<2xui8> -> tensor<2xf64>
  %scale = hjx.constant dense<0.01> : tensor<2xf64>
  %m = hjx.mul %n, %scale : tensor<2xf64>
  %p = hjx.mul %m, %x : tensor<2xf64>
  %y = hjx.sin %p : tensor<2xf64>
  return %y : tensor<2xf64>
}
func.func @cond_key(%x: tensor<2xf64>, %i: tensor<i32>, %seed: tensor<ui32>) -> tensor<2xf64> {
  %y = hjx.cond %i, inputs(%x, %seed) : (tensor<i32>, tensor<2xf64>, tensor<ui32>) -> tensor<2xf64> {
  ^bb0(%a: tensor<2xf64>, %s: tensor<ui32>):
    %k = hjx.random_seed %s : tensor<ui32> -> tensor<!hjx.key<threefry2x32>>
    %z = hjx.checkpoint @noisy(%a, %k) : (tensor<2xf64>, tensor<!hjx.key<threefry2x32>>) -> tensor<2xf64>
    hjx.yield %z : tensor<2xf64>
  }, {
  ^bb0(%a: tensor<2xf64>, %s: tensor<ui32>):
    %z = hjx.exp %a : tensor<2xf64>
    hjx.yield %z : tensor<2xf64>
  }
  return %y : tensor<2xf64>
}

// Mapping inside differentiating, and differentiating inside mapping.
func.func private @poly(%x: tensor<f64>, %w: tensor<2xf64>) -> tensor<f64> {
  %b = hjx.broadcast_in_dim %x shape = [2] dims = [] : tensor<f64> -> tensor<2xf64>
  %p = hjx.mul %b, %w : tensor<2xf64>
  %s = hjx.sin %p : tensor<2xf64>
  %y = hjx.reduce_prod %s axes = [0] : tensor<2xf64> -> tensor<f64>
  return %y : tensor<f64>
}
func.func private @slope(%x: tensor<f64>, %w: tensor<2xf64>) -> tensor<2xf64> {
  %one = hjx.constant dense<1.0> : tensor<f64>
  %y, %w_bar = hjx.vjp @poly(%x, %w) cotangents(%one) active = [false, true] : (tensor<f64>, tensor<2xf64>, tensor<f64>) -> (tensor<f64>, tensor<2xf64>)
  return %w_bar : tensor<2xf64>
}
func.func @mapped_slopes(%x: tensor<3xf64>, %w: tensor<2xf64>) -> tensor<2x3xf64> {
  %y = hjx.vmap @slope(%x, %w) in_axes = [0, -1] out_axes = [1] size = 3 : (tensor<3xf64>, tensor<2xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
