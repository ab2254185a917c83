// RUN: hjx-opt %s --hjx-hoist-elementwise | FileCheck %s
// The update of a parameter moves up to the moment that it ends, or whose argument it takes the place of.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @update
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: arith.divf
// CHECK: arith.addf
func.func @update(%g: tensor<8xf32>, %h: tensor<8xf32>, %p: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  // Of another parameter.
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%h : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.divf %a, %a : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  // Ends %m, and goes to it.
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %m : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.subf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  // Ends nothing: arguments are there, and %n is a result.
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%g, %n : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  return %q, %r, %n : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Both readers of %m come to it, in their order: the first takes the place of %p.
// CHECK-LABEL: func.func @select
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: arith.select
// CHECK: arith.divf
func.func @select(%g: tensor<8xf32>, %h: tensor<8xf32>, %p: tensor<8xf32> {hjx.alias = 0 : i64}, %good: tensor<i1>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%h : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.divf %a, %a : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %m : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.subf %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%good, %m, %g : tensor<i1>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%c: i1, %a: f32, %b: f32, %o: f32):
      %t = arith.select %c, %a, %b : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  return %q, %r, %n : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A scalar that arguments alone decide is there from the start: what it scales need not wait for it.
// CHECK-LABEL: func.func @scalar
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK: arith.subf
func.func @scalar(%g: tensor<8xf32>, %p: tensor<8xf32> {hjx.alias = 0 : i64}, %rate: tensor<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %a : f32
      linalg.yield %t : f32
  } -> tensor<8xf32>
  %s = tensor.empty() : tensor<f32>
  %now = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%rate : tensor<f32>) outs(%s : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %t = math.exp %a : f32
      linalg.yield %t : f32
  } -> tensor<f32>
  %q = linalg.generic {indexing_maps = [#id, #id, affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%p, %m, %now : tensor<8xf32>, tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %r: f32, %o: f32):
      %t = arith.subf %a, %b : f32
      %u = arith.mulf %t, %r : f32
      linalg.yield %u : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}
