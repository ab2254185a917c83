// Programs of HiTypesTest. Each public function is one test; what it expects stands in it.

func.func private @round_trip(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %y = hjx.call_primitive "dequantize"(%q) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func private @quantize(%x: tensor<2x3xf32>) -> !hjx.q8<2x3> {
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  return %q : !hjx.q8<2x3>
}

func.func private @square_norm(%q: !hjx.q8<2x3>) -> tensor<f32> {
  %x = hjx.call_primitive "dequantize"(%q) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %y = hjx.mul %x, %x : tensor<2x3xf32>
  %s = hjx.reduce_sum %y axes = [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Values through a call.
func.func @values() {
  %x = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %y = func.call @round_trip(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = hjx.constant dense<[[0.992126, 2.007874, 3.0], [4.015748, -5.007874, 6.0]]> : tensor<2x3xf32>
  check.expect_close %y, %e rtol = 1.0e-5 : tensor<2x3xf32>
  return
}

// Straight-through: the derivative of the author, not of round.
func.func @gradient() {
  %x = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %c = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y, %g = hjx.vjp @round_trip(%x) cotangents(%c) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  check.expect_eq %g, %c : tensor<2x3xf32>
  return
}

// The gradient of a q8 is an f32 array.
func.func @gradient_of_q8() {
  %x = hjx.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %q = func.call @quantize(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %one = hjx.constant dense<1.0> : tensor<f32>
  %y, %g = hjx.vjp @square_norm(%q) cotangents(%one) active = [true] : (!hjx.q8<2x3>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)
  %e = hjx.constant dense<[[1.984252, 4.015748, 6.0], [8.031496, -10.015748, 12.0]]> : tensor<2x3xf32>
  check.expect_close %g, %e rtol = 1.0e-5 : tensor<2x3xf32>
  return
}

// Without a batching rule: quantize keeps its derivative under vmap, in both orders.
func.func private @loss(%x: tensor<2x3xf32>) -> tensor<f32> {
  %q = func.call @quantize(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %s = func.call @square_norm(%q) : (!hjx.q8<2x3>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func private @grad(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %y, %g = hjx.vjp @loss(%x) cotangents(%one) active = [true] : (tensor<2x3xf32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %g : tensor<2x3xf32>
}
func.func private @losses(%x: tensor<2x2x3xf32>) -> tensor<2xf32> {
  %y = hjx.vmap @loss(%x) in_axes = [1] out_axes = [0] size = 2 : (tensor<2x2x3xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @vmap_and_gradient() {
  %x = hjx.constant dense<[[[1.0, 2.0, 3.0], [0.5, 1.5, 2.5]], [[4.0, -5.0, 6.0], [7.0, 8.0, -9.0]]]> : tensor<2x2x3xf32>
  %a = hjx.vmap @grad(%x) in_axes = [1] out_axes = [1] size = 2 : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %ones = hjx.constant dense<1.0> : tensor<2xf32>
  %y, %b = hjx.vjp @losses(%x) cotangents(%ones) active = [true] : (tensor<2x2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x2x3xf32>)
  check.expect_close %a, %b rtol = 1.0e-6 : tensor<2x2x3xf32>
  %first = hjx.slice %x start = [0, 0, 0] limit = [2, 1, 3] strides = [1, 1, 1] : tensor<2x2x3xf32> -> tensor<2x1x3xf32>
  %one = hjx.reshape %first shape = [2, 3] : tensor<2x1x3xf32> -> tensor<2x3xf32>
  %g = func.call @grad(%one) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %sliced = hjx.slice %a start = [0, 0, 0] limit = [2, 1, 3] strides = [1, 1, 1] : tensor<2x2x3xf32> -> tensor<2x1x3xf32>
  %got = hjx.reshape %sliced shape = [2, 3] : tensor<2x1x3xf32> -> tensor<2x3xf32>
  check.expect_close %got, %g rtol = 1.0e-6 : tensor<2x3xf32>
  return
}

// A q8 out of vmap, and into one; twice.
func.func private @norms(%q: !hjx.q8<2x2x3>) -> tensor<2xf32> {
  %y = hjx.vmap @square_norm(%q) in_axes = ["leading"] out_axes = [0] size = 2 : (!hjx.q8<2x2x3>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func private @quantize_all(%x: tensor<2x2x3xf32>) -> !hjx.q8<2x2x3> {
  %q = hjx.vmap @quantize(%x) in_axes = [0] out_axes = ["leading"] size = 2 : (tensor<2x2x3xf32>) -> !hjx.q8<2x2x3>
  return %q : !hjx.q8<2x2x3>
}
func.func @vmap_of_q8() {
  %x = hjx.constant dense<[[[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], [[2.0, 4.0, 6.0], [8.0, -10.0, 12.0]]]]> : tensor<1x2x2x3xf32>
  %q = hjx.vmap @quantize_all(%x) in_axes = [0] out_axes = ["leading"] size = 1 : (tensor<1x2x2x3xf32>) -> !hjx.q8<1x2x2x3>
  %y = hjx.vmap @norms(%q) in_axes = ["leading"] out_axes = [0] size = 1 : (!hjx.q8<1x2x2x3>) -> tensor<1x2xf32>
  %e = hjx.constant dense<[[91.221, 364.884]]> : tensor<1x2xf32>
  check.expect_close %y, %e rtol = 1.0e-4 : tensor<1x2xf32>
  return
}

// A q8 as xs, as carry and as ys; the start quantizes zeros, whose scale is 0.
func.func private @running(%q: !hjx.q8<2x2x3>) -> (!hjx.q8<2x3>, !hjx.q8<2x2x3>) {
  %zero = hjx.constant dense<0.0> : tensor<2x3xf32>
  %start = hjx.call_primitive "quantize"(%zero) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %last, %all = hjx.scan consts() inits(%start) xs(%q) length = 2 : (!hjx.q8<2x3>, !hjx.q8<2x2x3>) -> (!hjx.q8<2x3>, !hjx.q8<2x2x3>) {
  ^bb0(%c: !hjx.q8<2x3>, %x: !hjx.q8<2x3>):
    %a = hjx.call_primitive "dequantize"(%c) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
    %b = hjx.call_primitive "dequantize"(%x) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
    %s = hjx.add %a, %b : tensor<2x3xf32>
    %n = hjx.call_primitive "quantize"(%s) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
    hjx.yield %n, %x : !hjx.q8<2x3>, !hjx.q8<2x3>
  }
  return %last, %all : !hjx.q8<2x3>, !hjx.q8<2x2x3>
}
func.func @scan() {
  %x = hjx.constant dense<[[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], [[2.0, 4.0, 6.0], [8.0, -10.0, 12.0]]]> : tensor<2x2x3xf32>
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x2x3xf32>) -> !hjx.q8<2x2x3>
  %last, %all = func.call @running(%q) : (!hjx.q8<2x2x3>) -> (!hjx.q8<2x3>, !hjx.q8<2x2x3>)
  %y = hjx.call_primitive "dequantize"(%last) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %e = hjx.constant dense<[[3.0, 6.0, 9.0], [12.0, -15.0, 18.0]]> : tensor<2x3xf32>
  check.expect_close %y, %e rtol = 1.0e-2 : tensor<2x3xf32>
  %z = hjx.call_primitive "dequantize"(%all) : (!hjx.q8<2x2x3>) -> tensor<2x2x3xf32>
  check.expect_close %z, %x rtol = 1.0e-2 : tensor<2x2x3xf32>
  return
}

// The derivative of the loop, in its q8 argument.
func.func private @running_norm(%q: !hjx.q8<2x2x3>) -> tensor<f32> {
  %last, %all = func.call @running(%q) : (!hjx.q8<2x2x3>) -> (!hjx.q8<2x3>, !hjx.q8<2x2x3>)
  %s = func.call @square_norm(%last) : (!hjx.q8<2x3>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @gradient_of_scan() {
  %x = hjx.constant dense<[[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], [[2.0, 4.0, 6.0], [8.0, -10.0, 12.0]]]> : tensor<2x2x3xf32>
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x2x3xf32>) -> !hjx.q8<2x2x3>
  %one = hjx.constant dense<1.0> : tensor<f32>
  %y, %g = hjx.vjp @running_norm(%q) cotangents(%one) active = [true] : (!hjx.q8<2x2x3>, tensor<f32>) -> (tensor<f32>, tensor<2x2x3xf32>)
  %e = hjx.constant dense<[[[6.0, 12.0, 18.0], [24.0, -30.0, 36.0]], [[6.0, 12.0, 18.0], [24.0, -30.0, 36.0]]]> : tensor<2x2x3xf32>
  check.expect_close %g, %e rtol = 1.0e-2 : tensor<2x2x3xf32>
  return
}

// vmap of the loop: the loop's axis stays first, the mapped one comes behind it.
func.func private @running_last(%x: tensor<2x2x3xf32>) -> tensor<2x3xf32> {
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x2x3xf32>) -> !hjx.q8<2x2x3>
  %last, %all = func.call @running(%q) : (!hjx.q8<2x2x3>) -> (!hjx.q8<2x3>, !hjx.q8<2x2x3>)
  %a = hjx.call_primitive "dequantize"(%last) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %z = hjx.call_primitive "dequantize"(%all) : (!hjx.q8<2x2x3>) -> tensor<2x2x3xf32>
  %s = hjx.reduce_sum %z axes = [0] : tensor<2x2x3xf32> -> tensor<2x3xf32>
  %d = hjx.sub %a, %s : tensor<2x3xf32>
  return %d : tensor<2x3xf32>
}
func.func @vmap_of_scan() {
  %x = hjx.constant dense<[[[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], [[2.0, 4.0, 6.0], [8.0, -10.0, 12.0]]],
                           [[[-3.0, 1.0, 0.5], [0.25, 0.5, 1.0]], [[9.0, 8.0, 7.0], [1.0, -1.0, 1.0]]],
                           [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]]]> : tensor<3x2x2x3xf32>
  %d = hjx.vmap @running_last(%x) in_axes = [0] out_axes = [0] size = 3 : (tensor<3x2x2x3xf32>) -> tensor<3x2x3xf32>
  %zero = hjx.constant dense<0.0> : tensor<3x2x3xf32>
  check.expect_close %d, %zero rtol = 0.0 atol = 0.15 : tensor<3x2x3xf32>
  return
}

// A jvp rule alone gives forward and reverse mode, and both under vmap.
func.func private @cube(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.call_primitive "cube"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @cube_grad(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = hjx.constant dense<1.0> : tensor<3xf32>
  %y, %g = hjx.vjp @cube(%x) cotangents(%c) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %g : tensor<3xf32>
}
func.func private @cubes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = hjx.vmap @cube(%x) in_axes = [0] out_axes = [0] size = 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @cube_rules() {
  %x = hjx.constant dense<[1.0, 2.0, -3.0]> : tensor<3xf32>
  %t = hjx.constant dense<[1.0, 0.5, 2.0]> : tensor<3xf32>
  %y, %d = hjx.jvp @cube(%x) tangents(%t) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %ey = hjx.constant dense<[1.0, 8.0, -27.0]> : tensor<3xf32>
  %ed = hjx.constant dense<[3.0, 6.0, 54.0]> : tensor<3xf32>
  check.expect_close %y, %ey rtol = 1.0e-6 : tensor<3xf32>
  check.expect_close %d, %ed rtol = 1.0e-6 : tensor<3xf32>
  %y2, %h = hjx.vjp @cube_grad(%x) cotangents(%t) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %eh = hjx.constant dense<[6.0, 6.0, -36.0]> : tensor<3xf32>
  check.expect_close %h, %eh rtol = 1.0e-6 : tensor<3xf32>
  %xs = hjx.constant dense<[[1.0, 2.0, -3.0], [0.5, 0.0, 1.0]]> : tensor<2x3xf32>
  %ones = hjx.constant dense<1.0> : tensor<2x3xf32>
  %ys, %gs = hjx.vjp @cubes(%xs) cotangents(%ones) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %egs = hjx.constant dense<[[3.0, 12.0, 27.0], [0.75, 0.0, 3.0]]> : tensor<2x3xf32>
  check.expect_close %gs, %egs rtol = 1.0e-6 : tensor<2x3xf32>
  %yj, %dj = hjx.jvp @cubes(%xs) tangents(%ones) active = [true] : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  check.expect_close %dj, %egs rtol = 1.0e-6 : tensor<2x3xf32>
  return
}

// Tuples: components mapped one by one; swapped; nested with a q8.
func.func private @swap(%t: !hjx.tup<tensor<3xf32>, tensor<f32>>) -> !hjx.tup<tensor<f32>, tensor<3xf32>> {
  %a = hjx.call_primitive "get"(%t) params {index = 0} : (!hjx.tup<tensor<3xf32>, tensor<f32>>) -> tensor<3xf32>
  %b = hjx.call_primitive "get"(%t) params {index = 1} : (!hjx.tup<tensor<3xf32>, tensor<f32>>) -> tensor<f32>
  %s = hjx.call_primitive "tup"(%b, %a) : (tensor<f32>, tensor<3xf32>) -> !hjx.tup<tensor<f32>, tensor<3xf32>>
  return %s : !hjx.tup<tensor<f32>, tensor<3xf32>>
}
func.func @vmap_of_tuple() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %y = hjx.constant dense<7.0> : tensor<f32>
  %t = hjx.call_primitive "tup"(%x, %y) : (tensor<2x3xf32>, tensor<f32>) -> !hjx.tup<tensor<2x3xf32>, tensor<f32>>
  %s = hjx.vmap @swap(%t) in_axes = [[0, unit]] out_axes = [[unit, 1]] size = 2 : (!hjx.tup<tensor<2x3xf32>, tensor<f32>>) -> !hjx.tup<tensor<f32>, tensor<3x2xf32>>
  %a = hjx.call_primitive "get"(%s) params {index = 0} : (!hjx.tup<tensor<f32>, tensor<3x2xf32>>) -> tensor<f32>
  %b = hjx.call_primitive "get"(%s) params {index = 1} : (!hjx.tup<tensor<f32>, tensor<3x2xf32>>) -> tensor<3x2xf32>
  check.expect_eq %a, %y : tensor<f32>
  %e = hjx.transpose %x permutation = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  check.expect_eq %b, %e : tensor<3x2xf32>
  return
}
func.func private @tuple_product(%t: !hjx.tup<tensor<3xf32>, !hjx.q8<2x3>>) -> tensor<2x3xf32> {
  %a = hjx.call_primitive "get"(%t) params {index = 0} : (!hjx.tup<tensor<3xf32>, !hjx.q8<2x3>>) -> tensor<3xf32>
  %q = hjx.call_primitive "get"(%t) params {index = 1} : (!hjx.tup<tensor<3xf32>, !hjx.q8<2x3>>) -> !hjx.q8<2x3>
  %x = hjx.call_primitive "dequantize"(%q) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %w = hjx.broadcast_in_dim %a shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %p = hjx.mul %w, %x : tensor<2x3xf32>
  %r = hjx.mul %p, %w : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
// d(w w x): the tangent of a tuple is a tuple; its parts are summed by its own add.
func.func @gradient_of_tuple() {
  %a = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %x = hjx.constant dense<[[1.0, 2.0, 4.0], [127.0, -127.0, 0.0]]> : tensor<2x3xf32>
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %t = hjx.call_primitive "tup"(%a, %q) : (tensor<3xf32>, !hjx.q8<2x3>) -> !hjx.tup<tensor<3xf32>, !hjx.q8<2x3>>
  %c = hjx.constant dense<1.0> : tensor<2x3xf32>
  %y, %g = hjx.vjp @tuple_product(%t) cotangents(%c) active = [true] : (!hjx.tup<tensor<3xf32>, !hjx.q8<2x3>>, tensor<2x3xf32>) -> (tensor<2x3xf32>, !hjx.tup<tensor<3xf32>, tensor<2x3xf32>>)
  %ga = hjx.call_primitive "get"(%g) params {index = 0} : (!hjx.tup<tensor<3xf32>, tensor<2x3xf32>>) -> tensor<3xf32>
  %gx = hjx.call_primitive "get"(%g) params {index = 1} : (!hjx.tup<tensor<3xf32>, tensor<2x3xf32>>) -> tensor<2x3xf32>
  %ega = hjx.constant dense<[256.0, -500.0, 24.0]> : tensor<3xf32>
  check.expect_close %ga, %ega rtol = 1.0e-2 : tensor<3xf32>
  %egx = hjx.constant dense<[[1.0, 4.0, 9.0], [1.0, 4.0, 9.0]]> : tensor<2x3xf32>
  check.expect_close %gx, %egx rtol = 1.0e-6 : tensor<2x3xf32>
  return
}

// cond and while carry q8; under vmap their predicate is mapped.
func.func private @choose(%p: tensor<i1>, %n: tensor<i32>, %q: !hjx.q8<2x3>) -> tensor<2x3xf32> {
  %r = hjx.cond %p, inputs(%q) : (tensor<i1>, !hjx.q8<2x3>) -> !hjx.q8<2x3> {
  ^bb0(%a: !hjx.q8<2x3>):
    hjx.yield %a : !hjx.q8<2x3>
  }, {
  ^bb0(%a: !hjx.q8<2x3>):
    %x = hjx.call_primitive "dequantize"(%a) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
    %y = hjx.add %x, %x : tensor<2x3xf32>
    %z = hjx.call_primitive "quantize"(%y) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
    hjx.yield %z : !hjx.q8<2x3>
  }
  %zero = hjx.constant dense<0> : tensor<i32>
  %i, %s = hjx.while cond_consts(%n) body_consts() inits(%zero, %r) : (tensor<i32>, tensor<i32>, !hjx.q8<2x3>) -> (tensor<i32>, !hjx.q8<2x3>) cond {
  ^bb0(%limit: tensor<i32>, %c: tensor<i32>, %v: !hjx.q8<2x3>):
    %go = hjx.compare lt, %c, %limit : tensor<i32> -> tensor<i1>
    hjx.yield %go : tensor<i1>
  } body {
  ^bb0(%c: tensor<i32>, %v: !hjx.q8<2x3>):
    %one = hjx.constant dense<1> : tensor<i32>
    %next = hjx.add %c, %one : tensor<i32>
    %x = hjx.call_primitive "dequantize"(%v) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
    %m = hjx.neg %x : tensor<2x3xf32>
    %z = hjx.call_primitive "quantize"(%m) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
    hjx.yield %next, %z : tensor<i32>, !hjx.q8<2x3>
  }
  %y = hjx.call_primitive "dequantize"(%s) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @vmap_of_branches() {
  %p = hjx.constant dense<[false, true, true]> : tensor<3xi1>
  %n = hjx.constant dense<[0, 1, 2]> : tensor<3xi32>
  %x = hjx.constant dense<[[127.0, 2.0, 3.0], [4.0, -127.0, 6.0]]> : tensor<2x3xf32>
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %y = hjx.vmap @choose(%p, %n, %q) in_axes = [0, 0, -1] out_axes = [0] size = 3 : (tensor<3xi1>, tensor<3xi32>, !hjx.q8<2x3>) -> tensor<3x2x3xf32>
  %f = hjx.constant dense<[1.0, -2.0, 2.0]> : tensor<3xf32>
  %factors = hjx.broadcast_in_dim %f shape = [3, 2, 3] dims = [0] : tensor<3xf32> -> tensor<3x2x3xf32>
  %wide = hjx.broadcast_in_dim %x shape = [3, 2, 3] dims = [1, 2] : tensor<2x3xf32> -> tensor<3x2x3xf32>
  %e = hjx.mul %factors, %wide : tensor<3x2x3xf32>
  check.expect_close %y, %e rtol = 1.0e-6 : tensor<3x2x3xf32>
  return
}

// A ref of a q8, read and written whole.
func.func @ref_of_q8() {
  %x = hjx.constant dense<[[127.0, 2.0, 3.0], [4.0, -127.0, 6.0]]> : tensor<2x3xf32>
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %m = hjx.neg %x : tensor<2x3xf32>
  %n = hjx.call_primitive "quantize"(%m) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %r = hjx.ref_new %q : (!hjx.q8<2x3>) -> !hjx.ref<!hjx.q8<2x3>>
  %old = hjx.ref_swap %r, %n : (!hjx.ref<!hjx.q8<2x3>>, !hjx.q8<2x3>) -> !hjx.q8<2x3>
  %new = hjx.ref_freeze %r : (!hjx.ref<!hjx.q8<2x3>>) -> !hjx.q8<2x3>
  %a = hjx.call_primitive "dequantize"(%old) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %b = hjx.call_primitive "dequantize"(%new) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  check.expect_eq %a, %x : tensor<2x3xf32>
  check.expect_eq %b, %m : tensor<2x3xf32>
  return
}
