// RUN: hjx-opt %s --hjx-expand-transforms --hjx-interpret
// RUN: hjx-opt %s --hjx-expand-transforms --hjx-discharge-refs --hjx-interpret
//
// Mapped refs, at any axis, are written along it; shared ones are read.

func.func @main() {
  %m = hjx.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %s = hjx.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %xs = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %ids = hjx.constant dense<[1, 0, 1]> : tensor<3xi32>
  %r = hjx.ref_new %m : (tensor<2x3xf32>) -> !hjx.ref<tensor<2x3xf32>>
  %shared = hjx.ref_new %s : (tensor<2xf32>) -> !hjx.ref<tensor<2xf32>>
  %y = hjx.vmap @f(%r, %shared, %xs, %ids) in_axes = [1, -1, 0, 0] out_axes = [0] size = 3 : (!hjx.ref<tensor<2x3xf32>>, !hjx.ref<tensor<2xf32>>, tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  %e1 = hjx.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  check.expect_eq %y, %e1 : tensor<3xf32>
  %z = hjx.ref_freeze %r : (!hjx.ref<tensor<2x3xf32>>) -> tensor<2x3xf32>
  %e2 = hjx.constant dense<[[10.0, 3.0, 32.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  check.expect_eq %z, %e2 : tensor<2x3xf32>
  return
}
func.func private @f(%r: !hjx.ref<tensor<2xf32>>, %s: !hjx.ref<tensor<2xf32>>, %x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %a = hjx.ref_get %s[%i] : (!hjx.ref<tensor<2xf32>>, tensor<i32>) -> tensor<f32>
  %0 = hjx.mul %a, %x : tensor<f32>
  %old = hjx.ref_get %r[0] : (!hjx.ref<tensor<2xf32>>) -> tensor<f32>
  hjx.ref_add %r[0], %0 : (!hjx.ref<tensor<2xf32>>, tensor<f32>) -> ()
  return %old : tensor<f32>
}
