// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of reductions refuse.

func.func @reduce_c1_range(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{reduce_sum: (C1) axes [2] are not ascending, distinct dimensions of 'tensor<2x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reduce_sum %x axes = [2] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c1_twice(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{reduce_max: (C1) axes [1, 1] are not ascending, distinct dimensions of 'tensor<2x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reduce_max %x axes = [1, 1] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{reduce_prod: expected result 0 of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reduce_prod %x axes = [1] : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @reduce_and_of_floats(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.reduce_and' op operand #0 must be statically shaped tensor of integer or bool values, but got 'tensor<2x3xf32>'}}
  %y = hjx.reduce_and %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @argmax_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.argmax' op (C1) expected axis to be a non-empty dimension of 'tensor<2x3xf32>', got 2}}
  %i = hjx.argmax %x axis = 2 : tensor<2x3xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmin_c1_empty(%x: tensor<2x0xf32>) {
  // expected-error @below {{'hjx.argmin' op (C1) expected axis to be a non-empty dimension of 'tensor<2x0xf32>', got 1}}
  %i = hjx.argmin %x axis = 1 : tensor<2x0xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmax_c2(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.argmax' op (C2) expected a result of shape [3], got 'tensor<2xi32>'}}
  %i = hjx.argmax %x axis = 0 : tensor<2x3xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmax_c2_element(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.argmax' op result #0 must be statically shaped tensor of integer values, but got 'tensor<3xf32>'}}
  %i = hjx.argmax %x axis = 0 : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @cumsum_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.cumsum' op (C1) expected axis in [0, 2), got -1}}
  %y = hjx.cumsum %x axis = -1 : tensor<2x3xf32>
  return
}

// -----

func.func @cumsum_c2(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.cumsum' op requires the same type for all operands and results}}
  %y = "hjx.cumsum"(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}
