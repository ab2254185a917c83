// RUN: hjx-opt %s --hjx-bufferize --cse --canonicalize --split-input-file | FileCheck %s
// Results are computed where they are wanted; state is updated in place.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @into_destination
// CHECK-SAME: (%[[X:.*]]: memref<3xf32>, %[[OUT:.*]]: memref<3xf32> {hjx.result = 0 : i64})
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<3xf32>) outs(%[[OUT]] : memref<3xf32>)
// CHECK-NOT: memref.copy
func.func @into_destination(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @aliased_argument
// CHECK-SAME: (%[[P:.*]]: memref<3xf32> {hjx.alias = 0 : i64}, %[[G:.*]]: memref<3xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[G]] : {{.*}}) outs(%[[P]] : memref<3xf32>)
// CHECK-NOT: memref.copy
func.func @aliased_argument(%p: tensor<3xf32> {hjx.alias = 0 : i64}, %g: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %g : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.subf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// The old value is a result, too: it is copied out before the update.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @old_value_is_wanted
// CHECK-SAME: (%[[P:.*]]: memref<3xf32> {hjx.alias = 0 : i64}, %[[OLD:.*]]: memref<3xf32> {hjx.result = 1 : i64})
// CHECK: linalg.generic {{.*}} ins(%[[P]] : memref<3xf32>) outs(%[[NEW:.*]] : memref<3xf32>)
// CHECK: memref.copy %[[P]], %[[OLD]]
// CHECK: memref.copy %[[NEW]], %[[P]]
func.func @old_value_is_wanted(%p: tensor<3xf32> {hjx.alias = 0 : i64}) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r, %p : tensor<3xf32>, tensor<3xf32>
}

// -----

// A scan: the carry lives in one buffer, stacked outputs are written in place.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: %[[XS:.*]]: memref<4x3xf32>, %[[H:.*]]: memref<3xf32> {hjx.result = 0 : i64}, %[[YS:.*]]: memref<4x3xf32> {hjx.result = 1 : i64})
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[H]] :
// CHECK: scf.for
// CHECK: %[[Y:.*]] = memref.subview %[[YS]]
// CHECK: linalg.add ins(%[[H]], %{{.*}}) outs(%[[Y]] :
// CHECK: memref.copy %[[Y]], %[[H]]
// CHECK-NOT: memref.copy
func.func @scan(%init: tensor<3xf32>, %xs: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x3xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %init, %ys = %e) -> (tensor<3xf32>, tensor<4x3xf32>) {
    %x = tensor.extract_slice %xs[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
    %o = tensor.empty() : tensor<3xf32>
    %n = linalg.add ins(%h, %x : tensor<3xf32>, tensor<3xf32>) outs(%o : tensor<3xf32>) -> tensor<3xf32>
    %s = tensor.insert_slice %n into %ys[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x3xf32>
    scf.yield %n, %s : tensor<3xf32>, tensor<4x3xf32>
  }
  return %r#0, %r#1 : tensor<3xf32>, tensor<4x3xf32>
}

// -----

// A result and an update of it: two buffers, the second begins with a copy made before the update.
// CHECK-LABEL: func.func @result_and_its_update
// CHECK-SAME: %[[X:.*]]: memref<2xf64>, %[[NEW:.*]]: memref<2xf64> {hjx.result = 0 : i64}, %[[OLD:.*]]: memref<2xf64> {hjx.result = 1 : i64})
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[NEW]] :
// CHECK: linalg.generic {{.*}} ins(%[[NEW]] : {{.*}} outs(%[[OLD]] :
// CHECK: %[[E:.*]] = memref.load %[[NEW]]
// CHECK: memref.store %[[E]], %[[NEW]]
// CHECK-NEXT: return
#id = affine_map<(i) -> (i)>
func.func @result_and_its_update(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %two = arith.constant 2.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2xf64>
  %half = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) {
    ^bb0(%a: f64, %o: f64):
      %q = arith.divf %a, %two : f64
      linalg.yield %q : f64
  } -> tensor<2xf64>
  %first = tensor.extract %half[%c0] : tensor<2xf64>
  %set = tensor.insert %first into %half[%c1] : tensor<2xf64>
  return %set, %half : tensor<2xf64>, tensor<2xf64>
}
