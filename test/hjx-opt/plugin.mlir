// RUN: hjx-opt --load-pass-plugin=%plugins/libCountProducts.so --pass-pipeline='builtin.module(func.func(count-products))' %s 2>&1 | FileCheck %s

// CHECK: plugin.mlir:[[@LINE+1]]:{{.*}}remark: 2 products, 144 FLOP
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x3x2x4xf32> {
  %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %outer = hjx.dot_general %x, %z contracting = [] x [] : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3x2x4xf32>
  return %outer : tensor<2x3x2x4xf32>
}
