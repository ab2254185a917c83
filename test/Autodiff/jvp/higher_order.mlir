// RUN: hjx-opt --hjx-jvp --symbol-dce --split-input-file %s | FileCheck %s
// Control flow computes values and tangents in one loop or branch; which carries
// and results have tangents is known before.

// A carry whose tangent starts as zero gains one from xs; an integer has none.
func.func private @scan(%x: tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %none = hjx.constant dense<0> : tensor<i32>
  %r:3 = hjx.scan consts() inits(%zero, %none) xs(%x) length = 3 : (tensor<f32>, tensor<i32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>) {
  ^bb0(%s: tensor<f32>, %i: tensor<i32>, %xi: tensor<f32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %n = hjx.add %i, %one : tensor<i32>
    %p = hjx.mul %xi, %xi : tensor<f32>
    %t = hjx.add %s, %p : tensor<f32>
    hjx.yield %t, %n, %t : tensor<f32>, tensor<i32>, tensor<f32>
  }
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<i32>, tensor<3xf32>
}
func.func @j_scan(%x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %r:5 = hjx.jvp @scan(%x) tangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
  return %r#3, %r#4 : tensor<f32>, tensor<3xf32>
}
// CHECK-LABEL: func.func private @scan.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[X_DOT:.*]]: tensor<3xf32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[NONE:.*]] = hjx.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[R:.*]]:5 = hjx.scan consts() inits(%[[ZERO]], %[[NONE]], %[[ZERO]]) xs(%[[X]], %[[X_DOT]]) length = 3 : (tensor<f32>, tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<f32>, %[[I:.*]]: tensor<i32>, %[[S_DOT:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>, %[[XI_DOT:.*]]: tensor<f32>):
// CHECK-NEXT: %[[ONE:.*]] = hjx.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[N:.*]] = hjx.add %[[I]], %[[ONE]]
// CHECK-NEXT: %[[P:.*]] = hjx.mul %[[XI]], %[[XI]]
// CHECK-NEXT: %[[A:.*]] = hjx.mul %[[XI_DOT]], %[[XI]]
// CHECK-NEXT: %[[PD:.*]] = hjx.add %[[A]], %[[A]]
// CHECK-NEXT: %[[T:.*]] = hjx.add %[[S]], %[[P]]
// CHECK-NEXT: %[[T_DOT:.*]] = hjx.add %[[S_DOT]], %[[PD]]
// CHECK-NEXT: hjx.yield %[[T]], %[[N]], %[[T_DOT]], %[[T]], %[[T_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#3, %[[R]]#2, %[[R]]#4

// -----

func.func private @while(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %r:2 = hjx.while cond_consts() body_consts(%x) inits(%n, %x) : (tensor<f32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) cond {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %zero = hjx.constant dense<0> : tensor<i32>
    %p = hjx.compare gt, %i, %zero : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%k: tensor<f32>, %i: tensor<i32>, %v: tensor<f32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %m = hjx.sub %i, %one : tensor<i32>
    %s = hjx.sin %v : tensor<f32>
    hjx.yield %m, %s : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func @j_while(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @while(%n, %x) tangents(%x) active = [false, true] : (tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}
// The predicate takes the tangent and ignores it.
// CHECK-LABEL: func.func private @while.jvp.01
// CHECK-SAME: (%[[N:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:3 = hjx.while cond_consts() body_consts() inits(%[[N]], %[[X]], %[[X_DOT]]) : (tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<i32>, tensor<f32>, tensor<f32>) cond {
// CHECK-NEXT: ^bb0(%[[CI:.*]]: tensor<i32>, %[[CV:.*]]: tensor<f32>, %[[CV_DOT:.*]]: tensor<f32>):
// CHECK-NEXT: %[[ZERO:.*]] = hjx.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[P:.*]] = hjx.compare gt, %[[CI]], %[[ZERO]]
// CHECK-NEXT: hjx.yield %[[P]]
// CHECK-NEXT: } body {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %[[V:.*]]: tensor<f32>, %[[V_DOT:.*]]: tensor<f32>):
// CHECK-NEXT: %[[ONE:.*]] = hjx.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[M:.*]] = hjx.sub %[[I]], %[[ONE]]
// CHECK-NEXT: %[[S:.*]] = hjx.sin %[[V]]
// CHECK-NEXT: %[[C:.*]] = hjx.cos %[[V]]
// CHECK-NEXT: %[[S_DOT:.*]] = hjx.mul %[[V_DOT]], %[[C]]
// CHECK-NEXT: hjx.yield %[[M]], %[[S]], %[[S_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#1, %[[R]]#2

// -----

// One branch gives a tangent, so both do: the other yields zeros.
func.func private @cond(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y, %z = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>):
    %c = hjx.floor %a : tensor<f32>
    hjx.yield %c, %c : tensor<f32>, tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.neg %a : tensor<f32>
    %c = hjx.constant dense<2.0> : tensor<f32>
    hjx.yield %n, %c : tensor<f32>, tensor<f32>
  }
  return %y, %z : tensor<f32>, tensor<f32>
}
func.func @j_cond(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:4 = hjx.jvp @cond(%p, %x) tangents(%x) active = [false, true] : (tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#2, %r#3 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @cond.jvp.01
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:3 = hjx.cond %[[P]], inputs(%[[X]], %[[X_DOT]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[C:.*]] = hjx.floor %[[A]]
// CHECK-NEXT: hjx.yield %[[C]], %[[C]], %[[ZERO]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<f32>, %[[B_DOT:.*]]: tensor<f32>):
// CHECK-NEXT: %[[TWO:.*]] = hjx.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[N:.*]] = hjx.neg %[[B]]
// CHECK-NEXT: %[[N_DOT:.*]] = hjx.neg %[[B_DOT]]
// CHECK-NEXT: hjx.yield %[[N]], %[[TWO]], %[[N_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2

// -----

// A checkpoint stays one, of the callee's jvp: its tangents may be pulled back later.
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.sin %x : tensor<f32>
  return %y : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.checkpoint @inner(%x) policy = dots_saveable : (tensor<f32>) -> tensor<f32>
  %z = call @inner(%y) : (tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}
func.func @j_calls(%x: tensor<f32>) -> tensor<f32> {
  %y, %y_dot = hjx.jvp @outer(%x) tangents(%x) active = [true] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @outer.jvp.1
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[Y:.*]]:2 = hjx.checkpoint @inner.jvp.1(%[[X]], %[[X_DOT]]) policy = dots_saveable
// CHECK-NEXT: %[[Z:.*]]:2 = call @inner.jvp.1(%[[Y]]#0, %[[Y]]#1) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: return %[[Z]]#0, %[[Z]]#1

// -----

// A custom rule takes a tangent for each float operand, zeros where there is none.
func.func private @mul(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = hjx.mul %x, %y : tensor<f32>
  return %z : tensor<f32>
}
func.func private @mul_rule(%x: tensor<f32>, %y: tensor<f32>, %x_dot: tensor<f32>, %y_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %z = hjx.mul %x, %y : tensor<f32>
  %a = hjx.mul %x_dot, %y : tensor<f32>
  %b = hjx.mul %y_dot, %x : tensor<f32>
  %c = hjx.add %a, %b : tensor<f32>
  return %z, %c : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = hjx.custom_jvp @mul(%x, %y) rule = @mul_rule : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}
func.func @j_custom(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z, %z_dot = hjx.jvp @custom(%x, %y) tangents(%y) active = [false, true] : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %z_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @custom.jvp.01
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %[[Y_DOT:.*]]: tensor<f32>)
// CHECK: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[R:.*]]:2 = call @mul_rule(%[[X]], %[[Y]], %[[ZERO]], %[[Y_DOT]]) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1

// -----

func.func private @barrier(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a, %b = hjx.opt_barrier %x, %y : tensor<f32>, tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
func.func @j_barrier(%x: tensor<f32>) -> tensor<f32> {
  %r:4 = hjx.jvp @barrier(%x, %x) tangents(%x) active = [true, false] : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
  return %r#2 : tensor<f32>
}
// CHECK-LABEL: func.func private @barrier.jvp.10
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:2 = hjx.opt_barrier %[[X]], %[[Y]]
// CHECK-NEXT: %[[A_DOT:.*]] = hjx.opt_barrier %[[X_DOT]]
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[A_DOT]]
