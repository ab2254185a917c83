// SPDX-License-Identifier: Apache-2.0
//
// Products and a convolution: for KernelPrograms.h.

// ----- convolution_windows 1e-5
func.func @main(%x: tensor<2x9x10x3xf32>, %w: tensor<3x2x3x5xf32>) -> tensor<2x7x9x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x9x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x9x10x3xf32>, tensor<3x2x3x5xf32>) outs(%f : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %r : tensor<2x7x9x5xf32>
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
