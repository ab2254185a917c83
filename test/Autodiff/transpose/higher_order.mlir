// RUN: hjx-opt --hjx-transpose --symbol-dce --split-input-file %s | FileCheck %s
// A loop runs the other way, a branch is the same choice, a call calls the
// transpose, and a custom pull-back is called.

// The cotangent of the const w sums up in a carry that starts at zero; that of
// the carry comes back out; those of the xs are the ys.
func.func private @scan(%w: tensor<f32>, %c: tensor<f32>, %x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %last, %ys = hjx.scan consts(%w) inits(%c) xs(%x) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %s: tensor<f32>, %xi: tensor<f32>):
    %p = hjx.mul %s, %k : tensor<f32>
    %q = hjx.add %p, %xi : tensor<f32>
    hjx.yield %q, %s : tensor<f32>, tensor<f32>
  }
  return %last, %ys : tensor<f32>, tensor<3xf32>
}
func.func @t_scan(%w: tensor<f32>, %c: tensor<f32>, %x: tensor<3xf32>) -> (tensor<f32>, tensor<f32>, tensor<3xf32>) {
  %y, %ys, %w_bar, %c_bar, %x_bar = hjx.vjp @scan(%w, %c, %x) cotangents(%c, %x) active = [true, true, true] : (tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>)
  return %w_bar, %c_bar, %x_bar : tensor<f32>, tensor<f32>, tensor<3xf32>
}
// CHECK-LABEL: func.func private @scan.lin.111.transpose
// CHECK-SAME: (%[[W:.*]]: tensor<f32>, %[[SS:.*]]: tensor<3xf32>, %[[LAST_BAR:.*]]: tensor<f32>, %[[YS_BAR:.*]]: tensor<3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[R:.*]]:3 = hjx.scan consts(%[[W]]) inits(%[[ZERO]], %[[LAST_BAR]]) xs(%[[YS_BAR]], %[[SS]]) length = 3 reverse : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[K:.*]]: tensor<f32>, %[[K_SUM:.*]]: tensor<f32>, %[[Q_BAR:.*]]: tensor<f32>, %[[YI_BAR:.*]]: tensor<f32>, %[[S:.*]]: tensor<f32>):
// CHECK-NEXT: %[[P_BAR:.*]] = hjx.mul %[[Q_BAR]], %[[S]]
// CHECK-NEXT: %[[K_BAR:.*]] = hjx.mul %[[Q_BAR]], %[[K]]
// CHECK-NEXT: %[[S_BAR:.*]] = hjx.add %[[YI_BAR]], %[[K_BAR]]
// CHECK-NEXT: %[[K_NEXT:.*]] = hjx.add %[[K_SUM]], %[[P_BAR]]
// CHECK-NEXT: hjx.yield %[[K_NEXT]], %[[S_BAR]], %[[Q_BAR]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2

// -----

// Only the last carry has a cotangent: ys have none, and nothing is made for them.
func.func private @last(%c: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  %last, %ys = hjx.scan consts() inits(%c) xs() length = 3 reverse : (tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%s: tensor<f32>):
    %n = hjx.neg %s : tensor<f32>
    %e = hjx.exp %s : tensor<f32>
    hjx.yield %n, %e : tensor<f32>, tensor<f32>
  }
  return %last, %ys : tensor<f32>, tensor<3xf32>
}
func.func @t_last(%c: tensor<f32>) -> tensor<f32> {
  %zero = hjx.constant dense<0.0> : tensor<3xf32>
  %y, %ys, %c_bar = hjx.vjp @last(%c) cotangents(%c, %zero) active = [true] : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  return %c_bar : tensor<f32>
}
// CHECK-LABEL: func.func private @last.lin.1.of10.transpose
// CHECK-SAME: (%[[LAST_BAR:.*]]: tensor<f32>)
// CHECK: %[[R:.*]] = hjx.scan consts() inits(%[[LAST_BAR]]) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[N_BAR:.*]]: tensor<f32>):
// CHECK-NEXT: %[[S_BAR:.*]] = hjx.neg %[[N_BAR]]
// CHECK-NEXT: hjx.yield %[[S_BAR]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]

// -----

// What one branch reaches, every branch gives: the other yields zeros.
func.func private @cond(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = hjx.cond %p, inputs(%x, %y) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %n = hjx.neg %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = hjx.mul %a, %b : tensor<f32>
    hjx.yield %m : tensor<f32>
  }
  return %z : tensor<f32>
}
func.func @t_cond(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %z, %x_bar, %y_bar = hjx.vjp @cond(%p, %x, %y) cotangents(%x) active = [false, true, true] : (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %x_bar, %y_bar : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @cond.lin.011.transpose
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[Y:.*]]: tensor<f32>, %[[X:.*]]: tensor<f32>, %[[Z_BAR:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:2 = hjx.cond %[[P]], inputs(%[[Y]], %[[X]], %[[Z_BAR]]) : (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[N_BAR:.*]]: tensor<f32>):
// CHECK-NEXT: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[A_BAR:.*]] = hjx.neg %[[N_BAR]]
// CHECK-NEXT: hjx.yield %[[A_BAR]], %[[ZERO]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<f32>, %[[A:.*]]: tensor<f32>, %[[M_BAR:.*]]: tensor<f32>):
// CHECK-NEXT: %[[B_BAR:.*]] = hjx.mul %[[M_BAR]], %[[A]]
// CHECK-NEXT: %[[AB_BAR:.*]] = hjx.mul %[[M_BAR]], %[[B]]
// CHECK-NEXT: hjx.yield %[[AB_BAR]], %[[B_BAR]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1

// -----

// custom_vjp: fwd gives the residuals, bwd the cotangents; sin is differentiated by neither.
func.func private @f(%x: tensor<f32>, %k: tensor<i32>) -> tensor<f32> {
  %s = hjx.sin %x : tensor<f32>
  return %s : tensor<f32>
}
func.func private @f_fwd(%x: tensor<f32>, %k: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  %s = hjx.sin %x : tensor<f32>
  return %s, %x, %k : tensor<f32>, tensor<f32>, tensor<i32>
}
func.func private @f_bwd(%x: tensor<f32>, %k: tensor<i32>, %y_bar: tensor<f32>) -> tensor<f32> {
  %x_bar = hjx.neg %y_bar : tensor<f32>
  return %x_bar : tensor<f32>
}
func.func private @custom(%x: tensor<f32>, %k: tensor<i32>) -> tensor<f32> {
  %y = hjx.custom_vjp @f(%x, %k) fwd = @f_fwd bwd = @f_bwd : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @t_custom(%x: tensor<f32>, %k: tensor<i32>) -> tensor<f32> {
  %y, %x_bar = hjx.vjp @custom(%x, %k) cotangents(%x) active = [true, false] : (tensor<f32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %x_bar : tensor<f32>
}
// CHECK-LABEL: func.func private @custom.fwd.10
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[K:.*]]: tensor<i32>)
// CHECK: %[[R:.*]]:3 = call @f_fwd(%[[X]], %[[K]]) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<i32>)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
// CHECK-LABEL: func.func private @custom.lin.10.transpose
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[K:.*]]: tensor<i32>, %[[Y_BAR:.*]]: tensor<f32>)
// CHECK: %[[X_BAR:.*]] = call @f_bwd(%[[X]], %[[K]], %[[Y_BAR]]) : (tensor<f32>, tensor<i32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[X_BAR]]
