// RUN: hjx-opt %s --pass-pipeline="builtin.module(func.func(hjx-join-sweeps),hjx-generate-kernels)" --split-input-file --verify-diagnostics
// Groups and sweeps that someone wrote by hand, and that do not fit.

#id = affine_map<(i, j) -> (i, j)>
func.func @no_rows(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  // expected-error @below {{in a group: expected attribute 'hjx.rows'}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.group = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
func.func private @other_size(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %z: memref<64x16xf32>) attributes {hjx.kernel, hjx.rows = 64 : i64} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x32xf32>) outs(%y : memref<64x32xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{in a sweep: expected the vector loop of the op before, and no other in its rows}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%z : memref<64x16xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(i, j, k) -> (i, j, k)>
#other = affine_map<(i, j, k) -> (i, k, j)>
func.func private @more_loops(%x: memref<64x8x32xf32>, %y: memref<64x8x32xf32>, %z: memref<64x32x8xf32>) attributes {hjx.kernel, hjx.rows = 64 : i64} {
  linalg.generic {indexing_maps = [#other, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : memref<64x32x8xf32>) outs(%y : memref<64x8x32xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  // expected-error @below {{in a sweep: expected the vector loop of the op before, and no other in its rows}}
  linalg.generic {indexing_maps = [#other, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : memref<64x32x8xf32>) outs(%y : memref<64x8x32xf32>) attrs = {hjx.sweep = 0 : i64} {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}
