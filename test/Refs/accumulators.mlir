// RUN: hjx-opt %s --hjx-expand-transforms --hjx-interpret
// RUN: hjx-opt %s --hjx-to-pure --hjx-to-lo --hjx-interpret
// RUN: hjx-opt %s --hjx-expand-transforms --symbol-dce --canonicalize | FileCheck %s
//
// Cotangents that are added to refs: the sums are those that would be returned, on top of what the
// refs held; what is read in parts is added to in parts.

// Constants, xs and carries of a loop, a branch, a call.
func.func @everywhere() {
  %w = hjx.constant dense<0.5> : tensor<f64>
  %v = hjx.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %xs = hjx.constant dense<[0.1, 0.2, 0.3]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %hundred = hjx.constant dense<100.0> : tensor<f64>
  %zero2 = hjx.constant dense<0.0> : tensor<2xf64>
  %zero3 = hjx.constant dense<0.0> : tensor<3xf64>
  %y, %w_bar, %v_bar, %xs_bar = hjx.vjp @f(%w, %v, %xs) cotangents(%one) active = [true, true, true] : (tensor<f64>, tensor<2xf64>, tensor<3xf64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<2xf64>, tensor<3xf64>)
  %wr = hjx.ref_new %hundred : (tensor<f64>) -> !hjx.ref<tensor<f64>>
  %vr = hjx.ref_new %zero2 : (tensor<2xf64>) -> !hjx.ref<tensor<2xf64>>
  %xr = hjx.ref_new %zero3 : (tensor<3xf64>) -> !hjx.ref<tensor<3xf64>>
  %z = hjx.vjp @f(%w, %v, %xs) cotangents(%one) active = [true, true, true] accumulators(%wr, %vr, %xr) in_place = [true, true, true] : (tensor<f64>, tensor<2xf64>, tensor<3xf64>, tensor<f64>, !hjx.ref<tensor<f64>>, !hjx.ref<tensor<2xf64>>, !hjx.ref<tensor<3xf64>>) -> tensor<f64>
  check.expect_eq %z, %y : tensor<f64>
  %w_sum = hjx.ref_get %wr : (!hjx.ref<tensor<f64>>) -> tensor<f64>
  %w_expected = hjx.add %hundred, %w_bar : tensor<f64>
  check.expect_close %w_sum, %w_expected rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  %v_sum = hjx.ref_get %vr : (!hjx.ref<tensor<2xf64>>) -> tensor<2xf64>
  check.expect_close %v_sum, %v_bar rtol = 1.0e-12 atol = 1.0e-300 : tensor<2xf64>
  %xs_sum = hjx.ref_get %xr : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
  check.expect_close %xs_sum, %xs_bar rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>

  // One of each kind, from a linear map: a value, a ref, and one that nobody wants.
  %y2, %map = hjx.linearize @f(%w, %v, %xs) active = [true, true, true] : (tensor<f64>, tensor<2xf64>, tensor<3xf64>) -> (tensor<f64>, !hjx.linear<(tensor<f64>, tensor<2xf64>, tensor<3xf64>) -> tensor<f64>>)
  %w_bar2 = hjx.apply_transpose %map(%one) wanted = [true, false, true] accumulators(%xr) in_place = [false, true] : (!hjx.linear<(tensor<f64>, tensor<2xf64>, tensor<3xf64>) -> tensor<f64>>, tensor<f64>, !hjx.ref<tensor<3xf64>>) -> tensor<f64>
  check.expect_close %w_bar2, %w_bar rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  %xs_twice = hjx.ref_freeze %xr : (!hjx.ref<tensor<3xf64>>) -> tensor<3xf64>
  %xs_expected = hjx.add %xs_bar, %xs_bar : tensor<3xf64>
  check.expect_close %xs_twice, %xs_expected rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}
func.func private @f(%w: tensor<f64>, %v: tensor<2xf64>, %xs: tensor<3xf64>) -> tensor<f64> {
  %p = hjx.constant dense<true> : tensor<i1>
  %c, %ys = hjx.scan consts(%w, %v) inits(%w) xs(%xs) length = 3 reverse : (tensor<f64>, tensor<2xf64>, tensor<f64>, tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
  ^bb0(%a: tensor<f64>, %b: tensor<2xf64>, %s: tensor<f64>, %x: tensor<f64>):
    %s0 = hjx.slice %b start = [1] limit = [2] strides = [1] : tensor<2xf64> -> tensor<1xf64>
    %b1 = hjx.reshape %s0 shape = [] : tensor<1xf64> -> tensor<f64>
    %0 = hjx.mul %s, %a : tensor<f64>
    %1 = hjx.sin %0 : tensor<f64>
    %2 = hjx.mul %x, %b1 : tensor<f64>
    %3 = hjx.add %1, %2 : tensor<f64>
    hjx.yield %3, %0 : tensor<f64>, tensor<f64>
  }
  %d = hjx.cond %p, inputs(%v, %c) : (tensor<i1>, tensor<2xf64>, tensor<f64>) -> tensor<f64> {
  ^bb0(%b: tensor<2xf64>, %s: tensor<f64>):
    hjx.yield %s : tensor<f64>
  }, {
  ^bb0(%b: tensor<2xf64>, %s: tensor<f64>):
    %0 = hjx.reduce_sum %b axes = [0] : tensor<2xf64> -> tensor<f64>
    %1 = hjx.mul %0, %s : tensor<f64>
    hjx.yield %1 : tensor<f64>
  }
  // One value in two places of a call.
  %e = func.call @product(%w, %w) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %g = hjx.reduce_sum %ys axes = [0] : tensor<3xf64> -> tensor<f64>
  %h = hjx.add %d, %g : tensor<f64>
  %i = hjx.mul %h, %e : tensor<f64>
  return %i : tensor<f64>
}
func.func private @product(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = hjx.mul %x, %y : tensor<f64>
  %1 = hjx.sin %0 : tensor<f64>
  return %1 : tensor<f64>
}

// Three ways to read a part; no array of zeros is made.
// CHECK-LABEL: func.func private @parts.lin.10.transpose
// CHECK-NOT: tensor<8x2xf32>{{$}}
// CHECK: hjx.ref_add %{{.*}}[%{{.*}}, :], %{{.*}} : (!hjx.ref<tensor<8x2xf32>>, tensor<3xi32>, tensor<3x2xf32>)
// CHECK: hjx.ref_add %{{.*}}[%{{.*}} +: 1, :], %{{.*}} : (!hjx.ref<tensor<8x2xf32>>, tensor<i32>, tensor<1x2xf32>)
// CHECK: hjx.ref_add %{{.*}}[1:6:2, 0:2], %{{.*}} : (!hjx.ref<tensor<8x2xf32>>, tensor<3x2xf32>)
// CHECK: return
func.func @parts_main(%t: tensor<8x2xf32>, %ids: tensor<3x1xi32>, %bar: tensor<3x2xf32>, %r: !hjx.ref<tensor<8x2xf32>>) -> tensor<3x2xf32> {
  %y = hjx.vjp @parts(%t, %ids) cotangents(%bar) active = [true, false] accumulators(%r) in_place = [true] : (tensor<8x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>, !hjx.ref<tensor<8x2xf32>>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
func.func private @parts(%t: tensor<8x2xf32>, %ids: tensor<3x1xi32>) -> tensor<3x2xf32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  %s = hjx.slice %t start = [1, 0] limit = [6, 2] strides = [2, 1] : tensor<8x2xf32> -> tensor<3x2xf32>
  %i0 = hjx.slice %ids start = [0, 0] limit = [1, 1] strides = [1, 1] : tensor<3x1xi32> -> tensor<1x1xi32>
  %i = hjx.reshape %i0 shape = [] : tensor<1x1xi32> -> tensor<i32>
  %row = hjx.dynamic_slice %t[%i, %zero] sizes = [1, 2] : (tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %vector = hjx.reshape %row shape = [2] : tensor<1x2xf32> -> tensor<2xf32>
  %rows = hjx.broadcast_in_dim %vector shape = [3, 2] dims = [1] : tensor<2xf32> -> tensor<3x2xf32>
  %g = hjx.gather %t, %ids {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 2>} : (tensor<8x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
  %0 = hjx.add %s, %rows : tensor<3x2xf32>
  %1 = hjx.add %0, %g : tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
