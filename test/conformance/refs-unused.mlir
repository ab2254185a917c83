// RUN: hjx-opt %s --hjx-to-pure --hjx-to-lo --hjx-to-tensor --hjx-to-kernel | FileCheck %s
//
// A call that changes only what its caller made, and whose result nobody reads, is not compiled.
// CHECK-LABEL: func.func @main
// CHECK-NOT: arith.addf
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = hjx.ref_new %x : (tensor<4xf32>) -> !hjx.ref<tensor<4xf32>>
  hjx.ref_add %r, %x : (!hjx.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
  %0 = func.call @mutates(%r) : (!hjx.ref<tensor<4xf32>>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @mutates(%r: !hjx.ref<tensor<4xf32>>) -> tensor<4xf32> {
  %v = hjx.ref_get %r : (!hjx.ref<tensor<4xf32>>) -> tensor<4xf32>
  hjx.ref_add %r, %v : (!hjx.ref<tensor<4xf32>>, tensor<4xf32>) -> ()
  return %v : tensor<4xf32>
}
