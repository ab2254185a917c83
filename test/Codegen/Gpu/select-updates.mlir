// RUN: hjx-opt %s --hjx-select-updates --split-input-file | FileCheck %s
// An update of one element of each row becomes elementwise, behind what makes the rows.

#id = affine_map<(i, j) -> (i, j)>

// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %{{[^:]*}}: tensor<4x8xf32>, %[[AT:[^:]*]]: tensor<4xi32>, %[[U:[^:]*]]: tensor<4xf32>
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-NOT: scf.for
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #[[ROW]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[P]], %[[AT]], %[[U]] :
// CHECK-NEXT: ^bb0(%[[OLD:.*]]: f32, %[[LABEL:.*]]: i32, %[[UPDATE:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[THERE:.*]] = arith.index_cast %[[LABEL]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[UPDATE]]
// CHECK: %[[HERE:.*]] = linalg.index 1
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[HERE]], %[[THERE]]
// CHECK: arith.select %[[IS]], %[[SUM]], %[[OLD]]
// CHECK: return %[[R]]
func.func @rows(%x: tensor<4x8xf32>, %at: tensor<4xi32>, %u: tensor<4xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %p) -> (tensor<4x8xf32>) {
    %a = tensor.extract %at[%i] : tensor<4xi32>
    %j = arith.index_cast %a : i32 to index
    %d = tensor.extract %u[%i] : tensor<4xf32>
    %old = tensor.extract %s[%i, %j] : tensor<4x8xf32>
    %sum = arith.addf %old, %d : f32
    %t = tensor.insert %sum into %s[%i, %j] : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  } {hjx.nest, hjx.parallel, hjx.parallel_rows}
  return %r : tensor<4x8xf32>
}

// Rows of an argument would be copied for it, and 5 updates of 4 rows may meet: these stay loops.
// CHECK-LABEL: func.func @others
// CHECK: scf.for
// CHECK: scf.for
func.func @others(%x: tensor<4x8xf32>, %at: tensor<5x2xi32>, %u: tensor<5xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> (tensor<4x8xf32>) {
    %a = tensor.extract %at[%i, %c0] : tensor<5x2xi32>
    %j = arith.index_cast %a : i32 to index
    %d = tensor.extract %u[%i] : tensor<5xf32>
    %t = tensor.insert %d into %s[%i, %j] : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  } {hjx.nest, hjx.parallel, hjx.parallel_rows}
  %e = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %q = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %p) -> (tensor<4x8xf32>) {
    %a = tensor.extract %at[%i, %c0] : tensor<5x2xi32>
    %b = tensor.extract %at[%i, %c1] : tensor<5x2xi32>
    %j = arith.index_cast %a : i32 to index
    %k = arith.index_cast %b : i32 to index
    %d = tensor.extract %u[%i] : tensor<5xf32>
    %t = tensor.insert %d into %s[%j, %k] : tensor<4x8xf32>
    scf.yield %t : tensor<4x8xf32>
  } {hjx.nest}
  return %r, %q : tensor<4x8xf32>, tensor<4x8xf32>
}
