// SPDX-License-Identifier: Apache-2.0
//
// A value or none, decided when the program runs: one value of one type, whichever it is, that goes
// where a std::optional (decided when the program is traced) cannot: through cond, scan and vmap.
//
//   hjx::Optional count = hjx::optional(n > 0, n);                            // optional{bool,f32}
//   hjx::Optional mean = hjx::map(count, [&](hjx::Array n) { return total / n; });  // runs only for a value
//   hjx::Array y = hjx::value_or(mean, hjx::array(0.0f));
//
// Its tangents are those of the value; where there is none the value's cotangent is zero. What computes a
// value runs in any case, forwards and backwards: of optional(n > 0, total / n) at n = 0 the zero
// meets 1 / n, and 0 * inf is NaN. What is only defined for a value belongs into `map`: there the derivative
// is zero too.
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace hjx {

/// The type: optional{bool,f32[3]}, of the flag and of the value. Both are components. A mapping spec is a list of the
/// flag's axis, or none when all have a value or none has one, and the value's spec; or one axis for both.
struct HJX_API OptionalType {
  Type flag = Type(DType::bool_), value;

  static constexpr const char *name = "optional";
  HJX_PARAMS(flag, value)
  using Tangent = AnyValue;

  void verify() const;
  std::vector<Type> lo_types() const { return {flag, value}; }
  Type tangent_type() const;
  Type dec_rank(int64_t size, const AxisSpec &spec) const;
  Type inc_rank(int64_t size, const AxisSpec &spec) const;
  AxisSpec leading_axis_spec() const;
};

using Optional = HiValue<OptionalType>;

/// Returns `value` where `present`, a bool scalar, and none where not.
HJX_API Optional optional(const Array &present, const AnyValue &value, Where where = Where::current());
/// Returns the value.
HJX_API Optional some(const AnyValue &value, Where where = Where::current());
/// Returns none, of an optional whose values would be of `type`.
HJX_API Optional none_of(const Type &type, Where where = Where::current());

/// Returns whether there is a value.
HJX_API Array has_value(const Optional &o, Where where = Where::current());

/// Returns x where the bool scalar `which` is true, else y; of any one type.
HJX_API AnyValue select(const Array &which, const AnyValue &x, const AnyValue &y, Where where = Where::current());

namespace detail {
/// The value, or, where there is none, something of its type.
HJX_API AnyValue valueOrAnything(const Optional &o, Where where);
} // namespace detail

/// Returns the value, or `otherwise` where there is none.
template <detail::Handle T>
T value_or(const Optional &o, const T &otherwise, Where where = Where::current()) {
  return select(has_value(o, where), detail::valueOrAnything(o, where), AnyValue(detail::handleOf(const_cast<T &>(otherwise))), where)
      .template as<T>(where);
}

/// Returns f(value), or none where there is none; f does not run then.
template <typename F>
Optional map(const Optional &o, const F &f, Where where = Where::current()) {
  using Value = std::tuple_element_t<0, typename detail::ParamsOf<F>::type>;
  auto apply = [&](const Value &value) {
    auto mapped = f(value);
    return AnyValue(detail::handleOf(mapped));
  };
  Value value = detail::valueOrAnything(o, where).as<Value>(where);
  Type type = eval_shape(apply, where)(value).type();
  return cond(has_value(o, where), [&](const Value &value) { return some(apply(value), where); },
              [&](const Value &) { return none_of(type, where); }, value);
}

} // namespace hjx
