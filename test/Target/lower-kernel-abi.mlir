// RUN: hjx-opt %s --hjx-lower-kernel-abi | FileCheck %s
// Buffers become pointers, offsets are the caller's; a parallel call goes through the pool.

// CHECK-LABEL: func.func private @k_chunk
// CHECK-SAME: (%[[ENV:.*]]: !llvm.ptr, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: call @k(%{{.*}}, %{{.*}}, %[[BEGIN]], %[[END]]) : (!llvm.ptr, !llvm.ptr, index, index)
// CHECK-LABEL: func.func @hjx_entry
// CHECK-SAME: (%[[TABLE:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr)
// CHECK: llvm.load
func.func @main(%x: memref<8x4xf32>, %y: memref<4xf32>, %arena: memref<64xi8> {hjx.arena}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %row = memref.subview %x[3, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: 12>>
  %slice = memref.cast %row : memref<4xf32, strided<[1], offset: 12>> to memref<4xf32, strided<[1], offset: ?>>
  // CHECK: %[[X:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK: call @k(%[[X]], %{{.*}}, %c0, %c1) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
  call @k(%slice, %y, %c0, %c1) : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>, index, index) -> ()
  // CHECK: llvm.call @hjx_rt_parallel_for
  call @k(%slice, %y, %c0, %c1) {hjx.grain = 2 : i64} : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>, index, index) -> ()
  return
}
// CHECK-LABEL: func.func private @k(
// CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index)
func.func private @k(%x: memref<4xf32, strided<[1], offset: ?>>, %y: memref<4xf32>, %begin: index, %end: index) {
  return
}
