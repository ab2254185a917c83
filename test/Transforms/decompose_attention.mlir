// RUN: hjx-opt --hjx-decompose-attention %s | FileCheck %s
// Two products with a softmax between them, heads in front; logsumexp only if it is used.

// CHECK-LABEL: func.func @out
// CHECK: %[[Q:.*]] = hjx.transpose %arg0 permutation = [1, 0, 2] : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
// CHECK: %[[K:.*]] = hjx.transpose %arg1 permutation = [1, 0, 2]
// CHECK: %[[V:.*]] = hjx.transpose %arg2 permutation = [1, 0, 2]
// CHECK: %[[KT:.*]] = hjx.transpose %[[K]] permutation = [0, 2, 1]
// CHECK: %[[S:.*]] = hjx.dot_general %[[Q]], %[[KT]] batching = [0] x [0] contracting = [2] x [1]
// CHECK: hjx.mul %[[S]],
// CHECK-NOT: hjx.select_n
// CHECK: hjx.reduce_max
// CHECK: %[[E:.*]] = hjx.exp
// CHECK: hjx.reduce_sum %[[E]]
// CHECK: %[[W:.*]] = hjx.mul %[[E]],
// CHECK: %[[O:.*]] = hjx.dot_general %[[W]], %[[V]]
// CHECK: hjx.transpose %[[O]] permutation = [1, 0, 2]
// CHECK-NOT: hjx.log
// CHECK: return
func.func @out(%q: tensor<3x2x4xf32>, %k: tensor<5x2x4xf32>, %v: tensor<5x2x4xf32>) -> tensor<3x2x4xf32> {
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 : (tensor<3x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return %out : tensor<3x2x4xf32>
}

// CHECK-LABEL: func.func @logsumexp
// CHECK-DAG: %[[ROW:.*]] = hjx.iota dim = 0 : tensor<3x5xi32>
// CHECK-DAG: %[[COLUMN:.*]] = hjx.iota dim = 1 : tensor<3x5xi32>
// CHECK: hjx.compare le, %[[COLUMN]], %[[ROW]]
// CHECK: hjx.select_n
// CHECK: hjx.log
func.func @logsumexp(%q: tensor<3x2x4xf32>, %k: tensor<5x2x4xf32>, %v: tensor<5x2x4xf32>) -> tensor<3x2xf32> {
  %out, %sum = hjx.attention %q, %k, %v scale = 0.5 causal : (tensor<3x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
  return %sum : tensor<3x2xf32>
}
