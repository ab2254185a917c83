// RUN: hjx-opt %s --hjx-align-while | FileCheck %s
// A while loop that drops and repeats what it takes gets one place for each value again.

// The body reads %x and %n alone: %old has been dropped.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[LOOP:.*]]:3 = scf.while (%[[X:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[X]], %[[OLD]], %[[N]]
// CHECK: ^bb0(%[[XA:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %[[NA:.*]]: tensor<i32>)
// CHECK: linalg.map { math.sqrt } ins(%[[XA]]
// CHECK: scf.yield %{{.*}}, %[[XA]], %[[NA]]
// CHECK: return %[[LOOP]]#0
func.func @dropped(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %r:2 = scf.while (%a = %x, %old = %x, %m = %n) : (tensor<f32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) {
    %va = tensor.extract %a[] : tensor<f32>
    %vb = tensor.extract %old[] : tensor<f32>
    %c = arith.cmpf one, %va, %vb : f32
    scf.condition(%c) %a, %m : tensor<f32>, tensor<i32>
  } do {
  ^bb0(%a: tensor<f32>, %m: tensor<i32>):
    %e = tensor.empty() : tensor<f32>
    %y = linalg.map { math.sqrt } ins(%a : tensor<f32>) outs(%e : tensor<f32>)
    scf.yield %y, %a, %m : tensor<f32>, tensor<f32>, tensor<i32>
  }
  return %r#0 : tensor<f32>
}

// What the condition computes has a place of its own; it begins with anything.
// CHECK-LABEL: func.func @computed
// CHECK: %[[ANY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK: %[[LOOP:.*]]:2 = scf.while (%[[X:.*]] = %{{.*}}, %{{.*}} = %[[ANY]])
// CHECK: %[[Y:.*]] = linalg.fill
// CHECK: scf.condition(%{{.*}}) %[[X]], %[[Y]]
// CHECK: ^bb0(%{{.*}}: tensor<1xf32>, %[[YA:.*]]: tensor<2xf32>)
// CHECK: %[[NEXT:.*]] = tensor.extract_slice %[[YA]]
// CHECK: scf.yield %[[NEXT]], %[[YA]]
// CHECK: return %[[LOOP]]#1
func.func @computed(%x: tensor<1xf32>, %limit: f32) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%a = %x) : (tensor<1xf32>) -> tensor<2xf32> {
    %e = tensor.empty() : tensor<2xf32>
    %v = tensor.extract %a[%c0] : tensor<1xf32>
    %y = linalg.fill ins(%v : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %c = arith.cmpf olt, %v, %limit : f32
    scf.condition(%c) %y : tensor<2xf32>
  } do {
  ^bb0(%y: tensor<2xf32>):
    %next = tensor.extract_slice %y[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
    scf.yield %next : tensor<1xf32>
  }
  return %r : tensor<2xf32>
}

// A loop that forwards what it takes is left alone.
// CHECK-LABEL: func.func @aligned
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (i32) -> i32
func.func @aligned(%n: i32, %limit: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %n) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %limit : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  return %r : i32
}
