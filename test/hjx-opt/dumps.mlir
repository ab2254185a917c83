// What helps to look into a pipeline: IR after each pass, a file that reproduces a run.
// RUN: hjx-opt --hjx-to-pure --mlir-print-ir-after-all %s -o %t.out 2>&1 | FileCheck %s
// RUN: rm -rf %t.tree && hjx-opt --hjx-to-pure --hjx-to-tensor --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.tree %s -o /dev/null
// RUN: ls %t.tree/builtin_module_no-symbol-name | FileCheck %s --check-prefix=TREE
// RUN: hjx-opt --hjx-to-pure --mlir-generate-reproducer=%t.repro.mlir %s -o %t.out
// RUN: hjx-opt --run-reproducer %t.repro.mlir | diff %t.out -

// CHECK: IR Dump After {{.*}}hjx-expand-transforms
// CHECK: hjx.cos
// CHECK: IR Dump After {{.*}}hjx-verify-stage
// TREE: convert-hjx-to-linalg
func.func @f(%x: tensor<3xf32>, %t: tensor<3xf32>) -> tensor<3xf32> {
  %y, %dy = hjx.jvp @g(%x) tangents(%t) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %dy : tensor<3xf32>
}
func.func private @g(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.sin %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
