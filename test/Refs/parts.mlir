// RUN: hjx-opt %s --hjx-interpret
// RUN: hjx-opt %s --hjx-discharge-refs --hjx-interpret

// Every form of index: what it reads, writes and adds.
func.func @main() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0]]> : tensor<3x4xf32>
  %one = hjx.constant dense<1> : tensor<i32>
  %nine = hjx.constant dense<9> : tensor<i32>
  %ids = hjx.constant dense<[2, 0, 2]> : tensor<3xi32>
  %far = hjx.constant dense<[2, 7, 2]> : tensor<3xi32>
  %r = hjx.ref_new %x : (tensor<3x4xf32>) -> !hjx.ref<tensor<3x4xf32>>

  %0 = hjx.ref_get %r[1, :] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<4xf32>
  %e1 = hjx.constant dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>
  check.expect_eq %0, %e1 : tensor<4xf32>
  %1 = hjx.ref_get %r[0:3:2, 1:4:2] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<2x2xf32>
  %e2 = hjx.constant dense<[[1.0, 3.0], [21.0, 23.0]]> : tensor<2x2xf32>
  check.expect_eq %1, %e2 : tensor<2x2xf32>
  %2 = hjx.ref_get %r[%one, 0:3:2] : (!hjx.ref<tensor<3x4xf32>>, tensor<i32>) -> tensor<2xf32>
  %e3 = hjx.constant dense<[10.0, 12.0]> : tensor<2xf32>
  check.expect_eq %2, %e3 : tensor<2xf32>
  // Starts at run time are clamped.
  %3 = hjx.ref_get %r[2, %nine +: 2] : (!hjx.ref<tensor<3x4xf32>>, tensor<i32>) -> tensor<2xf32>
  %e4 = hjx.constant dense<[22.0, 23.0]> : tensor<2xf32>
  check.expect_eq %3, %e4 : tensor<2xf32>
  %4 = hjx.ref_get %r[%ids, 1:3] : (!hjx.ref<tensor<3x4xf32>>, tensor<3xi32>) -> tensor<3x2xf32>
  %e5 = hjx.constant dense<[[21.0, 22.0], [1.0, 2.0], [21.0, 22.0]]> : tensor<3x2xf32>
  check.expect_eq %4, %e5 : tensor<3x2xf32>
  %5 = hjx.ref_get %r[%ids, %one] : (!hjx.ref<tensor<3x4xf32>>, tensor<3xi32>, tensor<i32>) -> tensor<3xf32>
  %e6 = hjx.constant dense<[21.0, 1.0, 21.0]> : tensor<3xf32>
  check.expect_eq %5, %e6 : tensor<3xf32>
  %6 = hjx.ref_get %r[:, %ids] : (!hjx.ref<tensor<3x4xf32>>, tensor<3xi32>) -> tensor<3x3xf32>
  %e7 = hjx.constant dense<[[2.0, 0.0, 2.0], [12.0, 10.0, 12.0], [22.0, 20.0, 22.0]]> : tensor<3x3xf32>
  check.expect_eq %6, %e7 : tensor<3x3xf32>

  // Writes.
  %a = hjx.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %old = hjx.ref_swap %r[0:3:2, 1:4:2], %a : (!hjx.ref<tensor<3x4xf32>>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e8 = hjx.constant dense<[[1.0, 3.0], [21.0, 23.0]]> : tensor<2x2xf32>
  check.expect_eq %old, %e8 : tensor<2x2xf32>
  %7 = hjx.ref_get %r : (!hjx.ref<tensor<3x4xf32>>) -> tensor<3x4xf32>
  %e9 = hjx.constant dense<[[0.0, -1.0, 2.0, -2.0], [10.0, 11.0, 12.0, 13.0], [20.0, -3.0, 22.0, -4.0]]> : tensor<3x4xf32>
  check.expect_eq %7, %e9 : tensor<3x4xf32>
  %b = hjx.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %8 = hjx.ref_swap %r[%one, 0:3:2], %b : (!hjx.ref<tensor<3x4xf32>>, tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  %9 = hjx.ref_get %r[1, :] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<4xf32>
  %e10 = hjx.constant dense<[5.0, 11.0, 6.0, 13.0]> : tensor<4xf32>
  check.expect_eq %9, %e10 : tensor<4xf32>
  // Equal indices all add; those out of range are dropped.
  %c = hjx.constant dense<[[100.0, 200.0], [300.0, 400.0], [1000.0, 2000.0]]> : tensor<3x2xf32>
  hjx.ref_add %r[%far, 1:3], %c : (!hjx.ref<tensor<3x4xf32>>, tensor<3xi32>, tensor<3x2xf32>) -> ()
  %10 = hjx.ref_freeze %r : (!hjx.ref<tensor<3x4xf32>>) -> tensor<3x4xf32>
  %e11 = hjx.constant dense<[[0.0, -1.0, 2.0, -2.0], [5.0, 11.0, 6.0, 13.0], [20.0, 1097.0, 2222.0, -4.0]]> : tensor<3x4xf32>
  check.expect_eq %10, %e11 : tensor<3x4xf32>
  return
}
