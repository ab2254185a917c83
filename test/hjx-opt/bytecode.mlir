// Text, bytecode and back: the same module, keys and linear maps included.
// RUN: hjx-opt %s > %t.mlir
// RUN: hjx-opt --emit-bytecode %s -o %t.mlirbc
// RUN: hjx-opt %t.mlirbc | diff %t.mlir -
// RUN: FileCheck %s < %t.mlir

// CHECK: hjx.random_split
func.func @f(%key: tensor<!hjx.key<threefry2x32>>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2x!hjx.key<threefry2x32>>) {
  %keys = hjx.random_split %key shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  // CHECK: hjx.linearize @g
  %y, %map = hjx.linearize @g(%x) active = [true] : (tensor<3xf32>) -> (tensor<3xf32>, !hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>)
  // CHECK: hjx.apply_linear
  %t = hjx.apply_linear %map(%y) : (!hjx.linear<(tensor<3xf32>) -> tensor<3xf32>>, tensor<3xf32>) -> tensor<3xf32>
  return %t, %keys : tensor<3xf32>, tensor<2x!hjx.key<threefry2x32>>
}
func.func private @g(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.sin %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
