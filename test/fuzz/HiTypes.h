// SPDX-License-Identifier: Apache-2.0
//
// A quantised array without rounding: the bits of x / scale as integers, and a scale
// for each row. Its tangents are dense floats, as those of q8 are; but a difference of
// one bit in x stays one bit, so that results can be compared with a tolerance. Each
// primitive comes with rules of forward mode alone, which mapping leaves whole, and
// with rules of reverse mode and of mapping.
#pragma once

#include "examples/hi_types/rank1.h"
#include "test/fuzz/Operations.h"

#include <hjx/types/tuple.h>

namespace fuzz {

struct PackedClass {
  hjx::Type dense;

  static constexpr const char *name = "fuzz_packed";
  HJX_PARAMS(dense)
  using Tangent = hjx::Array;

  std::vector<hjx::Type> lo_types() const {
    const hjx::Shape &shape = dense.shape();
    return {hjx::Type(dense.dtype() == hjx::float64 ? hjx::int64 : hjx::int32, shape),
            hjx::Type(dense.dtype(), hjx::Shape(shape.begin(), shape.end() - 1))};
  }
  hjx::Type tangent_type() const { return dense; }
  hjx::Type dec_rank(int64_t size, const hjx::AxisSpec &) const { return PackedClass{hjx::dec_rank(dense, size, 0)}; }
  hjx::Type inc_rank(int64_t size, const hjx::AxisSpec &) const { return PackedClass{hjx::inc_rank(dense, size, 0)}; }
  hjx::AxisSpec leading_axis_spec() const { return "leading"; }
};
HJX_REGISTER_TYPE(PackedClass)
using Packed = hjx::HiValue<PackedClass>;

/// The formulas: integers and scales of an array, and back.
inline std::pair<hjx::Array, hjx::Array> encode(const hjx::Array &x) {
  hjx::Array scale = 1 + hjx::max(hjx::abs(x), -1);
  hjx::DType bits = x.dtype() == hjx::float64 ? hjx::int64 : hjx::int32;
  return {hjx::bitcast(x / hjx::expand_dims(scale, -1), bits), scale};
}
inline hjx::Array decode(const hjx::Array &bits, const hjx::Array &scale) {
  return hjx::bitcast(bits, scale.dtype()) * hjx::expand_dims(scale, -1);
}

inline hjx::Array leading(const hjx::Array &x, const hjx::AxisSpec &spec, int64_t size) {
  if (!spec.is_none())
    return hjx::moveaxis(x, spec.axis(), 0);
  std::vector<int64_t> sizes = x.shape().vec();
  sizes.insert(sizes.begin(), size);
  return hjx::broadcast_to(x, sizes);
}

//===----------------------------------------------------------------------===//
// pack and unpack
//===----------------------------------------------------------------------===//

struct PackRule {
  static hjx::Type infer(const hjx::Type &x) { return PackedClass{x}; }
  static Packed expand(const hjx::Array &x) {
    auto [bits, scale] = encode(x);
    return hjx::raise<Packed>(PackedClass{hjx::Type(x.dtype(), x.shape())}, {bits, scale});
  }
};
struct PackForward : PackRule {
  static constexpr const char *name = "fuzz_pack";
  static std::pair<Packed, hjx::Array> jvp(const hjx::Array &x, const hjx::Array &dot) { return {hjx::call_primitive<PackForward>(x), dot}; }
};
struct PackReverse : PackRule {
  static constexpr const char *name = "fuzz_pack_vjp";
  static std::pair<Packed, std::tuple<>> vjp_forward(const hjx::Array &x) { return {hjx::call_primitive<PackReverse>(x), {}}; }
  static hjx::Array vjp_backward(std::tuple<>, const hjx::Array &bar) { return bar; }
  static std::pair<Packed, hjx::AxisSpec> batch(const hjx::Mapped &mapped, const hjx::Array &x) {
    return {hjx::call_primitive<PackReverse>(leading(x, mapped.specs[0], mapped.size)), "leading"};
  }
};
HJX_REGISTER_PRIMITIVE(PackForward)
HJX_REGISTER_PRIMITIVE(PackReverse)

struct UnpackRule {
  static hjx::Type infer(const hjx::Type &q) { return q.as<PackedClass>().dense; }
  static hjx::Array expand(const Packed &q) {
    auto [bits, scale] = hjx::lower<hjx::Array, hjx::Array>(q);
    return decode(bits, scale);
  }
};
struct UnpackForward : UnpackRule {
  static constexpr const char *name = "fuzz_unpack";
  static std::pair<hjx::Array, hjx::Array> jvp(const Packed &q, const hjx::Array &dot) { return {hjx::call_primitive<UnpackForward>(q), dot}; }
};
struct UnpackReverse : UnpackRule {
  static constexpr const char *name = "fuzz_unpack_vjp";
  static std::pair<hjx::Array, std::tuple<>> vjp_forward(const Packed &q) { return {hjx::call_primitive<UnpackReverse>(q), {}}; }
  static hjx::Array vjp_backward(std::tuple<>, const hjx::Array &bar) { return bar; }
  static std::pair<hjx::Array, hjx::AxisSpec> batch(const hjx::Mapped &, const Packed &q) { return {hjx::call_primitive<UnpackReverse>(q), 0}; }
};
HJX_REGISTER_PRIMITIVE(UnpackForward)
HJX_REGISTER_PRIMITIVE(UnpackReverse)

//===----------------------------------------------------------------------===//
// From packed to packed, and products
//===----------------------------------------------------------------------===//

/// factor * q, which touches the scales alone.
struct Rescale {
  double factor = 1;

  static constexpr const char *name = "fuzz_rescale";
  HJX_PARAMS(factor)

  static hjx::Type infer(const hjx::Type &q) { return q; }
  Packed expand(const Packed &q) const {
    auto [bits, scale] = hjx::lower<hjx::Array, hjx::Array>(q);
    return hjx::raise<Packed>(q.hi_type(), {bits, factor * scale});
  }
  std::pair<Packed, hjx::Array> jvp(const Packed &q, const hjx::Array &dot) const { return {hjx::call_primitive(*this, q), factor * dot}; }
};
HJX_REGISTER_PRIMITIVE(Rescale)

struct MatmulRule {
  static hjx::Type infer(const hjx::Type &x, const hjx::Type &q) {
    if (x.shape().ndim() != 2 || x.shape()[1] != q.as<PackedClass>().dense.shape()[0])
      throw hjx::Error("expected [m,k] and packed [k,n], got " + to_string(x) + " and " + to_string(q), "transpose an operand", {});
    return hjx::Type(x.dtype(), {x.shape()[0], q.as<PackedClass>().dense.shape()[1]});
  }
  static hjx::Array expand(const hjx::Array &x, const Packed &q) {
    auto [bits, scale] = hjx::lower<hjx::Array, hjx::Array>(q);
    return perTerm(hjx::matmul(x * scale, hjx::bitcast(bits, scale.dtype())), x.shape(1));
  }
};
struct MatmulForward : MatmulRule {
  static constexpr const char *name = "fuzz_matmul";
  static std::pair<hjx::Array, hjx::Array> jvp(const hjx::Array &x, const Packed &q, const hjx::Array &xDot, const hjx::Array &qDot) {
    auto times = [](const hjx::Array &a, const hjx::Array &b) { return perTerm(hjx::matmul(a, b), a.shape(1)); };
    return {hjx::call_primitive<MatmulForward>(x, q), times(xDot, hjx::call_primitive<UnpackForward>(q)) + times(x, qDot)};
  }
};
struct MatmulReverse : MatmulRule {
  static constexpr const char *name = "fuzz_matmul_vjp";
  static std::pair<hjx::Array, std::pair<hjx::Array, Packed>> vjp_forward(const hjx::Array &x, const Packed &q) {
    return {hjx::call_primitive<MatmulReverse>(x, q), {x, q}};
  }
  static std::pair<hjx::Array, hjx::Array> vjp_backward(const std::pair<hjx::Array, Packed> &saved, const hjx::Array &bar) {
    const auto &[x, q] = saved;
    hjx::Array scaled = perTerm(bar, x.shape(1));
    return {hjx::matmul(scaled, hjx::call_primitive<UnpackReverse>(q).T()), hjx::matmul(x.T(), scaled)};
  }
};
HJX_REGISTER_PRIMITIVE(MatmulForward)
HJX_REGISTER_PRIMITIVE(MatmulReverse)

} // namespace fuzz
