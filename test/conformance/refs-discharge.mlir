// RUN: hjx-opt %s --hjx-discharge-refs --canonicalize --split-input-file | FileCheck %s
//
// What remains of each access once refs are values: a whole read or write is nothing, a part is a
// slice, a dynamic slice or a gather, and its write the same the other way.

// CHECK-LABEL: func.func @get
// CHECK-SAME: (%[[R:.*]]: tensor<4x3xf32>)
// CHECK-NEXT: %[[ROWS:.*]] = hjx.slice %[[R]] start = [1, 0] limit = [4, 1] strides = [2, 1]
// CHECK-NEXT: return %[[R]], %[[ROWS]]
func.func @get(%r: !hjx.ref<tensor<4x3xf32>>) -> (tensor<4x3xf32>, tensor<2x1xf32>) {
  %0 = hjx.ref_get %r : (!hjx.ref<tensor<4x3xf32>>) -> tensor<4x3xf32>
  %1 = hjx.ref_get %r[1:4:2, 0:1] : (!hjx.ref<tensor<4x3xf32>>) -> tensor<2x1xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<2x1xf32>
}

// -----

// A write of which nobody reads the old value is the new value.
// CHECK-LABEL: func.func @set
// CHECK-SAME: (%{{.*}}: tensor<4xf32> {hjx.alias = 0 : i64, hjx.donated}, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]] : tensor<4xf32>
func.func @set(%r: !hjx.ref<tensor<4xf32>>, %x: tensor<4xf32>) {
  %old = hjx.ref_swap %r, %x : (!hjx.ref<tensor<4xf32>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @swap
// CHECK-SAME: (%[[R:.*]]: tensor<4xf32> {{.*}}, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[R]], %[[X]]
func.func @swap(%r: !hjx.ref<tensor<4xf32>>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %old = hjx.ref_swap %r, %x : (!hjx.ref<tensor<4xf32>>, tensor<4xf32>) -> tensor<4xf32>
  return %old : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @swap_slice
// CHECK-SAME: (%[[R:.*]]: tensor<4x3xf32> {{.*}}, %[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<2x3xf32>)
// CHECK-DAG: %[[OLD:.*]] = hjx.dynamic_slice %[[R]][%[[I]], %{{.*}}] sizes = [2, 3]
// CHECK-DAG: %[[NEW:.*]] = hjx.dynamic_update_slice %[[R]], %[[X]][%[[I]], %{{.*}}]
// CHECK: return %[[OLD]], %[[NEW]]
func.func @swap_slice(%r: !hjx.ref<tensor<4x3xf32>>, %i: tensor<i32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %old = hjx.ref_swap %r[%i +: 2, :], %x : (!hjx.ref<tensor<4x3xf32>>, tensor<i32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %old : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @swap_gather
// CHECK-DAG: %[[OLD:.*]] = hjx.gather %arg0, %{{.*}}
// CHECK-DAG: %[[NEW:.*]] = hjx.scatter set, %arg0, %{{.*}}, %arg2
// CHECK: return %[[OLD]], %[[NEW]]
func.func @swap_gather(%r: !hjx.ref<tensor<4x3xf32>>, %ids: tensor<2xi32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %old = hjx.ref_swap %r[%ids, :], %x : (!hjx.ref<tensor<4x3xf32>>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %old : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @add
// CHECK-NEXT: %[[SUM:.*]] = hjx.add %arg0, %arg1
// CHECK-NEXT: return %[[SUM]]
func.func @add(%r: !hjx.ref<tensor<4xf32>>, %x: tensor<4xf32>) {
  hjx.ref_add %r, %x : (!hjx.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @add_slice
// CHECK-SAME: (%[[R:.*]]: tensor<4xf32> {{.*}}, %[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>)
// CHECK: %[[OLD:.*]] = hjx.dynamic_slice %[[R]][%[[I]]] sizes = [1]
// CHECK: hjx.add
// CHECK: hjx.dynamic_update_slice %[[R]], %{{.*}}[%[[I]]]
func.func @add_slice(%r: !hjx.ref<tensor<4xf32>>, %i: tensor<i32>, %x: tensor<f32>) {
  hjx.ref_add %r[%i], %x : (!hjx.ref<tensor<4xf32>>, tensor<i32>, tensor<f32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @add_gather
// CHECK-NOT: hjx.gather
// CHECK: hjx.scatter add, %arg0, %{{.*}}, %arg2
// CHECK-NEXT: return
func.func @add_gather(%r: !hjx.ref<tensor<4xf32>>, %ids: tensor<2xi32>, %x: tensor<2xf32>) {
  hjx.ref_add %r[%ids], %x : (!hjx.ref<tensor<4xf32>>, tensor<2xi32>, tensor<2xf32>) -> ()
  return
}

// -----

// Three cells, of which branches write the second and the third: two results and the value.
// CHECK-LABEL: func.func @branches
// CHECK: %[[C:.*]]:3 = hjx.cond
// CHECK: return %[[C]]#0, %[[C]]#1, %[[C]]#2
func.func @branches(%p: tensor<i1>, %a: !hjx.ref<tensor<f32>>, %x: tensor<f32>, %b: !hjx.ref<tensor<f32>>, %c: !hjx.ref<tensor<f32>>) -> tensor<f32> {
  %y = hjx.cond %p, inputs(%a, %x, %b, %c) : (tensor<i1>, !hjx.ref<tensor<f32>>, tensor<f32>, !hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>) -> tensor<f32> {
  ^bb0(%0: !hjx.ref<tensor<f32>>, %1: tensor<f32>, %2: !hjx.ref<tensor<f32>>, %3: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %0 : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %2, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    hjx.yield %v : tensor<f32>
  }, {
  ^bb0(%0: !hjx.ref<tensor<f32>>, %1: tensor<f32>, %2: !hjx.ref<tensor<f32>>, %3: !hjx.ref<tensor<f32>>):
    hjx.ref_add %3, %1 : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    hjx.yield %1 : tensor<f32>
  }
  return %y : tensor<f32>
}
