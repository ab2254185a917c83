// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of gather and scatter refuse.

func.func @gather_c1(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+2 {{gather: (C1) slice_sizes [1, 4] do not fit in 'tensor<5x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 1, 4>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c2_overlap(%x: tensor<5x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+2 {{gather: (C2) collapsed_slice_dims [0] and operand_batching_dims [0] are not ascending, disjoint dimensions of 'tensor<5x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64: 0>,
      start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 3>}
      : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gather_c2_size(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+2 {{gather: (C2) expected slice size 1 in collapsed or batching dimension 0, got 2}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 2, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c3_length(%x: tensor<5x3xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+2 {{gather: (C3) expected one distinct indices dimension for each of operand_batching_dims [0], got [] of 'tensor<5x1xi32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>,
      start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @gather_c3_size(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+2 {{gather: (C3) batching dimensions differ: operand 'tensor<5x3xf32>' has 5 in dimension 0, indices 'tensor<4x1xi32>' has 4 in dimension 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>,
      start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 3>}
      : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<5x3xf32>, %i: tensor<4x2xi32>) {
  // expected-error @+2 {{gather: (C4) expected start_index_map to name 2 distinct, unbatched dimensions of 'tensor<5x3xf32>', got [0]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c4_scalar(%x: tensor<5x3xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{gather: (C4) expected indices with a last dimension for the index vector, got 'tensor<i32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c5(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+2 {{gather: (C5) expected 1 ascending offset_dims below 2, got [2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.gather %x, %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 1, 3>} : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf64>) {
  // expected-error @+2 {{scatter: (C1) expected updates with the element type of 'tensor<5x3xf32>', got 'tensor<4x3xf64>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c1_add(%x: tensor<5x3xi1>, %i: tensor<4x1xi32>, %u: tensor<4x3xi1>) {
  // expected-error @+2 {{scatter: (C1) add needs numbers, got 'tensor<5x3xi1>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xi1>, tensor<4x1xi32>, tensor<4x3xi1>) -> tensor<5x3xi1>
  return
}

// -----

func.func @scatter_c2(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) {
  // expected-error @+2 {{scatter: (C2) inserted_window_dims [0, 0] and operand_batching_dims [] are not ascending, disjoint dimensions of 'tensor<5x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0, 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) {
  // expected-error @+2 {{scatter: (C3) batching dimensions differ: operand 'tensor<5x3xf32>' has 5 in dimension 0, indices 'tensor<4x1xi32>' has 4 in dimension 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64>,
      operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 1>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) {
  // expected-error @+2 {{scatter: (C4) expected scatter_dims_to_operand_dims to name 1 distinct, unbatched dimensions of 'tensor<5x3xf32>', got [2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 2>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c5(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) {
  // expected-error @+2 {{scatter: (C5) expected 1 ascending update_window_dims of 'tensor<4x3xf32>', got [0, 1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 0, 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c6(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x7xf32>) {
  // expected-error @+2 {{scatter: (C6) window dimension 1 of updates 'tensor<4x7xf32>' is larger than dimension 1 of 'tensor<5x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x7xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @scatter_c7(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<6x3xf32>) {
  // expected-error @+2 {{scatter: (C7) updates 'tensor<6x3xf32>' outside update_window_dims [1] do not have the dimensions of indices 'tensor<4x1xi32>' without the last}}
  // expected-error @below {{failed to infer returned types}}
  %y = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return
}
