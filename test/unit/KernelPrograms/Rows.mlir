// SPDX-License-Identifier: Apache-2.0
//
// Several ops that one walk over rows does: for KernelPrograms.h.

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
