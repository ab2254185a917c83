// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// The linear program runs backwards; cotangents add up in reverse program order.

func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = hjx.sin %x : tensor<2xf32>
  %y = hjx.mul %x, %s : tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK-LABEL: func.func @x_sin_x
// CHECK: %[[FWD:.*]]:3 = call @f.fwd.1(%[[X:.*]]) :
// CHECK: %[[X_BAR:.*]] = call @f.lin.1.transpose(%[[FWD]]#1, %[[FWD]]#2, %[[X]], %{{.*}}) :
// CHECK: return %[[X_BAR]]
func.func @x_sin_x(%x: tensor<2xf32>, %y_bar: tensor<2xf32>) -> tensor<2xf32> {
  %y, %x_bar = hjx.vjp @f(%x) cotangents(%y_bar) active = [true] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %x_bar : tensor<2xf32>
}
// CHECK-LABEL: func.func private @f.lin.1.transpose
// CHECK-SAME: (%[[C:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<2xf32>, %[[Y_BAR:.*]]: tensor<2xf32>)
// CHECK: %[[B_BAR:.*]] = hjx.mul %[[Y_BAR]], %[[X]]
// CHECK: %[[FIRST:.*]] = hjx.mul %[[Y_BAR]], %[[S]]
// CHECK: %[[SECOND:.*]] = hjx.mul %[[B_BAR]], %[[C]]
// CHECK: %[[X_BAR:.*]] = hjx.add %[[FIRST]], %[[SECOND]]
// CHECK: return %[[X_BAR]]

// -----

// Only the cases of a choice are linear, each where it was chosen.
func.func private @choose(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %z = hjx.select_n %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
// CHECK-LABEL: func.func private @choose.lin.011.transpose
// CHECK-SAME: (%[[P:.*]]: tensor<2xi1>, %[[Z_BAR:.*]]: tensor<2xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00>
// CHECK: %[[X_BAR:.*]] = hjx.select_n %[[P]], %[[Z_BAR]], %[[ZERO]]
// CHECK: %[[Y_BAR:.*]] = hjx.select_n %[[P]], %[[ZERO]], %[[Z_BAR]]
// CHECK: return %[[X_BAR]], %[[Y_BAR]]
func.func @cases(%p: tensor<2xi1>, %x: tensor<2xf32>, %z_bar: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %z, %x_bar, %y_bar = hjx.vjp @choose(%p, %x, %x) cotangents(%z_bar) active = [false, true, true] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %x_bar, %y_bar : tensor<2xf32>, tensor<2xf32>
}

// -----

// A cotangent that is a constant zero is a symbolic one: sin is never differentiated.
func.func private @two(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = hjx.sin %x : tensor<2xf32>
  %n = hjx.neg %x : tensor<2xf32>
  return %s, %n : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func private @two.fwd.1.of01
// CHECK-NOT: hjx.cos
// CHECK-LABEL: func.func private @two.lin.1.of01.transpose
// CHECK-NOT: hjx.mul
// CHECK: hjx.neg
// CHECK-NEXT: return
func.func @ignored_result(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = hjx.constant dense<0.0> : tensor<2xf32>
  %s, %n, %x_bar = hjx.vjp @two(%x) cotangents(%zero, %x) active = [true] : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %x_bar : tensor<2xf32>
}
