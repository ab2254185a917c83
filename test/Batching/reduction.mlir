// RUN: hjx-opt --hjx-vmap --symbol-dce %s | FileCheck %s
// Reductions keep the mapped axis in place and name their axes past it.

func.func private @sum(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = hjx.reduce_sum %x axes = [0] : tensor<2x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @arg(%x: tensor<2x3xf32>) -> tensor<2xi32> {
  %0 = hjx.argmax %x axis = 1 : tensor<2x3xf32> -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @running(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = hjx.cumsum %x axis = 0 reverse : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x5x3xf32>, %y: tensor<2x3x5xf32>, %z: tensor<5x2x3xf32>) -> (tensor<5x3xf32>, tensor<2x5xi32>, tensor<5x2x3xf32>) {
  %0 = hjx.vmap @sum(%x) in_axes = [1] out_axes = [0] size = 5 : (tensor<2x5x3xf32>) -> tensor<5x3xf32>
  %1 = hjx.vmap @arg(%y) in_axes = [2] out_axes = [1] size = 5 : (tensor<2x3x5xf32>) -> tensor<2x5xi32>
  %2 = hjx.vmap @running(%z) in_axes = [0] out_axes = [0] size = 5 : (tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  return %0, %1, %2 : tensor<5x3xf32>, tensor<2x5xi32>, tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func private @sum.vmap.1.x5.to.0
// CHECK: %[[Y:.*]] = hjx.reduce_sum %{{.*}} axes = [0] : tensor<2x5x3xf32> -> tensor<5x3xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: func.func private @arg.vmap.2.x5.to.1
// CHECK: %[[I:.*]] = hjx.argmax %{{.*}} axis = 1 : tensor<2x3x5xf32> -> tensor<2x5xi32>
// CHECK-NEXT: return %[[I]]
// CHECK-LABEL: func.func private @running.vmap.0.x5.to.0
// CHECK: %[[S:.*]] = hjx.cumsum %{{.*}} axis = 1 reverse : tensor<5x2x3xf32>
// CHECK-NEXT: return %[[S]]
