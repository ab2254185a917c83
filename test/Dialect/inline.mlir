// RUN: hjx-opt --inline %s | FileCheck %s
// Calls of functions of hjx ops are inlined, also inside regions.

func.func private @double(%x: tensor<f32>) -> tensor<f32> {
  %y = hjx.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: hjx.add
// CHECK: hjx.scan
// CHECK-NOT: call
// CHECK: hjx.add
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @double(%x) : (tensor<f32>) -> tensor<f32>
  %1 = hjx.scan consts() inits(%0) xs() length = 3 : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    %2 = func.call @double(%c) : (tensor<f32>) -> tensor<f32>
    hjx.yield %2 : tensor<f32>
  }
  return %1 : tensor<f32>
}
