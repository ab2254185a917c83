// RUN: hjx-opt %s --hjx-interpret
// Random keys and bits are JAX's, bit for bit (partitionable threefry).
// Made by bench/jax/goldens.py with JAX 0.10.2 on a CPU; edit that instead.

func.func @seed_i32_0() {
  %s = hjx.constant dense<0> : tensor<i32>
  %k = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 0]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i32_1701() {
  %s = hjx.constant dense<1701> : tensor<i32>
  %k = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 1701]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i32_minus_1() {
  %s = hjx.constant dense<-1> : tensor<i32>
  %k = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 4294967295]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i32_2147483647() {
  %s = hjx.constant dense<2147483647> : tensor<i32>
  %k = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 2147483647]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i64_minus_1() {
  %s = hjx.constant dense<-1> : tensor<i64>
  %k = hjx.random_seed %s : tensor<i64> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[4294967295, 4294967295]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i64_1099511627783() {
  %s = hjx.constant dense<1099511627783> : tensor<i64>
  %k = hjx.random_seed %s : tensor<i64> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[256, 7]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_ui32() {
  %s = hjx.constant dense<4294967291> : tensor<ui32>
  %k = hjx.random_seed %s : tensor<ui32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 4294967291]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_i8() {
  %s = hjx.constant dense<-3> : tensor<i8>
  %k = hjx.random_seed %s : tensor<i8> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[0, 4294967293]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @seed_many() {
  %s = hjx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %k = hjx.random_seed %s : tensor<2x3xi32> -> tensor<2x3x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<2x3x!hjx.key<threefry2x32>> -> tensor<2x3x2xui32>
  %e0 = hjx.constant dense<[[[0, 1], [0, 2], [0, 3]], [[0, 4], [0, 5], [0, 6]]]> : tensor<2x3x2xui32>
  check.expect_eq %r0, %e0 : tensor<2x3x2xui32>
  return
}

func.func @split_2() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_split %k0 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x2xui32>
  %e0 = hjx.constant dense<[[1832780943, 270669613], [64467757, 2916123636]]> : tensor<2x2xui32>
  check.expect_eq %r0, %e0 : tensor<2x2xui32>
  return
}

func.func @split_5() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_split %k0 shape = [5] : tensor<!hjx.key<threefry2x32>> -> tensor<5x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<5x!hjx.key<threefry2x32>> -> tensor<5x2xui32>
  %e0 = hjx.constant dense<[[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827], [3134548294, 894150801], [2954079971, 3276725750]]> : tensor<5x2xui32>
  check.expect_eq %r0, %e0 : tensor<5x2xui32>
  return
}

func.func @split_2x3() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_split %k0 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<2x3x!hjx.key<threefry2x32>> -> tensor<2x3x2xui32>
  %e0 = hjx.constant dense<[[[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]], [[3134548294, 894150801], [2954079971, 3276725750], [2765691542, 824333390]]]> : tensor<2x3x2xui32>
  check.expect_eq %r0, %e0 : tensor<2x3x2xui32>
  return
}

func.func @fold_in_0() {
  %s = hjx.constant dense<42> : tensor<i32>
  %n = hjx.constant dense<0> : tensor<ui32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_fold_in %k0, %n : (tensor<!hjx.key<threefry2x32>>, tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[1832780943, 270669613]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @fold_in_1() {
  %s = hjx.constant dense<42> : tensor<i32>
  %n = hjx.constant dense<1> : tensor<ui32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_fold_in %k0, %n : (tensor<!hjx.key<threefry2x32>>, tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[64467757, 2916123636]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @fold_in_4294967295() {
  %s = hjx.constant dense<42> : tensor<i32>
  %n = hjx.constant dense<4294967295> : tensor<ui32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_fold_in %k0, %n : (tensor<!hjx.key<threefry2x32>>, tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<!hjx.key<threefry2x32>> -> tensor<2xui32>
  %e0 = hjx.constant dense<[2398536845, 3890976714]> : tensor<2xui32>
  check.expect_eq %r0, %e0 : tensor<2xui32>
  return
}

func.func @bits_8_scalar() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 8 shape = [] : tensor<!hjx.key<threefry2x32>> -> tensor<ui8>
  %e0 = hjx.constant dense<162> : tensor<ui8>
  check.expect_eq %r0, %e0 : tensor<ui8>
  return
}

func.func @bits_8_7() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 8 shape = [7] : tensor<!hjx.key<threefry2x32>> -> tensor<7xui8>
  %e0 = hjx.constant dense<[162, 217, 249, 215, 21, 216, 153]> : tensor<7xui8>
  check.expect_eq %r0, %e0 : tensor<7xui8>
  return
}

func.func @bits_8_2x3() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 8 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui8>
  %e0 = hjx.constant dense<[[162, 217, 249], [215, 21, 216]]> : tensor<2x3xui8>
  check.expect_eq %r0, %e0 : tensor<2x3xui8>
  return
}

func.func @bits_16_scalar() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 16 shape = [] : tensor<!hjx.key<threefry2x32>> -> tensor<ui16>
  %e0 = hjx.constant dense<5026> : tensor<ui16>
  check.expect_eq %r0, %e0 : tensor<ui16>
  return
}

func.func @bits_16_7() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 16 shape = [7] : tensor<!hjx.key<threefry2x32>> -> tensor<7xui16>
  %e0 = hjx.constant dense<[5026, 12505, 63993, 49623, 29461, 20184, 47001]> : tensor<7xui16>
  check.expect_eq %r0, %e0 : tensor<7xui16>
  return
}

func.func @bits_16_2x3() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 16 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui16>
  %e0 = hjx.constant dense<[[5026, 12505, 63993], [49623, 29461, 20184]]> : tensor<2x3xui16>
  check.expect_eq %r0, %e0 : tensor<2x3xui16>
  return
}

func.func @bits_32_scalar() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 32 shape = [] : tensor<!hjx.key<threefry2x32>> -> tensor<ui32>
  %e0 = hjx.constant dense<2098992034> : tensor<ui32>
  check.expect_eq %r0, %e0 : tensor<ui32>
  return
}

func.func @bits_32_7() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 32 shape = [7] : tensor<!hjx.key<threefry2x32>> -> tensor<7xui32>
  %e0 = hjx.constant dense<[2098992034, 2919706841, 2646866425, 2409546199, 1935504149, 2516274904, 321304473]> : tensor<7xui32>
  check.expect_eq %r0, %e0 : tensor<7xui32>
  return
}

func.func @bits_32_2x3() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 32 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui32>
  %e0 = hjx.constant dense<[[2098992034, 2919706841, 2646866425], [2409546199, 1935504149, 2516274904]]> : tensor<2x3xui32>
  check.expect_eq %r0, %e0 : tensor<2x3xui32>
  return
}

func.func @bits_64_scalar() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 64 shape = [] : tensor<!hjx.key<threefry2x32>> -> tensor<ui64>
  %e0 = hjx.constant dense<7871734211187709741> : tensor<ui64>
  check.expect_eq %r0, %e0 : tensor<ui64>
  return
}

func.func @bits_64_7() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 64 shape = [7] : tensor<!hjx.key<threefry2x32>> -> tensor<7xui64>
  %e0 = hjx.constant dense<[7871734211187709741, 276886910877598708, 10591095138341673235, 13462782411356743825, 12687676868490354166, 11878554724538143822, 11891408507324363409]> : tensor<7xui64>
  check.expect_eq %r0, %e0 : tensor<7xui64>
  return
}

func.func @bits_64_2x3() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k0 width = 64 shape = [2, 3] : tensor<!hjx.key<threefry2x32>> -> tensor<2x3xui64>
  %e0 = hjx.constant dense<[[7871734211187709741, 276886910877598708, 10591095138341673235], [13462782411356743825, 12687676868490354166, 11878554724538143822]]> : tensor<2x3xui64>
  check.expect_eq %r0, %e0 : tensor<2x3xui64>
  return
}

func.func @bits_of_many_keys() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k = hjx.random_split %k0 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %r0 = hjx.random_bits %k width = 32 shape = [3] : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x3xui32>
  %e0 = hjx.constant dense<[[2277453133, 1345880512, 3872043189], [3125294276, 3383865362, 780371127]]> : tensor<2x3xui32>
  check.expect_eq %r0, %e0 : tensor<2x3xui32>
  return
}

func.func @split_many_keys() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k1 = hjx.random_split %k0 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %k = hjx.random_split %k1 shape = [3] : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x3x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<2x3x!hjx.key<threefry2x32>> -> tensor<2x3x2xui32>
  %e0 = hjx.constant dense<[[[1012194634, 3152801799], [1705926158, 899080142], [4095997477, 317277840]], [[3187376881, 129218101], [2350016172, 1168365246], [257214496, 567757975]]]> : tensor<2x3x2xui32>
  check.expect_eq %r0, %e0 : tensor<2x3x2xui32>
  return
}

func.func @fold_in_many() {
  %s = hjx.constant dense<42> : tensor<i32>
  %n = hjx.constant dense<[7, 8]> : tensor<2xui32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %k1 = hjx.random_split %k0 shape = [2] : tensor<!hjx.key<threefry2x32>> -> tensor<2x!hjx.key<threefry2x32>>
  %k = hjx.random_fold_in %k1, %n : (tensor<2x!hjx.key<threefry2x32>>, tensor<2xui32>) -> tensor<2x!hjx.key<threefry2x32>>
  %r0 = hjx.random_unwrap %k : tensor<2x!hjx.key<threefry2x32>> -> tensor<2x2xui32>
  %e0 = hjx.constant dense<[[441521444, 805305679], [2113930404, 269089954]]> : tensor<2x2xui32>
  check.expect_eq %r0, %e0 : tensor<2x2xui32>
  return
}

func.func @uniform() {
  %s = hjx.constant dense<42> : tensor<i32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %bits = hjx.random_bits %k0 width = 32 shape = [6] : tensor<!hjx.key<threefry2x32>> -> tensor<6xui32>
  %nine = hjx.constant dense<9> : tensor<6xui32>
  %exponent = hjx.constant dense<1065353216> : tensor<6xui32>
  %mantissa = hjx.shift_right_logical %bits, %nine : tensor<6xui32>
  %word = hjx.or %mantissa, %exponent : tensor<6xui32>
  %float = hjx.bitcast %word : tensor<6xui32> -> tensor<6xf32>
  %one = hjx.constant dense<1.0> : tensor<6xf32>
  %r0 = hjx.sub %float, %one : tensor<6xf32>
  %e0 = hjx.constant dense<[0.48870957, 0.6797972, 0.6162715, 0.5610161, 0.4506446, 0.58586586]> : tensor<6xf32>
  check.expect_eq %r0, %e0 : tensor<6xf32>
  return
}

func.func @normal() {
  %s = hjx.constant dense<42> : tensor<i32>
  %lo = hjx.constant dense<[-0.99999994, -0.99999994, -0.99999994, -0.99999994, -0.99999994, -0.99999994]> : tensor<6xf32>
  %span = hjx.constant dense<[2.0, 2.0, 2.0, 2.0, 2.0, 2.0]> : tensor<6xf32>
  %sqrt2 = hjx.constant dense<[1.4142135, 1.4142135, 1.4142135, 1.4142135, 1.4142135, 1.4142135]> : tensor<6xf32>
  %k0 = hjx.random_seed %s : tensor<i32> -> tensor<!hjx.key<threefry2x32>>
  %bits = hjx.random_bits %k0 width = 32 shape = [6] : tensor<!hjx.key<threefry2x32>> -> tensor<6xui32>
  %nine = hjx.constant dense<9> : tensor<6xui32>
  %exponent = hjx.constant dense<1065353216> : tensor<6xui32>
  %mantissa = hjx.shift_right_logical %bits, %nine : tensor<6xui32>
  %word = hjx.or %mantissa, %exponent : tensor<6xui32>
  %float = hjx.bitcast %word : tensor<6xui32> -> tensor<6xf32>
  %one = hjx.constant dense<1.0> : tensor<6xf32>
  %unit = hjx.sub %float, %one : tensor<6xf32>
  %scaled = hjx.mul %unit, %span : tensor<6xf32>
  %shifted = hjx.add %scaled, %lo : tensor<6xf32>
  %u = hjx.max %shifted, %lo : tensor<6xf32>
  %z = hjx.erf_inv %u : tensor<6xf32>
  %r0 = hjx.mul %sqrt2, %z : tensor<6xf32>
  %e0 = hjx.constant dense<[-0.028304616, 0.46713185, 0.29570296, 0.15354592, -0.12403282, 0.21692315]> : tensor<6xf32>
  check.expect_close %r0, %e0 ulps = 8 : tensor<6xf32>
  return
}

func.func @threefry2x32_known_answers() {
  %k0 = hjx.constant dense<[0, 4294967295, 320440878]> : tensor<3xui32>
  %k1 = hjx.constant dense<[0, 4294967295, 57701188]> : tensor<3xui32>
  %x0 = hjx.constant dense<[0, 4294967295, 608135816]> : tensor<3xui32>
  %x1 = hjx.constant dense<[0, 4294967295, 2242054355]> : tensor<3xui32>
  %r0, %r1 = hjx.threefry2x32 %k0, %k1, %x0, %x1 : tensor<3xui32>
  %e0 = hjx.constant dense<[1797259609, 481924860, 3297917596]> : tensor<3xui32>
  check.expect_eq %r0, %e0 : tensor<3xui32>
  %e1 = hjx.constant dense<[2579123966, 3137350631, 1212020640]> : tensor<3xui32>
  check.expect_eq %r1, %e1 : tensor<3xui32>
  return
}
