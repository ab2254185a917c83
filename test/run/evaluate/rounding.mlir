// RUN: hjx-opt %s --hjx-interpret
// Where results round, and how keys move: what JAX on a CPU does not pin down.

// Just above the middle of two bf16 neighbours: through f32 it would fall to 1.
func.func @convert_f64_bf16() {
  %x = hjx.constant dense<1.0039062509313226> : tensor<f64>
  %y = hjx.convert %x : tensor<f64> -> tensor<bf16>
  %e = hjx.constant dense<1.0078125> : tensor<bf16>
  check.expect_eq %y, %e : tensor<bf16>
  return
}

// Repeated indices: `set` keeps the last update, a bf16 `add` rounds after each
// (256 + 1 is 256 in bf16, so that 256 + 1 + 1 is 256).
func.func @scatter_repeated() {
  %x = hjx.constant dense<[0.0, 256.0]> : tensor<2xbf16>
  %i = hjx.constant dense<1> : tensor<2x1xi32>
  %u = hjx.constant dense<1.0> : tensor<2xbf16>
  %r = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<2xbf16>, tensor<2x1xi32>, tensor<2xbf16>) -> tensor<2xbf16>
  check.expect_eq %r, %x : tensor<2xbf16>
  %v = hjx.constant dense<[5.0, 6.0]> : tensor<2xbf16>
  %s = hjx.scatter set, %x, %i, %v {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>,
      scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<2xbf16>, tensor<2x1xi32>, tensor<2xbf16>) -> tensor<2xbf16>
  %e = hjx.constant dense<[0.0, 6.0]> : tensor<2xbf16>
  check.expect_eq %s, %e : tensor<2xbf16>
  return
}

// A reduction rounds once at the end: 256 + 1 + 1 is 258.
func.func @reduce() {
  %x = hjx.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
  %y = hjx.reduce_sum %x axes = [0] : tensor<3xbf16> -> tensor<bf16>
  %e = hjx.constant dense<258.0> : tensor<bf16>
  check.expect_eq %y, %e : tensor<bf16>
  return
}

// Keys move like any element, and a dropped gather gives all ones.
func.func @keys() {
  %w = hjx.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui32>
  %k = hjx.random_wrap %w : tensor<3x2xui32> -> tensor<3x!hjx.key<threefry2x32>>
  %i = hjx.constant dense<[[2], [7]]> : tensor<2x1xi32>
  %g = hjx.gather %k, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>,
      slice_sizes = array<i64: 1>, mode = 1 : i32} : (tensor<3x!hjx.key<threefry2x32>>, tensor<2x1xi32>) -> tensor<2x!hjx.key<threefry2x32>>
  %u = hjx.random_unwrap %g : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x2xui32>
  %e = hjx.constant dense<[[5, 6], [4294967295, 4294967295]]> : tensor<2x2xui32>
  check.expect_eq %u, %e : tensor<2x2xui32>
  return
}
