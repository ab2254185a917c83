// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// RUN: hjx-opt %s --canonicalize | FileCheck %s
// Check ops print and parse back, and no clean-up drops them.

// CHECK-LABEL: func.func @checks
func.func @checks(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %k: tensor<!hjx.key<threefry2x32>>, %p: tensor<2xi1>) {
  // CHECK: check.expect_eq %[[X:.*]], %[[Y:.*]] : tensor<2x3xf32>
  check.expect_eq %x, %y : tensor<2x3xf32>
  // CHECK: check.expect_eq %[[K:.*]], %[[K]] : tensor<!hjx.key<threefry2x32>>
  check.expect_eq %k, %k : tensor<!hjx.key<threefry2x32>>
  // CHECK: check.expect_close %[[X]], %[[Y]] rtol = 5.000000e-01 atol = 2.500000e-01 : tensor<2x3xf32>
  check.expect_close %x, %y rtol = 5.0e-1 atol = 2.5e-1 : tensor<2x3xf32>
  // CHECK: check.expect_close %[[X]], %[[Y]] ulps = 2 : tensor<2x3xf32>
  check.expect_close %x, %y ulps = 2 : tensor<2x3xf32>
  // CHECK: check.expect_true %{{.*}} : tensor<2xi1>
  check.expect_true %p : tensor<2xi1>
  return
}
