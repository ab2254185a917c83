// RUN: hjx-opt %s --hjx-to-pure --hjx-interpret
// Derivatives where a choice was made: kinks, ties, zeros, clamped and repeated
// indices. Expected values are JAX 0.10.2's (lax functions, f64, cotangent 1),
// but for pow at 0^0, where JAX has NaN in the base.

// abs'(0) = 1.
func.func private @abs(%x: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.abs %x : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_abs() {
  %x = hjx.constant dense<[-2.0, 0.0, 3.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @abs(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[-1.0, 1.0, 1.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @sqrt(%x: tensor<2xf64>) -> tensor<2xf64> {
  %r = hjx.sqrt %x : tensor<2xf64>
  return %r : tensor<2xf64>
}
func.func @check_sqrt() {
  %x = hjx.constant dense<[0.0, 4.0]> : tensor<2xf64>
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %r, %x_bar = hjx.vjp @sqrt(%x) cotangents(%one) active = [true] : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  %e0 = hjx.constant dense<[0x7FF0000000000000, 0.25]> : tensor<2xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<2xf64>
  return
}

func.func private @rsqrt(%x: tensor<1xf64>) -> tensor<1xf64> {
  %r = hjx.rsqrt %x : tensor<1xf64>
  return %r : tensor<1xf64>
}
func.func @check_rsqrt() {
  %x = hjx.constant dense<[4.0]> : tensor<1xf64>
  %one = hjx.constant dense<1.0> : tensor<1xf64>
  %r, %x_bar = hjx.vjp @rsqrt(%x) cotangents(%one) active = [true] : (tensor<1xf64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>)
  %e0 = hjx.constant dense<[-0.0625]> : tensor<1xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<1xf64>
  return
}

// No overflow far out.
func.func private @logistic(%x: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.logistic %x : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_logistic() {
  %x = hjx.constant dense<[-800.0, 0.0, 800.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @logistic(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[0.0, 0.25, 0.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @tanh(%x: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.tanh %x : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_tanh() {
  %x = hjx.constant dense<[-30.0, 0.0, 30.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @tanh(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[0.0, 1.0, 0.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @erf_inv(%x: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.erf_inv %x : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_erf_inv() {
  %x = hjx.constant dense<[-0.5, 0.0, 0.9]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @erf_inv(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[1.1125848189719496, 0.8862269254527579, 3.4280428114518395]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @log1p(%x: tensor<2xf64>) -> tensor<2xf64> {
  %r = hjx.log1p %x : tensor<2xf64>
  return %r : tensor<2xf64>
}
func.func @check_log1p() {
  %x = hjx.constant dense<[-0.5, 0.0]> : tensor<2xf64>
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %r, %x_bar = hjx.vjp @log1p(%x) cotangents(%one) active = [true] : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  %e0 = hjx.constant dense<[2.0, 1.0]> : tensor<2xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<2xf64>
  return
}

func.func private @expm1(%x: tensor<2xf64>) -> tensor<2xf64> {
  %r = hjx.expm1 %x : tensor<2xf64>
  return %r : tensor<2xf64>
}
func.func @check_expm1() {
  %x = hjx.constant dense<[-0.5, 0.0]> : tensor<2xf64>
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %r, %x_bar = hjx.vjp @expm1(%x) cotangents(%one) active = [true] : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  %e0 = hjx.constant dense<[0.6065306597126334, 1.0]> : tensor<2xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<2xf64>
  return
}

// A tie is split evenly.
func.func private @max(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.max %x, %y : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_max() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %y = hjx.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar, %y_bar = hjx.vjp @max(%x, %y) cotangents(%one) active = [true, true] : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[0.0, 0.5, 1.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  %e1 = hjx.constant dense<[1.0, 0.5, 0.0]> : tensor<3xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @min(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.min %x, %y : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_min() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %y = hjx.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar, %y_bar = hjx.vjp @min(%x, %y) cotangents(%one) active = [true, true] : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[1.0, 0.5, 0.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  %e1 = hjx.constant dense<[0.0, 0.5, 1.0]> : tensor<3xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

func.func private @rem(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %r = hjx.rem %x, %y : tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_rem() {
  %x = hjx.constant dense<[5.0, -5.0, 7.0]> : tensor<3xf64>
  %y = hjx.constant dense<[3.0, 3.0, -2.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar, %y_bar = hjx.vjp @rem(%x, %y) cotangents(%one) active = [true, true] : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  %e1 = hjx.constant dense<[-1.0, 1.0, 3.0]> : tensor<3xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

// At x = 0, and where the exponent has no derivative.
func.func private @pow(%x: tensor<8xf64>, %y: tensor<8xf64>) -> tensor<8xf64> {
  %r = hjx.pow %x, %y : tensor<8xf64>
  return %r : tensor<8xf64>
}
func.func @check_pow() {
  %x = hjx.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 2.0, -2.0, 4.0]> : tensor<8xf64>
  %y = hjx.constant dense<[2.0, 1.0, 0.5, 3.0, 0.0, 0.0, 3.0, 0.5]> : tensor<8xf64>
  %one = hjx.constant dense<1.0> : tensor<8xf64>
  %r, %x_bar, %y_bar = hjx.vjp @pow(%x, %y) cotangents(%one) active = [true, true] : (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  %e0 = hjx.constant dense<[0.0, 1.0, 0x7FF0000000000000, 0.0, 0.0, 0.0, 12.0, 0.25]> : tensor<8xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<8xf64>
  %e1 = hjx.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 0.6931471805599453, 0x7FF8000000000000, 2.772588722239781]> : tensor<8xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<8xf64>
  return
}

// Flat at the bounds.
func.func private @clamp(%x: tensor<5xf64>, %y: tensor<5xf64>, %z: tensor<5xf64>) -> tensor<5xf64> {
  %r = hjx.clamp %x, %y, %z : (tensor<5xf64>, tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
  return %r : tensor<5xf64>
}
func.func @check_clamp() {
  %x = hjx.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0]> : tensor<5xf64>
  %y = hjx.constant dense<[-1.0, 0.0, 0.5, 1.0, 2.0]> : tensor<5xf64>
  %z = hjx.constant dense<[1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<5xf64>
  %one = hjx.constant dense<1.0> : tensor<5xf64>
  %r, %x_bar, %y_bar, %z_bar = hjx.vjp @clamp(%x, %y, %z) cotangents(%one) active = [true, true, true] : (tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>)
  %e0 = hjx.constant dense<[1.0, 0.0, 0.0, 0.0, 0.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  %e1 = hjx.constant dense<[0.0, 0.0, 1.0, 0.0, 0.0]> : tensor<5xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  %e2 = hjx.constant dense<[0.0, 0.0, 0.0, 0.0, 1.0]> : tensor<5xf64>
  check.expect_close %z_bar, %e2 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  return
}

// Scalar bounds sum what they win.
func.func private @clamp_scalars(%x: tensor<f64>, %y: tensor<5xf64>, %z: tensor<f64>) -> tensor<5xf64> {
  %r = hjx.clamp %x, %y, %z : (tensor<f64>, tensor<5xf64>, tensor<f64>) -> tensor<5xf64>
  return %r : tensor<5xf64>
}
func.func @check_clamp_scalars() {
  %x = hjx.constant dense<0.0> : tensor<f64>
  %y = hjx.constant dense<[-1.0, -2.0, 0.5, 1.0, 2.0]> : tensor<5xf64>
  %z = hjx.constant dense<1.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<5xf64>
  %r, %x_bar, %y_bar, %z_bar = hjx.vjp @clamp_scalars(%x, %y, %z) cotangents(%one) active = [true, true, true] : (tensor<f64>, tensor<5xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<f64>, tensor<5xf64>, tensor<f64>)
  %e0 = hjx.constant dense<2.0> : tensor<f64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  %e1 = hjx.constant dense<[0.0, 0.0, 1.0, 0.0, 0.0]> : tensor<5xf64>
  check.expect_close %y_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  %e2 = hjx.constant dense<1.0> : tensor<f64>
  check.expect_close %z_bar, %e2 rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  return
}

// The mean over the places that reach the maximum.
func.func private @reduce_max(%x: tensor<2x3xf64>) -> tensor<2xf64> {
  %r = hjx.reduce_max %x axes = [1] : tensor<2x3xf64> -> tensor<2xf64>
  return %r : tensor<2xf64>
}
func.func @check_reduce_max() {
  %x = hjx.constant dense<[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf64>
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %r, %x_bar = hjx.vjp @reduce_max(%x) cotangents(%one) active = [true] : (tensor<2x3xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2x3xf64>)
  %e0 = hjx.constant dense<[[0.0, 0.5, 0.5], [0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]> : tensor<2x3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<2x3xf64>
  return
}

// Exact with zeros.
func.func private @reduce_prod(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %r = hjx.reduce_prod %x axes = [1] : tensor<3x3xf64> -> tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_reduce_prod() {
  %x = hjx.constant dense<[[2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]]> : tensor<3x3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @reduce_prod(%x) cotangents(%one) active = [true] : (tensor<3x3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  %e0 = hjx.constant dense<[[0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [12.0, 8.0, 6.0]]> : tensor<3x3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3x3xf64>
  return
}

// Of repeated indices the last update wins.
func.func private @scatter_set(%x: tensor<5xf64>, %y: tensor<4x1xi32>, %z: tensor<4xf64>) -> tensor<5xf64> {
  %r = hjx.scatter set, %x, %y, %z {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<5xf64>, tensor<4x1xi32>, tensor<4xf64>) -> tensor<5xf64>
  return %r : tensor<5xf64>
}
func.func @check_scatter_set() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf64>
  %y = hjx.constant dense<[[1], [3], [1], [3]]> : tensor<4x1xi32>
  %z = hjx.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf64>
  %one = hjx.constant dense<1.0> : tensor<5xf64>
  %r, %x_bar, %z_bar = hjx.vjp @scatter_set(%x, %y, %z) cotangents(%one) active = [true, false, true] : (tensor<5xf64>, tensor<4x1xi32>, tensor<4xf64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>, tensor<4xf64>)
  %e0 = hjx.constant dense<[1.0, 0.0, 1.0, 0.0, 1.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  %e1 = hjx.constant dense<[0.0, 0.0, 1.0, 1.0]> : tensor<4xf64>
  check.expect_close %z_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<4xf64>
  return
}

// A dropped update has no cotangent.
func.func private @scatter_drop(%x: tensor<5xf64>, %y: tensor<3x1xi32>, %z: tensor<3xf64>) -> tensor<5xf64> {
  %r = hjx.scatter set, %x, %y, %z {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<5xf64>, tensor<3x1xi32>, tensor<3xf64>) -> tensor<5xf64>
  return %r : tensor<5xf64>
}
func.func @check_scatter_drop() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf64>
  %y = hjx.constant dense<[[1], [7], [-1]]> : tensor<3x1xi32>
  %z = hjx.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<5xf64>
  %r, %x_bar, %z_bar = hjx.vjp @scatter_drop(%x, %y, %z) cotangents(%one) active = [true, false, true] : (tensor<5xf64>, tensor<3x1xi32>, tensor<3xf64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[1.0, 0.0, 1.0, 1.0, 1.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  %e1 = hjx.constant dense<[1.0, 0.0, 0.0]> : tensor<3xf64>
  check.expect_close %z_bar, %e1 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

// Filled windows have no derivative.
func.func private @gather_fill(%x: tensor<5xf64>, %y: tensor<4x1xi32>) -> tensor<4xf64> {
  %r = hjx.gather %x, %y {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1>, mode = 1 : i32} : (tensor<5xf64>, tensor<4x1xi32>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
func.func @check_gather_fill() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf64>
  %y = hjx.constant dense<[[1], [7], [-9], [1]]> : tensor<4x1xi32>
  %one = hjx.constant dense<1.0> : tensor<4xf64>
  %r, %x_bar = hjx.vjp @gather_fill(%x, %y) cotangents(%one) active = [true, false] : (tensor<5xf64>, tensor<4x1xi32>, tensor<4xf64>) -> (tensor<4xf64>, tensor<5xf64>)
  %e0 = hjx.constant dense<[0.0, 2.0, 0.0, 0.0, 0.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  return
}

func.func private @gather_clip(%x: tensor<5xf64>, %y: tensor<3x1xi32>) -> tensor<3xf64> {
  %r = hjx.gather %x, %y {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1>} : (tensor<5xf64>, tensor<3x1xi32>) -> tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_gather_clip() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf64>
  %y = hjx.constant dense<[[1], [7], [1]]> : tensor<3x1xi32>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @gather_clip(%x, %y) cotangents(%one) active = [true, false] : (tensor<5xf64>, tensor<3x1xi32>, tensor<3xf64>) -> (tensor<3xf64>, tensor<5xf64>)
  %e0 = hjx.constant dense<[0.0, 2.0, 0.0, 0.0, 1.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  return
}

// The start is clamped, for the cotangent, too.
func.func private @dynamic_slice(%x: tensor<5xf64>, %y: tensor<i32>) -> tensor<2xf64> {
  %r = hjx.dynamic_slice %x [%y] sizes = [2] : (tensor<5xf64>, tensor<i32>) -> tensor<2xf64>
  return %r : tensor<2xf64>
}
func.func @check_dynamic_slice() {
  %x = hjx.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf64>
  %y = hjx.constant dense<4> : tensor<i32>
  %one = hjx.constant dense<1.0> : tensor<2xf64>
  %r, %x_bar = hjx.vjp @dynamic_slice(%x, %y) cotangents(%one) active = [true, false] : (tensor<5xf64>, tensor<i32>, tensor<2xf64>) -> (tensor<2xf64>, tensor<5xf64>)
  %e0 = hjx.constant dense<[0.0, 0.0, 0.0, 1.0, 1.0]> : tensor<5xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<5xf64>
  return
}

// The double where: the unused branch is safe, so no infinity meets a zero.
func.func private @where(%x: tensor<3xf64>) -> tensor<3xf64> {
  %zero = hjx.constant dense<0.0> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %p = hjx.compare gt, %x, %zero : tensor<3xf64> -> tensor<3xi1>
  %s = hjx.select_n %p, %one, %x : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %q = hjx.sqrt %s : tensor<3xf64>
  %r = hjx.select_n %p, %zero, %q : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %r : tensor<3xf64>
}
func.func @check_where() {
  %x = hjx.constant dense<[-1.0, 0.0, 4.0]> : tensor<3xf64>
  %one = hjx.constant dense<1.0> : tensor<3xf64>
  %r, %x_bar = hjx.vjp @where(%x) cotangents(%one) active = [true] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %e0 = hjx.constant dense<[0.0, 0.0, 0.25]> : tensor<3xf64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<3xf64>
  return
}

// A branch that is not taken does not poison: its square root of -1 is never computed.
func.func private @cond(%x: tensor<f64>) -> tensor<f64> {
  %zero = hjx.constant dense<0.0> : tensor<f64>
  %p = hjx.compare gt, %x, %zero : tensor<f64> -> tensor<i1>
  %r = hjx.cond %p, inputs(%x) : (tensor<i1>, tensor<f64>) -> tensor<f64> {
  ^bb0(%a: tensor<f64>):
    hjx.yield %a : tensor<f64>
  }, {
  ^bb0(%a: tensor<f64>):
    %s = hjx.sqrt %a : tensor<f64>
    hjx.yield %s : tensor<f64>
  }
  return %r : tensor<f64>
}
func.func @check_cond() {
  %x = hjx.constant dense<-1.0> : tensor<f64>
  %one = hjx.constant dense<1.0> : tensor<f64>
  %r, %x_bar = hjx.vjp @cond(%x) cotangents(%one) active = [true] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %e0 = hjx.constant dense<1.0> : tensor<f64>
  check.expect_close %x_bar, %e0 rtol = 1.0e-12 atol = 1.0e-300 : tensor<f64>
  return
}
