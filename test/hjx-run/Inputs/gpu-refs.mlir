// Refs and hi-types on a GPU. Inputs are small whole numbers, so that sums are exact in any order.

// Gradients of three batches, added to one ref in a loop.
func.func private @loss(%w: tensor<4xf32>, %x: tensor<2x4xf32>) -> tensor<f32> {
  %y = hjx.dot_general %x, %w contracting = [1] x [0] : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2xf32>
  %s = hjx.mul %y, %y : tensor<2xf32>
  %l = hjx.reduce_sum %s axes = [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @accumulate(%w: tensor<4xf32>, %batches: tensor<3x2x4xf32>, %gradient: !hjx.ref<tensor<4xf32>>) -> tensor<3xf32> {
  %losses = hjx.scan consts(%w, %gradient) inits() xs(%batches) length = 3 : (tensor<4xf32>, !hjx.ref<tensor<4xf32>>, tensor<3x2x4xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<4xf32>, %g: !hjx.ref<tensor<4xf32>>, %x: tensor<2x4xf32>):
    %one = hjx.constant dense<1.0> : tensor<f32>
    %l = hjx.vjp @loss(%v, %x) cotangents(%one) active = [true, false] accumulators(%g) in_place = [true] : (tensor<4xf32>, tensor<2x4xf32>, tensor<f32>, !hjx.ref<tensor<4xf32>>) -> tensor<f32>
    hjx.yield %l : tensor<f32>
  }
  return %losses : tensor<3xf32>
}

// Rows of a table that are looked up, and the gradient added where they were.
func.func private @picked(%table: tensor<4x2xf32>, %ids: tensor<3xi32>) -> tensor<f32> {
  %i = hjx.reshape %ids shape = [3, 1] : tensor<3xi32> -> tensor<3x1xi32>
  %rows = hjx.gather %table, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
      start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 2>} : (tensor<4x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
  %s = hjx.mul %rows, %rows : tensor<3x2xf32>
  %l = hjx.reduce_sum %s axes = [0, 1] : tensor<3x2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @lookup(%table: tensor<4x2xf32>, %ids: tensor<3xi32>, %gradient: !hjx.ref<tensor<4x2xf32>>) -> tensor<f32> {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %l = hjx.vjp @picked(%table, %ids) cotangents(%one) active = [true, false] accumulators(%gradient) in_place = [true] : (tensor<4x2xf32>, tensor<3xi32>, tensor<f32>, !hjx.ref<tensor<4x2xf32>>) -> tensor<f32>
  return %l : tensor<f32>
}

// A slice that is read twice: its gradient is filled with zeros twice, as a whole and in part.
func.func private @slices(%x: tensor<80xf32>, %y: tensor<64x32xf32>) -> tensor<f32> {
  %a = hjx.slice %x start = [0] limit = [64] strides = [1] : tensor<80xf32> -> tensor<64xf32>
  %b = hjx.broadcast_in_dim %a shape = [64, 32] dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
  %c = hjx.mul %b, %y : tensor<64x32xf32>
  %d = hjx.slice %x start = [8] limit = [72] strides = [1] : tensor<80xf32> -> tensor<64xf32>
  %e = hjx.broadcast_in_dim %d shape = [64, 32] dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
  %f = hjx.mul %e, %c : tensor<64x32xf32>
  %l = hjx.reduce_sum %f axes = [0, 1] : tensor<64x32xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @repeated(%x: tensor<80xf32>, %y: tensor<64x32xf32>) -> (tensor<f32>, tensor<80xf32>) {
  %one = hjx.constant dense<1.0> : tensor<f32>
  %l, %bar = hjx.vjp @slices(%x, %y) cotangents(%one) active = [true, false] : (tensor<80xf32>, tensor<64x32xf32>, tensor<f32>) -> (tensor<f32>, tensor<80xf32>)
  return %l, %bar : tensor<f32>, tensor<80xf32>
}

// A cell of int8 rows with their scales, read as numbers and by a matrix product.
func.func @quantized(%values: tensor<2x3xi32>, %scales: tensor<2xf32>, %x: tensor<3x2xf32>, %calls: !hjx.ref<tensor<i32>>) -> (tensor<2x3xf32>, tensor<3x3xf32>) {
  %one = hjx.constant dense<1> : tensor<i32>
  hjx.ref_add %calls, %one : (!hjx.ref<tensor<i32>>, tensor<i32>) -> ()
  %bytes = hjx.convert %values : tensor<2x3xi32> -> tensor<2x3xi8>
  %q = hjx.raise %bytes, %scales : (tensor<2x3xi8>, tensor<2xf32>) -> !hjx.q8<2x3>
  %cell = hjx.ref_new %q : (!hjx.q8<2x3>) -> !hjx.ref<!hjx.q8<2x3>>
  %held = hjx.ref_get %cell : (!hjx.ref<!hjx.q8<2x3>>) -> !hjx.q8<2x3>
  %w = hjx.call_primitive "dequantize"(%held) : (!hjx.q8<2x3>) -> tensor<2x3xf32>
  %y = hjx.call_primitive "matmul_q"(%x, %held) : (tensor<3x2xf32>, !hjx.q8<2x3>) -> tensor<3x3xf32>
  return %w, %y : tensor<2x3xf32>, tensor<3x3xf32>
}

// Three of four numbers at an aligned address: as many are read.
func.func @three(%x: tensor<3xf32>, %total: !hjx.ref<tensor<3xf32>>) -> tensor<f32> {
  %y = hjx.mul %x, %x : tensor<3xf32>
  hjx.ref_add %total, %y : (!hjx.ref<tensor<3xf32>>, tensor<3xf32>) -> ()
  %t = hjx.ref_get %total : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  %z = hjx.mul %t, %x : tensor<3xf32>
  %s = hjx.reduce_sum %z axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}
