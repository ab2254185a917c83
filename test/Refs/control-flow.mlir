// RUN: hjx-opt %s --hjx-interpret
// RUN: hjx-opt %s --hjx-discharge-refs --hjx-interpret
//
// Refs in loops, branches and calls: the interpreter shares memory, discharge threads values.

func.func @scan() {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %xs = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %sum = hjx.ref_new %zero : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  %slices = hjx.ref_new %xs : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
  // Backwards: 3, then 2, then 1; each slice becomes the running sum.
  %ys = hjx.scan consts(%sum) inits() xs(%slices) length = 3 reverse : (!hjx.ref<tensor<f32>>, !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  ^bb0(%s: !hjx.ref<tensor<f32>>, %x: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %x : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %s, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    %w = hjx.ref_get %s : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %old = hjx.ref_swap %x, %w : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
    hjx.yield %old : tensor<f32>
  }
  check.expect_eq %ys, %xs : tensor<3xf32>
  %last = hjx.ref_freeze %slices : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  %e = hjx.constant dense<[6.0, 5.0, 3.0]> : tensor<3xf32>
  check.expect_eq %last, %e : tensor<3xf32>
  %total = hjx.ref_freeze %sum : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  %six = hjx.constant dense<6.0> : tensor<f32>
  check.expect_eq %total, %six : tensor<f32>
  return
}

// A scan's slice is a ref that an inner scan takes slices of, and a call gets.
func.func @nested() {
  %m = hjx.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %r = hjx.ref_new %m : (tensor<3x2xf32>) -> !hjx.ref<tensor<3x2xf32>>
  hjx.scan consts() inits() xs(%r) length = 3 : (!hjx.ref<tensor<3x2xf32>>) -> () {
  ^bb0(%row: !hjx.ref<tensor<2xf32>>):
    hjx.scan consts() inits() xs(%row) length = 2 : (!hjx.ref<tensor<2xf32>>) -> () {
    ^bb0(%x: !hjx.ref<tensor<f32>>):
      %0 = func.call @double(%x) : (!hjx.ref<tensor<f32>>) -> tensor<f32>
      hjx.yield
    }
    %one = hjx.constant dense<1.0> : tensor<f32>
    hjx.ref_add %row[1], %one : (!hjx.ref<tensor<2xf32>>, tensor<f32>) -> ()
    hjx.yield
  }
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<3x2xf32>>) -> tensor<3x2xf32>
  %e = hjx.constant dense<[[2.0, 5.0], [6.0, 9.0], [10.0, 13.0]]> : tensor<3x2xf32>
  check.expect_eq %y, %e : tensor<3x2xf32>
  return
}
func.func private @double(%r: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %v = hjx.ref_get %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  hjx.ref_add %r, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  %w = hjx.ref_get %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  return %w : tensor<f32>
}

// The condition reads what the body writes: 1, 2, 4, 8; four iterations.
func.func @while() {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %zero = hjx.constant dense<0> : tensor<i32>
  %limit = hjx.constant dense<9.0> : tensor<f32>
  %r = hjx.ref_new %one : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  %n = hjx.while cond_consts(%limit, %r) body_consts(%r) inits(%zero) : (tensor<f32>, !hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<f32>, %c: !hjx.ref<tensor<f32>>, %i: tensor<i32>):
    %v = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %p = hjx.compare lt, %v, %l : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%c: !hjx.ref<tensor<f32>>, %i: tensor<i32>):
    %0 = func.call @double(%c) : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %1 = hjx.constant dense<1> : tensor<i32>
    %next = hjx.add %i, %1 : tensor<i32>
    hjx.yield %next : tensor<i32>
  }
  %four = hjx.constant dense<4> : tensor<i32>
  check.expect_eq %n, %four : tensor<i32>
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  %e = hjx.constant dense<16.0> : tensor<f32>
  check.expect_eq %y, %e : tensor<f32>
  return
}

// Only the branch that is taken writes; order counts across branches.
func.func @cond() {
  %x = hjx.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %which = hjx.constant dense<[0, 1, 1]> : tensor<3xi32>
  %r = hjx.ref_new %x : (tensor<2xf32>) -> !hjx.ref<tensor<2xf32>>
  %ys = hjx.scan consts(%r) inits() xs(%which) length = 3 : (!hjx.ref<tensor<2xf32>>, tensor<3xi32>) -> tensor<3xf32> {
  ^bb0(%c: !hjx.ref<tensor<2xf32>>, %k: tensor<i32>):
    %y = hjx.cond %k, inputs(%c) : (tensor<i32>, !hjx.ref<tensor<2xf32>>) -> tensor<f32> {
    ^bb0(%a: !hjx.ref<tensor<2xf32>>):
      %v = hjx.ref_get %a[1] : (!hjx.ref<tensor<2xf32>>) -> tensor<f32>
      %old = hjx.ref_swap %a[0], %v : (!hjx.ref<tensor<2xf32>>, tensor<f32>) -> tensor<f32>
      hjx.yield %old : tensor<f32>
    }, {
    ^bb0(%a: !hjx.ref<tensor<2xf32>>):
      %v = hjx.ref_get %a[0] : (!hjx.ref<tensor<2xf32>>) -> tensor<f32>
      hjx.ref_add %a[1], %v : (!hjx.ref<tensor<2xf32>>, tensor<f32>) -> ()
      hjx.yield %v : tensor<f32>
    }
    hjx.yield %y : tensor<f32>
  }
  %e1 = hjx.constant dense<[1.0, 2.0, 2.0]> : tensor<3xf32>
  check.expect_eq %ys, %e1 : tensor<3xf32>
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<2xf32>>) -> tensor<2xf32>
  %e2 = hjx.constant dense<[2.0, 6.0]> : tensor<2xf32>
  check.expect_eq %y, %e2 : tensor<2xf32>
  return
}

// Keys and bools; a ref of a slice without elements.
func.func @kinds() {
  %seed = hjx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui32>
  %keys = hjx.random_wrap %seed : tensor<2x2xui32> -> tensor<2x!hjx.key<threefry2x32>>
  %r = hjx.ref_new %keys : (tensor<2x!hjx.key<threefry2x32>>) -> !hjx.ref<tensor<2x!hjx.key<threefry2x32>>>
  %k = hjx.ref_get %r[1] : (!hjx.ref<tensor<2x!hjx.key<threefry2x32>>>) -> tensor<!hjx.key<threefry2x32>>
  %old = hjx.ref_swap %r[0], %k : (!hjx.ref<tensor<2x!hjx.key<threefry2x32>>>, tensor<!hjx.key<threefry2x32>>) -> tensor<!hjx.key<threefry2x32>>
  %last = hjx.ref_freeze %r : (!hjx.ref<tensor<2x!hjx.key<threefry2x32>>>) -> tensor<2x!hjx.key<threefry2x32>>
  %words = hjx.random_unwrap %last : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x2xui32>
  %e = hjx.constant dense<[[3, 4], [3, 4]]> : tensor<2x2xui32>
  check.expect_eq %words, %e : tensor<2x2xui32>
  %t = hjx.constant dense<[true, false]> : tensor<2xi1>
  %b = hjx.ref_new %t : (tensor<2xi1>) -> !hjx.ref<tensor<2xi1>>
  %first = hjx.ref_get %b[0:1] : (!hjx.ref<tensor<2xi1>>) -> tensor<1xi1>
  %0 = hjx.ref_swap %b[1:2], %first : (!hjx.ref<tensor<2xi1>>, tensor<1xi1>) -> tensor<1xi1>
  %bools = hjx.ref_freeze %b : (!hjx.ref<tensor<2xi1>>) -> tensor<2xi1>
  %all = hjx.constant dense<true> : tensor<2xi1>
  check.expect_eq %bools, %all : tensor<2xi1>
  %none = hjx.constant dense<0.0> : tensor<0xf32>
  %empty = hjx.ref_new %none : (tensor<0xf32>) -> !hjx.ref<tensor<0xf32>>
  hjx.ref_add %empty[0:0], %none : (!hjx.ref<tensor<0xf32>>, tensor<0xf32>) -> ()
  return
}
