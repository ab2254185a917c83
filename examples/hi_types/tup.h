// SPDX-License-Identifier: Apache-2.0
//
// A tuple of values of any types as one value: everything is left to the components,
// which may be hi-types themselves. After JAX's hijax example.
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace tuples {

using hjx::AnyValue, hjx::AxisSpec, hjx::Mapped, hjx::Type;

struct TupType;
using Tup = hjx::HiValue<TupType>;

Tup make_tup(const std::vector<AnyValue> &xs, hjx::Where where = hjx::Where::current());
AnyValue get_element(const Tup &t, int64_t index, hjx::Where where = hjx::Where::current());

/// The type: tup{f32[3],f32}. A mapping spec is a list with one for each component.
struct TupType {
  std::vector<Type> types;

  static constexpr const char *name = "tup";
  HJX_PARAMS(types)

  std::vector<Type> lo_types() const { return types; }
  Type tangent_type() const {
    return map([](const Type &type, size_t) {
      std::optional<Type> tangent = hjx::tangent_type(type);
      if (!tangent)
        throw hjx::Error("expected components with tangents, got " + to_string(type), "do not differentiate the tuple", {});
      return *tangent;
    });
  }
  Tup zero() const {
    std::vector<AnyValue> zeros;
    for (const Type &type : types)
      zeros.push_back(hjx::zero_of(type));
    return make_tup(zeros);
  }
  Tup add(const Tup &x, const Tup &y) const {
    std::vector<AnyValue> sums;
    for (size_t i = 0; i < types.size(); ++i)
      sums.push_back(hjx::sum_of(get_element(x, i), get_element(y, i)));
    return make_tup(sums);
  }
  Type dec_rank(int64_t size, const AxisSpec &spec) const {
    return map([&](const Type &type, size_t i) { return entry(spec, i).is_none() ? type : hjx::dec_rank(type, size, entry(spec, i)); });
  }
  Type inc_rank(int64_t size, const AxisSpec &spec) const {
    return map([&](const Type &type, size_t i) { return entry(spec, i).is_none() ? type : hjx::inc_rank(type, size, entry(spec, i)); });
  }
  AxisSpec leading_axis_spec() const {
    std::vector<AxisSpec> specs;
    for (const Type &type : types)
      specs.push_back(hjx::leading_axis_spec(type));
    return specs;
  }

private:
  template <typename F>
  Type map(const F &f) const {
    TupType result;
    for (size_t i = 0; i < types.size(); ++i)
      result.types.push_back(f(types[i], i));
    return result;
  }
  AxisSpec entry(const AxisSpec &spec, size_t i) const {
    if (spec.list().size() != types.size())
      throw hjx::Error("expected a mapping spec for each of " + std::to_string(types.size()) + " components, got " + to_string(spec),
                       "write a list, none for a component that is shared", {});
    return spec.list()[i];
  }
};
HJX_REGISTER_TYPE(TupType)

struct MakeTup {
  static constexpr const char *name = "make_tup";

  static Type infer(const std::vector<Type> &xs) { return TupType{xs}; }
  static Tup expand(const std::vector<AnyValue> &xs) {
    TupType type;
    for (const AnyValue &x : xs)
      type.types.push_back(x.type());
    return hjx::raise<Tup>(type, xs);
  }
  static std::pair<Tup, Tup> jvp(const std::vector<AnyValue> &xs, const std::vector<AnyValue> &dots) {
    return {make_tup(xs), make_tup(dots)};
  }
  static std::pair<Tup, std::tuple<>> vjp_forward(const std::vector<AnyValue> &xs) { return {make_tup(xs), {}}; }
  static std::vector<AnyValue> vjp_backward(std::tuple<>, const Tup &bar) { return elements(bar); }
  static std::vector<AnyValue> transpose(const std::vector<AnyValue> &, const Tup &bar) { return elements(bar); }
  static std::pair<Tup, AxisSpec> batch(const Mapped &mapped, const std::vector<AnyValue> &xs) {
    return {make_tup(xs), AxisSpec(mapped.specs)};
  }

private:
  static std::vector<AnyValue> elements(const Tup &t) {
    std::vector<AnyValue> xs;
    for (size_t i = 0; i < t.hi_type().types.size(); ++i)
      xs.push_back(get_element(t, i));
    return xs;
  }
};
HJX_REGISTER_PRIMITIVE(MakeTup)
inline Tup make_tup(const std::vector<AnyValue> &xs, hjx::Where where) { return hjx::call_primitive<MakeTup>(where, xs); }

struct GetElement {
  int64_t index = 0;

  static constexpr const char *name = "get_tuple_element";
  HJX_PARAMS(index)

  Type infer(const Type &t) const {
    const std::vector<Type> types = t.as<TupType>().types;
    if (index < 0 || index >= static_cast<int64_t>(types.size()))
      throw hjx::Error("expected an index of " + to_string(t) + ", got " + std::to_string(index), "count elements from 0", {});
    return types[index];
  }
  AnyValue expand(const Tup &t) const { return hjx::lower(t)[index]; }
  std::pair<AnyValue, AnyValue> jvp(const Tup &t, const Tup &dot) const { return {get_element(t, index), get_element(dot, index)}; }
  // The other elements' cotangents are zeros: of what types, the value says.
  std::pair<AnyValue, Tup> vjp_forward(const Tup &t) const { return {get_element(t, index), t}; }
  Tup vjp_backward(const Tup &t, const AnyValue &bar) const {
    std::vector<AnyValue> bars;
    for (const Type &type : t.hi_type().types)
      bars.push_back(static_cast<int64_t>(bars.size()) == index ? bar : hjx::zero_of(hjx::tangent_type(type).value()));
    return make_tup(bars);
  }
  std::pair<AnyValue, AxisSpec> batch(const Mapped &mapped, const Tup &t) const {
    const AxisSpec &spec = mapped.specs[0];
    return {get_element(t, index), spec.is_none() ? spec : spec.list()[index]};
  }
};
HJX_REGISTER_PRIMITIVE(GetElement)
inline AnyValue get_element(const Tup &t, int64_t index, hjx::Where where) {
  return hjx::call_primitive(GetElement{index}, where, t);
}

} // namespace tuples
