// SPDX-License-Identifier: Apache-2.0
//
// Quantised arrays: small integers and the float scales that give them meaning, as
// one value of one type. It stands for values * scales, is never made dense by the
// products, and is differentiated as the float array that it stands for.
//
//   hjx::Quantized w = hjx::quantize(kernel, {.axis = 0});   // [in, out], a scale for each column
//   hjx::Array y = hjx::matmul(x, w);                        // reads the int8 numbers themselves
//   hjx::Array w_bar = hjx::grad(loss)(w);                   // f32[in, out]: straight-through
//
// `scales` has as many axes as the array, and says how far each scale reaches: 1 is one
// for all of the axis, n one for each index, a divisor of n one for each group.
//
//   quantize(w)                                 !hjx.quantized<"int8", 4x8, 4x1>   per row
//   quantize(w, {.axis = 0})                    !hjx.quantized<"int8", 4x8, 1x8>   per column
//   quantize(w, {.axis = std::nullopt})         !hjx.quantized<"int8", 4x8, 1x1>   per tensor
//   quantize(w, {.format = "int4", .group = 4}) !hjx.quantized<"int4", 4x8, 4x2>   groups in a row
//
// Numerics: scale = max|x| / 127 (int4: 7), value = round(x / scale), ties to even, within
// [-127, 127] ([-7, 7]). NaN becomes 0 and leaves the scale alone, infinities count as 3.4e38, rows of zeros have scale 0. The idea is Jacob et al. 2018 without zero points; groups
// as in GPTQ and ggml.
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace hjx {

/// The type: quantized{"int8",[4,8],[4,1]}. Its tangents are f32 arrays of the shape.
///
/// Components: int8 numbers of `shape` and f32 scales of the shape `scales`. Numbers of "int4" lie
/// two to a byte along the last axis, the one of even index in the low bits (as ONNX has them);
/// the last byte of an odd axis ends in zero bits.
/// Mapped (vmap, scan) at any axis that has a scale for each index; of "int4", not at the last.
struct HJX_API QuantizedType {
  std::string format = "int8"; ///< or "int4"
  Shape shape, scales;

  static constexpr const char *name = "quantized";
  HJX_PARAMS(format, shape, scales)
  using Tangent = Array;

  void verify() const;
  std::vector<Type> lo_types() const;
  Type tangent_type() const;
  Type dec_rank(int64_t size, const AxisSpec &spec) const;
  Type inc_rank(int64_t size, const AxisSpec &spec) const;
  AxisSpec leading_axis_spec() const;
};

using Quantized = HiValue<QuantizedType>;

struct QuantizeOptions {
  std::string format = "int8";    ///< or "int4"
  std::optional<int> axis = -1;   ///< whose numbers share a scale; none: all numbers share one
  int64_t group = 0;              ///< so many of them share one; 0: all
};

/// Returns the nearest numbers and their scales; see Numerics above.
///
/// Errors: hjx::Error unless x is float32, the axis is in range and the group divides it.
/// Derivative: the cotangent passes as if nothing had been rounded (straight-through, Bengio et al. 2013).
HJX_API Quantized quantize(const Array &x, const QuantizeOptions &options = {}, Where where = Where::current());

/// Returns values * scales, as float32.
HJX_API Array dequantize(const Quantized &q, Where where = Where::current());

/// Returns x q: [.., k] by [k, n]. The numbers are widened as the product reads them. Scales that
/// the sum does not run over multiply the result, those that differ along the sum alone multiply x, and others (of
/// groups) the numbers, as these are read. There are no dense weights.
///
/// Errors: hjx::Error unless x is float32 with a last axis of k, and q has two axes (map over others).
HJX_API Array matmul(const Array &x, const Quantized &q, Where where = Where::current());
/// Returns x q^T: [.., k] by [n, k], as a tied embedding has it.
HJX_API Array matmul_transposed(const Array &x, const Quantized &q, Where where = Where::current());
/// Returns q x: [m, k] by [k] or [.., k, n].
HJX_API Array matmul(const Quantized &q, const Array &x, Where where = Where::current());

/// Returns q[ids] along axis 0, dequantised: [n, ..] and ids [..] give [.., ..]. Reads no other rows.
HJX_API Array take(const Quantized &q, const Array &ids, Where where = Where::current());

} // namespace hjx
