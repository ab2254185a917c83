// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Requests print and parse back.

func.func private @f(%x: tensor<3xf32>, %w: tensor<3xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %y = hjx.mul %x, %w : tensor<3xf32>
  %s = hjx.reduce_sum %y axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s, %n : tensor<f32>, tensor<i32>
}

// CHECK-LABEL: func.func @derivatives
func.func @derivatives(%x: tensor<3xf32>, %w: tensor<3xf32>, %n: tensor<i32>, %ct: tensor<f32>) {
  // CHECK: hjx.jvp @f(%{{.*}}, %{{.*}}, %{{.*}}) tangents(%{{.*}}) active = [true, false, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<f32>)
  %j:3 = hjx.jvp @f(%x, %w, %n) tangents(%x) active = [true, false, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<f32>)
  // CHECK: hjx.vjp @f(%{{.*}}, %{{.*}}, %{{.*}}) cotangents(%{{.*}}) active = [true, true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>)
  %v:4 = hjx.vjp @f(%x, %w, %n) cotangents(%ct) active = [true, true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: %[[LIN:.*]]:3 = hjx.linearize @f(%{{.*}}, %{{.*}}, %{{.*}}) active = [false, true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  %l:3 = hjx.linearize @f(%x, %w, %n) active = [false, true, false] : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  // CHECK: hjx.apply_linear %[[LIN]]#2(%{{.*}}) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<f32>
  %t = hjx.apply_linear %l#2(%x) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<f32>
  // CHECK: hjx.apply_transpose %[[LIN]]#2(%{{.*}}) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<f32>) -> tensor<3xf32>
  %c = hjx.apply_transpose %l#2(%ct) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<f32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @mapping
func.func @mapping(%xs: tensor<3x8xf32>, %w: tensor<3xf32>, %ns: tensor<8xi32>) {
  // CHECK: hjx.vmap @f(%{{.*}}, %{{.*}}, %{{.*}}) in_axes = [1, -1, 0] out_axes = [0, 0] size = 8 : (tensor<3x8xf32>, tensor<3xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %ys:2 = hjx.vmap @f(%xs, %w, %ns) in_axes = [1, -1, 0] out_axes = [0, 0] size = 8 : (tensor<3x8xf32>, tensor<3xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// CHECK-LABEL: func.func @checkpoint
func.func @checkpoint(%x: tensor<3xf32>, %n: tensor<i32>) {
  // CHECK: hjx.checkpoint @f(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  %a:2 = hjx.checkpoint @f(%x, %x, %n) policy = nothing_saveable : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  // CHECK: policy = dots_saveable :
  %b:2 = hjx.checkpoint @f(%x, %x, %n) policy = dots_saveable : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  // CHECK: policy = dots_with_no_batch_dims_saveable :
  %c:2 = hjx.checkpoint @f(%x, %x, %n) policy = dots_with_no_batch_dims_saveable : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  // CHECK: policy = everything_saveable :
  %d:2 = hjx.checkpoint @f(%x, %x, %n) policy = everything_saveable : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  return
}

func.func private @g(%x: tensor<3xf32>) -> tensor<f32> {
  %s = hjx.reduce_sum %x axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func private @g_jvp(%x: tensor<3xf32>, %x_dot: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
  %s = hjx.reduce_sum %x axes = [0] : tensor<3xf32> -> tensor<f32>
  %t = hjx.reduce_sum %x_dot axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s, %t : tensor<f32>, tensor<f32>
}
func.func private @g_fwd(%x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %s = hjx.reduce_sum %x axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s, %x : tensor<f32>, tensor<3xf32>
}
func.func private @g_bwd(%r: tensor<3xf32>, %y_bar: tensor<f32>) -> tensor<3xf32> {
  %b = hjx.broadcast_in_dim %y_bar shape = [3] dims = [] : tensor<f32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: func.func @custom
func.func @custom(%x: tensor<3xf32>) {
  // CHECK: hjx.custom_jvp @g(%{{.*}}) rule = @g_jvp : (tensor<3xf32>) -> tensor<f32>
  %a = hjx.custom_jvp @g(%x) rule = @g_jvp : (tensor<3xf32>) -> tensor<f32>
  // CHECK: hjx.custom_vjp @g(%{{.*}}) fwd = @g_fwd bwd = @g_bwd : (tensor<3xf32>) -> tensor<f32>
  %b = hjx.custom_vjp @g(%x) fwd = @g_fwd bwd = @g_bwd : (tensor<3xf32>) -> tensor<f32>
  // CHECK: hjx.custom_lin @g_bwd residuals(%{{.*}}) tangents(%{{.*}}) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %c = hjx.custom_lin @g_bwd residuals(%x) tangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}
