// RUN: hjx-opt --hjx-linearize --symbol-dce --split-input-file %s | FileCheck %s
// Loops and branches split in two; what crosses between the halves is a residual.

// Of the body's residuals the const w and the slices of xs cross as they are,
// sin(w) * w is computed once before the loop, and only the carry is stacked.
func.func private @scan(%w: tensor<f32>, %c: tensor<f32>, %x: tensor<3xf32>) -> tensor<f32> {
  %last = hjx.scan consts(%w) inits(%c) xs(%x) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> tensor<f32> {
  ^bb0(%k: tensor<f32>, %s: tensor<f32>, %xi: tensor<f32>):
    %e = hjx.sin %k : tensor<f32>
    %f = hjx.exp %e : tensor<f32>
    %p = hjx.mul %s, %xi : tensor<f32>
    %q = hjx.mul %p, %f : tensor<f32>
    hjx.yield %q : tensor<f32>
  }
  return %last : tensor<f32>
}
func.func @l_scan(%w: tensor<f32>, %c: tensor<f32>, %x: tensor<3xf32>) -> tensor<f32> {
  %y, %map = hjx.linearize @scan(%w, %c, %x) active = [false, true, true] : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>, tensor<3xf32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%c, %x) : (!hjx.linear<(tensor<f32>, tensor<3xf32>) -> tensor<f32>>, tensor<f32>, tensor<3xf32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @scan.fwd.011
// CHECK-SAME: (%[[W:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>)
// CHECK: %[[E:.*]] = hjx.sin %[[W]]
// CHECK-NEXT: %[[F:.*]] = hjx.exp %[[E]]
// CHECK-NEXT: %[[R:.*]]:2 = hjx.scan consts(%[[F]]) inits(%[[C]]) xs(%[[X]]) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[K:.*]]: tensor<f32>, %[[S:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>):
// CHECK-NEXT: %[[P:.*]] = hjx.mul %[[S]], %[[XI]]
// CHECK-NEXT: %[[Q:.*]] = hjx.mul %[[P]], %[[K]]
// CHECK-NEXT: hjx.yield %[[Q]], %[[S]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[F]], %[[R]]#1
// CHECK-LABEL: func.func private @scan.lin.011
// CHECK-SAME: (%[[F:.*]]: tensor<f32>, %[[X:.*]]: tensor<3xf32>, %[[SS:.*]]: tensor<3xf32>, %[[C_DOT:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<3xf32>)
// CHECK: %[[R:.*]] = hjx.scan consts(%[[F]]) inits(%[[C_DOT]]) xs(%[[X]], %[[SS]], %[[X_DOT]]) length = 3 : (tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[K:.*]]: tensor<f32>, %[[S_DOT:.*]]: tensor<f32>, %[[XI:.*]]: tensor<f32>, %[[S:.*]]: tensor<f32>, %[[XI_DOT:.*]]: tensor<f32>):
// CHECK-NEXT: %[[A:.*]] = hjx.mul %[[S_DOT]], %[[XI]]
// CHECK-NEXT: %[[B:.*]] = hjx.mul %[[XI_DOT]], %[[S]]
// CHECK-NEXT: %[[D:.*]] = hjx.add %[[A]], %[[B]]
// CHECK-NEXT: %[[Q_DOT:.*]] = hjx.mul %[[D]], %[[K]]
// CHECK-NEXT: hjx.yield %[[Q_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]

// -----

// Branch 0 keeps sin(b) in a further result, which the others fill with zeros;
// branch 1 keeps what is a result already, branch 2 an input.
func.func private @cond(%i: tensor<i32>, %x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y = hjx.cond %i, inputs(%x, %w) : (tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = hjx.sin %b : tensor<f32>
    %p = hjx.mul %a, %s : tensor<f32>
    hjx.yield %p : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %e = hjx.exp %a : tensor<f32>
    hjx.yield %e : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = hjx.mul %a, %b : tensor<f32>
    hjx.yield %p : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func @l_cond(%i: tensor<i32>, %x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y, %map = hjx.linearize @cond(%i, %x, %w) active = [false, true, false] : (tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<f32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @cond.fwd.010
// CHECK-SAME: (%[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[W:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:2 = hjx.cond %[[I]], inputs(%[[X]], %[[W]]) : (tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[A0:.*]]: tensor<f32>, %[[B0:.*]]: tensor<f32>):
// CHECK-NEXT: %[[S:.*]] = hjx.sin %[[B0]]
// CHECK-NEXT: %[[P:.*]] = hjx.mul %[[A0]], %[[S]]
// CHECK-NEXT: hjx.yield %[[P]], %[[S]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[A1:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %[[ZERO:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = hjx.exp %[[A1]]
// CHECK-NEXT: hjx.yield %[[E]], %[[ZERO]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[A2:.*]]: tensor<f32>, %[[B2:.*]]: tensor<f32>):
// CHECK-NEXT: %[[NOTHING:.*]] = hjx.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[Q:.*]] = hjx.mul %[[A2]], %[[B2]]
// CHECK-NEXT: hjx.yield %[[Q]], %[[NOTHING]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
// CHECK-LABEL: func.func private @cond.lin.010
// CHECK-SAME: (%[[I:.*]]: tensor<i32>, %[[S:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %[[W:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[R:.*]] = hjx.cond %[[I]], inputs(%[[S]], %[[Y]], %[[W]], %[[X_DOT]]) : (tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[S0:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[D0:.*]]: tensor<f32>):
// CHECK-NEXT: %[[P_DOT:.*]] = hjx.mul %[[D0]], %[[S0]]
// CHECK-NEXT: hjx.yield %[[P_DOT]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[E1:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %[[D1:.*]]: tensor<f32>):
// CHECK-NEXT: %[[E_DOT:.*]] = hjx.mul %[[D1]], %[[E1]]
// CHECK-NEXT: hjx.yield %[[E_DOT]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[W2:.*]]: tensor<f32>, %[[D2:.*]]: tensor<f32>):
// CHECK-NEXT: %[[Q_DOT:.*]] = hjx.mul %[[D2]], %[[W2]]
// CHECK-NEXT: hjx.yield %[[Q_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]

// -----

// The IR shows three iterations, so the loop becomes a scan of three.
func.func private @counted(%x: tensor<f32>) -> tensor<f32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  %r:2 = hjx.while cond_consts() body_consts() inits(%zero, %x) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) cond {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %limit = hjx.constant dense<5> : tensor<i32>
    %p = hjx.compare lt, %i, %limit : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %two = hjx.constant dense<2> : tensor<i32>
    %m = hjx.add %i, %two : tensor<i32>
    %e = hjx.exp %v : tensor<f32>
    hjx.yield %m, %e : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func @l_counted(%x: tensor<f32>) -> tensor<f32> {
  %y, %map = hjx.linearize @counted(%x) active = [true] : (tensor<f32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<f32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @counted.fwd.1
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:2 = hjx.scan consts() inits(%[[X]]) xs() length = 3 : (tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<f32>):
// CHECK-NEXT: %[[E:.*]] = hjx.exp %[[V]]
// CHECK-NEXT: hjx.yield %[[E]], %[[E]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
// CHECK-LABEL: func.func private @counted.lin.1
// CHECK-SAME: (%[[ES:.*]]: tensor<3xf32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[R:.*]] = hjx.scan consts() inits(%[[X_DOT]]) xs(%[[ES]]) length = 3 : (tensor<f32>, tensor<3xf32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[V_DOT:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>):
// CHECK-NEXT: %[[E_DOT:.*]] = hjx.mul %[[V_DOT]], %[[E]]
// CHECK-NEXT: hjx.yield %[[E_DOT]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]

// -----

// A bound makes a scan of conds: an iteration beyond the end keeps the carries.
func.func private @bounded(%x: tensor<f32>) -> tensor<f32> {
  %r = hjx.while cond_consts() body_consts() inits(%x) max_trip = 4 : (tensor<f32>) -> tensor<f32> cond {
  ^bb0(%v: tensor<f32>):
    %limit = hjx.constant dense<9.0> : tensor<f32>
    %p = hjx.compare lt, %v, %limit : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<f32>):
    %e = hjx.exp %v : tensor<f32>
    hjx.yield %e : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func @l_bounded(%x: tensor<f32>) -> tensor<f32> {
  %y, %map = hjx.linearize @bounded(%x) active = [true] : (tensor<f32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<f32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @bounded.fwd.1
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %[[R:.*]]:3 = hjx.scan consts() inits(%[[X]]) xs() length = 4 : (tensor<f32>) -> (tensor<f32>, tensor<4xi1>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<f32>):
// CHECK-NEXT: %[[LIMIT:.*]] = hjx.constant dense<9.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = hjx.compare lt, %[[V]], %[[LIMIT]]
// CHECK-NEXT: %[[N:.*]] = hjx.cond %[[P]], inputs(%[[V]]) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[KEPT:.*]]: tensor<f32>):
// CHECK-NEXT: hjx.yield %[[KEPT]]
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[TAKEN:.*]]: tensor<f32>):
// CHECK-NEXT: %[[E:.*]] = hjx.exp %[[TAKEN]]
// CHECK-NEXT: hjx.yield %[[E]]
// CHECK-NEXT: }
// CHECK-NEXT: hjx.yield %[[N]], %[[P]], %[[N]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2

// -----

// Nothing saved: lin takes f's own arguments and computes the rest again behind
// a barrier. Dots saved: it takes the product, too.
func.func private @layer(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %z = hjx.dot_general %x, %w contracting = [0] x [0] : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  %s = hjx.sin %z : tensor<2xf32>
  return %s : tensor<2xf32>
}
func.func private @net(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %a = hjx.checkpoint @layer(%x, %w) : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  %b = hjx.checkpoint @layer(%a, %w) policy = dots_saveable : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
func.func @l_net(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %y, %map = hjx.linearize @net(%x, %w) active = [true, false] : (tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2xf32>, !hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<2xf32>) -> tensor<2xf32>>, tensor<2xf32>) -> tensor<2xf32>
  return %y_dot : tensor<2xf32>
}
// CHECK-LABEL: func.func private @layer.lin.10.nothing_saveable
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2x2xf32>, %[[X_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[SAFE:.*]]:2 = hjx.opt_barrier %[[X]], %[[W]]
// CHECK-NEXT: %[[Z:.*]] = hjx.dot_general %[[SAFE]]#0, %[[SAFE]]#1 contracting = [0] x [0]
// CHECK-NEXT: %[[C:.*]] = hjx.cos %[[Z]]
// CHECK-NEXT: %[[Z_DOT:.*]] = hjx.dot_general %[[X_DOT]], %[[SAFE]]#1 contracting = [0] x [0]
// CHECK-NEXT: %[[S_DOT:.*]] = hjx.mul %[[Z_DOT]], %[[C]]
// CHECK-NEXT: return %[[S_DOT]]
// CHECK-LABEL: func.func private @layer.fwd.10.dots_saveable
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2x2xf32>)
// CHECK: %[[Z:.*]] = hjx.dot_general %[[X]], %[[W]] contracting = [0] x [0]
// CHECK-NEXT: %[[S:.*]] = hjx.sin %[[Z]]
// CHECK-NEXT: return %[[S]], %[[Z]]
// CHECK-LABEL: func.func private @layer.lin.10.dots_saveable
// CHECK-SAME: (%[[Z:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2x2xf32>, %[[X_DOT:.*]]: tensor<2xf32>)
// CHECK: %[[SAFE:.*]]:2 = hjx.opt_barrier %[[Z]], %[[W]]
// CHECK-NEXT: %[[C:.*]] = hjx.cos %[[SAFE]]#0
// CHECK-NEXT: %[[Z_DOT:.*]] = hjx.dot_general %[[X_DOT]], %[[SAFE]]#1 contracting = [0] x [0]
// CHECK-NEXT: %[[S_DOT:.*]] = hjx.mul %[[Z_DOT]], %[[C]]
// CHECK-NEXT: return %[[S_DOT]]

// -----

// A custom rule is linearized in its tangents: the primal part goes to fwd.
func.func private @xlogx(%x: tensor<f32>) -> tensor<f32> {
  %l = hjx.log %x : tensor<f32>
  %y = hjx.mul %x, %l : tensor<f32>
  return %y : tensor<f32>
}
func.func private @xlogx_rule(%x: tensor<f32>, %x_dot: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %l = hjx.log %x : tensor<f32>
  %y = hjx.mul %x, %l : tensor<f32>
  %c = hjx.add %l, %one : tensor<f32>
  %y_dot = hjx.mul %x_dot, %c : tensor<f32>
  return %y, %y_dot : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.custom_jvp @xlogx(%x) rule = @xlogx_rule : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @l_custom(%x: tensor<f32>) -> tensor<f32> {
  %y, %map = hjx.linearize @custom(%x) active = [true] : (tensor<f32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<f32>>)
  %y_dot = hjx.apply_linear %map(%x) : (!hjx.linear<(tensor<f32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %y_dot : tensor<f32>
}
// CHECK-LABEL: func.func private @custom.fwd.1
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: %{{.*}} = hjx.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %{{.*}} = hjx.log %[[X]]
// CHECK-NEXT: %{{.*}} = hjx.mul %[[X]], %{{.*}}
// CHECK-NEXT: %[[V3:.*]] = hjx.add %{{.*}}, %{{.*}}
// CHECK-NEXT: return %{{.*}}, %[[V3]]
// CHECK-LABEL: func.func private @custom.lin.1
// CHECK-SAME: (%[[C:.*]]: tensor<f32>, %[[X_DOT:.*]]: tensor<f32>)
// CHECK: %[[Y_DOT:.*]] = hjx.mul %[[X_DOT]], %[[C]]
// CHECK-NEXT: return %[[Y_DOT]]
