// RUN: hjx-opt %s --hjx-interpret
// Loops, branches and calls, with values worked out by hand.

func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.mul %x, %x : tensor<f32>
  return %y : tensor<f32>
}

// Carries and ys; a call in the body.
func.func @scan() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = hjx.constant dense<10.0> : tensor<f32>
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %sum, %partial = hjx.scan consts(%w) inits(%zero) xs(%x) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %c: tensor<f32>, %xi: tensor<f32>):
    %q = func.call @square(%xi) : (tensor<f32>) -> tensor<f32>
    %m = hjx.mul %k, %q : tensor<f32>
    %s = hjx.add %c, %m : tensor<f32>
    hjx.yield %s, %c : tensor<f32>, tensor<f32>
  }
  %e0 = hjx.constant dense<140.0> : tensor<f32>
  %e1 = hjx.constant dense<[0.0, 10.0, 50.0]> : tensor<3xf32>
  check.expect_eq %sum, %e0 : tensor<f32>
  check.expect_eq %partial, %e1 : tensor<3xf32>
  return
}

// Reverse runs from the last slice and writes ys in their places.
func.func @scan_reverse() {
  %x = hjx.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %zero = hjx.constant dense<0> : tensor<2xi32>
  %sum, %partial = hjx.scan consts() inits(%zero) xs(%x) length = 3 reverse : (tensor<2xi32>, tensor<3x2xi32>) -> (tensor<2xi32>, tensor<3x2xi32>) {
  ^bb0(%c: tensor<2xi32>, %xi: tensor<2xi32>):
    %s = hjx.add %c, %xi : tensor<2xi32>
    hjx.yield %s, %s : tensor<2xi32>, tensor<2xi32>
  }
  %e0 = hjx.constant dense<[9, 12]> : tensor<2xi32>
  %e1 = hjx.constant dense<[[9, 12], [8, 10], [5, 6]]> : tensor<3x2xi32>
  check.expect_eq %sum, %e0 : tensor<2xi32>
  check.expect_eq %partial, %e1 : tensor<3x2xi32>
  return
}

func.func @scan_of_length_zero() {
  %x = hjx.constant dense<> : tensor<0xf32>
  %init = hjx.constant dense<7.0> : tensor<f32>
  %c, %ys = hjx.scan consts() inits(%init) xs(%x) length = 0 : (tensor<f32>, tensor<0xf32>) -> (tensor<f32>, tensor<0xf32>) {
  ^bb0(%c: tensor<f32>, %xi: tensor<f32>):
    hjx.yield %xi, %c : tensor<f32>, tensor<f32>
  }
  check.expect_eq %c, %init : tensor<f32>
  check.expect_eq %ys, %x : tensor<0xf32>
  return
}

// 1, 2, 4, ... until at least the limit; then the same cut short by max_trip.
func.func @while() {
  %limit = hjx.constant dense<100> : tensor<i32>
  %two = hjx.constant dense<2> : tensor<i32>
  %one = hjx.constant dense<1> : tensor<i32>
  %n = hjx.while cond_consts(%limit) body_consts(%two) inits(%one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<i32>, %i: tensor<i32>):
    %p = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%k: tensor<i32>, %i: tensor<i32>):
    %next = hjx.mul %i, %k : tensor<i32>
    hjx.yield %next : tensor<i32>
  }
  %e0 = hjx.constant dense<128> : tensor<i32>
  check.expect_eq %n, %e0 : tensor<i32>
  %m = hjx.while cond_consts(%limit) body_consts(%two) inits(%one) max_trip = 3 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<i32>, %i: tensor<i32>):
    %p = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%k: tensor<i32>, %i: tensor<i32>):
    %next = hjx.mul %i, %k : tensor<i32>
    hjx.yield %next : tensor<i32>
  }
  %e1 = hjx.constant dense<8> : tensor<i32>
  check.expect_eq %m, %e1 : tensor<i32>
  return
}

// A scan over indices, so that one cond sees an index below, in and above.
func.func @cond_index() {
  %indices = hjx.constant dense<[-5, 0, 1, 2, 9]> : tensor<5xi32>
  %x = hjx.constant dense<1.5> : tensor<f32>
  %ys = hjx.scan consts(%x) inits() xs(%indices) length = 5 : (tensor<f32>, tensor<5xi32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<f32>, %i: tensor<i32>):
    %y = hjx.cond %i, inputs(%a) : (tensor<i32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%b: tensor<f32>):
      hjx.yield %b : tensor<f32>
    }, {
    ^bb0(%b: tensor<f32>):
      %n = hjx.neg %b : tensor<f32>
      hjx.yield %n : tensor<f32>
    }, {
    ^bb0(%b: tensor<f32>):
      %n = hjx.add %b, %b : tensor<f32>
      hjx.yield %n : tensor<f32>
    }
    hjx.yield %y : tensor<f32>
  }
  %e = hjx.constant dense<[1.5, 1.5, -1.5, 3.0, 3.0]> : tensor<5xf32>
  check.expect_eq %ys, %e : tensor<5xf32>
  return
}

func.func @cond_bool() {
  %ps = hjx.constant dense<[true, false]> : tensor<2xi1>
  %ys = hjx.scan consts() inits() xs(%ps) length = 2 : (tensor<2xi1>) -> tensor<2xi32> {
  ^bb0(%p: tensor<i1>):
    %y = hjx.cond %p, inputs() : (tensor<i1>) -> tensor<i32> {
      %c = hjx.constant dense<10> : tensor<i32>
      hjx.yield %c : tensor<i32>
    }, {
      %c = hjx.constant dense<20> : tensor<i32>
      hjx.yield %c : tensor<i32>
    }
    hjx.yield %y : tensor<i32>
  }
  %e = hjx.constant dense<[20, 10]> : tensor<2xi32>
  check.expect_eq %ys, %e : tensor<2xi32>
  return
}

func.func @opt_barrier() {
  %x = hjx.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %p = hjx.constant dense<true> : tensor<i1>
  %a, %b = hjx.opt_barrier %x, %p : tensor<2xf32>, tensor<i1>
  check.expect_eq %a, %x : tensor<2xf32>
  check.expect_true %b : tensor<i1>
  %y = hjx.stop_gradient %x : tensor<2xf32>
  check.expect_eq %y, %x : tensor<2xf32>
  return
}
