// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of check ops refuse.

func.func @expect_eq_c1(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) {
  // expected-error @below {{'check.expect_eq' op requires all operands to have the same type}}
  "check.expect_eq"(%x, %y) : (tensor<2x3xf32>, tensor<3x2xf32>) -> ()
  return
}

// -----

func.func @expect_close_needs_tolerance(%x: tensor<2xf32>) {
  // expected-error @below {{(C2) expected rtol, atol or ulps; for equality use check.expect_eq}}
  check.expect_close %x, %x : tensor<2xf32>
  return
}

// -----

func.func @expect_close_negative(%x: tensor<2xf32>) {
  // expected-error @below {{(C2) expected tolerances that are not negative, got -1.000000e+00}}
  check.expect_close %x, %x rtol = -1.0 : tensor<2xf32>
  return
}

// -----

func.func @expect_close_negative_ulps(%x: tensor<2xf32>) {
  // expected-error @below {{(C2) expected ulps not to be negative, got -1}}
  check.expect_close %x, %x ulps = -1 : tensor<2xf32>
  return
}

// -----

func.func @expect_close_is_for_floats(%x: tensor<2xi32>) {
  // expected-error @below {{'check.expect_close' op operand #0 must be}}
  check.expect_close %x, %x rtol = 1.0 : tensor<2xi32>
  return
}

// -----

func.func @not_in_a_region(%p: tensor<i1>) {
  hjx.cond %p, inputs(%p) : (tensor<i1>, tensor<i1>) -> () {
  ^bb0(%a: tensor<i1>):
    // expected-error @below {{'check.expect_true' op expects parent op 'func.func'}}
    check.expect_true %a : tensor<i1>
    hjx.yield
  }, {
  ^bb0(%a: tensor<i1>):
    hjx.yield
  }
  return
}
