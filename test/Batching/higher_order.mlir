// RUN: hjx-opt --hjx-vmap --canonicalize --symbol-dce %s | FileCheck %s
// Loops map the carries that need it; a mapped choice runs every branch and selects.

// A carry that starts shared becomes mapped; a shared counter stays shared.
func.func private @loop(%x: tensor<3xf32>, %w: tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  %i0 = hjx.constant dense<0> : tensor<i32>
  %s, %i, %ys = hjx.scan consts(%w) inits(%zero, %i0) xs(%x) length = 3 : (tensor<f32>, tensor<f32>, tensor<i32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %c: tensor<f32>, %n: tensor<i32>, %xi: tensor<f32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %n1 = hjx.add %n, %one : tensor<i32>
    %m = hjx.mul %k, %xi : tensor<f32>
    %c1 = hjx.add %c, %m : tensor<f32>
    hjx.yield %c1, %n1, %m : tensor<f32>, tensor<i32>, tensor<f32>
  }
  return %s, %i, %ys : tensor<f32>, tensor<i32>, tensor<3xf32>
}
func.func private @branch(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %y = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %l = hjx.log %a : tensor<f32>
    hjx.yield %l : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func private @count(%limit: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = hjx.while cond_consts(%limit) body_consts() inits(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32> cond {
  ^bb0(%l: tensor<f32>, %a: tensor<f32>):
    %p = hjx.compare lt, %a, %l : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%a: tensor<f32>):
    %d = hjx.add %a, %a : tensor<f32>
    hjx.yield %d : tensor<f32>
  }
  return %y : tensor<f32>
}
func.func private @square(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y = hjx.mul %x, %w : tensor<f32>
  return %y : tensor<f32>
}
func.func private @square_fwd(%x: tensor<f32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = hjx.mul %x, %w : tensor<f32>
  return %y, %w : tensor<f32>, tensor<f32>
}
func.func private @square_bwd(%w: tensor<f32>, %y_bar: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %x_bar = hjx.mul %w, %y_bar : tensor<f32>
  return %x_bar, %y_bar : tensor<f32>, tensor<f32>
}
func.func private @custom(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %y = hjx.custom_vjp @square(%x, %w) fwd = @square_fwd bwd = @square_bwd : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @scan(%x: tensor<3x4xf32>, %w: tensor<f32>) -> (tensor<4xf32>, tensor<i32>, tensor<3x4xf32>) {
  %0:3 = hjx.vmap @loop(%x, %w) in_axes = [1, -1] out_axes = [0, -1, 1] size = 4 : (tensor<3x4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<i32>, tensor<3x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<i32>, tensor<3x4xf32>
}
func.func @cond_shared_index(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hjx.vmap @branch(%p, %x) in_axes = [-1, 0] out_axes = [0] size = 4 : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @cond_mapped_index(%p: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hjx.vmap @branch(%p, %x) in_axes = [0, 0] out_axes = [0] size = 4 : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @while_mapped_predicate(%l: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hjx.vmap @count(%l, %x) in_axes = [-1, 0] out_axes = [0] size = 4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @custom_vjp(%x: tensor<4xf32>, %w: tensor<f32>) -> tensor<4xf32> {
  %0 = hjx.vmap @custom(%x, %w) in_axes = [0, -1] out_axes = [0] size = 4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @loop.vmap.1_u.x4.to.0_u_1(
// CHECK-SAME: %[[ARG0:.*]]: tensor<3x4xf32>, %[[ARG1:.*]]: tensor<f32>)
// CHECK: %[[V0:.*]] = hjx.constant dense<0> : tensor<i32>
// CHECK: %[[V1:.*]] = hjx.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: %[[V2:.*]]:3 = hjx.scan consts(%[[ARG1]]) inits(%[[V1]], %[[V0]]) xs(%[[ARG0]]) length = 3 : (tensor<f32>, tensor<4xf32>, tensor<i32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<i32>, tensor<3x4xf32>) {
// CHECK: ^bb0(%[[ARG2:.*]]: tensor<f32>, %[[ARG3:.*]]: tensor<4xf32>, %[[ARG4:.*]]: tensor<i32>, %[[ARG5:.*]]: tensor<4xf32>):
// CHECK: %[[V3:.*]] = hjx.constant dense<1> : tensor<i32>
// CHECK: %[[V4:.*]] = hjx.add %[[ARG4]], %[[V3]] : tensor<i32>
// CHECK: %[[V5:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [4] dims = [] : tensor<f32> -> tensor<4xf32>
// CHECK: %[[V6:.*]] = hjx.mul %[[V5]], %[[ARG5]] : tensor<4xf32>
// CHECK: %[[V7:.*]] = hjx.add %[[ARG3]], %[[V6]] : tensor<4xf32>
// CHECK: hjx.yield %[[V7]], %[[V4]], %[[V6]] : tensor<4xf32>, tensor<i32>, tensor<4xf32>
// CHECK: return %[[V2]]#0, %[[V2]]#1, %[[V2]]#2 : tensor<4xf32>, tensor<i32>, tensor<3x4xf32>

// CHECK-LABEL: func.func private @branch.vmap.u_0.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<i1>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.cond %[[ARG0]], inputs(%[[ARG1]]) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK: ^bb0(%[[ARG2:.*]]: tensor<4xf32>):
// CHECK: hjx.yield %[[ARG2]] : tensor<4xf32>
// CHECK: ^bb0(%[[ARG2:.*]]: tensor<4xf32>):
// CHECK: %[[V1:.*]] = hjx.log %[[ARG2]] : tensor<4xf32>
// CHECK: hjx.yield %[[V1]] : tensor<4xf32>
// CHECK: return %[[V0]] : tensor<4xf32>

// CHECK-LABEL: func.func private @branch.vmap.0_0.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<4xi1>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.constant dense<true> : tensor<4xi1>
// CHECK: %[[V1:.*]] = hjx.constant dense<false> : tensor<4xi1>
// CHECK: %[[V2:.*]] = hjx.compare eq, %[[ARG0]], %[[V1]] : tensor<4xi1> -> tensor<4xi1>
// CHECK: %[[V3:.*]] = hjx.stop_gradient %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V4:.*]] = hjx.select_n %[[V2]], %[[V3]], %[[ARG1]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V5:.*]] = hjx.compare eq, %[[ARG0]], %[[V0]] : tensor<4xi1> -> tensor<4xi1>
// CHECK: %[[V6:.*]] = hjx.stop_gradient %[[ARG1]] : tensor<4xf32>
// CHECK: %[[V7:.*]] = hjx.select_n %[[V5]], %[[V6]], %[[ARG1]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[V8:.*]] = hjx.log %[[V7]] : tensor<4xf32>
// CHECK: %[[V9:.*]] = hjx.select_n %[[ARG0]], %[[V4]], %[[V8]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[V9]] : tensor<4xf32>

// CHECK-LABEL: func.func private @count.vmap.u_0.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<f32>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.while cond_consts(%[[ARG0]]) body_consts(%[[ARG0]]) inits(%[[ARG1]]) : (tensor<f32>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32> cond {
// CHECK: ^bb0(%[[ARG2:.*]]: tensor<f32>, %[[ARG3:.*]]: tensor<4xf32>):
// CHECK: %[[V1:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [4] dims = [] : tensor<f32> -> tensor<4xf32>
// CHECK: %[[V2:.*]] = hjx.compare lt, %[[ARG3]], %[[V1]] : tensor<4xf32> -> tensor<4xi1>
// CHECK: %[[V3:.*]] = hjx.reduce_or %[[V2]] axes = [0] : tensor<4xi1> -> tensor<i1>
// CHECK: hjx.yield %[[V3]] : tensor<i1>
// CHECK: ^bb0(%[[ARG2:.*]]: tensor<f32>, %[[ARG3:.*]]: tensor<4xf32>):
// CHECK: %[[V1:.*]] = hjx.add %[[ARG3]], %[[ARG3]] : tensor<4xf32>
// CHECK: %[[V2:.*]] = hjx.broadcast_in_dim %[[ARG2]] shape = [4] dims = [] : tensor<f32> -> tensor<4xf32>
// CHECK: %[[V3:.*]] = hjx.compare lt, %[[ARG3]], %[[V2]] : tensor<4xf32> -> tensor<4xi1>
// CHECK: %[[V4:.*]] = hjx.select_n %[[V3]], %[[ARG3]], %[[V1]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: hjx.yield %[[V4]] : tensor<4xf32>
// CHECK: return %[[V0]] : tensor<4xf32>

// CHECK-LABEL: func.func private @square.vmap.0_0.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.mul %[[ARG0]], %[[ARG1]] : tensor<4xf32>
// CHECK: return %[[V0]] : tensor<4xf32>

// CHECK-LABEL: func.func private @square_fwd.vmap.0_0.x4.to.0_0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.mul %[[ARG0]], %[[ARG1]] : tensor<4xf32>
// CHECK: return %[[V0]], %[[ARG1]] : tensor<4xf32>, tensor<4xf32>

// CHECK-LABEL: func.func private @square_bwd.vmap.0_0.x4.to.0_0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>)
// CHECK: %[[V0:.*]] = hjx.mul %[[ARG0]], %[[ARG1]] : tensor<4xf32>
// CHECK: return %[[V0]], %[[ARG1]] : tensor<4xf32>, tensor<4xf32>

// CHECK-LABEL: func.func private @custom.vmap.0_u.x4.to.0(
// CHECK-SAME: %[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<f32>)
// CHECK: %[[V0:.*]] = hjx.broadcast_in_dim %[[ARG1]] shape = [4] dims = [] : tensor<f32> -> tensor<4xf32>
// CHECK: %[[V1:.*]] = hjx.custom_vjp @square.vmap.0_0.x4.to.0(%[[ARG0]], %[[V0]]) fwd = @square_fwd.vmap.0_0.x4.to.0_0 bwd = @square_bwd.vmap.0_0.x4.to.0_0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[V1]] : tensor<4xf32>
