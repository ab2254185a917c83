// What the rules of a plugin's types and primitives refuse: their author's words, at the operation.
// RUN: hjx-opt --load-hjx-plugin=%plugins/libHiTypesPlugin.so --split-input-file --verify-diagnostics %s

// expected-error@+1 {{expected a shape of at least one dimension, got []; a row has one scale: quantise rows}}
func.func private @scalar(!hjx.q8<[]>)

// -----

// expected-error@+1 {{q8: expected a shape as the parameter shape; give the parameters that HJX_PARAMS lists}}
func.func private @text(!hjx.q8<"wide">)

// -----

// expected-error@+1 {{q8: expected 1 parameter, got 2; compare with the class}}
func.func private @two(!hjx.q8<2, 3>)

// -----

// expected-error@+1 {{expected arrays and hi-types as types in !hjx.tup, got i32; write tensor<..>}}
func.func private @element(!hjx.tup<i32>)

// -----

// expected-error@+1 {{unknown type !hjx.q4; known hi-types: low_rank, optional, q8, quantized, r1, tup, tuple (a plugin adds others: --load-hjx-plugin)}}
func.func private @unknown(!hjx.q4<2x3>)

// -----

func.func @unknown_primitive(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1) unknown primitive "quantise"; known primitives: dequantize, factors, get_tuple_element, hjx.dequantize, hjx.elements, hjx.factors, hjx.low_rank, hjx.none_of, hjx.optional, hjx.optional_parts, hjx.quantize, hjx.quantized_matmul, hjx.quantized_take, hjx.select, hjx.tuple, make_tup, matmul_q, matmul_r1, outer, quantize (a plugin adds others: --load-hjx-plugin)}}
  %q = hjx.call_primitive "quantise"(%x) : (tensor<2x3xf32>) -> !hjx.q8<2x3>
  return
}

// -----

func.func @operand(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{(C2) "quantize": expected a float32 array, got i32[2,3]; convert it: x.astype(hjx::float32)}}
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xi32>) -> !hjx.q8<2x3>
  return
}

// -----

func.func @count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2) "quantize": expected 1 operand, got 2; compare with the class}}
  %q = hjx.call_primitive "quantize"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> !hjx.q8<2x3>
  return
}

// -----

func.func @result(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2) results}}
  %q = hjx.call_primitive "quantize"(%x) : (tensor<2x3xf32>) -> !hjx.q8<3x2>
  return
}

// -----

func.func @parameter(%t: !hjx.tup<tensor<f32>>) {
  // expected-error@+1 {{get_tuple_element: expected an integer as the parameter index}}
  %x = hjx.call_primitive "get_tuple_element"(%t) : (!hjx.tup<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @range(%t: !hjx.tup<tensor<f32>>) {
  // expected-error@+1 {{expected an index of tup{f32}, got 1; count elements from 0}}
  %x = hjx.call_primitive "get_tuple_element"(%t) params {index = 1} : (!hjx.tup<tensor<f32>>) -> tensor<f32>
  return
}

// -----

func.func @kind(%t: !hjx.tup<tensor<f32>>) {
  // expected-error@+1 {{expected a bool, a number, a string, array<i64: ..> or a type as the parameter 'index', got [0]}}
  %x = hjx.call_primitive "get_tuple_element"(%t) params {index = [0]} : (!hjx.tup<tensor<f32>>) -> tensor<f32>
  return
}
