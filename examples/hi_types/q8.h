// SPDX-License-Identifier: Apache-2.0
//
// A quantised array: int8 numbers and a float scale for each row, as one type.
// Its tangents are dense float arrays, so that it can be trained (straight-through
// estimator) although integers have no derivative. After JAX's hijax example.
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace quantized {

using hjx::Array, hjx::AxisSpec, hjx::Mapped, hjx::Shape, hjx::Type;

/// The type: q8[2,3].
struct Q8 {
  Shape shape;

  static constexpr const char *name = "q8";
  HJX_PARAMS(shape)
  using Tangent = Array;

  void verify() const {
    if (shape.ndim() == 0)
      throw hjx::Error("expected a shape of at least one dimension, got []", "a row has one scale: quantise rows", {});
  }
  std::vector<Type> lo_types() const { return {Type(hjx::int8, shape), Type(hjx::float32, Shape(shape.begin(), shape.end() - 1))}; }
  Type tangent_type() const { return Type(hjx::float32, shape); }

  // Mapped at the leading axis and nowhere else, whatever the spec.
  Type dec_rank(int64_t, const AxisSpec &) const { return Q8{Shape(shape.begin() + 1, shape.end())}; }
  Type inc_rank(int64_t size, const AxisSpec &) const {
    std::vector<int64_t> sizes = shape.vec();
    sizes.insert(sizes.begin(), size);
    return Q8{sizes};
  }
  AxisSpec leading_axis_spec() const { return "leading"; }
};
HJX_REGISTER_TYPE(Q8)

/// Its values.
using QArray = hjx::HiValue<Q8>;

/// An array with its mapped axis in front.
inline Array leading(const Array &x, const AxisSpec &spec) { return spec.is_none() ? x : hjx::moveaxis(x, spec.axis(), 0); }

struct Quantize {
  static constexpr const char *name = "quantize";

  static Type infer(const Type &x) {
    if (!x.is_array() || x.dtype() != hjx::float32)
      throw hjx::Error("expected a float32 array, got " + to_string(x), "convert it: x.astype(hjx::float32)", {});
    return Q8{x.shape()};
  }
  static QArray expand(const Array &x) {
    Array scales = hjx::max(hjx::abs(x), -1) / 127;
    Array values = hjx::round(x / hjx::expand_dims(scales, -1)).astype(hjx::int8);
    return hjx::raise<QArray>(Q8{x.shape()}, {values, scales});
  }
  static std::pair<QArray, std::tuple<>> vjp_forward(const Array &x);
  static Array vjp_backward(std::tuple<>, const Array &bar) { return bar; }
  static std::pair<QArray, AxisSpec> batch(const Mapped &mapped, const Array &x);
};
HJX_REGISTER_PRIMITIVE(Quantize)
inline QArray quantize(const Array &x, hjx::Where where = hjx::Where::current()) { return hjx::call_primitive<Quantize>(where, x); }

inline std::pair<QArray, std::tuple<>> Quantize::vjp_forward(const Array &x) { return {quantize(x), {}}; }
inline std::pair<QArray, AxisSpec> Quantize::batch(const Mapped &mapped, const Array &x) {
  return {quantize(leading(x, mapped.specs[0])), "leading"};
}

struct Dequantize {
  static constexpr const char *name = "dequantize";

  static Type infer(const Type &q) { return Type(hjx::float32, q.as<Q8>().shape); }
  static Array expand(const QArray &q) {
    auto [values, scales] = hjx::lower<Array, Array>(q);
    return values.astype(hjx::float32) * hjx::expand_dims(scales, -1);
  }
  static std::pair<Array, std::tuple<>> vjp_forward(const QArray &q);
  static Array vjp_backward(std::tuple<>, const Array &bar) { return bar; }
  static std::pair<Array, AxisSpec> batch(const Mapped &, const QArray &q);
};
HJX_REGISTER_PRIMITIVE(Dequantize)
inline Array dequantize(const QArray &q, hjx::Where where = hjx::Where::current()) { return hjx::call_primitive<Dequantize>(where, q); }

inline std::pair<Array, std::tuple<>> Dequantize::vjp_forward(const QArray &q) { return {dequantize(q), {}}; }
inline std::pair<Array, AxisSpec> Dequantize::batch(const Mapped &, const QArray &q) { return {dequantize(q), 0}; }

/// A float matrix times a quantised one, which is never made dense.
struct MatmulQ {
  static constexpr const char *name = "matmul_q";

  static Type infer(const Type &x, const Type &q) {
    bool fits = x.is_array() && x.dtype() == hjx::float32 && x.shape().ndim() == 2 && q.is<Q8>() && q.as<Q8>().shape.ndim() == 2 &&
                x.shape()[1] == q.as<Q8>().shape[0];
    if (!fits)
      throw hjx::Error("expected f32[m,k] and q8[k,n], got " + to_string(x) + " and " + to_string(q), "transpose or quantise an operand", {});
    return Type(hjx::float32, {x.shape()[0], q.as<Q8>().shape[1]});
  }
  static Array expand(const Array &x, const QArray &q) {
    auto [values, scales] = hjx::lower<Array, Array>(q);
    return hjx::matmul(x * scales, values.astype(hjx::float32));
  }
  static std::pair<Array, std::pair<Array, QArray>> vjp_forward(const Array &x, const QArray &q);
  static std::pair<Array, Array> vjp_backward(const std::pair<Array, QArray> &saved, const Array &bar) {
    const auto &[x, q] = saved;
    return {hjx::matmul(bar, dequantize(q).T()), hjx::matmul(x.T(), bar)};
  }
};
HJX_REGISTER_PRIMITIVE(MatmulQ)
inline Array matmul_q(const Array &x, const QArray &q, hjx::Where where = hjx::Where::current()) {
  return hjx::call_primitive<MatmulQ>(where, x, q);
}

inline std::pair<Array, std::pair<Array, QArray>> MatmulQ::vjp_forward(const Array &x, const QArray &q) {
  return {matmul_q(x, q), {x, q}};
}

} // namespace quantized
