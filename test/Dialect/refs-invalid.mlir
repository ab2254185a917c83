// RUN: hjx-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{a ref holds an array of static shape or a value of a hi-type, not 'tensor<?xf32>'}}
func.func private @dynamic(!hjx.ref<tensor<?xf32>>)

// -----

// expected-error @below {{a ref holds an array of static shape or a value of a hi-type, not '!hjx.ref<tensor<f32>>'; refs do not nest}}
func.func private @nested(!hjx.ref<!hjx.ref<tensor<f32>>>)

// -----

func.func @new(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.ref_new' op (C1) expected a ref of 'tensor<3xf32>', got '!hjx.ref<tensor<2xf32>>'}}
  %r = hjx.ref_new %x : (tensor<3xf32>) -> !hjx.ref<tensor<2xf32>>
  return
}

// -----

func.func @entries(%r: !hjx.ref<tensor<3x4xf32>>) {
  // expected-error @below {{'hjx.ref_get' op (C1) expected an index with one entry for each dimension of 'tensor<3x4xf32>', got 1}}
  %0 = hjx.ref_get %r[2] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @range(%r: !hjx.ref<tensor<3x4xf32>>) {
  // expected-error @below {{'hjx.ref_get' op (C1) index 3 is out of range for dimension 0 of 'tensor<3x4xf32>'}}
  %0 = hjx.ref_get %r[3, :] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @slice(%r: !hjx.ref<tensor<3x4xf32>>) {
  // expected-error @below {{'hjx.ref_get' op (C1) a slice from 1 of 2 elements with step 3 does not fit dimension 1 of 'tensor<3x4xf32>'}}
  %0 = hjx.ref_get %r[:, 1:6:3] : (!hjx.ref<tensor<3x4xf32>>) -> tensor<3x2xf32>
  return
}

// -----

func.func @dynamic_slice(%r: !hjx.ref<tensor<3x4xf32>>, %i: tensor<i32>) {
  // expected-error @below {{'hjx.ref_get' op (C1) a slice of 5 elements does not fit dimension 1 of 'tensor<3x4xf32>'}}
  %0 = hjx.ref_get %r[:, %i +: 5] : (!hjx.ref<tensor<3x4xf32>>, tensor<i32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @vector_start(%r: !hjx.ref<tensor<3x4xf32>>, %i: tensor<2xi32>) {
  // expected-error @below {{'hjx.ref_get' op (C1) expected a scalar as start of a slice, got 'tensor<2xi32>'}}
  %0 = hjx.ref_get %r[:, %i +: 2] : (!hjx.ref<tensor<3x4xf32>>, tensor<2xi32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @shapes(%r: !hjx.ref<tensor<3x4xf32>>, %i: tensor<2xi32>, %j: tensor<3xi32>) {
  // expected-error @below {{'hjx.ref_get' op (C1) expected integer arrays of one shape, got 'tensor<3xi32>' in dimension 1}}
  %0 = hjx.ref_get %r[%i, %j] : (!hjx.ref<tensor<3x4xf32>>, tensor<2xi32>, tensor<3xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @part(%r: !hjx.ref<tensor<3x4xf32>>, %x: tensor<4xf32>) {
  // expected-error @below {{'hjx.ref_swap' op (C2) expected a value of type 'tensor<3xf32>', that of the part, got 'tensor<4xf32>'}}
  %0 = hjx.ref_swap %r[:, 0], %x : (!hjx.ref<tensor<3x4xf32>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @add_bools(%r: !hjx.ref<tensor<3xi1>>, %x: tensor<3xi1>) {
  // expected-error @below {{'hjx.ref_add' op (C3) expected a ref of numbers, got '!hjx.ref<tensor<3xi1>>'}}
  hjx.ref_add %r, %x : (!hjx.ref<tensor<3xi1>>, tensor<3xi1>) -> ()
  return
}

// -----

func.func @freeze_argument(%r: !hjx.ref<tensor<3xf32>>) -> tensor<3xf32> {
  // expected-error @below {{'hjx.ref_freeze' op (C1) only the block that made a ref may freeze it; read it with hjx.ref_get}}
  %x = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return %x : tensor<3xf32>
}

// -----

func.func @use_after_freeze(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = hjx.ref_new %x : (tensor<3xf32>) -> !hjx.ref<tensor<3xf32>>
  // expected-note @below {{frozen here}}
  %y = hjx.ref_freeze %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  // expected-error @below {{'hjx.ref_get' op (C2) uses a ref after it was frozen; read it before, or freeze it later}}
  %z = hjx.ref_get %r : (!hjx.ref<tensor<3xf32>>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}

// -----

func.func @carried(%x: tensor<f32>) {
  %r = hjx.ref_new %x : (tensor<f32>) -> !hjx.ref<tensor<f32>>
  // expected-error @below {{operand #0 must be}}
  hjx.scan consts() inits(%r) xs() length = 3 : (!hjx.ref<tensor<f32>>) -> () {
  ^bb0(%c: !hjx.ref<tensor<f32>>):
    hjx.yield
  }
  return
}

// -----

// expected-error @below {{unknown type !hjx.q8; known hi-types: low_rank, optional, quantized, tuple (a plugin adds others: --load-hjx-plugin)}}
func.func private @unknown(!hjx.q8<4x8>)

// -----

func.func @unknown(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.call_primitive' op (C1) unknown primitive "quantize"; known primitives: hjx.dequantize, hjx.elements, hjx.factors, hjx.low_rank, hjx.none_of, hjx.optional, hjx.optional_parts, hjx.quantize, hjx.quantized_matmul, hjx.quantized_take, hjx.select, hjx.tuple (a plugin adds others: --load-hjx-plugin)}}
  hjx.call_primitive "quantize"(%x) : (tensor<3xf32>) -> ()
  return
}
