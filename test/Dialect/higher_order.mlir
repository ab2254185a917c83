// RUN: hjx-opt %s | hjx-opt | FileCheck %s
// Control flow prints and parses back.

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

// CHECK-LABEL: func.func @opt_barrier
func.func @opt_barrier(%x: tensor<2xf32>, %y: tensor<3xi32>) {
  // CHECK: hjx.opt_barrier %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<3xi32>
  %a, %b = hjx.opt_barrier %x, %y : tensor<2xf32>, tensor<3xi32>
  return
}
