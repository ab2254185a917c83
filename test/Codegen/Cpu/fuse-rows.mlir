// RUN: hjx-opt %s --hjx-fuse-rows --split-input-file | FileCheck %s
// Ops over the same rows get one group; twins that may not share a loop stay apart.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>

// Shifting by the row's maximum: fill, maximum and difference, and the fill of what comes last.
// CHECK-LABEL: func.func @shifted
// CHECK: linalg.generic {{.*}}attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64}
// CHECK: linalg.generic {{.*}}attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64}
// CHECK: linalg.generic {{.*}}attrs = {hjx.group = 0 : i64, hjx.rows = 64 : i64}
func.func @shifted(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %inf = arith.constant 0xFF800000 : f32
  %max = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#s, #vec], iterator_types = ["parallel"]} ins(%inf : f32) outs(%max : memref<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<64x32xf32>) outs(%max : memref<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %o : f32
    linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max : memref<64x32xf32>, memref<64xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%v: f32, %m: f32, %o: f32):
    %d = arith.subf %v, %m : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// The second op reads what other rows of the first have written.
// CHECK-LABEL: func.func @transposed
// CHECK-NOT: hjx.group
func.func @transposed(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %a = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// An op between the two writes what the second reads: it cannot move up past it.
func.func private @touch(memref<64x32xf32>)
// CHECK-LABEL: func.func @kept_in_order
// CHECK-NOT: hjx.group
func.func @kept_in_order(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %a = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%a : memref<64x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  call @touch(%x) : (memref<64x32xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %x : memref<64x32xf32>, memref<64x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %d = arith.addf %v, %w : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The function only reads that buffer: the second op moves past the call and joins.
func.func private @look(memref<64x32xf32> {llvm.readonly})
// CHECK-LABEL: func.func @moved_up
// CHECK: linalg.generic {{.*}}hjx.group = 0
// CHECK: linalg.generic {{.*}}hjx.group = 0
// CHECK: call @look
func.func @moved_up(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  %a = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%a : memref<64x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  call @look(%x) : (memref<64x32xf32>) -> ()
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %x : memref<64x32xf32>, memref<64x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %d = arith.addf %v, %w : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>

// Two fills of one buffer, one of a part: neither the part's fill nor its sums move up past the whole's.
// CHECK-LABEL: func.func @part
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : memref<64x32xf32>)
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[Y:.*]] : memref<80xf32>)
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[PART:.*]] : memref<64xf32, strided<[1]>>)
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[PART]] : memref<64xf32, strided<[1]>>)
func.func @part(%x: memref<64x32xf32>, %y: memref<80xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%a : memref<64x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.negf %v : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#s, #vec], iterator_types = ["parallel"]} ins(%zero : f32) outs(%y : memref<80xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  %part = memref.subview %y[0] [64] [1] : memref<80xf32> to memref<64xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#s, #vec], iterator_types = ["parallel"]} ins(%zero : f32) outs(%part : memref<64xf32, strided<[1]>>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<64x32xf32>) outs(%part : memref<64xf32, strided<[1]>>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.addf %v, %o : f32
    linalg.yield %m : f32
  }
  return
}
