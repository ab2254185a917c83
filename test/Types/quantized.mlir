// The types that hjx ships need no plugin: quantized arrays as text and bytecode, mapped and differentiated whole, and lowered.
// RUN: hjx-opt %s > %t.mlir
// RUN: hjx-opt --emit-bytecode %s -o %t.mlirbc
// RUN: hjx-opt %t.mlirbc | diff %t.mlir -
// RUN: hjx-opt --hjx-to-pure %s | FileCheck %s --check-prefix=PURE
// RUN: hjx-opt --hjx-to-pure --hjx-lower-hi %s | FileCheck %s --check-prefix=LO

// LO-LABEL: func.func @rows_transposed(
// LO-SAME:    %[[X:.*]]: tensor<2x8xf32>, %[[V:.*]]: tensor<4x8xi8>, %[[S:.*]]: tensor<4x1xf32>)
// LO: %[[WIDE:.*]] = hjx.convert %[[V]] : tensor<4x8xi8> -> tensor<4x8xf32>
// LO: %[[SUM:.*]] = hjx.dot_general %[[X]], %[[WIDE]] contracting = [1] x [1]
// LO: %[[SCALES:.*]] = hjx.reshape %[[S]] shape = [4]
// LO: hjx.mul %[[SUM]], %{{.*}} : tensor<2x4xf32>
// LO-NOT: tensor<4x8xf32>
func.func @rows_transposed(%x: tensor<2x8xf32>, %q: !hjx.quantized<"int8", 4x8, 4x1>) -> tensor<2x4xf32> {
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = true} : (tensor<2x8xf32>, !hjx.quantized<"int8", 4x8, 4x1>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// The sum runs over the scales: they multiply x, not the weights.
// LO-LABEL: func.func @rows(
// LO-SAME:    %[[X:.*]]: tensor<2x4xf32>, %[[V:.*]]: tensor<4x8xi8>, %[[S:.*]]: tensor<4x1xf32>)
// LO: %[[SCALED:.*]] = hjx.mul %[[X]], %{{.*}} : tensor<2x4xf32>
// LO: %[[WIDE:.*]] = hjx.convert %[[V]]
// LO: hjx.dot_general %[[SCALED]], %[[WIDE]] contracting = [1] x [0]
func.func @rows(%x: tensor<2x4xf32>, %q: !hjx.quantized<"int8", 4x8, 4x1>) -> tensor<2x8xf32> {
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = false} : (tensor<2x4xf32>, !hjx.quantized<"int8", 4x8, 4x1>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Two halves of four bits, and no array of all numbers: not the packed axis is summed over, the result is woven.
// LO-LABEL: func.func @int4(
// LO-SAME:    tensor<2x4xf32>, %[[V:.*]]: tensor<4x4xi8>, %{{.*}}: tensor<1x7xf32>)
// LO-NOT: tensor<4x7x
// LO: hjx.dot_general
// LO-NOT: tensor<4x7x
// LO: hjx.dot_general
// LO: hjx.concatenate
// LO-NOT: tensor<4x7x
// LO: return
func.func @int4(%x: tensor<2x4xf32>, %q: !hjx.quantized<"int4", 4x7, 1x7>) -> tensor<2x7xf32> {
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = false} : (tensor<2x4xf32>, !hjx.quantized<"int4", 4x7, 1x7>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

// Scales of groups multiply the numbers; no loop over the groups.
// LO-LABEL: func.func @groups(
// LO-SAME:    %[[X:.*]]: tensor<2x4xf32>, %[[V:.*]]: tensor<4x8xi8>, %[[S:.*]]: tensor<2x8xf32>)
// LO: %[[BYTES:.*]] = hjx.reshape %[[V]] shape = [2, 2, 8, 1]
// LO: %[[WIDE:.*]] = hjx.convert %[[BYTES]]
// LO: %[[W:.*]] = hjx.mul %[[WIDE]], %{{.*}} : tensor<2x2x8x1xf32>
// LO: hjx.dot_general %{{.*}}, %[[W]] contracting = [1, 2] x [0, 1]
// LO: return
func.func @groups(%x: tensor<2x4xf32>, %q: !hjx.quantized<"int8", 4x8, 2x8>) -> tensor<2x8xf32> {
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = false} : (tensor<2x4xf32>, !hjx.quantized<"int8", 4x8, 2x8>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The same bytes and scales from the other side: the groups are those of the result.
// LO-LABEL: func.func @groups_transposed(
// LO: %[[W:.*]] = hjx.mul %{{.*}}, %{{.*}} : tensor<2x2x8x1xf32>
// LO: hjx.dot_general %{{.*}}, %[[W]] contracting = [1, 2] x [2, 3] : (tensor<2x8x1xf32>, tensor<2x2x8x1xf32>) -> tensor<2x2x2xf32>
// LO: return
func.func @groups_transposed(%x: tensor<2x8xf32>, %q: !hjx.quantized<"int8", 4x8, 2x8>) -> tensor<2x4xf32> {
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = true} : (tensor<2x8xf32>, !hjx.quantized<"int8", 4x8, 2x8>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Rows are gathered as bytes.
// LO-LABEL: func.func @lookup(
// LO: hjx.gather {{.*}}tensor<4x8xi8>
// LO: hjx.gather {{.*}}tensor<4x1xf32>
// LO: hjx.convert {{.*}}tensor<3x8xi8> -> tensor<3x8xf32>
func.func @lookup(%q: !hjx.quantized<"int8", 4x8, 4x1>, %ids: tensor<3xi32>) -> tensor<3x8xf32> {
  %y = hjx.call_primitive "hjx.quantized_take"(%q, %ids) : (!hjx.quantized<"int8", 4x8, 4x1>, tensor<3xi32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// x_bar is the product with the other side of the same bytes, q_bar a product of floats.
// PURE-LABEL: func.func @pull_back(
// PURE-SAME:    %[[X:.*]]: tensor<2x4xf32>, %[[Q:.*]]: !hjx.quantized<"int8", 4x8, 4x1>, %[[BAR:.*]]: tensor<2x8xf32>)
// PURE-DAG: %[[Q_BAR:.*]] = hjx.dot_general %[[X]], %[[BAR]] contracting = [0] x [0]
// PURE-DAG: %[[X_BAR:.*]] = hjx.call_primitive "hjx.quantized_matmul"(%[[BAR]], %[[Q]]) params {transposed = true}
// PURE: return %[[X_BAR]], %[[Q_BAR]] : tensor<2x4xf32>, tensor<4x8xf32>
func.func @pull_back(%x: tensor<2x4xf32>, %q: !hjx.quantized<"int8", 4x8, 4x1>, %bar: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<4x8xf32>) {
  %y, %x_bar, %q_bar = hjx.vjp @rows(%x, %q) cotangents(%bar) active = [true, true] : (tensor<2x4xf32>, !hjx.quantized<"int8", 4x8, 4x1>, tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x4xf32>, tensor<4x8xf32>)
  return %x_bar, %q_bar : tensor<2x4xf32>, tensor<4x8xf32>
}
