// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of random ops refuse.

func.func @threefry_c1(%k: tensor<4xui32>, %x: tensor<3xui32>) {
  // expected-error @below {{'hjx.threefry2x32' op all non-scalar operands/results must have the same shape and base type}}
  %y0, %y1 = "hjx.threefry2x32"(%k, %k, %x, %x) : (tensor<4xui32>, tensor<4xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<4xui32>, tensor<4xui32>)
  return
}

// -----

func.func @random_wrap_c1(%w: tensor<2x3xui32>) {
  // expected-error @+2 {{random_wrap: (C1) expected a last dimension of 2, got 'tensor<2x3xui32>'}}
  // expected-error @below {{failed to infer returned types}}
  %k = hjx.random_wrap %w : tensor<2x3xui32> -> tensor<2x!hjx.key<threefry2x32>>
  return
}

// -----

func.func @random_unwrap_c1(%k: tensor<4x!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_unwrap: expected result 0 of type 'tensor<4x2xui32>', got 'tensor<2x4xui32>'}}
  // expected-error @below {{failed to infer returned types}}
  %w = hjx.random_unwrap %k : tensor<4x!hjx.key<threefry2x32>> -> tensor<2x4xui32>
  return
}

// -----

func.func @random_seed_c1(%s: tensor<4xi32>) {
  // expected-error @+2 {{random_seed: expected result 0 of type 'tensor<4x!hjx.key<threefry2x32>>', got 'tensor<!hjx.key<threefry2x32>>'}}
  // expected-error @below {{failed to infer returned types}}
  %k = hjx.random_seed %s : tensor<4xi32> -> tensor<!hjx.key<threefry2x32>>
  return
}

// -----

func.func @random_split_c1(%k: tensor<!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_split: (C1) expected a shape without negative sizes, got [-2]}}
  // expected-error @below {{failed to infer returned types}}
  %k2 = hjx.random_split %k shape = [-2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  return
}

// -----

func.func @random_split_result(%k: tensor<4x!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_split: expected result 0 of type 'tensor<4x2x!hjx.key<threefry2x32>>', got 'tensor<2x4x!hjx.key<threefry2x32>>'}}
  // expected-error @below {{failed to infer returned types}}
  %k2 = hjx.random_split %k shape = [2] : tensor<4x!hjx.key<threefry2x32>> -> tensor<2x4x!hjx.key<threefry2x32>>
  return
}

// -----

func.func @random_fold_in_c1(%k: tensor<4x!hjx.key<threefry2x32>>, %d: tensor<3xui32>) {
  // expected-error @+2 {{random_fold_in: (C1) expected data with the keys' shape 'tensor<4x!hjx.key<threefry2x32>>', got 'tensor<3xui32>'}}
  // expected-error @below {{failed to infer returned types}}
  %k2 = hjx.random_fold_in %k, %d : (tensor<4x!hjx.key<threefry2x32>>, tensor<3xui32>) -> tensor<4x!hjx.key<threefry2x32>>
  return
}

// -----

func.func @random_bits_c1(%k: tensor<!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_bits: (C1) expected width 8, 16, 32 or 64, got 4}}
  // expected-error @below {{failed to infer returned types}}
  %b = hjx.random_bits %k width = 4 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2xui8>
  return
}

// -----

func.func @random_bits_c2_shape(%k: tensor<!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_bits: (C2) expected a shape without negative sizes, got [-1]}}
  // expected-error @below {{failed to infer returned types}}
  %b = hjx.random_bits %k width = 8 shape = [-1] : tensor<!hjx.key<threefry2x32>> -> tensor<2xui8>
  return
}

// -----

func.func @random_bits_c2(%k: tensor<4x!hjx.key<threefry2x32>>) {
  // expected-error @+2 {{random_bits: expected result 0 of type 'tensor<4x2xui8>', got 'tensor<4x2xui16>'}}
  // expected-error @below {{failed to infer returned types}}
  %b = hjx.random_bits %k width = 8 shape = [2] : tensor<4x!hjx.key<threefry2x32>> -> tensor<4x2xui16>
  return
}
