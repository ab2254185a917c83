// RUN: hjx-opt --hjx-inline-single-use %s | FileCheck %s
// A private function that one call names moves there, through several levels and
// into loops; one with two uses, a public one and one named by a request stay.

func.func private @inner(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = hjx.sin %x : tensor<f32>
  return %y, %x : tensor<f32>, tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %y, %z = call @inner(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %s = hjx.add %y, %z : tensor<f32>
  return %s : tensor<f32>
}
// CHECK-NOT: @inner
// CHECK-NOT: @outer
// CHECK-LABEL: func.func private @twice
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.exp %x : tensor<f32>
  return %y : tensor<f32>
}
// CHECK-LABEL: func.func @public
func.func @public(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func private @mapped
func.func private @mapped(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[XS:.*]]: tensor<3xf32>)
func.func @main(%x: tensor<f32>, %xs: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK: hjx.scan
  // CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[Y:.*]] = hjx.sin %[[C]]
  // CHECK-NEXT: %[[S:.*]] = hjx.add %[[Y]], %[[C]]
  // CHECK-NEXT: hjx.yield %[[S]]
  %a = hjx.scan consts() inits(%x) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    %y = func.call @outer(%c) : (tensor<f32>) -> tensor<f32>
    hjx.yield %y : tensor<f32>
  }
  // CHECK: call @twice
  // CHECK: call @twice
  // CHECK: call @public
  %b = call @twice(%a) : (tensor<f32>) -> tensor<f32>
  %c = call @twice(%b) : (tensor<f32>) -> tensor<f32>
  %d = call @public(%c) : (tensor<f32>) -> tensor<f32>
  // CHECK: hjx.vmap @mapped
  %e = hjx.vmap @mapped(%xs) in_axes = [0] out_axes = [0] size = 3 : (tensor<3xf32>) -> tensor<3xf32>
  return %d, %e : tensor<f32>, tensor<3xf32>
}
