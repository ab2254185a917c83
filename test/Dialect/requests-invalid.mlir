// RUN: hjx-opt %s --verify-diagnostics --split-input-file
// What the verifiers of requests refuse.

func.func @jvp_c1_name(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.jvp' op (C1) no function named @f}}
  %y:2 = hjx.jvp @f(%x) tangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @jvp_c1_types(%x: tensor<4xf32>) {
  // expected-error @below {{'hjx.jvp' op (C1) primals: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y:2 = hjx.jvp @f(%x) tangents(%x) active = [true] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @jvp_c2_count(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.jvp' op (C2) active: expected one entry per primal operand, 1, got 2}}
  %y:2 = hjx.jvp @f(%x) tangents(%x) active = [true, true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xi32>) -> tensor<f32>
func.func @jvp_c2_integer(%x: tensor<3xi32>, %t: tensor<3xf32>) {
  // expected-error @below {{'hjx.jvp' op (C2) operand 0 is active but has no tangent: expected a float array, got 'tensor<3xi32>'}}
  %y:2 = hjx.jvp @f(%x) tangents(%t) active = [true] : (tensor<3xi32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @jvp_c3(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.jvp' op (C3) tangents: expected 1 values, got 0}}
  %y:2 = hjx.jvp @f(%x) tangents() active = [true] : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> (tensor<f32>, tensor<i32>)
func.func @jvp_c4(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.jvp' op (C4) results: expected 3 values, got 4}}
  %y:4 = hjx.jvp @f(%x) tangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vjp_c1(%x: tensor<3xf64>, %ct: tensor<f32>) {
  // expected-error @below {{'hjx.vjp' op (C1) primals: expected 'tensor<3xf32>' at position 0, got 'tensor<3xf64>'}}
  %y:2 = hjx.vjp @f(%x) cotangents(%ct) active = [true] : (tensor<3xf64>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  return
}

// -----

func.func private @f(tensor<3xf32>, tensor<i1>) -> tensor<f32>
func.func @vjp_c2(%x: tensor<3xf32>, %p: tensor<i1>, %ct: tensor<f32>) {
  // expected-error @below {{'hjx.vjp' op (C2) operand 1 is active but has no tangent: expected a float array, got 'tensor<i1>'}}
  %y:3 = hjx.vjp @f(%x, %p) cotangents(%ct) active = [true, true] : (tensor<3xf32>, tensor<i1>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vjp_c3(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.vjp' op (C3) cotangents: expected 'tensor<f32>' at position 0, got 'tensor<3xf32>'}}
  %y:2 = hjx.vjp @f(%x) cotangents(%x) active = [true] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vjp_c4(%x: tensor<3xf32>, %ct: tensor<f32>) {
  // expected-error @below {{'hjx.vjp' op (C4) results: expected 'tensor<3xf32>' at position 1, got 'tensor<f32>'}}
  %y:2 = hjx.vjp @f(%x) cotangents(%ct) active = [true] : (tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @linearize_c1(%x: tensor<4xf32>) {
  // expected-error @below {{'hjx.linearize' op (C1) primals: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y:2 = hjx.linearize @f(%x) active = [true] : (tensor<4xf32>) -> (tensor<f32>, !hjx.linear<(tensor<4xf32>) -> tensor<f32>>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @linearize_c2(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.linearize' op (C2) active: expected one entry per primal operand, 1, got 0}}
  %y:2 = hjx.linearize @f(%x) active = [] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @linearize_c3(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.linearize' op (C3) results: expected '!hjx.linear<(tensor<3xf32>) -> tensor<f32>>' at position 1, got '!hjx.linear<(tensor<f32>) -> tensor<3xf32>>'}}
  %y:2 = hjx.linearize @f(%x) active = [true] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<f32>) -> tensor<3xf32>>)
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @linearize_c4(%x: tensor<3xf32>) -> !hjx.linear<(tensor<3xf32>) -> tensor<f32>> {
  // expected-error @below {{'hjx.linearize' op (C4) the linear map may only be used by apply_linear and apply_transpose, but is used by func.return}}
  %y:2 = hjx.linearize @f(%x) active = [true] : (tensor<3xf32>) -> (tensor<f32>, !hjx.linear<(tensor<3xf32>) -> tensor<f32>>)
  return %y#1 : !hjx.linear<(tensor<3xf32>) -> tensor<f32>>
}

// -----

func.func @apply_linear_c1(%l: !hjx.linear<(tensor<3xf32>) -> tensor<f32>>, %t: tensor<f32>) {
  // expected-error @below {{'hjx.apply_linear' op (C1) tangents: expected 'tensor<3xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.apply_linear %l(%t) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @apply_linear_c2(%l: !hjx.linear<(tensor<3xf32>) -> tensor<f32>>, %t: tensor<3xf32>) {
  // expected-error @below {{'hjx.apply_linear' op (C2) results: expected 'tensor<f32>' at position 0, got 'tensor<3xf32>'}}
  %y = hjx.apply_linear %l(%t) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @apply_transpose_c1(%l: !hjx.linear<(tensor<3xf32>) -> tensor<f32>>, %t: tensor<3xf32>) {
  // expected-error @below {{'hjx.apply_transpose' op (C1) cotangents: expected 'tensor<f32>' at position 0, got 'tensor<3xf32>'}}
  %y = hjx.apply_transpose %l(%t) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @apply_transpose_c2(%l: !hjx.linear<(tensor<3xf32>) -> tensor<f32>>, %t: tensor<f32>) {
  // expected-error @below {{'hjx.apply_transpose' op (C2) results: expected 'tensor<3xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.apply_transpose %l(%t) : (!hjx.linear<(tensor<3xf32>) -> tensor<f32>>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c1_count(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C1) in_axes: expected one entry per operand, 1, got 2}}
  %y = hjx.vmap @f(%x) in_axes = [0, 0] out_axes = [0] size = 8 : (tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c1_range(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C1) in_axes: expected -1 or an axis of 'tensor<8x3xf32>' for operand 0, got 2}}
  %y = hjx.vmap @f(%x) in_axes = [2] out_axes = [0] size = 8 : (tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c2(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C2) operand 0 has size 8 on its mapped axis, expected 7}}
  %y = hjx.vmap @f(%x) in_axes = [0] out_axes = [0] size = 7 : (tensor<8x3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c2_negative(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C2) expected a size that is not negative, got -7}}
  %y = hjx.vmap @f(%x) in_axes = [-1] out_axes = [0] size = -7 : (tensor<3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c3(%x: tensor<8x4xf32>) {
  // expected-error @below {{'hjx.vmap' op (C3) unmapped operands: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y = hjx.vmap @f(%x) in_axes = [0] out_axes = [0] size = 8 : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c4_count(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C4) out_axes: expected one entry per result, 1, got 0}}
  %y = hjx.vmap @f(%x) in_axes = [0] out_axes = [] size = 8 : (tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c4_range(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C4) out_axes: expected -1 or a place for an axis in 'tensor<f32>' for result 0, got 1}}
  %y = hjx.vmap @f(%x) in_axes = [0] out_axes = [1] size = 8 : (tensor<8x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @vmap_c4_type(%x: tensor<8x3xf32>) {
  // expected-error @below {{'hjx.vmap' op (C4) results: expected 'tensor<8xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.vmap @f(%x) in_axes = [0] out_axes = [0] size = 8 : (tensor<8x3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @checkpoint_c1(%x: tensor<4xf32>) {
  // expected-error @below {{'hjx.checkpoint' op (C1) operands: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y = hjx.checkpoint @f(%x) : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func @checkpoint_c2(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.checkpoint' op (C2) results: expected 'tensor<f32>' at position 0, got 'tensor<3xf32>'}}
  %y = hjx.checkpoint @f(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @f_jvp(tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
func.func @custom_jvp_c1(%x: tensor<4xf32>) {
  // expected-error @below {{'hjx.custom_jvp' op (C1) operands: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y = hjx.custom_jvp @f(%x) rule = @f_jvp : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @f_jvp(tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
func.func @custom_jvp_c2_arguments(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_jvp' op (C2) arguments of the rule: expected 2 values, got 1}}
  %y = hjx.custom_jvp @f(%x) rule = @f_jvp : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @f_jvp(tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
func.func @custom_jvp_c2_results(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_jvp' op (C2) results of the rule: expected 2 values, got 1}}
  %y = hjx.custom_jvp @f(%x) rule = @f_jvp : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @fwd(tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
func.func private @bwd(tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
func.func @custom_vjp_c1(%x: tensor<4xf32>) {
  // expected-error @below {{'hjx.custom_vjp' op (C1) operands: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y = hjx.custom_vjp @f(%x) fwd = @fwd bwd = @bwd : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @fwd(tensor<3xf32>) -> ()
func.func private @bwd(tensor<f32>) -> tensor<3xf32>
func.func @custom_vjp_c2_fwd(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_vjp' op (C2) fwd returns 0 values, expected at least the 1 results}}
  %y = hjx.custom_vjp @f(%x) fwd = @fwd bwd = @bwd : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @fwd(tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
func.func private @bwd(tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
func.func @custom_vjp_c2_bwd(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_vjp' op (C2) arguments of bwd: expected 'tensor<3xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.custom_vjp @f(%x) fwd = @fwd bwd = @bwd : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<f32>
func.func private @fwd(tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
func.func private @bwd(tensor<3xf32>, tensor<f32>) -> tensor<f32>
func.func @custom_vjp_c2_results(%x: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_vjp' op (C2) results of bwd: expected 'tensor<3xf32>' at position 0, got 'tensor<f32>'}}
  %y = hjx.custom_vjp @f(%x) fwd = @fwd bwd = @bwd : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @bwd(tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
func.func @custom_lin_c1(%r: tensor<4xf32>, %t: tensor<3xf32>) {
  // expected-error @below {{'hjx.custom_lin' op (C1) arguments of bwd: expected 'tensor<4xf32>' at position 0, got 'tensor<3xf32>'}}
  %y = hjx.custom_lin @bwd residuals(%r) tangents(%t) active = [true] : (tensor<4xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func private @bwd(tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
func.func @custom_lin_c2(%r: tensor<3xf32>, %t: tensor<4xf32>) {
  // expected-error @below {{'hjx.custom_lin' op (C2) tangents: expected 'tensor<3xf32>' at position 0, got 'tensor<4xf32>'}}
  %y = hjx.custom_lin @bwd residuals(%r) tangents(%t) active = [true] : (tensor<3xf32>, tensor<4xf32>) -> tensor<f32>
  return
}
