// RUN: hjx-opt %s --convert-hjx-to-linalg --canonicalize --cse | FileCheck %s
// Gather is one nest; scatter loops over rows.

// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<5x3xf32>, %{{.*}}: tensor<4x1xi32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<4xi32>) outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: %[[ROW:.*]] = arith.maxsi
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[Y:.*]] = tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK: linalg.yield %[[Y]]
func.func @rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
                          slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @rows_or_nan
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: %[[IN:.*]] = arith.cmpi ule
// CHECK: arith.select %[[IN]], %{{.*}}, %[[NAN]]
func.func @rows_or_nan(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
                          slice_sizes = array<i64: 1, 3>, mode = 1 : i32} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// The gradient of an embedding.
// CHECK-LABEL: func.func @add_rows
// CHECK: scf.for %[[T:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<5x3xf32>)
// CHECK: %[[U:.*]] = tensor.extract_slice %{{.*}}[%[[T]], 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[ACC]][%[[R:.*]], 0] [1, 3] [1, 1]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[OLD]], %[[U]]
// CHECK: tensor.insert_slice %[[NEW]] into %[[ACC]][%[[R]], 0] [1, 3] [1, 1]
func.func @add_rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %y = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Dropping keeps the old elements: no branch around the step.
// CHECK-LABEL: func.func @set_or_drop
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: arith.cmpi ule
// CHECK: arith.select
// CHECK: tensor.insert %
func.func @set_or_drop(%x: tensor<5xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<5xf32> {
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
         scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<5xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
