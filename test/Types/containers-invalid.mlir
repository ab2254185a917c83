// What tuples, optionals and matrices of low rank refuse.
// RUN: hjx-opt --split-input-file --verify-diagnostics %s

// expected-error@+1 {{expected a flag of bools first, got i32; write the flag's type, tensor<i1>, then that of the value}}
func.func private @flag(!hjx.optional<tensor<i32>, tensor<f32>>)

// -----

// expected-error@+1 {{expected a shape of at least two axes, got [4]; the last two are the matrix}}
func.func private @vector(!hjx.low_rank<4, 1>)

// -----

// expected-error@+1 {{expected a rank of at least 1, got 0; zeros have rank 1 too, with a factor of zeros}}
func.func private @rank(!hjx.low_rank<4x3, 0>)

// -----

func.func @elements(%x: tensor<3xf32>) {
  // expected-error@+1 {{(C2) "hjx.elements": expected the hi-type tuple, got f32[3]; look at the type's name first}}
  %y = hjx.call_primitive "hjx.elements"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @select(%p: tensor<2xi1>, %x: tensor<3xf32>) {
  // expected-error@+1 {{(C2) "hjx.select": expected a bool scalar and two values of one type, got bool[2], f32[3] and f32[3]; map over more with hjx::vmap}}
  %y = hjx.call_primitive "hjx.select"(%p, %x, %x) : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @factors(%u: tensor<4x2xf32>, %v: tensor<3x3xf32>) {
  // expected-error@+1 {{(C2) "hjx.low_rank": expected f32[..,m,r] and f32[..,r,n], got f32[4,2] and f32[3,3]; for two vectors: rank_one(column, row)}}
  %a = hjx.call_primitive "hjx.low_rank"(%u, %v) : (tensor<4x2xf32>, tensor<3x3xf32>) -> !hjx.low_rank<4x3, 2>
  return
}
