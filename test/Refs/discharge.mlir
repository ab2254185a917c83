// RUN: hjx-opt %s --hjx-discharge-refs --canonicalize --split-input-file | FileCheck %s

// An internal ref: only values remain.
// CHECK-LABEL: func.func @internal
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<i32>)
// CHECK-NEXT: %[[ROW:.*]] = hjx.dynamic_slice %[[X]][%[[I]]]
// CHECK-NOT: ref
// CHECK: hjx.dynamic_update_slice %[[X]], %{{.*}}[%[[I]]]
func.func @internal(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %r = hjx.ref_new %x : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
  %0 = hjx.ref_get %r[%i] : (!hjx.ref<tensor<3xf32>>, tensor<i32>) -> tensor<f32>
  %1 = hjx.mul %0, %0 : tensor<f32>
  %old = hjx.ref_swap %r[%i], %1 : (!hjx.ref<tensor<3xf32>>, tensor<i32>, tensor<f32>) -> tensor<f32>
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// A written argument is donated to one more result; one that is read is a value.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: (%[[R:.*]]: tensor<3xf32> {hjx.alias = 1 : i64, hjx.donated}, %[[S:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[SUM:.*]] = hjx.add %[[R]], %[[S]]
// CHECK-NEXT: return %[[R]], %[[SUM]]
func.func @arguments(%r: !hjx.ref<tensor<3xf32>>, %s: !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  %x = hjx.ref_get %s : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  %y = hjx.ref_get %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  hjx.ref_add %r, %x : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> ()
  return %y : tensor<3xf32>
}

// -----

// A loop carries a ref that it writes, and takes and yields the slices of one that it maps over.
// CHECK-LABEL: func.func @scan
// CHECK: %[[RESULT:.*]]:2 = hjx.scan consts() inits(%arg0) xs(%arg1) length = 4 reverse : (tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[X:.*]]: tensor<f32>):
// CHECK-NEXT: %[[SUM:.*]] = hjx.add %[[C]], %[[X]]
// CHECK-NEXT: hjx.yield %[[SUM]], %[[SUM]]
// CHECK: return %[[RESULT]]#0, %[[RESULT]]#1
func.func @scan(%r: !hjx.ref<tensor<f32>>, %s: !hjx.ref<tensor<4xf32>>) {
  hjx.scan consts(%r) inits() xs(%s) length = 4 reverse : (!hjx.ref<tensor<f32>>, !hjx.ref<tensor<4xf32>>) -> () {
  ^bb0(%c: !hjx.ref<tensor<f32>>, %x: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %x : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %c, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    %w = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %old = hjx.ref_swap %x, %w : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
    hjx.yield
  }
  return
}

// -----

// A cond returns what a branch writes; a ref that no branch writes is an input.
// CHECK-LABEL: func.func @cond
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[R:.*]]: tensor<f32> {hjx.alias = 0 : i64, hjx.donated}, %[[S:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: hjx.cond %[[P]], inputs(%[[R]], %[[S]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: hjx.yield %[[A]]
// CHECK: hjx.add
func.func @cond(%p: tensor<i1>, %r: !hjx.ref<tensor<f32>>, %s: !hjx.ref<tensor<f32>>) {
  hjx.cond %p, inputs(%r, %s) : (tensor<i1>, !hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>) -> () {
  ^bb0(%a: !hjx.ref<tensor<f32>>, %b: !hjx.ref<tensor<f32>>):
    hjx.yield
  }, {
  ^bb0(%a: !hjx.ref<tensor<f32>>, %b: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %b : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %a, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    hjx.yield
  }
  return
}

// -----

// The condition of a while loop reads what its body writes.
// CHECK-LABEL: func.func @while
// CHECK: hjx.while cond_consts(%[[LIMIT:.*]]) body_consts() inits(%[[R:.*]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: ^bb0(%[[L:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
// CHECK-NEXT: hjx.compare lt, %[[C]], %[[L]]
// CHECK: ^bb0(%[[C:.*]]: tensor<f32>):
// CHECK-NEXT: %[[NEXT:.*]] = hjx.add %[[C]], %[[C]]
// CHECK-NEXT: hjx.yield %[[NEXT]]
func.func @while(%limit: tensor<f32>, %r: !hjx.ref<tensor<f32>>) {
  hjx.while cond_consts(%limit, %r) body_consts(%r) inits() : (tensor<f32>, !hjx.ref<tensor<f32>>, !hjx.ref<tensor<f32>>) -> () cond {
  ^bb0(%l: tensor<f32>, %c: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    %p = hjx.compare lt, %v, %l : tensor<f32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%c: !hjx.ref<tensor<f32>>):
    %v = hjx.ref_get %c : (!hjx.ref<tensor<f32>>) -> tensor<f32>
    hjx.ref_add %c, %v : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
    hjx.yield
  }
  return
}

// -----

// A callee that writes a ref returns its last value; the original is gone.
// CHECK-LABEL: func.func @call
// CHECK-SAME: (%[[R:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT: %[[ONE:.*]]:2 = call @bump.discharged.10(%[[R]], %{{.*}})
// CHECK-NEXT: %[[TWO:.*]]:2 = call @bump.discharged.10(%[[ONE]]#1, %{{.*}})
// CHECK-NEXT: return %[[TWO]]#0, %[[TWO]]#1
// CHECK-NOT: func.func private @bump(
func.func @call(%r: !hjx.ref<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @bump(%r, %x) : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %1 = func.call @bump(%r, %x) : (!hjx.ref<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @bump(%r: !hjx.ref<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %old = hjx.ref_get %r : (!hjx.ref<tensor<f32>>) -> tensor<f32>
  hjx.ref_add %r, %x : (!hjx.ref<tensor<f32>>, tensor<f32>) -> ()
  return %old : tensor<f32>
}
