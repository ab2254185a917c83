// Cells of hi-types by the reference interpreter: their components are what it knows.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so %s --hjx-discharge-refs --hjx-lower-hi --hjx-interpret
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so %s --hjx-to-pure --hjx-to-lo --hjx-interpret
// RUN: not hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so %s --hjx-interpret 2>&1 | FileCheck %s
// CHECK: error: {{.*}}call_primitive{{.*}}

func.func private @swap(%cell: !hjx.ref<!hjx.q8<2x3>>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %old = hjx.ref_swap %cell, %q : (!hjx.ref<!hjx.q8<2x3>>, !hjx.q8<2x3>) -> !hjx.q8<2x3>
  %y = hjx.call_primitive "dequantize"(%old) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @main() {
  %a = hjx.constant dense<[[1.0, -2.0, 4.0], [0.5, 0.25, -0.125]]> : tensor<2x3xf32>
  %b = hjx.constant dense<[[3.0, 1.5, 0.0], [8.0, -8.0, 1.0]]> : tensor<2x3xf32>
  %q = hjx.call_primitive "quantize"(%a) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  %cell = hjx.ref_new %q : (!hjx.q8<2x3>) -> !hjx.ref<!hjx.q8<2x3>>
  %first = call @swap(%cell, %b) : (!hjx.ref<!hjx.q8<2x3>>, tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_close %first, %a rtol = 0.0 atol = 0.02 : tensor<2x3xf32>
  // Whichever branch runs, the cell holds one of the two.
  %p = hjx.constant dense<true> : tensor<i1>
  %second = hjx.cond %p, inputs(%cell, %a) : (tensor<i1>, !hjx.ref<!hjx.q8<2x3>>, tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%c: !hjx.ref<!hjx.q8<2x3>>, %x: tensor<2x3xf32>):
    hjx.yield %x : tensor<2x3xf32>
  }, {
  ^bb0(%c: !hjx.ref<!hjx.q8<2x3>>, %x: tensor<2x3xf32>):
    %0 = func.call @swap(%c, %x) : (!hjx.ref<!hjx.q8<2x3>>, tensor<2x3xf32>) -> tensor<2x3xf32>
    hjx.yield %0 : tensor<2x3xf32>
  }
  check.expect_close %second, %b rtol = 0.0 atol = 0.04 : tensor<2x3xf32>
  %end = hjx.ref_freeze %cell : (!hjx.ref<!hjx.q8<2x3>>) -> !hjx.q8<2x3>
  %third = hjx.call_primitive "dequantize"(%end) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  check.expect_close %third, %a rtol = 0.0 atol = 0.02 : tensor<2x3xf32>
  return
}
