// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of movement ops refuse.

func.func @constant_c1() {
  // expected-error @below {{'hjx.constant' op failed to verify that all of {value, result} have same type}}
  %c = "hjx.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_is_an_array() {
  // expected-error @below {{'hjx.constant' op result #0 must be statically shaped tensor of number or bool values, but got 'vector<2xf32>'}}
  %c = hjx.constant dense<1.0> : vector<2xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @below {{'hjx.iota' op (C1) expected dim in [0, 2), got 2}}
  %i = hjx.iota dim = 2 : tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_c1_count(%x: tensor<3xf32>) {
  // expected-error @+2 {{broadcast_in_dim: (C1) expected 1 ascending result dimensions below 2, got [0, 1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.broadcast_in_dim %x shape = [2, 3] dims = [0, 1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c1_ascending(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{broadcast_in_dim: (C1) expected 2 ascending result dimensions below 2, got [1, 0]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.broadcast_in_dim %x shape = [3, 2] dims = [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_c1_negative(%x: tensor<3xf32>) {
  // expected-error @+2 {{broadcast_in_dim: (C1) expected sizes that are not negative, got [-2, 3]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.broadcast_in_dim %x shape = [-2, 3] dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<3xf32>) {
  // expected-error @+2 {{broadcast_in_dim: (C2) dimension 0 of 'tensor<3xf32>' is neither 1 nor 2, the size of result dimension 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.broadcast_in_dim %x shape = [2, 3] dims = [0] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_result(%x: tensor<3xf32>) {
  // expected-error @+2 {{broadcast_in_dim: expected result 0 of type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.broadcast_in_dim %x shape = [2, 3] dims = [1] : tensor<3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{reshape: (C1) 'tensor<2x3xf32>' has 6 elements, shape [2, 2] has 4}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reshape %x shape = [2, 2] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @reshape_c1_negative(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{reshape: (C1) expected sizes that are not negative, got [-2, -3]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reshape %x shape = [-2, -3] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape_c1_overflow(%x: tensor<0xf32>) {
  // expected-error @+2 {{reshape: (C1) shape [4294967296, 4294967296] has more elements than 64 bits count}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.reshape %x shape = [4294967296, 4294967296] : tensor<0xf32> -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{transpose: (C1) [1, 1] does not permute the dimensions of 'tensor<2x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.transpose %x permutation = [1, 1] : tensor<2x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @rev_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.rev' op (C1) [0, 0] are not distinct dimensions of 'tensor<2x3xf32>'}}
  %y = hjx.rev %x dims = [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @rev_c2(%x: tensor<2x3xf32>) {
  // expected-error @below {{'hjx.rev' op requires the same type for all operands and results}}
  %y = "hjx.rev"(%x) {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @concatenate_c1() {
  // expected-error @+2 {{concatenate: (C1) expected at least one operand}}
  // expected-error @below {{failed to infer returned types}}
  %z = "hjx.concatenate"() {dimension = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{concatenate: (C2) expected dim in [0, 2), got -1}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.concatenate %x, %x dim = -1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+2 {{concatenate: (C3) 'tensor<2x3xf32>' and 'tensor<2x4xf32>' differ outside dimension 0}}
  // expected-error @below {{failed to infer returned types}}
  %z = hjx.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad: (C1) expected 2 entries in low, high and interior, interior none below 0, got [0], [0, 0], [0, 0]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.pad %x, %v low = [0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1_interior(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad: (C1) expected 1 entries in low, high and interior, interior none below 0, got [0], [0], [-1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.pad %x, %v low = [0] high = [0] interior = [-1] : (tensor<3xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<2x3xf32>, %v: tensor<1xf32>) {
  // expected-error @+2 {{pad: (C2) expected a padding value 'tensor<f32>', got 'tensor<1xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad: (C3) low -2 and high -2 remove more than dimension 1 of 'tensor<2x3xf32>' holds}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.pad %x, %v low = [0, -2] high = [0, -2] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x0xf32>
  return
}

// -----

func.func @pad_c3_overflow(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad: (C3) dimension 0 of 'tensor<3xf32>' grows beyond 64 bits}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.pad %x, %v low = [9223372036854775807] high = [9223372036854775807] interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{slice: (C1) expected 2 entries in start, limit and strides, got [0], [2], [1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.slice %x start = [0] limit = [2] strides = [1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{slice: (C2) expected 0 <= start <= limit <= 3 in dimension 1 of 'tensor<2x3xf32>', got 1 and 4}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.slice %x start = [0, 1] limit = [2, 4] strides = [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{slice: (C3) expected positive strides, got [1, 0]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.slice %x start = [0, 1] limit = [2, 3] strides = [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{dynamic_slice: (C1) expected 2 scalar start indices for 'tensor<2x3xf32>', got 1}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.dynamic_slice %x[%i] sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @dynamic_slice_c1_scalar(%x: tensor<3xf32>, %i: tensor<1xi32>) {
  // expected-error @+2 {{dynamic_slice: (C1) expected 1 scalar start indices for 'tensor<3xf32>', got 1, not all scalar}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.dynamic_slice %x[%i] sizes = [1] : (tensor<3xf32>, tensor<1xi32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<3xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{dynamic_slice: (C2) sizes [4] do not fit in 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.dynamic_slice %x[%i] sizes = [4] : (tensor<3xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<3xf32>, %u: tensor<2xf32>) {
  // expected-error @+2 {{dynamic_update_slice: (C1) expected 1 scalar start indices for 'tensor<3xf32>', got 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.dynamic_update_slice %x, %u[] : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<3xf32>, %u: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{dynamic_update_slice: (C2) update 'tensor<4xf32>' does not fit in 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.dynamic_update_slice %x, %u[%i] : (tensor<3xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}
