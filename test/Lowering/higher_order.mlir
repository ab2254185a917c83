// RUN: hjx-opt %s --hjx-to-tensor --split-input-file | FileCheck %s
// Control flow becomes scf; what regions were given explicitly they now see.

// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK: %[[YS0:.*]] = tensor.empty() : tensor<3x4xf32>
// CHECK: scf.for %[[N:.*]] = %c0 to %c3 step %c1 iter_args(%[[C:.*]] = %[[W]], %[[YS:.*]] = %[[YS0]])
// CHECK: %[[I:.*]] = arith.subi %c2, %[[N]]
// CHECK: %[[XI:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[XI]], %[[W]], %[[C]]
// CHECK: %[[YS2:.*]] = tensor.insert_slice %[[S]] into %[[YS]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: scf.yield %[[S]], %[[YS2]]
func.func @scan(%x: tensor<3x4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %c, %ys = hjx.scan consts(%w) inits(%w) xs(%x) length = 3 reverse : (tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%k: tensor<4xf32>, %c: tensor<4xf32>, %xi: tensor<4xf32>):
    %m = hjx.mul %xi, %k : tensor<4xf32>
    %s = hjx.add %m, %c : tensor<4xf32>
    hjx.yield %s, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %c, %ys : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @while
// CHECK: scf.while (%[[N:.*]] = %c0, %[[I:.*]] = %{{.*}}) : (index, tensor<i32>) -> (index, tensor<i32>)
// CHECK: %[[P:.*]] = tensor.extract
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[N]], %c9
// CHECK: %[[GO:.*]] = arith.andi %[[P]], %[[FEW]]
// CHECK: scf.condition(%[[GO]])
// CHECK: arith.addi {{.*}}, %c1
// CHECK: scf.yield
func.func @while(%limit: tensor<i32>) -> tensor<i32> {
  %n = hjx.while cond_consts(%limit) body_consts() inits(%limit) max_trip = 9 : (tensor<i32>, tensor<i32>) -> tensor<i32> cond {
  ^bb0(%l: tensor<i32>, %i: tensor<i32>):
    %p = hjx.compare lt, %i, %l : tensor<i32> -> tensor<i1>
    hjx.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    %next = hjx.neg %i : tensor<i32>
    hjx.yield %next : tensor<i32>
  }
  return %n : tensor<i32>
}

// -----

// CHECK-LABEL: func.func @cond
// CHECK: scf.if
// CHECK: math.exp
// CHECK: else
// CHECK: arith.negf
// CHECK: scf.index_switch
// CHECK: case 0
// CHECK: case 1
// CHECK: default
func.func @cond(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %n = hjx.neg %a : tensor<4xf32>
    hjx.yield %n : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    %e = hjx.exp %a : tensor<4xf32>
    hjx.yield %e : tensor<4xf32>
  }
  %z = hjx.cond %i, inputs(%x, %y) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    hjx.yield %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    hjx.yield %b : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = hjx.add %a, %b : tensor<4xf32>
    hjx.yield %s : tensor<4xf32>
  }
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Calls are inlined, private functions gone.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @calls
// CHECK: arith.negf
// CHECK-NOT: call
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = hjx.neg %x : tensor<4xf32>
  return %n : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// What a barrier holds apart stays apart.
// CHECK-LABEL: func.func @barrier
// CHECK: math.exp
// CHECK: %[[B:.*]] = hjx.opt_barrier %{{.*}} : tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]]
// CHECK: math.exp
func.func @barrier(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = hjx.exp %x : tensor<4xf32>
  %b = hjx.opt_barrier %x : tensor<4xf32>
  %z = hjx.exp %b : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
