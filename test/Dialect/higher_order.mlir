// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Control flow and requests print and parse back.

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<3xf32>, %w: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  %zero = hjx.constant dense<0.0> : tensor<f32>
  // CHECK: hjx.scan consts(%{{.*}}) inits(%{{.*}}) xs(%{{.*}}) length = 3 reverse : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK-NEXT: ^bb0(%[[W:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>, %[[X:.*]]: tensor<f32>):
  %sum, %partial = hjx.scan consts(%w) inits(%zero) xs(%x) length = 3 reverse : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%k: tensor<f32>, %c: tensor<f32>, %xi: tensor<f32>):
    %m = hjx.mul %k, %xi : tensor<f32>
    %s = hjx.add %c, %m : tensor<f32>
    hjx.yield %s, %s : tensor<f32>, tensor<f32>
  }
  return %sum, %partial : tensor<f32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @while
func.func @while(%limit: tensor<i32>) -> tensor<i32> {
  %zero = hjx.constant dense<0> : tensor<i32>
  // CHECK: hjx.while cond_consts(%{{.*}}) body_consts() inits(%{{.*}}) max_trip = 9 : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  %n = hjx.while cond_consts(%limit) body_consts() inits(%zero) max_trip = 9 : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<i32>, %i: tensor<i32>):
    %p = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    %one = hjx.constant dense<1> : tensor<i32>
    %next = hjx.add %i, %one : tensor<i32>
    hjx.yield %next : tensor<i32>
  }
  return %n : tensor<i32>
}

// CHECK-LABEL: func.func @cond
func.func @cond(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: hjx.cond %{{.*}}, inputs(%{{.*}}) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  %y = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    hjx.yield %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    %n = hjx.neg %a : tensor<f32>
    hjx.yield %n : tensor<f32>
  }
  return %y : tensor<f32>
}

func.func private @f(%x: tensor<3xf32>) -> tensor<f32> {
  %s = hjx.reduce_sum %x axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: func.func @requests
func.func @requests(%x: tensor<3xf32>, %ct: tensor<f32>, %xs: tensor<3x8xf32>) {
  // CHECK: hjx.jvp @f(%{{.*}}) tangents(%{{.*}}) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  %y, %y_dot = hjx.jvp @f(%x) tangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: hjx.vjp @f(%{{.*}}) cotangents(%{{.*}}) active = [true] : (tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  %y1, %x_bar = hjx.vjp @f(%x) cotangents(%ct) active = [true] : (tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  // CHECK: %[[LIN:.*]]:2 = hjx.linearize @f(%{{.*}}) active = [true] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  %y2, %lin = hjx.linearize @f(%x) active = [true] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  // CHECK: hjx.apply_linear %[[LIN]]#1(%{{.*}})
  %t = hjx.apply_linear %lin(%x) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<f32>
  // CHECK: hjx.vmap @f(%{{.*}}) in_axes = [1] out_axes = [0] size = 8 : (tensor<3x8xf32>) -> tensor<8xf32>
  %ys = hjx.vmap @f(%xs) in_axes = [1] out_axes = [0] size = 8 : (tensor<3x8xf32>) -> tensor<8xf32>
  // CHECK: hjx.checkpoint @f(%{{.*}}) policy = dots_saveable : (tensor<3xf32>) -> tensor<f32>
  %z = hjx.checkpoint @f(%x) policy = dots_saveable : (tensor<3xf32>) -> tensor<f32>
  return
}
