// SPDX-License-Identifier: Apache-2.0
//
// What the conformance tests share: types and primitives of a user's that the worked
// examples (examples/hi_types) do not have, and "eagerly and compiled" as one loop.
#pragma once

#include "test/unit/FrontendTesting.h"

#include "examples/hi_types/q8.h"
#include "examples/hi_types/tup.h"

namespace conformance {

using hjx::Array, hjx::AxisSpec, hjx::Shape, hjx::Type;

/// f, or f compiled. Use: for (bool compiled : {false, true}) run(compiled, f)(args..).
template <typename F>
auto run(bool compiled, F f) {
  return [compiled, f](const auto &...args) {
    if (compiled)
      return hjx::jit(f)(args...);
    if constexpr (std::is_void_v<std::invoke_result_t<F, decltype(args)...>>) {
      f(args...);
      return std::tuple<>(); // As jit does.
    } else {
      return f(args...);
    }
  };
}

//===----------------------------------------------------------------------===//
// A scalar of a type of its own, which is its own tangent
//===----------------------------------------------------------------------===//

struct BoxedType;
using Boxed = hjx::HiValue<BoxedType>;
Boxed box(const Array &x, hjx::Where where = hjx::Where::current());
Boxed add_boxed(const Boxed &x, const Boxed &y, hjx::Where where = hjx::Where::current());

struct BoxedType {
  static constexpr const char *name = "boxed";
  std::vector<Type> lo_types() const { return {Type(hjx::float32)}; }
  Type tangent_type() const { return *this; }
  Boxed zero() const { return box(hjx::array(0.0f)); }
  Boxed add(const Boxed &x, const Boxed &y) const { return add_boxed(x, y); }
};
HJX_REGISTER_TYPE(BoxedType)

inline Array contents(const Boxed &x) { return hjx::lower(x)[0].as<Array>(); }

struct BoxArray {
  static constexpr const char *name = "box_array";
  static Type infer(const Type &) { return BoxedType(); }
  static Boxed expand(const Array &x) { return hjx::raise<Boxed>(BoxedType(), {x}); }
};
HJX_REGISTER_PRIMITIVE(BoxArray)
inline Boxed box(const Array &x, hjx::Where where) { return hjx::call_primitive<BoxArray>(where, x); }

struct AddBoxed {
  static constexpr const char *name = "add_boxed";
  static Type infer(const Type &x, const Type &) { return x; }
  static Boxed expand(const Boxed &x, const Boxed &y) { return hjx::raise<Boxed>(BoxedType(), {contents(x) + contents(y)}); }
};
HJX_REGISTER_PRIMITIVE(AddBoxed)
inline Boxed add_boxed(const Boxed &x, const Boxed &y, hjx::Where where) { return hjx::call_primitive<AddBoxed>(where, x, y); }

struct MultiplyBoxed {
  static constexpr const char *name = "multiply_boxed";
  static Type infer(const Type &x, const Type &) { return x; }
  static Boxed expand(const Boxed &x, const Boxed &y) { return hjx::raise<Boxed>(BoxedType(), {contents(x) * contents(y)}); }
  static std::pair<Boxed, Boxed> jvp(const Boxed &x, const Boxed &y, const Boxed &x_dot, const Boxed &y_dot);
  static std::pair<Boxed, std::pair<Boxed, Boxed>> vjp_forward(const Boxed &x, const Boxed &y);
  static std::pair<Boxed, Boxed> vjp_backward(const std::pair<Boxed, Boxed> &saved, const Boxed &bar);
};
HJX_REGISTER_PRIMITIVE(MultiplyBoxed)
inline Boxed multiply_boxed(const Boxed &x, const Boxed &y) { return hjx::call_primitive<MultiplyBoxed>(x, y); }

inline std::pair<Boxed, Boxed> MultiplyBoxed::jvp(const Boxed &x, const Boxed &y, const Boxed &x_dot, const Boxed &y_dot) {
  return {multiply_boxed(x, y), add_boxed(multiply_boxed(x_dot, y), multiply_boxed(x, y_dot))};
}
inline std::pair<Boxed, std::pair<Boxed, Boxed>> MultiplyBoxed::vjp_forward(const Boxed &x, const Boxed &y) {
  return {multiply_boxed(x, y), {x, y}};
}
inline std::pair<Boxed, Boxed> MultiplyBoxed::vjp_backward(const std::pair<Boxed, Boxed> &saved, const Boxed &bar) {
  return {multiply_boxed(saved.second, bar), multiply_boxed(saved.first, bar)};
}

//===----------------------------------------------------------------------===//
// Primitives on arrays
//===----------------------------------------------------------------------===//

/// x squared, with rules of both modes.
struct Square {
  static constexpr const char *name = "conformance_square";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x * x; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) { return {hjx::call_primitive<Square>(x), 2 * x * dot}; }
  static std::pair<Array, Array> vjp_forward(const Array &x) { return {hjx::call_primitive<Square>(x), x}; }
  static Array vjp_backward(const Array &x, const Array &bar) { return 2 * x * bar; }
};
HJX_REGISTER_PRIMITIVE(Square)
inline Array square(const Array &x) { return hjx::call_primitive<Square>(x); }

/// x to the power of a static exponent.
struct Raise {
  int64_t exponent = 1;

  static constexpr const char *name = "conformance_power";
  HJX_PARAMS(exponent)

  static Type infer(const Type &x) { return x; }
  Array expand(const Array &x) const { return hjx::power(x, static_cast<int>(exponent)); }
  std::pair<Array, Array> jvp(const Array &x, const Array &dot) const { return {hjx::call_primitive(*this, x), slope(x) * dot}; }
  std::pair<Array, Array> vjp_forward(const Array &x) const { return {hjx::call_primitive(*this, x), x}; }
  Array vjp_backward(const Array &x, const Array &bar) const { return slope(x) * bar; }

private:
  Array slope(const Array &x) const { return static_cast<float>(exponent) * hjx::call_primitive(Raise{exponent - 1}, x); }
};
HJX_REGISTER_PRIMITIVE(Raise)
inline Array cube(const Array &x) { return hjx::call_primitive(Raise{3}, x); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A quantised matrix of ones and the scales 1.5 and 2.5.
inline quantized::QArray onesQ() {
  return hjx::raise<quantized::QArray>(quantized::Q8{{2, 3}}, {hjx::ones({2, 3}, hjx::int8), hjx::array({1.5, 2.5})});
}

/// The element of a tuple, as an array.
inline Array element(const tuples::Tup &t, int64_t index, hjx::Where where = hjx::Where::current()) {
  return tuples::get_element(t, index, where).as<Array>(where);
}
inline tuples::Tup pairOf(const hjx::AnyValue &x, const hjx::AnyValue &y) { return tuples::make_tup({x, y}); }

/// Equal types and components.
inline void expectSame(const hjx::AnyValue &got, const hjx::AnyValue &expected, double tolerance = 1e-6) {
  EXPECT_EQ(got.type(), expected.type());
  std::vector<hjx::AnyValue> a = hjx::lower(got), b = hjx::lower(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_CLOSE(a[i].as<Array>(), b[i].as<Array>(), tolerance);
}

} // namespace conformance
