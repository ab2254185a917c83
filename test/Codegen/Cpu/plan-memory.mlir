// RUN: hjx-opt %s --hjx-plan-memory --split-input-file | FileCheck %s
// Buffers that are not alive together share bytes; a loop keeps alive what it uses from outside.

// a (256 bytes) and c are never alive together; b overlaps both.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[ARENA:.*]]: memref<384xi8> {hjx.arena})
// CHECK-SAME: hjx.memory_plan = {arena_bytes = 384 : i64
// CHECK-SAME: names = ["plan-memory.mlir:[[#@LINE+8]]", "plan-memory.mlir:[[#@LINE+9]]", "plan-memory.mlir:[[#@LINE+10]]"]
// CHECK-SAME: peak_bytes = 384 : i64
// CHECK: memref.view %[[ARENA]][%c0][] : {{.*}} to memref<64xf32>
// CHECK: memref.view %[[ARENA]][%c256][] : {{.*}} to memref<32xf32>
// CHECK: memref.view %[[ARENA]][%c0{{.*}}][] : {{.*}} to memref<48xf32>
func.func private @use(memref<64xf32>, memref<32xf32>)
func.func private @use2(memref<32xf32>, memref<48xf32>)
func.func @main() {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.alloc() : memref<48xf32>
  call @use(%a, %b) : (memref<64xf32>, memref<32xf32>) -> ()
  call @use2(%b, %c) : (memref<32xf32>, memref<48xf32>) -> ()
  return
}

// -----

// %outer is used in every round, so the loop's own buffer may not share its bytes, although the
// only use of %outer comes before it in the body.
func.func private @use(memref<16xf32>)
// CHECK-LABEL: func.func @main
// CHECK-SAME: memref<128xi8> {hjx.arena}
// CHECK: memref.view %{{.*}}[%c0]
// CHECK: memref.view %{{.*}}[%c64]
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %outer = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %c9 step %c1 {
    func.call @use(%outer) : (memref<16xf32>) -> ()
    %inner = memref.alloc() : memref<16xf32>
    func.call @use(%inner) : (memref<16xf32>) -> ()
  }
  return
}
