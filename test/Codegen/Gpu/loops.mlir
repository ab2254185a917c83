// RUN: hjx-opt %s --hjx-to-tensor --hjx-to-gpu-kernel --split-input-file | FileCheck %s
// The loops of one op are one kernel: a thread for each element that no other thread touches,
// the other loops in order.

// A row of the update belongs to 6 threads; each adds its column of all 4 updates.
// CHECK-LABEL: func.func @main
// CHECK: gpu.launch_func @device::@loops
// CHECK-NOT: memref.load
// CHECK: gpu.func @loops(
// CHECK: arith.cmpi ult, %{{.*}}, %c6
// CHECK: scf.if
// CHECK: scf.for %[[UPDATE:.*]] = %c0 to %c4
// CHECK: memref.load %{{.*}}[%[[UPDATE]], %c0]
// CHECK: arith.addf
// CHECK: memref.store
func.func @main(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x6xf32>) -> tensor<5x6xf32> {
  %y = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}

// -----

// 3 outer rounds times 4 elements of a slice: 12 threads, a register for the running sum.
// CHECK-LABEL: func.func @main
// CHECK: gpu.func @loops(
// CHECK: %[[SUM:.*]] = memref.alloca() : memref<1xf32>
// CHECK: arith.cmpi ult, %{{.*}}, %c12
// CHECK: scf.for %{{.*}} = %c0 to %c5
// CHECK: memref.load %[[SUM]]
// CHECK-NOT: memref.alloc()
func.func @main(%x: tensor<3x5x4xf32>) -> tensor<3x5x4xf32> {
  %y = hjx.cumsum %x axis = 1 : tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// -----

// The running sum of a vector is one number, which is the kernel's argument.
// CHECK-LABEL: func.func @main
// CHECK: gpu.func @loops(%{{.*}}: memref<3xf32> {{.*}}, %{{.*}}: memref<3xf32> {{.*}}, %[[SUM:.*]]: memref<f32>
// CHECK: %[[BASE:.*]], %{{.*}} = memref.extract_strided_metadata %[[SUM]]
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[BASE]]
// CHECK: scf.for %{{.*}} = %c0 to %c3
// CHECK: memref.load %[[FLAT]]
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = hjx.cumsum %x axis = 0 : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Of rows, it is a number of each thread's own.
// CHECK-LABEL: func.func @main
// CHECK: gpu.func @loops(
// CHECK: %[[SUM:.*]] = memref.alloca() : memref<f32>
// CHECK: %[[BASE:.*]], %{{.*}} = memref.extract_strided_metadata %[[SUM]]
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[BASE]]
// CHECK: scf.for %{{.*}} = %c0 to %c5
// CHECK: memref.load %[[FLAT]]
func.func @main(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = hjx.cumsum %x axis = 1 : tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
