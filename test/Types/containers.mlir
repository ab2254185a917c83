// Tuples, optionals and matrices of low rank as text and bytecode, in each other, and lowered to their components.
// RUN: hjx-opt %s > %t.mlir
// RUN: hjx-opt --emit-bytecode %s -o %t.mlirbc
// RUN: hjx-opt %t.mlirbc | diff %t.mlir -
// RUN: hjx-opt --hjx-to-pure --hjx-lower-hi %s | FileCheck %s
// RUN: hjx-opt --hjx-to-pure %s | FileCheck %s --check-prefix=PURE

// CHECK-LABEL: func.func @swap(
// CHECK-SAME:    %[[V:.*]]: tensor<2x3xi8>, %[[S:.*]]: tensor<2x1xf32>, %[[I:.*]]: tensor<i32>) -> (tensor<i32>, tensor<2x3xi8>, tensor<2x1xf32>)
// CHECK-NEXT:    return %[[I]], %[[V]], %[[S]]
!q = !hjx.quantized<"int8", 2x3, 2x1>
func.func @swap(%t: !hjx.tuple<!q, tensor<i32>>) -> !hjx.tuple<tensor<i32>, !q> {
  %x:2 = hjx.call_primitive "hjx.elements"(%t) : (!hjx.tuple<!q, tensor<i32>>) -> (!q, tensor<i32>)
  %s = hjx.call_primitive "hjx.tuple"(%x#1, %x#0) : (tensor<i32>, !q) -> !hjx.tuple<tensor<i32>, !q>
  return %s : !hjx.tuple<tensor<i32>, !q>
}

// CHECK-LABEL: func.func @or(
// CHECK-SAME:    %[[FLAG:.*]]: tensor<i1>, %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>)
// CHECK: hjx.select_n {{.*}}%[[Y]], %[[X]]
// CHECK-NOT: call_primitive
func.func @or(%o: !hjx.optional<tensor<i1>, tensor<3xf32>>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %p:2 = hjx.call_primitive "hjx.optional_parts"(%o) : (!hjx.optional<tensor<i1>, tensor<3xf32>>) -> (tensor<i1>, tensor<3xf32>)
  %z = hjx.call_primitive "hjx.select"(%p#0, %p#1, %y) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}

// CHECK-LABEL: func.func @none() -> (tensor<i1>, tensor<4x2xf32>, tensor<2x3xf32>)
func.func @none() -> !hjx.optional<tensor<i1>, !hjx.low_rank<4x3, 2>> {
  %o = hjx.call_primitive "hjx.none_of"() params {type = !hjx.low_rank<4x3, 2>} : () -> !hjx.optional<tensor<i1>, !hjx.low_rank<4x3, 2>>
  return %o : !hjx.optional<tensor<i1>, !hjx.low_rank<4x3, 2>>
}

func.func @product(%x: tensor<5x4xf32>, %a: !hjx.low_rank<4x3, 2>) -> tensor<5x3xf32> {
  %f:2 = hjx.call_primitive "hjx.factors"(%a) : (!hjx.low_rank<4x3, 2>) -> (tensor<4x2xf32>, tensor<2x3xf32>)
  %u = hjx.dot_general %x, %f#0 contracting = [1] x [0] : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %y = hjx.dot_general %u, %f#1 contracting = [1] x [0] : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// The cotangent is that of the factors, and no 4 x 3 matrix comes up.
// PURE-LABEL: func.func @pull_back(
// PURE-NOT: tensor<4x3xf32>
// PURE: %[[BAR:.*]] = hjx.call_primitive "hjx.tuple"(%{{.*}}, %{{.*}}) : (tensor<4x2xf32>, tensor<2x3xf32>)
// PURE: return %[[BAR]]
func.func @pull_back(%x: tensor<5x4xf32>, %a: !hjx.low_rank<4x3, 2>, %bar: tensor<5x3xf32>) -> !hjx.tuple<tensor<4x2xf32>, tensor<2x3xf32>> {
  %y, %a_bar = hjx.vjp @product(%x, %a) cotangents(%bar) active = [false, true] : (tensor<5x4xf32>, !hjx.low_rank<4x3, 2>, tensor<5x3xf32>) -> (tensor<5x3xf32>, !hjx.tuple<tensor<4x2xf32>, tensor<2x3xf32>>)
  return %a_bar : !hjx.tuple<tensor<4x2xf32>, tensor<2x3xf32>>
}
