// RUN: hjx-opt %s --hjx-lower-device-abi | FileCheck %s
// Buffers of different turns lie in the same place, in one array of the module, or of the launch where that is
// too large; with one turn each is a variable.

gpu.module @device {
  // CHECK: llvm.mlir.global internal @small_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<80 x i8>
  // CHECK: func.func @small
  // CHECK: %[[A:.*]] = llvm.mlir.addressof @small_shared
  // CHECK: llvm.getelementptr %[[A]][0]
  // CHECK: %[[B:.*]] = llvm.mlir.addressof @small_shared
  // CHECK: llvm.getelementptr %[[B]][32]
  // CHECK: %[[C:.*]] = llvm.mlir.addressof @small_shared
  // CHECK: llvm.getelementptr %[[C]][0]
  gpu.func @small(%x: memref<4xf32>)
      workgroup(%a: memref<8xf32, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64}, %b: memref<5xi8, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64},
                %c: memref<20xf32, #gpu.address_space<workgroup>> {hjx.turn = 1 : i64, llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
  // CHECK: llvm.mlir.global external @hjx_dynamic_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK: func.func @large({{.*}}hjx.dynamic_shared = 60000 : i64
  gpu.func @large(%x: memref<4xf32>)
      workgroup(%a: memref<60000xi8, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64}, %b: memref<50000xi8, #gpu.address_space<workgroup>> {hjx.turn = 1 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
  // CHECK: llvm.mlir.global internal @single_shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>
  // CHECK: func.func @single
  gpu.func @single(%x: memref<4xf32>) workgroup(%a: memref<8xf32, #gpu.address_space<workgroup>> {hjx.turn = 0 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
