// RUN: not hjx-opt %s --hjx-to-tensor 2>&1 | FileCheck %s --check-prefixes=CHECK,LO
// RUN: not hjx-opt %s --hjx-to-lo 2>&1 | FileCheck %s --check-prefixes=CHECK,PURE
// RUN: not hjx-opt %s --hjx-to-pure --hjx-to-tensor 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: hjx-opt %s --hjx-to-pure --hjx-to-lo --hjx-to-tensor | FileCheck %s --check-prefix=TENSOR
// RUN: not hjx-opt %s --hjx-to-pure --hjx-to-kernel 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not hjx-opt %s --hjx-to-pure --hjx-to-gpu-kernel 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not hjx-opt %s --hjx-to-pure --hjx-to-machine 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not hjx-opt %s --hjx-to-pure --hjx-to-gpu-machine 2>&1 | FileCheck %s --check-prefix=MACHINE
// A pipeline that is run too early names the op and the pass that comes before.

// CHECK: entry.mlir:[[#@LINE+13]]:{{[0-9]+}}: error: 'hjx.vjp' op is not allowed at the
// LO-SAME: lo stage: transforms are expanded by hjx-expand-transforms
// PURE-SAME: pure stage: transforms are expanded by hjx-expand-transforms
// KEY: error: 'func.func' op has the type 'tensor<!hjx.key<threefry2x32>>', which is not allowed at the lo stage: keys are lowered to their words by hjx-lower-random
// KERNEL: error: {{.*}} not allowed at the tensor stage
// MACHINE: error: {{.*}} the kernel stage
// TENSOR: linalg.generic
func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.sin %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @pull_back(%x: tensor<3xf32>) -> tensor<3xf32> {
  // The derivative of a function that has none yet.
  %y, %x_bar = hjx.vjp @f(%x) cotangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %x_bar : tensor<3xf32>
}
func.func @keyed(%key: tensor<!hjx.key<threefry2x32>>) -> tensor<3xui32> {
  %bits = hjx.random_bits %key width = 32 shape = [3] : tensor<!hjx.key<threefry2x32>> -> tensor<3xui32>
  return %bits : tensor<3xui32>
}
