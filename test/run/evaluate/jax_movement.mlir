// RUN: hjx-opt %s --hjx-interpret
// Movement, gather and scatter give JAX's values, out of bounds included.
// Made by bench/jax/goldens.py with JAX 0.10.2 on a CPU; edit that instead.

func.func @iota_i8_wraps() {
  %r0 = hjx.iota dim = 0 : tensor<130x1xi8>
  %e0 = hjx.constant dense<[[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [13], [14], [15], [16], [17], [18], [19], [20], [21], [22], [23], [24], [25], [26], [27], [28], [29], [30], [31], [32], [33], [34], [35], [36], [37], [38], [39], [40], [41], [42], [43], [44], [45], [46], [47], [48], [49], [50], [51], [52], [53], [54], [55], [56], [57], [58], [59], [60], [61], [62], [63], [64], [65], [66], [67], [68], [69], [70], [71], [72], [73], [74], [75], [76], [77], [78], [79], [80], [81], [82], [83], [84], [85], [86], [87], [88], [89], [90], [91], [92], [93], [94], [95], [96], [97], [98], [99], [100], [101], [102], [103], [104], [105], [106], [107], [108], [109], [110], [111], [112], [113], [114], [115], [116], [117], [118], [119], [120], [121], [122], [123], [124], [125], [126], [127], [-128], [-127]]> : tensor<130x1xi8>
  check.expect_eq %r0, %e0 : tensor<130x1xi8>
  return
}

func.func @iota_f32() {
  %r0 = hjx.iota dim = 1 : tensor<2x3xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}

func.func @broadcast() {
  %x = hjx.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %r0 = hjx.broadcast_in_dim %x shape = [2, 6, 3] dims = [1] : tensor<6xf32> -> tensor<2x6x3xf32>
  %e0 = hjx.constant dense<[[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0], [5.0, 5.0, 5.0]], [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0], [5.0, 5.0, 5.0]]]> : tensor<2x6x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x6x3xf32>
  return
}

func.func @broadcast_unit() {
  %x = hjx.constant dense<[[0.0], [6.0], [12.0], [18.0]]> : tensor<4x1xf32>
  %r0 = hjx.broadcast_in_dim %x shape = [4, 6] dims = [0, 1] : tensor<4x1xf32> -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [6.0, 6.0, 6.0, 6.0, 6.0, 6.0], [12.0, 12.0, 12.0, 12.0, 12.0, 12.0], [18.0, 18.0, 18.0, 18.0, 18.0, 18.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @reshape() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %r0 = hjx.reshape %x shape = [3, 8] : tensor<4x6xf32> -> tensor<3x8xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<3x8xf32>
  check.expect_eq %r0, %e0 : tensor<3x8xf32>
  return
}

func.func @transpose() {
  %x = hjx.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi16>
  %r0 = hjx.transpose %x permutation = [1, 2, 0] : tensor<2x3x4xi16> -> tensor<3x4x2xi16>
  %e0 = hjx.constant dense<[[[0, 12], [1, 13], [2, 14], [3, 15]], [[4, 16], [5, 17], [6, 18], [7, 19]], [[8, 20], [9, 21], [10, 22], [11, 23]]]> : tensor<3x4x2xi16>
  check.expect_eq %r0, %e0 : tensor<3x4x2xi16>
  return
}

func.func @rev() {
  %x = hjx.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi16>
  %r0 = hjx.rev %x dims = [0, 2] : tensor<2x3x4xi16>
  %e0 = hjx.constant dense<[[[15, 14, 13, 12], [19, 18, 17, 16], [23, 22, 21, 20]], [[3, 2, 1, 0], [7, 6, 5, 4], [11, 10, 9, 8]]]> : tensor<2x3x4xi16>
  check.expect_eq %r0, %e0 : tensor<2x3x4xi16>
  return
}

func.func @concatenate() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %y = hjx.constant dense<[[0.0], [6.0], [12.0], [18.0]]> : tensor<4x1xf32>
  %z = hjx.constant dense<> : tensor<4x0xf32>
  %r0 = hjx.concatenate %x, %y, %z dim = 1 : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x0xf32>) -> tensor<4x7xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 6.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 12.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 18.0]]> : tensor<4x7xf32>
  check.expect_eq %r0, %e0 : tensor<4x7xf32>
  return
}

func.func @pad_plain() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %v = hjx.constant dense<-1.0> : tensor<f32>
  %r0 = hjx.pad %x, %v low = [1, 0] high = [2, 1] interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x7xf32>
  %e0 = hjx.constant dense<[[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -1.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0, -1.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0, -1.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]> : tensor<7x7xf32>
  check.expect_eq %r0, %e0 : tensor<7x7xf32>
  return
}

func.func @pad_interior() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %v = hjx.constant dense<-1.0> : tensor<f32>
  %r0 = hjx.pad %x, %v low = [0, 1] high = [0, 0] interior = [2, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<10x12xf32>
  %e0 = hjx.constant dense<[[-1.0, 0.0, -1.0, 1.0, -1.0, 2.0, -1.0, 3.0, -1.0, 4.0, -1.0, 5.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, 6.0, -1.0, 7.0, -1.0, 8.0, -1.0, 9.0, -1.0, 10.0, -1.0, 11.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, 12.0, -1.0, 13.0, -1.0, 14.0, -1.0, 15.0, -1.0, 16.0, -1.0, 17.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, 18.0, -1.0, 19.0, -1.0, 20.0, -1.0, 21.0, -1.0, 22.0, -1.0, 23.0]]> : tensor<10x12xf32>
  check.expect_eq %r0, %e0 : tensor<10x12xf32>
  return
}

func.func @pad_negative() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %v = hjx.constant dense<-1.0> : tensor<f32>
  %r0 = hjx.pad %x, %v low = [-1, 2] high = [-2, -3] interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<1x5xf32>
  %e0 = hjx.constant dense<[[-1.0, -1.0, 6.0, 7.0, 8.0]]> : tensor<1x5xf32>
  check.expect_eq %r0, %e0 : tensor<1x5xf32>
  return
}

func.func @pad_mixed() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %v = hjx.constant dense<-1.0> : tensor<f32>
  %r0 = hjx.pad %x, %v low = [-2, 3] high = [1, -1] interior = [1, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x18xf32>
  %e0 = hjx.constant dense<[[-1.0, -1.0, -1.0, 6.0, -1.0, -1.0, 7.0, -1.0, -1.0, 8.0, -1.0, -1.0, 9.0, -1.0, -1.0, 10.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, 12.0, -1.0, -1.0, 13.0, -1.0, -1.0, 14.0, -1.0, -1.0, 15.0, -1.0, -1.0, 16.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, 18.0, -1.0, -1.0, 19.0, -1.0, -1.0, 20.0, -1.0, -1.0, 21.0, -1.0, -1.0, 22.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]> : tensor<6x18xf32>
  check.expect_eq %r0, %e0 : tensor<6x18xf32>
  return
}

func.func @slice() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %r0 = hjx.slice %x start = [1, 0] limit = [4, 6] strides = [2, 4] : tensor<4x6xf32> -> tensor<2x2xf32>
  %e0 = hjx.constant dense<[[6.0, 10.0], [18.0, 22.0]]> : tensor<2x2xf32>
  check.expect_eq %r0, %e0 : tensor<2x2xf32>
  return
}

func.func @dynamic_slice_minus_3() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<-3> : tensor<i32>
  %j = hjx.constant dense<-3> : tensor<i32>
  %r0 = hjx.dynamic_slice %x[%i, %j] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}

func.func @dynamic_update_slice_minus_3() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %u = hjx.constant dense<[[-0.0, -1.0, -2.0], [-6.0, -7.0, -8.0]]> : tensor<2x3xf32>
  %i = hjx.constant dense<-3> : tensor<i32>
  %j = hjx.constant dense<-3> : tensor<i32>
  %r0 = hjx.dynamic_update_slice %x, %u[%i, %j] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[-0.0, -1.0, -2.0, 3.0, 4.0, 5.0], [-6.0, -7.0, -8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @dynamic_slice_1() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<1> : tensor<i32>
  %j = hjx.constant dense<1> : tensor<i32>
  %r0 = hjx.dynamic_slice %x[%i, %j] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %e0 = hjx.constant dense<[[7.0, 8.0, 9.0], [13.0, 14.0, 15.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}

func.func @dynamic_update_slice_1() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %u = hjx.constant dense<[[-0.0, -1.0, -2.0], [-6.0, -7.0, -8.0]]> : tensor<2x3xf32>
  %i = hjx.constant dense<1> : tensor<i32>
  %j = hjx.constant dense<1> : tensor<i32>
  %r0 = hjx.dynamic_update_slice %x, %u[%i, %j] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, -0.0, -1.0, -2.0, 10.0, 11.0], [12.0, -6.0, -7.0, -8.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @dynamic_slice_3() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<3> : tensor<i32>
  %j = hjx.constant dense<3> : tensor<i32>
  %r0 = hjx.dynamic_slice %x[%i, %j] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %e0 = hjx.constant dense<[[15.0, 16.0, 17.0], [21.0, 22.0, 23.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}

func.func @dynamic_update_slice_3() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %u = hjx.constant dense<[[-0.0, -1.0, -2.0], [-6.0, -7.0, -8.0]]> : tensor<2x3xf32>
  %i = hjx.constant dense<3> : tensor<i32>
  %j = hjx.constant dense<3> : tensor<i32>
  %r0 = hjx.dynamic_update_slice %x, %u[%i, %j] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, -0.0, -1.0, -2.0], [18.0, 19.0, 20.0, -6.0, -7.0, -8.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @dynamic_slice_9() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<9> : tensor<i32>
  %j = hjx.constant dense<9> : tensor<i32>
  %r0 = hjx.dynamic_slice %x[%i, %j] sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %e0 = hjx.constant dense<[[15.0, 16.0, 17.0], [21.0, 22.0, 23.0]]> : tensor<2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x3xf32>
  return
}

func.func @dynamic_update_slice_9() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %u = hjx.constant dense<[[-0.0, -1.0, -2.0], [-6.0, -7.0, -8.0]]> : tensor<2x3xf32>
  %i = hjx.constant dense<9> : tensor<i32>
  %j = hjx.constant dense<9> : tensor<i32>
  %r0 = hjx.dynamic_update_slice %x, %u[%i, %j] : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, -0.0, -1.0, -2.0], [18.0, 19.0, 20.0, -6.0, -7.0, -8.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @dynamic_slice_unsigned() {
  %x = hjx.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %i = hjx.constant dense<4294967295> : tensor<ui32>
  %r0 = hjx.dynamic_slice %x[%i] sizes = [2] : (tensor<6xf32>, tensor<ui32>) -> tensor<2xf32>
  %e0 = hjx.constant dense<[4.0, 5.0]> : tensor<2xf32>
  check.expect_eq %r0, %e0 : tensor<2xf32>
  return
}

func.func @gather_rows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>) -> tensor<5x6xf32>
  %e0 = hjx.constant dense<[[6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0]]> : tensor<5x6xf32>
  check.expect_eq %r0, %e0 : tensor<5x6xf32>
  return
}

func.func @gather_windows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 0, 2>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 2, 3>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [12.0, 13.0, 14.0], [12.0, 13.0, 14.0], [12.0, 13.0, 14.0]], [[12.0, 13.0, 14.0], [6.0, 7.0, 8.0], [18.0, 19.0, 20.0], [18.0, 19.0, 20.0], [18.0, 19.0, 20.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @gather_points_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>) -> tensor<2x2xf32>
  %e0 = hjx.constant dense<[[1.0, 23.0], [2.0, 17.0]]> : tensor<2x2xf32>
  check.expect_eq %r0, %e0 : tensor<2x2xf32>
  return
}

func.func @gather_swapped_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 1, 0>, slice_sizes = array<i64: 1, 2>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>) -> tensor<2x2x2xf32>
  %e0 = hjx.constant dense<[[[6.0, 21.0], [7.0, 22.0]], [[12.0, 20.0], [13.0, 21.0]]]> : tensor<2x2x2xf32>
  check.expect_eq %r0, %e0 : tensor<2x2x2xf32>
  return
}

func.func @gather_unsigned_clip() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xui8>
  %i = hjx.constant dense<[[1], [255], [3], [4], [2]]> : tensor<5x1xui8>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 0 : i32} : (tensor<4x6xui8>, tensor<5x1xui8>) -> tensor<5x6xui8>
  %e0 = hjx.constant dense<[[6, 7, 8, 9, 10, 11], [18, 19, 20, 21, 22, 23], [18, 19, 20, 21, 22, 23], [18, 19, 20, 21, 22, 23], [12, 13, 14, 15, 16, 17]]> : tensor<5x6xui8>
  check.expect_eq %r0, %e0 : tensor<5x6xui8>
  return
}

func.func @gather_signed_clip() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi16>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi64>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 0 : i32} : (tensor<4x6xi16>, tensor<5x1xi64>) -> tensor<5x6xi16>
  %e0 = hjx.constant dense<[[6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4, 5], [18, 19, 20, 21, 22, 23], [18, 19, 20, 21, 22, 23], [12, 13, 14, 15, 16, 17]]> : tensor<5x6xi16>
  check.expect_eq %r0, %e0 : tensor<5x6xi16>
  return
}

func.func @gather_bools_clip() {
  %x = hjx.constant dense<[[false, false, false, false, false, false], [false, false, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true]]> : tensor<4x6xi1>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 0 : i32} : (tensor<4x6xi1>, tensor<5x1xi32>) -> tensor<5x6xi1>
  %e0 = hjx.constant dense<[[false, false, true, true, true, true], [false, false, false, false, false, false], [true, true, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  check.expect_eq %r0, %e0 : tensor<5x6xi1>
  return
}

func.func @gather_batching_clip() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>, mode = 0 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>) -> tensor<2x2x3xf32>
  %e0 = hjx.constant dense<[[[3.0, 4.0, 5.0], [12.0, 13.0, 14.0]], [[27.0, 28.0, 29.0], [15.0, 16.0, 17.0]]]> : tensor<2x2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x2x3xf32>
  return
}

func.func @gather_batching_inner_clip() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [2]], [[4], [0]], [[-1], [5]]]> : tensor<3x2x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>, mode = 0 : i32} : (tensor<2x5x3xf32>, tensor<3x2x1xi32>) -> tensor<3x3x2xf32>
  %e0 = hjx.constant dense<[[[3.0, 21.0], [12.0, 15.0], [0.0, 27.0]], [[4.0, 22.0], [13.0, 16.0], [1.0, 28.0]], [[5.0, 23.0], [14.0, 17.0], [2.0, 29.0]]]> : tensor<3x3x2xf32>
  check.expect_eq %r0, %e0 : tensor<3x3x2xf32>
  return
}

func.func @scatter_set_rows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [-19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0]]> : tensor<5x6xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0], [-19.0, -20.0, -21.0, -22.0, -23.0, -24.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_repeated_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [1], [2]]> : tensor<3x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0]]> : tensor<3x6xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_windows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]], [[-13.0, -14.0, -15.0], [-16.0, -17.0, -18.0]], [[-19.0, -20.0, -21.0], [-22.0, -23.0, -24.0]], [[-25.0, -26.0, -27.0], [-28.0, -29.0, -30.0]]]> : tensor<5x2x3xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x2x3xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[-7.0, -8.0, -9.0, 3.0, 4.0, 5.0], [-10.0, -11.0, -12.0, 9.0, 10.0, 11.0], [-25.0, -26.0, -27.0, 15.0, 16.0, 17.0], [-28.0, -29.0, -30.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_points_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %u = hjx.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, -1.0, -3.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, -4.0], [18.0, 19.0, 20.0, 21.0, 22.0, -2.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_batching_clip() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]]]> : tensor<2x2x3xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, mode = 0 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>, tensor<2x2x3xf32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[0.0, 1.0, 2.0], [-1.0, -2.0, -3.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [-4.0, -5.0, -6.0]], [[-10.0, -11.0, -12.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [-7.0, -8.0, -9.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @scatter_add_rows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [-19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0]]> : tensor<5x6xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[-7.0, -7.0, -7.0, -7.0, -7.0, -7.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0], [-13.0, -13.0, -13.0, -13.0, -13.0, -13.0], [-14.0, -15.0, -16.0, -17.0, -18.0, -19.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_repeated_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [1], [2]]> : tensor<3x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0]]> : tensor<3x6xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-2.0, -3.0, -4.0, -5.0, -6.0, -7.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_windows_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]], [[-13.0, -14.0, -15.0], [-16.0, -17.0, -18.0]], [[-19.0, -20.0, -21.0], [-22.0, -23.0, -24.0]], [[-25.0, -26.0, -27.0], [-28.0, -29.0, -30.0]]]> : tensor<5x2x3xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x2x3xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[-7.0, -7.0, -7.0, 3.0, 4.0, 5.0], [-5.0, -6.0, -7.0, 9.0, 10.0, 11.0], [-49.0, -52.0, -55.0, 15.0, 16.0, 17.0], [-48.0, -50.0, -52.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_points_clip() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %u = hjx.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, mode = 0 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 0.0, -1.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 13.0], [18.0, 19.0, 20.0, 21.0, 22.0, 21.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_batching_clip() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]]]> : tensor<2x2x3xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, mode = 0 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>, tensor<2x2x3xf32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[0.0, 1.0, 2.0], [2.0, 2.0, 2.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [8.0, 8.0, 8.0]], [[5.0, 5.0, 5.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [20.0, 20.0, 20.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @scatter_add_integers_clip() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi8>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100]]> : tensor<5x6xi8>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 0 : i32} : (tensor<4x6xi8>, tensor<5x1xi32>, tensor<5x6xi8>) -> tensor<4x6xi8>
  %e0 = hjx.constant dense<[[100, 101, 102, 103, 104, 105], [106, 107, 108, 109, 110, 111], [112, 113, 114, 115, 116, 117], [-38, -37, -36, -35, -34, -33]]> : tensor<4x6xi8>
  check.expect_eq %r0, %e0 : tensor<4x6xi8>
  return
}

func.func @gather_rows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>) -> tensor<5x6xf32>
  %e0 = hjx.constant dense<[[6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0], [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0]]> : tensor<5x6xf32>
  check.expect_eq %r0, %e0 : tensor<5x6xf32>
  return
}

func.func @gather_windows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 0, 2>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 2, 3>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[6.0, 7.0, 8.0], [0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000], [12.0, 13.0, 14.0]], [[12.0, 13.0, 14.0], [0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000, 0x7FC00000], [18.0, 19.0, 20.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @gather_points_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, slice_sizes = array<i64: 1, 1>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>) -> tensor<2x2xf32>
  %e0 = hjx.constant dense<[[1.0, 23.0], [0x7FC00000, 0x7FC00000]]> : tensor<2x2xf32>
  check.expect_eq %r0, %e0 : tensor<2x2xf32>
  return
}

func.func @gather_swapped_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 1, 0>, slice_sizes = array<i64: 1, 2>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>) -> tensor<2x2x2xf32>
  %e0 = hjx.constant dense<[[[6.0, 0x7FC00000], [7.0, 0x7FC00000]], [[0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000]]]> : tensor<2x2x2xf32>
  check.expect_eq %r0, %e0 : tensor<2x2x2xf32>
  return
}

func.func @gather_unsigned_fill_or_drop() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xui8>
  %i = hjx.constant dense<[[1], [255], [3], [4], [2]]> : tensor<5x1xui8>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 1 : i32} : (tensor<4x6xui8>, tensor<5x1xui8>) -> tensor<5x6xui8>
  %e0 = hjx.constant dense<[[6, 7, 8, 9, 10, 11], [255, 255, 255, 255, 255, 255], [18, 19, 20, 21, 22, 23], [255, 255, 255, 255, 255, 255], [12, 13, 14, 15, 16, 17]]> : tensor<5x6xui8>
  check.expect_eq %r0, %e0 : tensor<5x6xui8>
  return
}

func.func @gather_signed_fill_or_drop() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi16>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi64>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 1 : i32} : (tensor<4x6xi16>, tensor<5x1xi64>) -> tensor<5x6xi16>
  %e0 = hjx.constant dense<[[6, 7, 8, 9, 10, 11], [-32768, -32768, -32768, -32768, -32768, -32768], [18, 19, 20, 21, 22, 23], [-32768, -32768, -32768, -32768, -32768, -32768], [12, 13, 14, 15, 16, 17]]> : tensor<5x6xi16>
  check.expect_eq %r0, %e0 : tensor<5x6xi16>
  return
}

func.func @gather_bools_fill_or_drop() {
  %x = hjx.constant dense<[[false, false, false, false, false, false], [false, false, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true]]> : tensor<4x6xi1>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 1 : i32} : (tensor<4x6xi1>, tensor<5x1xi32>) -> tensor<5x6xi1>
  %e0 = hjx.constant dense<[[false, false, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true], [true, true, true, true, true, true]]> : tensor<5x6xi1>
  check.expect_eq %r0, %e0 : tensor<5x6xi1>
  return
}

func.func @gather_batching_fill_or_drop() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>, mode = 1 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>) -> tensor<2x2x3xf32>
  %e0 = hjx.constant dense<[[[3.0, 4.0, 5.0], [0x7FC00000, 0x7FC00000, 0x7FC00000]], [[27.0, 28.0, 29.0], [15.0, 16.0, 17.0]]]> : tensor<2x2x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x2x3xf32>
  return
}

func.func @gather_batching_inner_fill_or_drop() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [2]], [[4], [0]], [[-1], [5]]]> : tensor<3x2x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>, mode = 1 : i32} : (tensor<2x5x3xf32>, tensor<3x2x1xi32>) -> tensor<3x3x2xf32>
  %e0 = hjx.constant dense<[[[3.0, 21.0], [12.0, 15.0], [0x7FC00000, 0x7FC00000]], [[4.0, 22.0], [13.0, 16.0], [0x7FC00000, 0x7FC00000]], [[5.0, 23.0], [14.0, 17.0], [0x7FC00000, 0x7FC00000]]]> : tensor<3x3x2xf32>
  check.expect_eq %r0, %e0 : tensor<3x3x2xf32>
  return
}

func.func @scatter_set_rows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [-19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0]]> : tensor<5x6xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_repeated_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [1], [2]]> : tensor<3x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0]]> : tensor<3x6xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_windows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]], [[-13.0, -14.0, -15.0], [-16.0, -17.0, -18.0]], [[-19.0, -20.0, -21.0], [-22.0, -23.0, -24.0]], [[-25.0, -26.0, -27.0], [-28.0, -29.0, -30.0]]]> : tensor<5x2x3xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x2x3xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, -2.0, -3.0, 9.0, 10.0, 11.0], [-25.0, -26.0, -27.0, 15.0, 16.0, 17.0], [-28.0, -29.0, -30.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_points_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %u = hjx.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, -1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, -2.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_set_batching_fill_or_drop() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]]]> : tensor<2x2x3xf32>
  %r0 = hjx.scatter set, %x, %i, %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, mode = 1 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>, tensor<2x2x3xf32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[0.0, 1.0, 2.0], [-1.0, -2.0, -3.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[-10.0, -11.0, -12.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [-7.0, -8.0, -9.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @scatter_add_rows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0], [-19.0, -20.0, -21.0, -22.0, -23.0, -24.0], [-25.0, -26.0, -27.0, -28.0, -29.0, -30.0]]> : tensor<5x6xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0], [-13.0, -13.0, -13.0, -13.0, -13.0, -13.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_repeated_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [1], [2]]> : tensor<3x1xi32>
  %u = hjx.constant dense<[[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0], [-7.0, -8.0, -9.0, -10.0, -11.0, -12.0], [-13.0, -14.0, -15.0, -16.0, -17.0, -18.0]]> : tensor<3x6xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [-2.0, -3.0, -4.0, -5.0, -6.0, -7.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_windows_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]], [[-13.0, -14.0, -15.0], [-16.0, -17.0, -18.0]], [[-19.0, -20.0, -21.0], [-22.0, -23.0, -24.0]], [[-25.0, -26.0, -27.0], [-28.0, -29.0, -30.0]]]> : tensor<5x2x3xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x2x3xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 5.0, 5.0, 9.0, 10.0, 11.0], [-17.0, -18.0, -19.0, 15.0, 16.0, 17.0], [-10.0, -10.0, -10.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_points_fill_or_drop() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[[0, 1], [3, 5]], [[-2, 2], [2, 7]]]> : tensor<2x2x2xi32>
  %u = hjx.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, mode = 1 : i32} : (tensor<4x6xf32>, tensor<2x2x2xi32>, tensor<2x2xf32>) -> tensor<4x6xf32>
  %e0 = hjx.constant dense<[[0.0, 0.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 21.0]]> : tensor<4x6xf32>
  check.expect_eq %r0, %e0 : tensor<4x6xf32>
  return
}

func.func @scatter_add_batching_fill_or_drop() {
  %x = hjx.constant dense<[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[15.0, 16.0, 17.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0]]]> : tensor<2x5x3xf32>
  %i = hjx.constant dense<[[[1], [7]], [[4], [0]]]> : tensor<2x2x1xi32>
  %u = hjx.constant dense<[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]], [[-7.0, -8.0, -9.0], [-10.0, -11.0, -12.0]]]> : tensor<2x2x3xf32>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, mode = 1 : i32} : (tensor<2x5x3xf32>, tensor<2x2x1xi32>, tensor<2x2x3xf32>) -> tensor<2x5x3xf32>
  %e0 = hjx.constant dense<[[[0.0, 1.0, 2.0], [2.0, 2.0, 2.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]], [[5.0, 5.0, 5.0], [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [20.0, 20.0, 20.0]]]> : tensor<2x5x3xf32>
  check.expect_eq %r0, %e0 : tensor<2x5x3xf32>
  return
}

func.func @scatter_add_integers_fill_or_drop() {
  %x = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]]> : tensor<4x6xi8>
  %i = hjx.constant dense<[[1], [-1], [3], [4], [2]]> : tensor<5x1xi32>
  %u = hjx.constant dense<[[100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100]]> : tensor<5x6xi8>
  %r0 = hjx.scatter add, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, mode = 1 : i32} : (tensor<4x6xi8>, tensor<5x1xi32>, tensor<5x6xi8>) -> tensor<4x6xi8>
  %e0 = hjx.constant dense<[[0, 1, 2, 3, 4, 5], [106, 107, 108, 109, 110, 111], [112, 113, 114, 115, 116, 117], [118, 119, 120, 121, 122, 123]]> : tensor<4x6xi8>
  check.expect_eq %r0, %e0 : tensor<4x6xi8>
  return
}

func.func @gather_rows_promise_in_bounds() {
  %x = hjx.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %i = hjx.constant dense<[[1], [3]]> : tensor<2x1xi32>
  %r0 = hjx.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, mode = 2 : i32} : (tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<2x6xf32>
  %e0 = hjx.constant dense<[[6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<2x6xf32>
  check.expect_eq %r0, %e0 : tensor<2x6xf32>
  return
}
