// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of contractions refuse.

func.func @dot_general_c1(%x: tensor<2x3xf32>, %y: tensor<3x4xf64>) {
  // expected-error @+2 {{dot_general: (C1) expected operands of one element type, got 'tensor<2x3xf32>' and 'tensor<3x4xf64>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_general_c2_lhs(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+2 {{dot_general: (C2) batching [0] and contracting [0] are not distinct dimensions of lhs 'tensor<2x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y batching = [0] x [0] contracting = [0] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_general_c2_rhs(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{dot_general: (C2) batching [] and contracting [2] are not distinct dimensions of rhs 'tensor<3x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y contracting = [1] x [2] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @dot_general_c3(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{dot_general: (C3) expected equally many batching and contracting dimensions on both sides}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y contracting = [1] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @dot_general_c4(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{dot_general: (C4) contracting dimensions differ: lhs 'tensor<2x3xf32>' has 3 in dimension 1, rhs 'tensor<3x4xf32>' has 4 in dimension 1}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y contracting = [1] x [1] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dot_general_c4_batching(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+2 {{dot_general: (C4) batching dimensions differ: lhs 'tensor<2x3xf32>' has 2 in dimension 0, rhs 'tensor<4x3xf32>' has 4 in dimension 0}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y batching = [0] x [0] contracting = [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dot_general_c5(%x: tensor<3xf32>) {
  // expected-error @+2 {{dot_general: (C5) expected accum to be a float type for operands of 'f32', got 'i32'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %x contracting = [0] x [0] accum = i32 : (tensor<3xf32>, tensor<3xf32>) -> tensor<i32>
  return
}

// -----

func.func @dot_general_result(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{dot_general: expected result 0 of type 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}
