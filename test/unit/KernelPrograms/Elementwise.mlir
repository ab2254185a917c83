// SPDX-License-Identifier: Apache-2.0
//
// One op that computes or moves each element for itself: for KernelPrograms.h.

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
