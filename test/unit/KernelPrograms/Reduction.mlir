// SPDX-License-Identifier: Apache-2.0
//
// Reductions, of rows, columns and everything: for KernelPrograms.h.

// ----- row_sum 5e-5
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<70x301xf32>) -> tensor<70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<70x301xf32>) outs(%f : tensor<70xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<70xf32>
  return %r : tensor<70xf32>
}

// ----- column_sum 1e-5
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<300x777xf32>) -> tensor<777xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<777xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<777xf32>) -> tensor<777xf32>
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<300x777xf32>) outs(%f : tensor<777xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<777xf32>
  return %r : tensor<777xf32>
}

// ----- sum_of_middle_and_first 1e-5
#id = affine_map<(i, j, k) -> (i, j, k)>
#out = affine_map<(i, j, k) -> (j)>
func.func @main(%x: tensor<9x6x37xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<9x6x37xf32>) outs(%f : tensor<6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %sq = arith.mulf %a, %a : f32
      %s = arith.addf %sq, %o : f32
      linalg.yield %s : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// ----- full_max_and_sum 1e-5
#id = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>
func.func @main(%x: tensor<1027xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%inf : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [#id, #out, #out], iterator_types = ["reduction"]}
      ins(%x : tensor<1027xf32>) outs(%f, %g : tensor<f32>, tensor<f32>) {
    ^bb0(%a: f32, %o: f32, %p: f32):
      %s = arith.addf %a, %o : f32
      %m = arith.maximumf %a, %p : f32
      linalg.yield %s, %m : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// ----- maximum_and_minimum_keep_nan
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<90x77xf32>) -> (tensor<90xf32>, tensor<90xf64>) {
  %nan = arith.constant 0x7FC00000 : f32
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<90xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<90xf32>) -> tensor<90xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<90x77xf32>) outs(%f : tensor<90xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %bad = arith.cmpi eq, %i, %j : index
      %v = arith.select %bad, %nan, %a : f32
      %m = arith.maximumf %v, %o : f32
      linalg.yield %m : f32
  } -> tensor<90xf32>
  %e2 = tensor.empty() : tensor<90xf64>
  %f2 = linalg.fill ins(%high : f64) outs(%e2 : tensor<90xf64>) -> tensor<90xf64>
  %min = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<90x77xf32>) outs(%f2 : tensor<90xf64>) {
    ^bb0(%a: f32, %o: f64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %bad = arith.cmpi eq, %i, %j : index
      %v = arith.select %bad, %nan, %a : f32
      %w = arith.extf %v : f32 to f64
      %m = arith.minimumf %o, %w : f64
      linalg.yield %m : f64
  } -> tensor<90xf64>
  return %max, %min : tensor<90xf32>, tensor<90xf64>
}

// ----- large_sums_in_two_steps 1e-3
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> ()>
func.func @main(%x: tensor<300x500xf32>, %y: tensor<300x500xi32>, %z: tensor<500x300xf32>, %init: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%inf : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, affine_map<(i, j) -> (j, i)>, #out, #out, #out], iterator_types = ["reduction", "reduction"]}
      ins(%x, %y, %z : tensor<300x500xf32>, tensor<300x500xi32>, tensor<500x300xf32>) outs(%f, %g, %init : tensor<f32>, tensor<f32>, tensor<i32>) {
    ^bb0(%a: f32, %b: i32, %c: f32, %o: f32, %p: f32, %q: i32):
      %ac = arith.mulf %a, %c : f32
      %s = arith.addf %ac, %o : f32
      %m = arith.maximumf %c, %p : f32
      %n = arith.addi %b, %q : i32
      linalg.yield %s, %m, %n : f32, f32, i32
  } -> (tensor<f32>, tensor<f32>, tensor<i32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<f32>, tensor<i32>
}

// ----- any_and_all
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<6x50xi1>, %y: tensor<6x50xf32>) -> (tensor<6xi1>, tensor<6xi1>) {
  %false = arith.constant false
  %true = arith.constant true
  %bound = arith.constant -1.95 : f32
  %e = tensor.empty() : tensor<6xi1>
  %f = linalg.fill ins(%false : i1) outs(%e : tensor<6xi1>) -> tensor<6xi1>
  %g = linalg.fill ins(%true : i1) outs(%e : tensor<6xi1>) -> tensor<6xi1>
  %r = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x50xi1>) outs(%f : tensor<6xi1>) {
    ^bb0(%a: i1, %o: i1):
      %s = arith.ori %a, %o : i1
      linalg.yield %s : i1
  } -> tensor<6xi1>
  %s = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<6x50xf32>) outs(%g : tensor<6xi1>) {
    ^bb0(%a: f32, %o: i1):
      %c = arith.cmpf ogt, %a, %bound : f32
      %s = arith.andi %c, %o : i1
      linalg.yield %s : i1
  } -> tensor<6xi1>
  return %r, %s : tensor<6xi1>, tensor<6xi1>
}

// ----- argmax_rows
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<8x41xf32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %inf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8xf32>
  %ei = tensor.empty() : tensor<8xi32>
  %f = linalg.fill ins(%inf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %g = linalg.fill ins(%zero : i32) outs(%ei : tensor<8xi32>) -> tensor<8xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x41xf32>) outs(%f, %g : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%a: f32, %m: f32, %i: i32):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %a, %m : f32
      %v = arith.select %c, %a, %m : f32
      %w = arith.select %c, %ji, %i : i32
      linalg.yield %v, %w : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}

// ----- argmax_columns
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<8x41xf32>) -> (tensor<41xf32>, tensor<41xi32>) {
  %inf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<41xf32>
  %ei = tensor.empty() : tensor<41xi32>
  %f = linalg.fill ins(%inf : f32) outs(%e : tensor<41xf32>) -> tensor<41xf32>
  %g = linalg.fill ins(%zero : i32) outs(%ei : tensor<41xi32>) -> tensor<41xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #out, #out], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x41xf32>) outs(%f, %g : tensor<41xf32>, tensor<41xi32>) {
    ^bb0(%a: f32, %m: f32, %i: i32):
      %j = linalg.index 0 : index
      %ji = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %a, %m : f32
      %v = arith.select %c, %a, %m : f32
      %w = arith.select %c, %ji, %i : i32
      linalg.yield %v, %w : f32, i32
  } -> (tensor<41xf32>, tensor<41xi32>)
  return %r#0, %r#1 : tensor<41xf32>, tensor<41xi32>
}

// ----- integer_sums
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<5x301xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
  %zero = arith.constant 0 : i32
  %big = arith.constant 2147483647 : i32
  %e = tensor.empty() : tensor<5xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<5xi32>) -> tensor<5xi32>
  %g = linalg.fill ins(%big : i32) outs(%e : tensor<5xi32>) -> tensor<5xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #out, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x301xi32>) outs(%f, %g : tensor<5xi32>, tensor<5xi32>) {
    ^bb0(%a: i32, %o: i32, %p: i32):
      %s = arith.addi %a, %o : i32
      %m = arith.minsi %a, %p : i32
      linalg.yield %s, %m : i32, i32
  } -> (tensor<5xi32>, tensor<5xi32>)
  return %r#0, %r#1 : tensor<5xi32>, tensor<5xi32>
}

// ----- zero_size_and_rank_zero
#id = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
#scalar = affine_map<() -> ()>
func.func @main(%x: tensor<0x5xf32>, %y: tensor<3x0xf32>, %z: tensor<f32>) -> (tensor<0xf32>, tensor<3xf32>, tensor<f32>) {
  %zero = arith.constant 4.0 : f32
  %e0 = tensor.empty() : tensor<0xf32>
  %e3 = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<0xf32>) -> tensor<0xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<0x5xf32>) outs(%f0 : tensor<0xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<0xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<3x0xf32>) outs(%f3 : tensor<3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []}
      ins(%z : tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %zero : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %r0, %r3, %r : tensor<0xf32>, tensor<3xf32>, tensor<f32>
}
