// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of elementwise ops refuse.

func.func @unary_element_type(%x: tensor<2x3xi32>) {
  // expected-error @below {{'hjx.exp' op operand #0 must be statically shaped tensor of float values, but got 'tensor<2x3xi32>'}}
  %y = hjx.exp %x : tensor<2x3xi32>
  return
}

// -----

func.func @unary_static_shape(%x: tensor<?x3xf32>) {
  // expected-error @below {{'hjx.neg' op operand #0 must be statically shaped tensor of number values, but got 'tensor<?x3xf32>'}}
  %y = hjx.neg %x : tensor<?x3xf32>
  return
}

// -----

func.func @unary_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.sin' op all non-scalar operands/results must have the same shape and base type}}
  %y = "hjx.sin"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @unary_c1_element(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.sin' op requires the same type for all operands and results}}
  %y = "hjx.sin"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @binary_c1(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) {
  // expected-error @below {{'hjx.add' op requires the same type for all operands and results}}
  %z = "hjx.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @no_broadcast(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error @below {{'hjx.add' op}}
  %z = "hjx.add"(%x, %y) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bits_of_floats(%x: tensor<2xf32>) {
  // expected-error @below {{'hjx.and' op operand #0 must be statically shaped tensor of integer or bool values, but got 'tensor<2xf32>'}}
  %z = hjx.and %x, %x : tensor<2xf32>
  return
}

// -----

func.func @round_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.round' op requires the same type for all operands and results}}
  %y = "hjx.round"(%x) {rounding_method = 0 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @round_method(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'rounding_method' [away_from_zero, to_nearest_even]}}
  %y = hjx.round upwards, %x : tensor<2x3xf32>
  return
}

// -----

func.func @is_finite_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.is_finite' op result #0 must be statically shaped tensor of bool values, but got 'tensor<2x3xi8>'}}
  %p = hjx.is_finite %x : tensor<2x3xf32> -> tensor<2x3xi8>
  return
}

// -----

func.func @compare_c1(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) {
  // expected-error @below {{'hjx.compare' op requires all operands to have the same type}}
  %p = "hjx.compare"(%x, %y) {direction = 2 : i32} : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x3xi1>
  return
}

// -----

func.func @compare_c2(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.compare' op all non-scalar operands/results must have the same shape and base type}}
  %p = hjx.compare lt, %x, %x : tensor<2x3xf32> -> tensor<3x2xi1>
  return
}

// -----

func.func @select_n_c1(%p: tensor<i1>) {
  // expected-error @+2 {{select_n: (C1) expected at least one case}}
  // expected-error @below {{failed to infer returned types}}
  %z = "hjx.select_n"(%p) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @select_n_c2(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+2 {{select_n: (C2) expected cases of one type, got 'tensor<2xf32>' and 'tensor<2xf64>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.select_n %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @select_n_c2_result(%p: tensor<2xi1>, %x: tensor<2xf32>) {
  // expected-error @+2 {{select_n: expected result 0 of type 'tensor<2xf32>', got 'tensor<2xf64>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.select_n %p, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @select_n_c3_cases(%p: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @+2 {{select_n: (C3) a bool selector chooses between at most 2 cases, got 3}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.select_n %p, %x, %x, %x : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_n_c3_shape(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error @+2 {{select_n: (C3) expected a scalar selector or one of the cases' shape, got 'tensor<3xi1>' for cases 'tensor<2xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.select_n %p, %x, %x : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_n_c3_element(%p: tensor<2xi64>, %x: tensor<2xf32>) {
  // expected-error @below {{'hjx.select_n' op operand #0 must be statically shaped tensor of 1-bit signless integer or 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %z = hjx.select_n %p, %x, %x : (tensor<2xi64>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @clamp_c1(%lo: tensor<3xf32>, %x: tensor<2x3xf32>) {
  // expected-error @+2 {{clamp: (C1) expected a bound of type 'tensor<2x3xf32>' or a scalar of its element type, got 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.clamp %lo, %x, %x : (tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @clamp_c1_element(%x: tensor<2x3xf32>, %hi: tensor<f64>) {
  // expected-error @+2 {{clamp: (C1) expected a bound of type 'tensor<2x3xf32>' or a scalar of its element type, got 'tensor<f64>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.clamp %x, %x, %hi : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @clamp_c2(%lo: tensor<f32>, %x: tensor<2x3xf32>) {
  // expected-error @+2 {{clamp: expected result 0 of type 'tensor<2x3xf32>', got 'tensor<f32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.clamp %lo, %x, %lo : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @convert_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.convert' op all non-scalar operands/results must have the same shape and base type}}
  %y = hjx.convert %x : tensor<2x3xf32> -> tensor<3xi32>
  return
}

// -----

func.func @convert_key(%x: tensor<2x!hjx.key<threefry2x32>>) {
  // expected-error @below {{'hjx.convert' op operand #0 must be statically shaped tensor of number or bool values}}
  %y = hjx.convert %x : tensor<2x!hjx.key<threefry2x32>> -> tensor<2xi32>
  return
}

// -----

func.func @bitcast_c1_same_width(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.bitcast' op (C1) expected result 'tensor<2x3xi32>', got 'tensor<3x2xi32>'}}
  %y = hjx.bitcast %x : tensor<2x3xf32> -> tensor<3x2xi32>
  return
}

// -----

func.func @bitcast_c1_narrower(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.bitcast' op (C1) expected result 'tensor<2x3x2xui16>', got 'tensor<2x6xui16>'}}
  %y = hjx.bitcast %x : tensor<2x3xf32> -> tensor<2x6xui16>
  return
}

// -----

func.func @bitcast_c1_wider(%x: tensor<2x3xui16>) {
  // expected-error @below {{'hjx.bitcast' op (C1) expected a trailing dimension of 2 in the operand, got 'tensor<2x3xui16>'}}
  %y = hjx.bitcast %x : tensor<2x3xui16> -> tensor<2xf32>
  return
}

// -----

// expected-error @below {{unknown key generator 'philox'; known: threefry2x32}}
func.func @key_type(%k: tensor<4x!hjx.key<philox>>) {
  return
}
