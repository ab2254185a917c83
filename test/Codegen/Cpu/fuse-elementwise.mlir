// RUN: hjx-opt %s --hjx-fuse-elementwise --split-input-file | FileCheck %s
// RUN: hjx-opt %s --hjx-fuse-elementwise=kept-row-bytes=35 --split-input-file | FileCheck %s --check-prefix=LONG
// One rule per function: what is fused, what is repeated, what stays apart.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#vec = affine_map<(i) -> (i)>

// One consumer, a reduction: the exponential moves into it.
// CHECK-LABEL: func.func @into_reduction
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
func.func @into_reduction(%x: tensor<2x3xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<2x3xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.addf %v, %o : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Two consumers, cheap, one input: computed in both.
// CHECK-LABEL: func.func @repeats_cheap
// CHECK-COUNT-2: arith.negf
// CHECK-NOT: arith.negf
func.func @repeats_cheap(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%n : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%n : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.tanh %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Two consumers, expensive: computed once.
// CHECK-LABEL: func.func @keeps_expensive
// CHECK: math.exp
// CHECK-NOT: math.exp
func.func @keeps_expensive(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%n : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.negf %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%n : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.addf %v, %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#vec = affine_map<(i) -> (i)>

// The consumer broadcasts an exponential of a vector: not once per row.
// CHECK-LABEL: func.func @not_once_per_row
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK-NOT: math.exp
func.func @not_once_per_row(%x: tensor<2x3xf32>, %w: tensor<3xf32>) -> tensor<2x3xf32> {
  %e1 = tensor.empty() : tensor<3xf32>
  %a = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%w : tensor<3xf32>) outs(%e1 : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %a : tensor<2x3xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %y = arith.mulf %v, %s : f32
    linalg.yield %y : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// A product takes in a transposition, as strides, but not arithmetic.
// CHECK-DAG: #[[LHS_T:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<5x2xf32>
// CHECK: %[[NEG:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK: linalg.generic {indexing_maps = [#[[LHS_T]], {{.*}} ins(%[[X]], %[[NEG]]
func.func @product(%x: tensor<5x2xf32>, %y: tensor<5x3xf32>, %init: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x5xf32>
  %xt = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x2xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<2x5xf32>
  %e2 = tensor.empty() : tensor<5x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<5x3xf32>) outs(%e2 : tensor<5x3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = arith.negf %v : f32
    linalg.yield %a : f32
  } -> tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xt, %n : tensor<2x5xf32>, tensor<5x3xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#mean = affine_map<(i, j) -> (i, 0)>
#row = affine_map<(i, j) -> (i)>

// One array and a number for each of its rows: centred rows are not written down for several consumers, and a sum of
// products of two rows takes them in, for it is no matrix product.
// CHECK-LABEL: func.func @repeats_centred_rows
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.subf
// CHECK-NEXT: math.exp
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
func.func @repeats_centred_rows(%x: tensor<2x3xf32>, %m: tensor<2x1xf32>, %y: tensor<2x3xf32>, %init: tensor<2xf32>)
    -> (tensor<2x3xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %c = linalg.generic {indexing_maps = [#id, #mean, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<2x3xf32>, tensor<2x1xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %d = arith.subf %v, %w : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = math.exp %v : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%y, %c : tensor<2x3xf32>, tensor<2x3xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %p = arith.mulf %v, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %a, %r : tensor<2x3xf32>, tensor<2xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// An exponential for a sum and a quotient: computed twice if its rows of 36 bytes cannot be kept.
// CHECK-LABEL: func.func @long_rows
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// LONG-LABEL: func.func @long_rows
// LONG-COUNT-2: math.exp
// LONG-NOT: math.exp
func.func @long_rows(%x: tensor<2x9xf32>, %zeros: tensor<2xf32>) -> tensor<2x9xf32> {
  %e = tensor.empty() : tensor<2x9xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x9xf32>) outs(%e : tensor<2x9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.exp %v : f32
    linalg.yield %y : f32
  } -> tensor<2x9xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<2x9xf32>) outs(%zeros : tensor<2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = arith.addf %o, %v : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%n, %s : tensor<2x9xf32>, tensor<2xf32>) outs(%e : tensor<2x9xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.divf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<2x9xf32>
  return %q : tensor<2x9xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Cheap, but a copy would read f32 where the result is bf16; or the result is needed in memory for the caller anyway.
// CHECK-LABEL: func.func @is_read
// CHECK-COUNT-1: arith.truncf
// CHECK-NOT: arith.truncf
// CHECK-COUNT-1: arith.negf
// CHECK-NOT: arith.negf
func.func @is_read(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %zeros: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>) {
  %narrow = tensor.empty() : tensor<2x3xbf16>
  %wide = tensor.empty() : tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%narrow : tensor<2x3xbf16>) {
  ^bb0(%v: f32, %o: bf16):
    %r = arith.truncf %v : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x3xbf16>
  %a = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<2x3xbf16>) outs(%zeros : tensor<2xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %w = arith.extf %v : bf16 to f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %b = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<2x3xbf16>) outs(%zeros : tensor<2xf32>) {
  ^bb0(%v: bf16, %o: f32):
    %w = arith.extf %v : bf16 to f32
    %s = arith.maximumf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x3xf32>) outs(%wide : tensor<2x3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.negf %v : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %c = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%n : tensor<2x3xf32>) outs(%zeros : tensor<2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %a, %b, %c, %n : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Both consumers of an expensive op read what it reads: where memory costs more, they do not read its result, too.
// CHECK-LABEL: func.func @read_anyway
// CHECK-COUNT-1: math.tanh
// CHECK-NOT: math.tanh
// LONG-LABEL: func.func @read_anyway
// LONG-SAME: %[[X:[^:]*]]: tensor<2x3xf32>, %[[G:[^:]*]]: tensor<2x3xf32>
// LONG: linalg.generic {{.*}} ins(%[[X]] : tensor<2x3xf32>)
// LONG: math.tanh
// LONG: linalg.generic {{.*}} ins(%[[X]], %[[G]] : tensor<2x3xf32>, tensor<2x3xf32>)
// LONG: math.tanh
func.func @read_anyway(%x: tensor<2x3xf32>, %g: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %y = math.tanh %v : f32
    linalg.yield %y : f32
  } -> tensor<2x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.mulf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<2x3xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %g, %x : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%v: f32, %u: f32, %w: f32, %o: f32):
    %y = arith.mulf %u, %v : f32
    %z = arith.addf %y, %w : f32
    linalg.yield %z : f32
  } -> tensor<2x3xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}
