// RUN: hjx-opt %s --hjx-outline-kernels | FileCheck %s
// Equal ops share a kernel, whatever slice they work on; a group's own buffer moves inside.

#id = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @main
// CHECK: call @negf(%{{.*}}, %{{.*}}) : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>)
// CHECK: call @negf(%{{.*}}, %{{.*}}) : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>)
// CHECK: call @rows_addf(%arg2, %arg3)
// CHECK-NOT: memref.alloc
// CHECK: func.func private @negf
// CHECK-SAME: attributes {hjx.kernel}
// CHECK: func.func private @rows_addf
// CHECK-SAME: attributes {hjx.kernel, hjx.rows = 8 : i64}
// CHECK: memref.alloca() : memref<8x16xf32>
// CHECK-COUNT-2: linalg.generic
func.func @main(%x: memref<20xf32>, %y: memref<4xf32>, %z: memref<8x16xf32>, %w: memref<8x16xf32>) {
  %a = memref.subview %x[4] [4] [1] : memref<20xf32> to memref<4xf32, strided<[1], offset: 4>>
  %b = memref.subview %x[8] [4] [1] : memref<20xf32> to memref<4xf32, strided<[1], offset: 8>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32, strided<[1], offset: 4>>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<4xf32, strided<[1], offset: 8>>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  %t = memref.alloc() : memref<8x16xf32>
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%z : memref<8x16xf32>) outs(%t : memref<8x16xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 8 : i64} {
  ^bb0(%v: f32, %o: f32):
    %d = math.exp %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%z, %t : memref<8x16xf32>, memref<8x16xf32>) outs(%w : memref<8x16xf32>) attrs = {hjx.group = 0 : i64, hjx.rows = 8 : i64} {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %d = arith.addf %v, %u : f32
    linalg.yield %d : f32
  }
  return
}
