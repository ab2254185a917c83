// SPDX-License-Identifier: Apache-2.0
//
// Small programs of the tensor stage, one for each way in which kernels differ: what CpuKernelTest and
// GpuKernelTest run. A line `// ----- name tolerance` begins one; the tolerance is relative, for float
// results; without it bits are equal.

// ----- add_ragged
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<61xf32>, %y: tensor<61xf32>) -> tensor<61xf32> {
  %e = tensor.empty() : tensor<61xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<61xf32>, tensor<61xf32>) outs(%e : tensor<61xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<61xf32>
  return %r : tensor<61xf32>
}

// ----- big_elementwise_in_blocks
#id = affine_map<(i, j, k) -> (i, j, k)>
func.func @main(%x: tensor<7x131x129xf32>, %y: tensor<7x131x129xf32>) -> tensor<7x131x129xf32> {
  %e = tensor.empty() : tensor<7x131x129xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<7x131x129xf32>, tensor<7x131x129xf32>) outs(%e : tensor<7x131x129xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.mulf %a, %b : f32
      %t = arith.divf %s, %b : f32
      linalg.yield %t : f32
  } -> tensor<7x131x129xf32>
  return %r : tensor<7x131x129xf32>
}

// ----- broadcast_row_and_column
#id = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (k)>
#col = affine_map<(i, j, k) -> (i, j)>
#one = affine_map<(i, j, k) -> ()>
func.func @main(%x: tensor<5x33x70xf32>, %b: tensor<70xf32>, %c: tensor<5x33xf32>, %s: tensor<f32>) -> tensor<5x33x70xf32> {
  %e = tensor.empty() : tensor<5x33x70xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #col, #one, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %b, %c, %s : tensor<5x33x70xf32>, tensor<70xf32>, tensor<5x33xf32>, tensor<f32>) outs(%e : tensor<5x33x70xf32>) {
    ^bb0(%a: f32, %bb: f32, %cc: f32, %ss: f32, %o: f32):
      %p = arith.mulf %cc, %ss : f32
      %q = arith.addf %a, %bb : f32
      %t = arith.mulf %p, %q : f32
      linalg.yield %t : f32
  } -> tensor<5x33x70xf32>
  return %r : tensor<5x33x70xf32>
}

// ----- transpose
#in = affine_map<(i, j) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<67x45xf32>) -> tensor<45x67xf32> {
  %e = tensor.empty() : tensor<45x67xf32>
  %r = linalg.generic {indexing_maps = [#in, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<67x45xf32>) outs(%e : tensor<45x67xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<45x67xf32>
  return %r : tensor<45x67xf32>
}

// ----- heads_transpose
func.func @main(%x: tensor<2x5x3x24xf32>) -> tensor<2x3x5x24xf32> {
  %e = tensor.empty() : tensor<2x3x5x24xf32>
  %r = linalg.transpose ins(%x : tensor<2x5x3x24xf32>) outs(%e : tensor<2x3x5x24xf32>) permutation = [0, 2, 1, 3]
  return %r : tensor<2x3x5x24xf32>
}

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

// ----- causal_mask
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @main(%x: tensor<6x37x37xf32>) -> tensor<6x37x37xf32> {
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x37x37xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<6x37x37xf32>) outs(%e : tensor<6x37x37xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %c = arith.cmpi sge, %i, %j : index
      %s = arith.select %c, %a, %inf : f32
      linalg.yield %s : f32
  } -> tensor<6x37x37xf32>
  return %r : tensor<6x37x37xf32>
}

// ----- embedding_rows
#ids = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%table: tensor<7x100xf32>, %ids: tensor<19xi32>) -> tensor<19x100xf32> {
  %e = tensor.empty() : tensor<19x100xf32>
  %r = linalg.generic {indexing_maps = [#ids, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<19xi32>) outs(%e : tensor<19x100xf32>) {
    ^bb0(%a: i32, %o: f32):
      %i = arith.index_cast %a : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %table[%i, %j] : tensor<7x100xf32>
      linalg.yield %v : f32
  } -> tensor<19x100xf32>
  return %r : tensor<19x100xf32>
}

// ----- gather_elements
#id = affine_map<(i) -> (i)>
func.func @main(%table: tensor<7x9xf32>, %rows: tensor<53xi32>, %cols: tensor<53xi64>) -> tensor<53xf32> {
  %e = tensor.empty() : tensor<53xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%rows, %cols : tensor<53xi32>, tensor<53xi64>) outs(%e : tensor<53xf32>) {
    ^bb0(%a: i32, %b: i64, %o: f32):
      %i = arith.index_cast %a : i32 to index
      %j = arith.index_cast %b : i64 to index
      %v = tensor.extract %table[%i, %j] : tensor<7x9xf32>
      linalg.yield %v : f32
  } -> tensor<53xf32>
  return %r : tensor<53xf32>
}

// ----- picked_logit
#id = affine_map<(i) -> (i)>
func.func @main(%logits: tensor<53x11xf32>, %labels: tensor<53xi32>) -> tensor<53xf32> {
  %e = tensor.empty() : tensor<53xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%labels : tensor<53xi32>) outs(%e : tensor<53xf32>) {
    ^bb0(%a: i32, %o: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %a : i32 to index
      %v = tensor.extract %logits[%i, %j] : tensor<53x11xf32>
      linalg.yield %v : f32
  } -> tensor<53xf32>
  return %r : tensor<53xf32>
}

// ----- scatter_add_rows
func.func @main(%rows: tensor<19x40xf32>, %ids: tensor<19xi32>) -> tensor<7x40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c19 = arith.constant 19 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x40xf32>) -> tensor<7x40xf32>
  %r = scf.for %n = %c0 to %c19 step %c1 iter_args(%acc = %f) -> tensor<7x40xf32> {
    %id = tensor.extract %ids[%n] : tensor<19xi32>
    %i = arith.index_cast %id : i32 to index
    %old = tensor.extract_slice %acc[%i, 0] [1, 40] [1, 1] : tensor<7x40xf32> to tensor<40xf32>
    %row = tensor.extract_slice %rows[%n, 0] [1, 40] [1, 1] : tensor<19x40xf32> to tensor<40xf32>
    %new = linalg.add ins(%old, %row : tensor<40xf32>, tensor<40xf32>) outs(%old : tensor<40xf32>) -> tensor<40xf32>
    %next = tensor.insert_slice %new into %acc[%i, 0] [1, 40] [1, 1] : tensor<40xf32> into tensor<7x40xf32>
    scf.yield %next : tensor<7x40xf32>
  }
  return %r : tensor<7x40xf32>
}

// ----- bfloat16_arithmetic
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<77xbf16>, %y: tensor<77xbf16>) -> (tensor<77xbf16>, tensor<77xf32>) {
  %e = tensor.empty() : tensor<77xbf16>
  %e2 = tensor.empty() : tensor<77xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<77xbf16>, tensor<77xbf16>) outs(%e, %e2 : tensor<77xbf16>, tensor<77xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: bf16, %p: f32):
      %s = arith.mulf %a, %b : bf16
      %t = arith.addf %s, %a : bf16
      %u = arith.extf %t : bf16 to f32
      linalg.yield %t, %u : bf16, f32
  } -> (tensor<77xbf16>, tensor<77xf32>)
  return %r#0, %r#1 : tensor<77xbf16>, tensor<77xf32>
}

// ----- half_arithmetic
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<77xf16>, %y: tensor<77xf64>) -> (tensor<77xf16>, tensor<77xf64>) {
  %e = tensor.empty() : tensor<77xf16>
  %e2 = tensor.empty() : tensor<77xf64>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<77xf16>, tensor<77xf64>) outs(%e, %e2 : tensor<77xf16>, tensor<77xf64>) {
    ^bb0(%a: f16, %b: f64, %o: f16, %p: f64):
      %w = arith.extf %a : f16 to f64
      %s = arith.mulf %w, %b : f64
      %t = arith.truncf %s : f64 to f16
      %v = arith.addf %t, %a : f16
      linalg.yield %v, %s : f16, f64
  } -> (tensor<77xf16>, tensor<77xf64>)
  return %r#0, %r#1 : tensor<77xf16>, tensor<77xf64>
}

// ----- integers_of_all_widths
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<75xi8>, %y: tensor<75xi16>, %z: tensor<75xi64>) -> (tensor<75xi64>, tensor<75xi8>, tensor<75xi1>) {
  %one = arith.constant 1 : i64
  %e = tensor.empty() : tensor<75xi64>
  %e2 = tensor.empty() : tensor<75xi8>
  %e3 = tensor.empty() : tensor<75xi1>
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<75xi8>, tensor<75xi16>, tensor<75xi64>) outs(%e, %e2, %e3 : tensor<75xi64>, tensor<75xi8>, tensor<75xi1>) {
    ^bb0(%a: i8, %b: i16, %c: i64, %o: i64, %p: i8, %q: i1):
      %aw = arith.extsi %a : i8 to i64
      %bw = arith.extui %b : i16 to i64
      %s = arith.muli %aw, %bw : i64
      %d = arith.addi %c, %one : i64
      %t = arith.divsi %s, %d : i64
      %u = arith.trunci %t : i64 to i8
      %v = arith.cmpi slt, %s, %c : i64
      linalg.yield %t, %u, %v : i64, i8, i1
  } -> (tensor<75xi64>, tensor<75xi8>, tensor<75xi1>)
  return %r#0, %r#1, %r#2 : tensor<75xi64>, tensor<75xi8>, tensor<75xi1>
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

// ----- strided_slices
func.func @main(%x: tensor<20x30xf32>, %y: tensor<20x30xf32>) -> tensor<20x30xf32> {
  %a = tensor.extract_slice %x[1, 3] [9, 13] [2, 2] : tensor<20x30xf32> to tensor<9x13xf32>
  %b = tensor.extract_slice %y[4, 5] [9, 13] [1, 1] : tensor<20x30xf32> to tensor<9x13xf32>
  %e = tensor.empty() : tensor<9x13xf32>
  %s = linalg.sub ins(%a, %b : tensor<9x13xf32>, tensor<9x13xf32>) outs(%e : tensor<9x13xf32>) -> tensor<9x13xf32>
  %r = tensor.insert_slice %s into %x[10, 2] [9, 13] [1, 2] : tensor<9x13xf32> into tensor<20x30xf32>
  return %r : tensor<20x30xf32>
}

// ----- pad_and_concat
func.func @main(%x: tensor<5x6xf32>, %y: tensor<3x9xf32>) -> tensor<10x9xf32> {
  %c = arith.constant 7.5 : f32
  %p = tensor.pad %x low[1, 2] high[1, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
  } : tensor<5x6xf32> to tensor<7x9xf32>
  %r = tensor.concat dim(0) %p, %y : (tensor<7x9xf32>, tensor<3x9xf32>) -> tensor<10x9xf32>
  return %r : tensor<10x9xf32>
}

// ----- reshape_then_add
func.func @main(%x: tensor<4x6xf32>, %y: tensor<2x12xf32>) -> tensor<24xf32> {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<2x12xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %r = linalg.add ins(%a, %b : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  return %r : tensor<24xf32>
}

// ----- convolution_windows 1e-5
func.func @main(%x: tensor<2x9x10x3xf32>, %w: tensor<3x2x3x5xf32>) -> tensor<2x7x9x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x9x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x9x10x3xf32>, tensor<3x2x3x5xf32>) outs(%f : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %r : tensor<2x7x9x5xf32>
}

// ----- reversed_and_modular_addresses
#rev = affine_map<(i) -> (-i + 36)>
#mod = affine_map<(i) -> (i mod 5)>
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<37xf32>, %y: tensor<5xf32>) -> (tensor<37xf32>, tensor<37xf32>) {
  %e = tensor.empty() : tensor<37xf32>
  %n = tensor.empty() : tensor<37xf32>
  %r = linalg.generic {indexing_maps = [#rev, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %n : tensor<37xf32>, tensor<37xf32>) outs(%e : tensor<37xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<37xf32>
  %m = linalg.generic {indexing_maps = [#mod, #id, #id], iterator_types = ["parallel"]}
      ins(%y, %r : tensor<5xf32>, tensor<37xf32>) outs(%e : tensor<37xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<37xf32>
  return %r, %m : tensor<37xf32>, tensor<37xf32>
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

// ----- softmax 1e-5
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<130x77xf32>) -> tensor<130x77xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<130xf32>
  %e2 = tensor.empty() : tensor<130x77xf32>
  %f = linalg.fill ins(%inf : f32) outs(%e1 : tensor<130xf32>) -> tensor<130xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e1 : tensor<130xf32>) -> tensor<130xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<130x77xf32>) outs(%f : tensor<130xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.maximumf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<130xf32>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<130x77xf32>, tensor<130xf32>) outs(%e2 : tensor<130x77xf32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %s = arith.subf %a, %m : f32
      %t = math.exp %s : f32
      linalg.yield %t : f32
  } -> tensor<130x77xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%ex : tensor<130x77xf32>) outs(%g : tensor<130xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<130xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ex, %sum : tensor<130x77xf32>, tensor<130xf32>) outs(%e2 : tensor<130x77xf32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %s = arith.divf %a, %m : f32
      linalg.yield %s : f32
  } -> tensor<130x77xf32>
  return %r : tensor<130x77xf32>
}

// ----- ops_that_share_a_walk 1e-5
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%mu: tensor<70x77xf32> {hjx.alias = 0 : i64}, %nu: tensor<70x77xf32> {hjx.alias = 1 : i64},
    %g: tensor<70x77xf32>) -> (tensor<70x77xf32>, tensor<70x77xf32>, tensor<70x77xf32>, tensor<70xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<70x77xf32>) outs(%mu : tensor<70x77xf32>) {
    ^bb0(%a: f32, %o: f32):
      %d = arith.subf %a, %o : f32
      %r = arith.mulf %d, %half : f32
      linalg.yield %r : f32
  } -> tensor<70x77xf32>
  %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %m : tensor<70x77xf32>, tensor<70x77xf32>) outs(%nu : tensor<70x77xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.mulf %a, %b : f32
      %s = arith.mulf %o, %half : f32
      %r = arith.addf %d, %s : f32
      linalg.yield %r : f32
  } -> tensor<70x77xf32>
  %e = tensor.empty() : tensor<70x77xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %n : tensor<70x77xf32>, tensor<70x77xf32>) outs(%e : tensor<70x77xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = math.absf %b : f32
      %r = arith.divf %a, %q : f32
      %t = math.tanh %r : f32
      linalg.yield %t : f32
  } -> tensor<70x77xf32>
  %e1 = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<70xf32>) -> tensor<70xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<70x77xf32>) outs(%f : tensor<70xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<70xf32>
  return %m, %n, %y, %sum : tensor<70x77xf32>, tensor<70x77xf32>, tensor<70x77xf32>, tensor<70xf32>
}

// ----- while_and_if
func.func @main(%x: tensor<33xf32>, %limit: tensor<i32>) -> (tensor<33xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %start = tensor.from_elements %c0 : tensor<i32>
  %r:2 = scf.while (%v = %x, %i = %start) : (tensor<33xf32>, tensor<i32>) -> (tensor<33xf32>, tensor<i32>) {
    %n = tensor.extract %i[] : tensor<i32>
    %l = tensor.extract %limit[] : tensor<i32>
    %c = arith.cmpi sle, %n, %l : i32
    scf.condition(%c) %v, %i : tensor<33xf32>, tensor<i32>
  } do {
  ^bb0(%v: tensor<33xf32>, %i: tensor<i32>):
    %n = tensor.extract %i[] : tensor<i32>
    %odd = arith.remsi %n, %c2 : i32
    %isOdd = arith.cmpi eq, %odd, %c1 : i32
    %w = scf.if %isOdd -> tensor<33xf32> {
      %e = tensor.empty() : tensor<33xf32>
      %s = linalg.add ins(%v, %v : tensor<33xf32>, tensor<33xf32>) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      scf.yield %s : tensor<33xf32>
    } else {
      %e = tensor.empty() : tensor<33xf32>
      %s = linalg.sub ins(%v, %x : tensor<33xf32>, tensor<33xf32>) outs(%e : tensor<33xf32>) -> tensor<33xf32>
      scf.yield %s : tensor<33xf32>
    }
    %m = arith.addi %n, %c1 : i32
    %next = tensor.from_elements %m : tensor<i32>
    scf.yield %w, %next : tensor<33xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<33xf32>, tensor<i32>
}

// ----- swapping_loop
func.func @main(%a0: tensor<9xf32>, %b0: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<9xf32>, tensor<9xf32>) {
    %e = tensor.empty() : tensor<9xf32>
    %s = linalg.add ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %b, %s : tensor<9xf32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xf32>
}

// ----- value_carried_twice
func.func @main(%a0: tensor<9xf32>, %b0: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<9xf32>, tensor<9xf32>) {
    %e = tensor.empty() : tensor<9xf32>
    %s = linalg.add ins(%a, %b : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %s, %s : tensor<9xf32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xf32>
}

// ----- switch_of_three
func.func @main(%x: tensor<9xf32>, %which: tensor<4xi32>) -> tensor<4x9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %init = tensor.empty() : tensor<4x9xf32>
  %r = scf.for %n = %c0 to %c4 step %c1 iter_args(%acc = %init) -> tensor<4x9xf32> {
    %w = tensor.extract %which[%n] : tensor<4xi32>
    %i = arith.index_cast %w : i32 to index
    %v = scf.index_switch %i -> tensor<9xf32>
    case 0 {
      scf.yield %x : tensor<9xf32>
    }
    case 1 {
      %e = tensor.empty() : tensor<9xf32>
      %s = linalg.add ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
      scf.yield %s : tensor<9xf32>
    }
    default {
      %e = tensor.empty() : tensor<9xf32>
      %s = linalg.mul ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9xf32>) -> tensor<9xf32>
      scf.yield %s : tensor<9xf32>
    }
    %next = tensor.insert_slice %v into %acc[%n, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<4x9xf32>
    scf.yield %next : tensor<4x9xf32>
  }
  return %r : tensor<4x9xf32>
}

// ----- matmul 1e-5
func.func @main(%a: tensor<37x50xf32>, %b: tensor<50x41xf32>) -> tensor<37x41xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x41xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x41xf32>) -> tensor<37x41xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x50xf32>, tensor<50x41xf32>) outs(%f : tensor<37x41xf32>) -> tensor<37x41xf32>
  return %r : tensor<37x41xf32>
}

// ----- attention_scores_in_place_of_heads 1e-5
#q = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#k = affine_map<(b, h, i, j, d) -> (b, j, h, d)>
#o = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
func.func @main(%q: tensor<2x19x3x16xf32>, %k: tensor<2x19x3x16xf32>) -> tensor<2x3x19x19xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x19x19xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x19x19xf32>) -> tensor<2x3x19x19xf32>
  %r = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x19x3x16xf32>, tensor<2x19x3x16xf32>) outs(%f : tensor<2x3x19x19xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<2x3x19x19xf32>
  return %r : tensor<2x3x19x19xf32>
}

// ----- product_of_three_batches_accumulates 1e-12
#a = affine_map<(p, q, r, m, n, k) -> (p, q, r, m, k)>
#b = affine_map<(p, q, r, m, n, k) -> (r, q, p, k, n)>
#o = affine_map<(p, q, r, m, n, k) -> (p, q, r, m, n)>
func.func @main(%x: tensor<2x3x4x5x6xf64>, %y: tensor<4x3x2x6x7xf64>, %init: tensor<2x3x4x5x7xf64>) -> tensor<2x3x4x5x7xf64> {
  %r = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2x3x4x5x6xf64>, tensor<4x3x2x6x7xf64>) outs(%init : tensor<2x3x4x5x7xf64>) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %m = arith.mulf %a, %b : f64
      %s = arith.addf %o, %m : f64
      linalg.yield %s : f64
  } -> tensor<2x3x4x5x7xf64>
  return %r : tensor<2x3x4x5x7xf64>
}

// ----- product_over_two_axes 1e-5
#a = affine_map<(m, n, k, l) -> (k, m, l)>
#b = affine_map<(m, n, k, l) -> (l, n, k)>
#o = affine_map<(m, n, k, l) -> (n, m)>
func.func @main(%x: tensor<13x20x5xf32>, %y: tensor<5x30x13xf32>) -> tensor<30x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<30x20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<30x20xf32>) -> tensor<30x20xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y : tensor<13x20x5xf32>, tensor<5x30x13xf32>) outs(%f : tensor<30x20xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<30x20xf32>
  return %r : tensor<30x20xf32>
}

// ----- bfloat16_product_in_f32 1e-5
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: tensor<17x33xbf16>, %y: tensor<33x18xbf16>) -> tensor<17x18xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<17x18xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<17x18xf32>) -> tensor<17x18xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<17x33xbf16>, tensor<33x18xbf16>) outs(%f : tensor<17x18xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<17x18xf32>
  return %r : tensor<17x18xf32>
}

// ----- integer_product
func.func @main(%a: tensor<9x20xi32>, %b: tensor<20x11xi32>) -> tensor<9x11xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<9x11xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<9x11xi32>) -> tensor<9x11xi32>
  %r = linalg.matmul ins(%a, %b : tensor<9x20xi32>, tensor<20x11xi32>) outs(%f : tensor<9x11xi32>) -> tensor<9x11xi32>
  return %r : tensor<9x11xi32>
}

// ----- matrix_times_vector 1e-5
func.func @main(%a: tensor<37x50xf32>, %x: tensor<50xf32>, %y: tensor<37xf32>) -> (tensor<37xf32>, tensor<50xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %r = linalg.matvec ins(%a, %x : tensor<37x50xf32>, tensor<50xf32>) outs(%f : tensor<37xf32>) -> tensor<37xf32>
  %e2 = tensor.empty() : tensor<50xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<50xf32>) -> tensor<50xf32>
  %s = linalg.vecmat ins(%y, %a : tensor<37xf32>, tensor<37x50xf32>) outs(%f2 : tensor<50xf32>) -> tensor<50xf32>
  return %r, %s : tensor<37xf32>, tensor<50xf32>
}

// ----- three_numbers_read_as_three
#id = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %h: tensor<5xf16>) -> (tensor<3xf32>, tensor<f32>, tensor<5xf16>) {
  %e = tensor.empty() : tensor<3xf32>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      linalg.yield %m : f32
  } -> tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]}
      ins(%z : tensor<3xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.addf %o, %a : f32
      linalg.yield %m : f32
  } -> tensor<f32>
  %e5 = tensor.empty() : tensor<5xf16>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%h : tensor<5xf16>) outs(%e5 : tensor<5xf16>) {
    ^bb0(%a: f16, %o: f16):
      %m = arith.negf %a : f16
      linalg.yield %m : f16
  } -> tensor<5xf16>
  return %z, %s, %g : tensor<3xf32>, tensor<f32>, tensor<5xf16>
}

// ----- choice_between_tensors
func.func @main(%p: tensor<i1>, %x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %c = tensor.extract %p[] : tensor<i1>
  %r = arith.select %c, %x, %y : tensor<5x7xf32>
  %s = arith.select %c, %y, %r : tensor<5x7xf32>
  return %r, %s : tensor<5x7xf32>, tensor<5x7xf32>
}

// ----- loop_that_drops_what_it_takes
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32>, %limit: tensor<i32>) -> (tensor<5xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<i32>
  %r:2 = scf.while (%a = %x, %old = %x, %n = %zero) : (tensor<5xf32>, tensor<5xf32>, tensor<i32>) -> (tensor<5xf32>, tensor<i32>) {
    %va = tensor.extract %a[%c0] : tensor<5xf32>
    %vb = tensor.extract %old[%c0] : tensor<5xf32>
    %vn = tensor.extract %n[] : tensor<i32>
    %vl = tensor.extract %limit[] : tensor<i32>
    %less = arith.cmpi slt, %vn, %vl : i32
    %same = arith.cmpf oeq, %va, %vb : f32
    %go = arith.andi %less, %same : i1
    scf.condition(%go) %a, %n : tensor<5xf32>, tensor<i32>
  } do {
  ^bb0(%a: tensor<5xf32>, %n: tensor<i32>):
    %e = tensor.empty() : tensor<5xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) {
      ^bb0(%v: f32, %o: f32):
        %s = arith.addf %v, %v : f32
        linalg.yield %s : f32
    } -> tensor<5xf32>
    %vn = tensor.extract %n[] : tensor<i32>
    %vm = arith.addi %vn, %c1 : i32
    %e0 = tensor.empty() : tensor<i32>
    %m = linalg.fill ins(%vm : i32) outs(%e0 : tensor<i32>) -> tensor<i32>
    scf.yield %y, %a, %m : tensor<5xf32>, tensor<5xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<5xf32>, tensor<i32>
}

// ----- cross_entropy_of_long_rows 1e-5
// The loss of bf16 logits at labels, and its gradient, which is rounded after the label's element is updated: rows that
// no block can keep.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>
func.func @main(%x: tensor<64x10248xf32>, %labels: tensor<64xi32>, %u: tensor<64xf32>) -> (tensor<64xf32>, tensor<64x10248xbf16>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %wide = tensor.empty() : tensor<64x10248xf32>
  %narrow = tensor.empty() : tensor<64x10248xbf16>
  %e = tensor.empty() : tensor<64xf32>
  %rounded = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x10248xf32>) outs(%narrow : tensor<64x10248xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %y = math.tanh %a : f32
    %t = arith.truncf %y : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64x10248xbf16>
  %logits = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%rounded : tensor<64x10248xbf16>) outs(%wide : tensor<64x10248xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %t = arith.extf %a : bf16 to f32
    linalg.yield %t : f32
  } -> tensor<64x10248xf32>
  %low = linalg.fill ins(%lowest : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%logits : tensor<64x10248xf32>) outs(%low : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%logits, %max : tensor<64x10248xf32>, tensor<64xf32>) outs(%wide : tensor<64x10248xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<64x10248xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<64x10248xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %loss = linalg.generic {indexing_maps = [#vec, #vec, #vec, #vec], iterator_types = ["parallel"]} ins(%labels, %max, %sum : tensor<64xi32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%label: i32, %m: f32, %s: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i32 to index
    %at = tensor.extract %logits[%i, %j] : tensor<64x10248xf32>
    %l = math.log %s : f32
    %k = arith.addf %l, %m : f32
    %t = arith.subf %k, %at : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<64x10248xf32>, tensor<64xf32>) outs(%wide : tensor<64x10248xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x10248xf32>
  %updated = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (tensor<64x10248xf32>) {
    %label = tensor.extract %labels[%i] : tensor<64xi32>
    %j = arith.index_cast %label : i32 to index
    %d = tensor.extract %u[%i] : tensor<64xf32>
    %old = tensor.extract %q[%i, %j] : tensor<64x10248xf32>
    %new = arith.addf %old, %d : f32
    %r = tensor.insert %new into %q[%i, %j] : tensor<64x10248xf32>
    scf.yield %r : tensor<64x10248xf32>
  } {hjx.nest, hjx.parallel, hjx.parallel_rows}
  %gradient = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%updated : tensor<64x10248xf32>) outs(%narrow : tensor<64x10248xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64x10248xbf16>
  return %loss, %gradient : tensor<64xf32>, tensor<64x10248xbf16>
}
