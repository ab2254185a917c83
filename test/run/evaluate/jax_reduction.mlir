// RUN: hjx-opt %s --hjx-interpret
// Reductions, contractions and running sums give JAX's values.
// Made by bench/jax/goldens.py with JAX 0.10.2 on a CPU; edit that instead.

func.func @sum_0() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_sum %x axes = [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  %e0 = hjx.constant dense<[[-2.1993005, -0.35089654, -0.60548836, -0.62736726], [-1.0799284, 0.04529491, 1.7156305, 1.9895943], [-0.8322699, 0.10104191, -1.2884691, 0.39283606]]> : tensor<3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<3x4xf32>
  return
}

func.func @sum_1() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_sum %x axes = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[-1.1136744, -1.0359313, 1.3211483, 1.093307], [-2.9978244, 0.8313716, -1.4994752, 0.66175604]]> : tensor<2x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x4xf32>
  return
}

func.func @sum_0_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_sum %x axes = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  %e0 = hjx.constant dense<[-3.783053, 2.6705914, -1.6268609]> : tensor<3xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<3xf32>
  return
}

func.func @sum_0_1_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_sum %x axes = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  %e0 = hjx.constant dense<-2.739323> : tensor<f32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<f32>
  return
}

func.func @sum_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_sum %x axes = [1] : tensor<2x3xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[-10, 59]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @sum_ui8() {
  %x = hjx.constant dense<[[194, 235, 73], [206, 87, 22]]> : tensor<2x3xui8>
  %r0 = hjx.reduce_sum %x axes = [0] : tensor<2x3xui8> -> tensor<3xui8>
  %e0 = hjx.constant dense<[144, 66, 95]> : tensor<3xui8>
  check.expect_eq %r0, %e0 : tensor<3xui8>
  return
}

func.func @sum_empty() {
  %x = hjx.constant dense<> : tensor<2x0xf32>
  %r0 = hjx.reduce_sum %x axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[0.0, 0.0]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @sum_empty_i8() {
  %x = hjx.constant dense<> : tensor<2x0xi8>
  %r0 = hjx.reduce_sum %x axes = [1] : tensor<2x0xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[0, 0]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @prod_0() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_prod %x axes = [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  %e0 = hjx.constant dense<[[-0.29232663, 0.028903442, -0.7979096, -0.076814935], [0.2915429, -0.114372574, 0.53676623, 0.98734456], [0.09045437, -1.7291522, 0.41459885, 0.0145264985]]> : tensor<3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<3x4xf32>
  return
}

func.func @prod_1() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_prod %x axes = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[0.047396448, 0.060447246, -0.52050346, 0.004105691], [-0.1626502, 0.09456451, 0.3411484, -0.2683423]]> : tensor<2x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x4xf32>
  return
}

func.func @prod_0_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_prod %x axes = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  %e0 = hjx.constant dense<[-0.0005178659, -0.017671699, -0.000942002]> : tensor<3xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<3xf32>
  return
}

func.func @prod_0_1_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_prod %x axes = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  %e0 = hjx.constant dense<-8.6207965e-09> : tensor<f32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<f32>
  return
}

func.func @prod_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_prod %x axes = [1] : tensor<2x3xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[70, 44]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @prod_ui8() {
  %x = hjx.constant dense<[[194, 235, 73], [206, 87, 22]]> : tensor<2x3xui8>
  %r0 = hjx.reduce_prod %x axes = [0] : tensor<2x3xui8> -> tensor<3xui8>
  %e0 = hjx.constant dense<[28, 221, 70]> : tensor<3xui8>
  check.expect_eq %r0, %e0 : tensor<3xui8>
  return
}

func.func @prod_empty() {
  %x = hjx.constant dense<> : tensor<2x0xf32>
  %r0 = hjx.reduce_prod %x axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[1.0, 1.0]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @prod_empty_i8() {
  %x = hjx.constant dense<> : tensor<2x0xi8>
  %r0 = hjx.reduce_prod %x axes = [1] : tensor<2x0xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[1, 1]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @max_0() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_max %x axes = [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  %e0 = hjx.constant dense<[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 1.0425134], [-0.12853466, 1.3664634, -0.62327445, 0.35151008]]> : tensor<3x4xf32>
  check.expect_eq %r0, %e0 : tensor<3x4xf32>
  return
}

func.func @max_1() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_max %x axes = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[0.12573022, 0.36159506, 1.304, 0.94708097], [-0.12853466, 1.3664634, 0.41163054, 1.0425134]]> : tensor<2x4xf32>
  check.expect_eq %r0, %e0 : tensor<2x4xf32>
  return
}

func.func @max_0_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_max %x axes = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  %e0 = hjx.constant dense<[0.64042264, 1.304, 1.3664634]> : tensor<3xf32>
  check.expect_eq %r0, %e0 : tensor<3xf32>
  return
}

func.func @max_0_1_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_max %x axes = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  %e0 = hjx.constant dense<1.3664634> : tensor<f32>
  check.expect_eq %r0, %e0 : tensor<f32>
  return
}

func.func @max_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_max %x axes = [1] : tensor<2x3xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[73, 87]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @max_ui8() {
  %x = hjx.constant dense<[[194, 235, 73], [206, 87, 22]]> : tensor<2x3xui8>
  %r0 = hjx.reduce_max %x axes = [0] : tensor<2x3xui8> -> tensor<3xui8>
  %e0 = hjx.constant dense<[206, 235, 73]> : tensor<3xui8>
  check.expect_eq %r0, %e0 : tensor<3xui8>
  return
}

func.func @max_empty() {
  %x = hjx.constant dense<> : tensor<2x0xf32>
  %r0 = hjx.reduce_max %x axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[0xFF800000, 0xFF800000]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @max_empty_i8() {
  %x = hjx.constant dense<> : tensor<2x0xi8>
  %r0 = hjx.reduce_max %x axes = [1] : tensor<2x0xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[-128, -128]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @min_0() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_min %x axes = [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  %e0 = hjx.constant dense<[[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 0.94708097], [-0.70373523, -1.2654215, -0.6651947, 0.04132598]]> : tensor<3x4xf32>
  check.expect_eq %r0, %e0 : tensor<3x4xf32>
  return
}

func.func @min_1() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_min %x axes = [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[-0.70373523, -1.2654215, -0.62327445, 0.04132598], [-2.3250308, -0.31630015, -1.245911, -0.7322674]]> : tensor<2x4xf32>
  check.expect_eq %r0, %e0 : tensor<2x4xf32>
  return
}

func.func @min_0_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_min %x axes = [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  %e0 = hjx.constant dense<[-2.3250308, -0.544259, -1.2654215]> : tensor<3xf32>
  check.expect_eq %r0, %e0 : tensor<3xf32>
  return
}

func.func @min_0_1_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.reduce_min %x axes = [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  %e0 = hjx.constant dense<-2.3250308> : tensor<f32>
  check.expect_eq %r0, %e0 : tensor<f32>
  return
}

func.func @min_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_min %x axes = [1] : tensor<2x3xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[-62, -50]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @min_ui8() {
  %x = hjx.constant dense<[[194, 235, 73], [206, 87, 22]]> : tensor<2x3xui8>
  %r0 = hjx.reduce_min %x axes = [0] : tensor<2x3xui8> -> tensor<3xui8>
  %e0 = hjx.constant dense<[194, 87, 22]> : tensor<3xui8>
  check.expect_eq %r0, %e0 : tensor<3xui8>
  return
}

func.func @min_empty() {
  %x = hjx.constant dense<> : tensor<2x0xf32>
  %r0 = hjx.reduce_min %x axes = [1] : tensor<2x0xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[0x7F800000, 0x7F800000]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @min_empty_i8() {
  %x = hjx.constant dense<> : tensor<2x0xi8>
  %r0 = hjx.reduce_min %x axes = [1] : tensor<2x0xi8> -> tensor<2xi8>
  %e0 = hjx.constant dense<[127, 127]> : tensor<2xi8>
  check.expect_eq %r0, %e0 : tensor<2xi8>
  return
}

func.func @max_nan() {
  %x = hjx.constant dense<[[1.0, 0x7FC00000, 3.0], [0xFF800000, 5.0, 4.0]]> : tensor<2x3xf32>
  %r0 = hjx.reduce_max %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[0x7FC00000, 5.0]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @min_nan() {
  %x = hjx.constant dense<[[1.0, 0x7FC00000, 3.0], [0xFF800000, 5.0, 4.0]]> : tensor<2x3xf32>
  %r0 = hjx.reduce_min %x axes = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %e0 = hjx.constant dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @and_i1() {
  %x = hjx.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %r0 = hjx.reduce_and %x axes = [1] : tensor<2x2xi1> -> tensor<2xi1>
  %e0 = hjx.constant dense<[false, true]> : tensor<2xi1>
  check.expect_eq %r0, %e0 : tensor<2xi1>
  return
}

func.func @and_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_and %x axes = [0] : tensor<2x3xi8> -> tensor<3xi8>
  %e0 = hjx.constant dense<[-62, 67, 0]> : tensor<3xi8>
  check.expect_eq %r0, %e0 : tensor<3xi8>
  return
}

func.func @and_empty_ui8() {
  %x = hjx.constant dense<> : tensor<2x0xui8>
  %r0 = hjx.reduce_and %x axes = [1] : tensor<2x0xui8> -> tensor<2xui8>
  %e0 = hjx.constant dense<[255, 255]> : tensor<2xui8>
  check.expect_eq %r0, %e0 : tensor<2xui8>
  return
}

func.func @or_i1() {
  %x = hjx.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %r0 = hjx.reduce_or %x axes = [1] : tensor<2x2xi1> -> tensor<2xi1>
  %e0 = hjx.constant dense<[true, true]> : tensor<2xi1>
  check.expect_eq %r0, %e0 : tensor<2xi1>
  return
}

func.func @or_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.reduce_or %x axes = [0] : tensor<2x3xi8> -> tensor<3xi8>
  %e0 = hjx.constant dense<[-50, -1, 95]> : tensor<3xi8>
  check.expect_eq %r0, %e0 : tensor<3xi8>
  return
}

func.func @or_empty_ui8() {
  %x = hjx.constant dense<> : tensor<2x0xui8>
  %r0 = hjx.reduce_or %x axes = [1] : tensor<2x0xui8> -> tensor<2xui8>
  %e0 = hjx.constant dense<[0, 0]> : tensor<2xui8>
  check.expect_eq %r0, %e0 : tensor<2xui8>
  return
}

func.func @argmax_f32_0() {
  %x = hjx.constant dense<[[1.0, 3.0, 3.0, 2.0], [0x7FC00000, 1.0, 0x7FC00000, 5.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [2.0, 0x7FC00000, 9.0, 9.0]]> : tensor<4x4xf32>
  %r0 = hjx.argmax %x axis = 0 : tensor<4x4xf32> -> tensor<4xi32>
  %e0 = hjx.constant dense<[1, 3, 1, 3]> : tensor<4xi32>
  check.expect_eq %r0, %e0 : tensor<4xi32>
  return
}

func.func @argmax_f32_1() {
  %x = hjx.constant dense<[[1.0, 3.0, 3.0, 2.0], [0x7FC00000, 1.0, 0x7FC00000, 5.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [2.0, 0x7FC00000, 9.0, 9.0]]> : tensor<4x4xf32>
  %r0 = hjx.argmax %x axis = 1 : tensor<4x4xf32> -> tensor<4xi32>
  %e0 = hjx.constant dense<[1, 0, 0, 1]> : tensor<4xi32>
  check.expect_eq %r0, %e0 : tensor<4xi32>
  return
}

func.func @argmax_i8_0() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.argmax %x axis = 0 : tensor<2x3xi8> -> tensor<3xi32>
  %e0 = hjx.constant dense<[1, 1, 0]> : tensor<3xi32>
  check.expect_eq %r0, %e0 : tensor<3xi32>
  return
}

func.func @argmax_i8_1() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.argmax %x axis = 1 : tensor<2x3xi8> -> tensor<2xi32>
  %e0 = hjx.constant dense<[2, 1]> : tensor<2xi32>
  check.expect_eq %r0, %e0 : tensor<2xi32>
  return
}

func.func @argmax_i1_0() {
  %x = hjx.constant dense<[[false, true, true], [false, false, false]]> : tensor<2x3xi1>
  %r0 = hjx.argmax %x axis = 0 : tensor<2x3xi1> -> tensor<3xi32>
  %e0 = hjx.constant dense<[0, 0, 0]> : tensor<3xi32>
  check.expect_eq %r0, %e0 : tensor<3xi32>
  return
}

func.func @argmax_i1_1() {
  %x = hjx.constant dense<[[false, true, true], [false, false, false]]> : tensor<2x3xi1>
  %r0 = hjx.argmax %x axis = 1 : tensor<2x3xi1> -> tensor<2xi32>
  %e0 = hjx.constant dense<[1, 0]> : tensor<2xi32>
  check.expect_eq %r0, %e0 : tensor<2xi32>
  return
}

func.func @argmin_f32_0() {
  %x = hjx.constant dense<[[1.0, 3.0, 3.0, 2.0], [0x7FC00000, 1.0, 0x7FC00000, 5.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [2.0, 0x7FC00000, 9.0, 9.0]]> : tensor<4x4xf32>
  %r0 = hjx.argmin %x axis = 0 : tensor<4x4xf32> -> tensor<4xi32>
  %e0 = hjx.constant dense<[1, 3, 1, 2]> : tensor<4xi32>
  check.expect_eq %r0, %e0 : tensor<4xi32>
  return
}

func.func @argmin_f32_1() {
  %x = hjx.constant dense<[[1.0, 3.0, 3.0, 2.0], [0x7FC00000, 1.0, 0x7FC00000, 5.0], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [2.0, 0x7FC00000, 9.0, 9.0]]> : tensor<4x4xf32>
  %r0 = hjx.argmin %x axis = 1 : tensor<4x4xf32> -> tensor<4xi32>
  %e0 = hjx.constant dense<[0, 0, 0, 1]> : tensor<4xi32>
  check.expect_eq %r0, %e0 : tensor<4xi32>
  return
}

func.func @argmin_i8_0() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.argmin %x axis = 0 : tensor<2x3xi8> -> tensor<3xi32>
  %e0 = hjx.constant dense<[0, 0, 1]> : tensor<3xi32>
  check.expect_eq %r0, %e0 : tensor<3xi32>
  return
}

func.func @argmin_i8_1() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.argmin %x axis = 1 : tensor<2x3xi8> -> tensor<2xi32>
  %e0 = hjx.constant dense<[0, 0]> : tensor<2xi32>
  check.expect_eq %r0, %e0 : tensor<2xi32>
  return
}

func.func @argmin_i1_0() {
  %x = hjx.constant dense<[[false, true, true], [false, false, false]]> : tensor<2x3xi1>
  %r0 = hjx.argmin %x axis = 0 : tensor<2x3xi1> -> tensor<3xi32>
  %e0 = hjx.constant dense<[0, 1, 1]> : tensor<3xi32>
  check.expect_eq %r0, %e0 : tensor<3xi32>
  return
}

func.func @argmin_i1_1() {
  %x = hjx.constant dense<[[false, true, true], [false, false, false]]> : tensor<2x3xi1>
  %r0 = hjx.argmin %x axis = 1 : tensor<2x3xi1> -> tensor<2xi32>
  %e0 = hjx.constant dense<[0, 0]> : tensor<2xi32>
  check.expect_eq %r0, %e0 : tensor<2xi32>
  return
}

func.func @cumsum_0() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 0 : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.1993005, -0.35089654, -0.60548836, -0.62736726], [-1.0799284, 0.04529491, 1.7156305, 1.9895943], [-0.8322699, 0.10104191, -1.2884691, 0.39283606]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_1() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 1 : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.40993917, 0.2294902, 1.9444227, 1.0519811], [-1.1136744, -1.0359313, 1.3211483, 1.093307]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-2.8692899, -0.5350918, -0.8342805, 0.310246], [-2.9978244, 0.8313716, -1.4994752, 0.66175604]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_2() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 2 : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[0.12573022, -0.0063746423, 0.634048, 0.7389481], [-0.5356694, -0.17407432, 1.1299257, 2.0770068], [-0.70373523, -1.9691567, -2.592431, -2.551105]], [[-2.3250308, -2.5438225, -3.7897334, -4.522001], [-0.544259, -0.86055917, -0.44892862, 0.5935848], [-0.12853466, 1.2379287, 0.57273406, 0.92424417]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.cumsum %x axis = 1 : tensor<2x3xi8>
  %e0 = hjx.constant dense<[[-62, -83, -10], [-50, 37, 59]]> : tensor<2x3xi8>
  check.expect_eq %r0, %e0 : tensor<2x3xi8>
  return
}

func.func @cumsum_0_reverse() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 0 reverse : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[-2.1993005, -0.35089654, -0.60548836, -0.62736726], [-1.0799284, 0.04529491, 1.7156305, 1.9895943], [-0.8322699, 0.10104191, -1.2884691, 0.39283606]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_1_reverse() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 1 reverse : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[-1.1136744, -1.0359313, 1.3211483, 1.093307], [-1.2394047, -0.9038265, 0.6807256, 0.98840696], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.9978244, 0.8313716, -1.4994752, 0.66175604], [-0.6727937, 1.0501633, -0.25356415, 1.3940234], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_2_reverse() {
  %x = hjx.constant dense<[[[0.12573022, -0.13210486, 0.64042264, 0.104900114], [-0.5356694, 0.36159506, 1.304, 0.94708097], [-0.70373523, -1.2654215, -0.62327445, 0.04132598]], [[-2.3250308, -0.21879166, -1.245911, -0.7322674], [-0.544259, -0.31630015, 0.41163054, 1.0425134], [-0.12853466, 1.3664634, -0.6651947, 0.35151008]]]> : tensor<2x3x4xf32>
  %r0 = hjx.cumsum %x axis = 2 reverse : tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[0.7389481, 0.6132179, 0.74532276, 0.104900114], [2.0770068, 2.6126761, 2.251081, 0.94708097], [-2.551105, -1.84737, -0.58194846, 0.04132598]], [[-4.522001, -2.19697, -1.9781784, -0.7322674], [0.5935848, 1.1378437, 1.4541439, 1.0425134], [0.92424417, 1.0527788, -0.3136846, 0.35151008]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @cumsum_i8_reverse() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %r0 = hjx.cumsum %x axis = 1 reverse : tensor<2x3xi8>
  %e0 = hjx.constant dense<[[-10, 52, 73], [59, 109, 22]]> : tensor<2x3xi8>
  check.expect_eq %r0, %e0 : tensor<2x3xi8>
  return
}

func.func @dot() {
  %x = hjx.constant dense<[[0.0940123, -0.7434993, -0.9217254], [-0.45772582, 0.22019513, -1.0096182]]> : tensor<2x3xf32>
  %y = hjx.constant dense<[[-0.20917557, -0.15922502, 0.5408456, 0.21465912], [0.3553727, -0.6538286, -0.12961364, 0.7839755], [1.4934311, -1.2590655, 1.5139238, 1.3458754]]> : tensor<3x4xf32>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[-1.6604178, 1.6316646, -1.2482082, -1.8032322], [-1.3337988, 1.200087, -1.8045841, -1.2844477]]> : tensor<2x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x4xf32>
  return
}

func.func @dot_outer() {
  %x = hjx.constant dense<[[0.0940123, -0.7434993, -0.9217254], [-0.45772582, 0.22019513, -1.0096182]]> : tensor<2x3xf32>
  %y = hjx.constant dense<[-0.20917557, -0.15922502, 0.5408456, 0.21465912]> : tensor<4xf32>
  %r0 = hjx.dot_general %x, %y contracting = [] x [] : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %e0 = hjx.constant dense<[[[-0.019665075, -0.01496911, 0.050846133, 0.020180598], [0.15552188, 0.11838368, -0.4021183, -0.1595989], [0.19280243, 0.14676175, -0.4985111, -0.19785677]], [[0.095745064, 0.0728814, -0.24755898, -0.09825502], [-0.04605944, -0.035060573, 0.11909156, 0.047266893], [0.21118745, 0.16075647, -0.5460475, -0.21672376]]]> : tensor<2x3x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x3x4xf32>
  return
}

func.func @dot_batch() {
  %x = hjx.constant dense<[[[0.7813114, 0.26445562, -0.31392282], [1.4580207, 1.9602584, 1.8016349]], [[1.3151038, 0.35738042, -1.2083186], [-0.004454133, 0.65647495, -1.2883614]], [[0.39512205, 0.4298637, 0.6960427], [-1.1841179, -0.6617026, -0.43643525]], [[-1.169802, 1.7393678, -0.49591073], [0.32896963, -0.25857255, 1.5834728]], [[1.320361, 0.63335264, -2.2035098], [0.052028973, 0.6836862, 1.0039616]]]> : tensor<5x2x3xf32>
  %y = hjx.constant dense<[[[-0.61790705, 1.8220114, -1.320431, -0.66152805, 0.93505], [0.049054615, 2.0023925, 0.1885192, -0.6331941, -0.3775635], [-1.0911461, -1.2776802, 0.6304115, 0.5811658, 1.2945588], [-0.75460577, 1.6891074, -0.2873877, 1.5744083, -0.43278584]], [[-0.7354833, 0.24978538, 1.0314531, 0.16100958, -0.58552885], [-1.3412197, -1.4015203, 0.50268286, 0.989713, -0.16429459], [-1.0743649, 0.87304217, -1.280394, -0.71306807, 0.6210179], [-2.2501411, 0.3863696, -0.58164084, 0.1092797, -0.07570153]], [[0.20211439, 0.69417197, -0.75836974, 1.420982, 0.72609377], [0.84373266, 1.164864, 0.78758824, 0.84407866, 0.07559361], [-1.4267739, -0.1350451, -0.7695146, -1.4227418, 0.2584528], [-0.56854945, -1.0298045, -1.043001, 0.2684171, 0.35867196]]]> : tensor<3x4x5xf32>
  %r0 = hjx.dot_general %x, %y batching = [0] x [2] contracting = [2] x [0] : (tensor<5x2x3xf32>, tensor<3x4x5xf32>) -> tensor<5x2x4xf32>
  %e0 = hjx.constant dense<[[[-0.7407288, -0.5812331, -0.68874985, -1.006164], [-1.9785222, -1.0375161, -6.2674723, -6.5354075]], [[1.6466215, 0.72495127, -1.2050964, 3.6037643], [-0.738482, -2.4297476, 0.75280815, 1.5728788]], [[-0.60620487, 0.83876824, -0.83692044, -1.0895528], [1.21201, -0.8995868, 0.43660176, 1.1803765]], [[0.34923145, 2.043599, -1.2145836, -1.7847792], [1.9908311, 0.8723614, -1.8773073, 0.91470695]], [[-0.7361973, -0.7691478, 1.5331049, -1.4097165], [0.37730193, -0.0560771, 0.7514126, 0.28581938]]]> : tensor<5x2x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<5x2x4xf32>
  return
}

func.func @dot_two_contractions() {
  %x = hjx.constant dense<[[[1.3224574, -0.013914669, 1.0418397, 1.4022648], [1.1501657, -2.365304, 1.2286837, 0.33962], [0.42377135, 0.3712274, 0.38275716, 0.31941423]], [[-0.3589133, -1.9016353, -0.108914725, -0.80373186], [1.0801634, -0.2887665, 0.08347536, -0.849606], [-0.51062244, -0.011533062, -1.4853752, 0.3006851]]]> : tensor<2x3x4xf32>
  %y = hjx.constant dense<[[[-0.106072254, -1.1857198, -2.398233], [0.5130521, -0.29758403, -0.53000844], [-0.23615463, 1.816476, -0.04980097], [0.086619265, -1.4870728, 1.6473391], [0.917488, 1.0669348, 0.04767273]], [[0.91665477, 0.37094682, 0.6131891], [-0.15219297, -1.4738879, 1.0288544], [-1.9349597, -0.23993666, -0.20452249], [-1.0428602, 0.6131231, -0.2003297], [-0.43686834, 0.51984173, -0.47657904]], [[1.38898, 0.35145506, -0.474333], [-1.944265, -1.3077532, 1.0868307], [-0.050604064, -0.28312507, 1.6432517], [-1.2826493, -0.5856578, -0.47258767], [0.58633727, -0.6635352, -0.61341786]], [[-1.6051494, 0.7293494, 0.80613935], [-0.47637674, 0.16333994, -1.2926462], [-0.47181314, 1.3779509, 0.13573073], [2.3103635, -0.78719276, 0.5802844], [-0.19550583, 0.56581783, -0.0072113597]]]> : tensor<4x5x3xf32>
  %r0 = hjx.dot_general %x, %y contracting = [1, 2] x [2, 0] : (tensor<2x3x4xf32>, tensor<4x5x3xf32>) -> tensor<2x5xf32>
  %e0 = hjx.constant dense<[[-3.2311602, -0.25999212, 2.3524637, -1.4868572, 0.5367822], [-0.37997675, -1.1881196, 2.6138515, -0.8909828, 1.9511201]]> : tensor<2x5xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x5xf32>
  return
}

func.func @dot_i8() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %y = hjx.constant dense<[[-62, -50], [-21, 87], [73, 22]]> : tensor<3x2xi8>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi8>
  %e0 = hjx.constant dense<[[-114, 63], [63, 57]]> : tensor<2x2xi8>
  check.expect_eq %r0, %e0 : tensor<2x2xi8>
  return
}

func.func @dot_i8_i32() {
  %x = hjx.constant dense<[[-62, -21, 73], [-50, 87, 22]]> : tensor<2x3xi8>
  %y = hjx.constant dense<[[-62, -50], [-21, 87], [73, 22]]> : tensor<3x2xi8>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] accum = i32 : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
  %e0 = hjx.constant dense<[[9614, 2879], [2879, 10553]]> : tensor<2x2xi32>
  check.expect_eq %r0, %e0 : tensor<2x2xi32>
  return
}

func.func @dot_bf16_f32() {
  %x = hjx.constant dense<[[0.09423828125, -0.7421875, -0.921875], [-0.45703125, 0.2197265625, -1.0078125]]> : tensor<2x3xbf16>
  %y = hjx.constant dense<[[-0.208984375, -0.1591796875, 0.5390625, 0.21484375], [0.35546875, -0.65234375, -0.1298828125, 0.78515625], [1.4921875, -1.2578125, 1.515625, 1.34375]]> : tensor<3x4xbf16>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] accum = f32 : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  %e0 = hjx.constant dense<[[-1.6591291, 1.6287065, -1.2500191, -1.8012562], [-1.3302269, 1.197052, -1.8023729, -1.2799187]]> : tensor<2x4xf32>
  check.expect_close %r0, %e0 rtol = 1.0e-6 atol = 1.0e-6 : tensor<2x4xf32>
  return
}

func.func @dot_bf16() {
  %x = hjx.constant dense<[[0.09423828125, -0.7421875, -0.921875], [-0.45703125, 0.2197265625, -1.0078125]]> : tensor<2x3xbf16>
  %y = hjx.constant dense<[[-0.208984375, -0.1591796875, 0.5390625, 0.21484375], [0.35546875, -0.65234375, -0.1298828125, 0.78515625], [1.4921875, -1.2578125, 1.515625, 1.34375]]> : tensor<3x4xbf16>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  %e0 = hjx.constant dense<[[-1.65625, 1.625, -1.25, -1.8046875], [-1.328125, 1.1953125, -1.8046875, -1.28125]]> : tensor<2x4xbf16>
  check.expect_close %r0, %e0 ulps = 1 : tensor<2x4xbf16>
  return
}

func.func @dot_empty() {
  %x = hjx.constant dense<> : tensor<2x0xf32>
  %y = hjx.constant dense<> : tensor<0x3xf32>
  %r0 = hjx.dot_general %x, %y contracting = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %e0 = hjx.constant dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}
