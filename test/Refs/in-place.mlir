// RUN: hjx-opt %s --split-input-file --hjx-to-pure --hjx-to-lo --hjx-to-tensor --hjx-to-kernel | FileCheck %s
//
// A ref's argument is updated where it lies: changing rows of a large array needs no memory and
// copies those rows alone.

// CHECK: func.func @main(%[[T:.*]]: memref<100000x8xf32> {hjx.alias = 1 : i64, hjx.donated}
// CHECK-SAME: hjx.memory_plan = {arena_bytes = 0 : i64
// CHECK-NOT: memref.copy
// CHECK: memref.subview %[[T]][%{{.*}}, 0] [1, 8] [1, 1]
// CHECK-NOT: memref.copy
// CHECK: memref.subview %[[T]][7, 0] [1, 8] [1, 1]
func.func @main(%t: !hjx.ref<tensor<100000x8xf32>>, %i: tensor<i32>, %ids: tensor<3xi32>, %row: tensor<8xf32>, %rows: tensor<3x8xf32>) -> tensor<f32> {
  hjx.ref_add %t[%i, :], %row : (!hjx.ref<tensor<100000x8xf32>>, tensor<i32>, tensor<8xf32>) -> ()
  %old = hjx.ref_swap %t[7, :], %row : (!hjx.ref<tensor<100000x8xf32>>, tensor<8xf32>) -> tensor<8xf32>
  hjx.ref_add %t[%ids, :], %rows : (!hjx.ref<tensor<100000x8xf32>>, tensor<3xi32>, tensor<3x8xf32>) -> ()
  %v = hjx.ref_get %t[3, 4] : (!hjx.ref<tensor<100000x8xf32>>) -> tensor<f32>
  return %v : tensor<f32>
}

// -----

// The sum of gradients over micro-batches: as much memory for 64 of them as for 2.
// CHECK: func.func @main
// CHECK-SAME: hjx.memory_plan = {arena_bytes = [[BYTES:[0-9]+]] : i64
func.func @main(%w: tensor<64x32xf32>, %xs: tensor<2x16x64xf32>, %r: !hjx.ref<tensor<64x32xf32>>) {
  hjx.scan consts(%w, %r) inits() xs(%xs) length = 2 : (tensor<64x32xf32>, !hjx.ref<tensor<64x32xf32>>, tensor<2x16x64xf32>) -> () {
  ^bb0(%v: tensor<64x32xf32>, %s: !hjx.ref<tensor<64x32xf32>>, %x: tensor<16x64xf32>):
    %one = hjx.constant dense<1.0> : tensor<16x32xf32>
    %y = hjx.vjp @layer(%v, %x) cotangents(%one) active = [true, false] accumulators(%s) in_place = [true] : (tensor<64x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>, !hjx.ref<tensor<64x32xf32>>) -> tensor<16x32xf32>
    hjx.yield
  }
  return
}
func.func private @layer(%w: tensor<64x32xf32>, %x: tensor<16x64xf32>) -> tensor<16x32xf32> {
  %0 = hjx.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = hjx.tanh %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// -----

// CHECK: func.func @main
// CHECK-SAME: hjx.memory_plan = {arena_bytes = [[BYTES]] : i64
func.func @main(%w: tensor<64x32xf32>, %xs: tensor<64x16x64xf32>, %r: !hjx.ref<tensor<64x32xf32>>) {
  hjx.scan consts(%w, %r) inits() xs(%xs) length = 64 : (tensor<64x32xf32>, !hjx.ref<tensor<64x32xf32>>, tensor<64x16x64xf32>) -> () {
  ^bb0(%v: tensor<64x32xf32>, %s: !hjx.ref<tensor<64x32xf32>>, %x: tensor<16x64xf32>):
    %one = hjx.constant dense<1.0> : tensor<16x32xf32>
    %y = hjx.vjp @layer(%v, %x) cotangents(%one) active = [true, false] accumulators(%s) in_place = [true] : (tensor<64x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>, !hjx.ref<tensor<64x32xf32>>) -> tensor<16x32xf32>
    hjx.yield
  }
  return
}
func.func private @layer(%w: tensor<64x32xf32>, %x: tensor<16x64xf32>) -> tensor<16x32xf32> {
  %0 = hjx.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %1 = hjx.tanh %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}
