// RUN: hjx-opt %s --hjx-generalize-tensor-ops --split-input-file | FileCheck %s
// Named ops, padding and concatenation become generics and slices; splats are filled where needed.

// CHECK-LABEL: func.func @named
// CHECK-NOT: linalg.add
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @named(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.add ins(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK: %[[FILLED:.*]] = linalg.generic
// CHECK: tensor.insert_slice %[[X]] into %[[FILLED]][1, 0] [2, 3] [1, 1]
func.func @pad(%x: tensor<2x3xf32>) -> tensor<3x5xf32> {
  %c = arith.constant 1.0 : f32
  %p = tensor.pad %x low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x3xf32> to tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<1x3xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %[[Y]] into %[[A]][2, 0] [1, 3] [1, 1]
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// -----

// A splat that is inserted into is filled; one that is read stays a constant.
// CHECK-LABEL: func.func @splats
// CHECK: %[[READ:.*]] = arith.constant dense<2.000000e+00> : tensor<3xf32>
// CHECK: %[[FILLED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[FILLED]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[READ]]
func.func @splats(%x: tensor<2xf32>) -> tensor<3xf32> {
  %zeros = arith.constant dense<0.0> : tensor<3xf32>
  %twos = arith.constant dense<2.0> : tensor<3xf32>
  %i = tensor.insert_slice %x into %zeros[1] [2] [1] : tensor<2xf32> into tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.mul ins(%i, %twos : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A choice between tensors is a branch; one between numbers stays.
// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (tensor<3xf32>)
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: scf.yield %[[Y]]
// CHECK: arith.select %[[C]], %{{.*}}, %{{.*}} : f32
// CHECK: return %[[R]]
func.func @select(%c: i1, %x: tensor<3xf32>, %y: tensor<3xf32>, %a: f32, %b: f32) -> (tensor<3xf32>, f32) {
  %r = arith.select %c, %x, %y : tensor<3xf32>
  %s = arith.select %c, %a, %b : f32
  return %r, %s : tensor<3xf32>, f32
}
