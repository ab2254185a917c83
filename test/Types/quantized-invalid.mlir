// What quantized arrays refuse, at the type or the operation: expected, got, a remedy.
// RUN: hjx-opt --split-input-file --verify-diagnostics %s

// expected-error@+1 {{expected the format "int8" or "int4", got "int2"; those are what numbers are stored as}}
func.func private @format(!hjx.quantized<"int2", 4x8, 4x1>)

// -----

// expected-error@+1 {{expected scales whose sizes divide those of the shape [4,8], got [4,3]; 1 is one scale for all of an axis, its size one for each index, a divisor one for each group}}
func.func private @scales(!hjx.quantized<"int8", 4x8, 4x3>)

// -----

// expected-error@+1 {{expected scales whose sizes divide those of the shape [4,8], got [4]}}
func.func private @rank(!hjx.quantized<"int8", 4x8, 4>)

// -----

// expected-error@+1 {{expected a shape of at least one axis for "int4", got []; its numbers lie two to a byte along the last axis}}
func.func private @scalar(!hjx.quantized<"int4", [], []>)

// -----

// expected-error@+1 {{quantized: expected a string as the parameter format; give the parameters that HJX_PARAMS lists}}
func.func private @order(!hjx.quantized<4x8, 4x1>)

// -----

func.func @operand(%x: tensor<4x8xf64>) {
  // expected-error@+1 {{(C2) "hjx.quantize": expected a float32 array, got f64[4,8]; convert it: x.astype(hjx::float32)}}
  %q = hjx.call_primitive "hjx.quantize"(%x) params {format = "int8", scales = array<i64: 4, 1>} : (tensor<4x8xf64>) -> !hjx.quantized<"int8", 4x8, 4x1>
  return
}

// -----

func.func @sizes(%x: tensor<2x8xf32>, %q: !hjx.quantized<"int8", 4x8, 4x1>) {
  // expected-error@+1 {{(C2) "hjx.quantized_matmul": expected f32[..,k] and a quantized array [k,n], got f32[2,8] and quantized{"int8",[4,8],[4,1]}; contracted sizes are equal}}
  %y = hjx.call_primitive "hjx.quantized_matmul"(%x, %q) params {transposed = false} : (tensor<2x8xf32>, !hjx.quantized<"int8", 4x8, 4x1>) -> tensor<2x8xf32>
  return
}

// -----

func.func @ids(%q: !hjx.quantized<"int8", 4x8, 4x1>, %ids: tensor<3xf32>) {
  // expected-error@+1 {{(C2) "hjx.quantized_take": expected a quantized array of at least one axis and integer ids, got quantized{"int8",[4,8],[4,1]} and f32[3]}}
  %y = hjx.call_primitive "hjx.quantized_take"(%q, %ids) : (!hjx.quantized<"int8", 4x8, 4x1>, tensor<3xf32>) -> tensor<3x8xf32>
  return
}
