// RUN: hjx-opt --hjx-bufferize --canonicalize %s | FileCheck %s
// A loop in a loop fills the buffer that the outer one carries, where nobody reads what was there.

// CHECK-LABEL: func.func @overwrites(
// CHECK-SAME:    %[[CELL:.*]]: memref<3x2xf64>
func.func @overwrites(%cell: tensor<3x2xf64> {hjx.alias = 0 : i64, hjx.donated}, %row: tensor<2xf64>) -> tensor<3x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK-NOT: memref.alloc
  // CHECK: scf.for
  // CHECK-NEXT: scf.for %[[I:.*]] = %{{.*}} to
  // CHECK: memref.subview %[[CELL]][%[[I]], 0] [1, 2] [1, 1]
  // CHECK-NOT: memref.copy %{{.*}}, %[[CELL]] : memref<3x2xf64>
  // CHECK: return
  %0 = scf.for %n = %c0 to %c3 step %c1 iter_args(%old = %cell) -> (tensor<3x2xf64>) {
    %empty = tensor.empty() : tensor<3x2xf64>
    %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%rows = %empty) -> (tensor<3x2xf64>) {
      %2 = tensor.insert_slice %row into %rows[%i, 0] [1, 2] [1, 1] : tensor<2xf64> into tensor<3x2xf64>
      scf.yield %2 : tensor<3x2xf64>
    }
    scf.yield %1 : tensor<3x2xf64>
  }
  return %0 : tensor<3x2xf64>
}

// What the inner loop still reads it does not overwrite: it fills a buffer of its own.
// CHECK-LABEL: func.func @reads(
// CHECK-SAME:    %[[CELL:.*]]: memref<3x2xf64>
func.func @reads(%cell: tensor<3x2xf64> {hjx.alias = 0 : i64, hjx.donated}) -> tensor<3x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: %[[OWN:.*]] = memref.alloc()
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to
  // CHECK: memref.subview %[[OWN]][%[[I]], 0] [1, 2] [1, 1]
  %0 = scf.for %n = %c0 to %c3 step %c1 iter_args(%old = %cell) -> (tensor<3x2xf64>) {
    %row = tensor.extract_slice %old[1, 0] [1, 2] [1, 1] : tensor<3x2xf64> to tensor<2xf64>
    %empty = tensor.empty() : tensor<3x2xf64>
    %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%rows = %empty) -> (tensor<3x2xf64>) {
      %2 = tensor.insert_slice %row into %rows[%i, 0] [1, 2] [1, 1] : tensor<2xf64> into tensor<3x2xf64>
      scf.yield %2 : tensor<3x2xf64>
    }
    scf.yield %1 : tensor<3x2xf64>
  }
  return %0 : tensor<3x2xf64>
}
