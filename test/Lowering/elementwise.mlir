// RUN: hjx-opt %s --convert-hjx-to-linalg --canonicalize --cse | FileCheck %s
// RUN: hjx-opt %s --convert-hjx-to-linalg=fuse=false --canonicalize --cse | FileCheck %s --check-prefix=APART
// Elementwise ops become one linalg.generic per value that is needed as an array.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @fuses_into_its_only_user
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[BIAS:.*]]: tensor<3xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]], #[[ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[BIAS]]
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]] : f32
// CHECK-NEXT: linalg.yield %[[T]]
// CHECK-NOT: linalg.generic
// APART-LABEL: func.func @fuses_into_its_only_user
// APART-COUNT-2: linalg.generic
func.func @fuses_into_its_only_user(%x: tensor<2x3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  %b = hjx.broadcast_in_dim %bias shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  %s = hjx.add %x, %b : tensor<2x3xf32>
  %y = hjx.tanh %s : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A value with two nests as users is computed once.
// CHECK-LABEL: func.func @stores_what_two_nests_need
// CHECK: %[[E:.*]] = linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[E]] :
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[E]] :
// CHECK-NOT: math.exp
// CHECK: arith.negf
// CHECK: return
func.func @stores_what_two_nests_need(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %e = hjx.exp %x : tensor<2x3xf32>
  %s = hjx.reduce_sum %e axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %n = hjx.neg %e : tensor<2x3xf32>
  return %s, %n : tensor<2xf32>, tensor<2x3xf32>
}

// Constants and scalars never become arrays.
// CHECK-LABEL: func.func @constants_and_scalars_stay_scalar
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[P:.*]]: tensor<i1>)
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[SCALAR]], #[[ALL]]], {{.*}} ins(%[[X]], %[[P]] :
// CHECK: %[[M:.*]] = arith.mulf %{{.*}}, %cst
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[M]] : f32
func.func @constants_and_scalars_stay_scalar(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<2x3xf32> {
  %c = hjx.constant dense<2.5> : tensor<2x3xf32>
  %m = hjx.mul %x, %c : tensor<2x3xf32>
  %z = hjx.select_n %p, %m, %x : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

// Unsigned numbers lose their sign, not their meaning.
// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: tensor<4xi8>, %{{.*}}: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi1>, tensor<4xf32>)
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
// CHECK: arith.uitofp
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>, tensor<4xf32>) {
  %m = hjx.max %x, %y : tensor<4xui8>
  %p = hjx.compare lt, %x, %y : tensor<4xui8> -> tensor<4xi1>
  %f = hjx.convert %x : tensor<4xui8> -> tensor<4xf32>
  return %m, %p, %f : tensor<4xui8>, tensor<4xi1>, tensor<4xf32>
}

// Halves are computed in f32, and rounded after each op.
// CHECK-LABEL: func.func @halves
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[W]], %[[W]] : f32
// CHECK: %[[R:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK: arith.extf %[[R]]
// CHECK: arith.addf
// CHECK: arith.truncf
func.func @halves(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %p = hjx.mul %x, %x : tensor<4xbf16>
  %s = hjx.add %p, %x : tensor<4xbf16>
  return %s : tensor<4xbf16>
}

// An iota is the loop's index.
// CHECK-LABEL: func.func @mask
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: arith.cmpi sge
// CHECK: arith.select
// CHECK-NOT: linalg.generic
func.func @mask(%x: tensor<2x3xf32>, %low: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = hjx.iota dim = 0 : tensor<2x3xi32>
  %j = hjx.iota dim = 1 : tensor<2x3xi32>
  %p = hjx.compare ge, %i, %j : tensor<2x3xi32> -> tensor<2x3xi1>
  %y = hjx.select_n %p, %low, %x : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
