// SPDX-License-Identifier: Apache-2.0
//
// An optional is a flag beside a value. Where there is none the value is whatever it is: nobody sees it,
// because all that leaves is chosen by the flag.
#include <hjx/types/optional.h>

#include <hjx/types/tuple.h>

namespace hjx {

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

void OptionalType::verify() const {
  if (!flag.is_array() || flag.dtype() != DType::bool_)
    throw Error("expected a flag of bools first, got " + to_string(flag), "write the flag's type, tensor<i1>, then that of the value", {});
}

Type OptionalType::tangent_type() const { return hjx::tangent_type(value).value_or(TupleType{}); }

/// The specs of flag and value.
static std::pair<AxisSpec, AxisSpec> entriesOf(const OptionalType &type, const AxisSpec &spec) {
  if (spec.is_axis())
    return {spec, spec};
  if (!spec.is_list() || spec.list().size() != 2)
    throw Error("expected an axis or a list of two mapping specs, for flag and value of " + to_string(Type(type)) + ", got " + to_string(spec),
                "write hjx::none for a part that is shared", {});
  return {spec.list()[0], spec.list()[1]};
}

static Type mapped(const OptionalType &type, const AxisSpec &spec, const auto &change) {
  auto [flag, value] = entriesOf(type, spec);
  return OptionalType{flag.is_none() ? type.flag : change(type.flag, flag), value.is_none() ? type.value : change(type.value, value)};
}

Type OptionalType::dec_rank(int64_t size, const AxisSpec &spec) const {
  return mapped(*this, spec, [&](const Type &type, const AxisSpec &entry) { return hjx::dec_rank(type, size, entry); });
}
Type OptionalType::inc_rank(int64_t size, const AxisSpec &spec) const {
  return mapped(*this, spec, [&](const Type &type, const AxisSpec &entry) { return hjx::inc_rank(type, size, entry); });
}
AxisSpec OptionalType::leading_axis_spec() const { return std::vector<AxisSpec>{0, hjx::leading_axis_spec(value)}; }

HJX_REGISTER_TYPE(OptionalType)

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {

bool isFlag(const Type &type) { return type.is_array() && type.dtype() == DType::bool_ && type.shape().ndim() == 0; }

AnyValue chosen(const Array &which, const AnyValue &x, const AnyValue &y) {
  Type type = x.type();
  if (type.is_array())
    return hjx::where(which, x.as<Array>(), y.as<Array>());
  std::vector<AnyValue> parts = lower(x), others = lower(y);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = chosen(which, parts[i], others[i]);
  return detail::raiseFlat(type, detail::handlesOf(parts), Where::current());
}

/// The zero of a tangent where the flag is not `kept`.
AnyValue onlyWhere(const Array &which, const AnyValue &bar, bool kept) {
  AnyValue zero = zero_of(bar.type());
  return kept ? select(which, bar, zero) : select(which, zero, bar);
}

struct Select {
  static constexpr const char *name = "hjx.select";

  static Type infer(const Type &which, const Type &x, const Type &y) {
    if (!isFlag(which) || x != y)
      throw Error("expected a bool scalar and two values of one type, got " + to_string(which) + ", " + to_string(x) + " and " + to_string(y),
                  "map over more with hjx::vmap; convert one of the values", {});
    return x;
  }
  static AnyValue expand(const Array &which, const AnyValue &x, const AnyValue &y) { return chosen(which, x, y); }
  static std::pair<AnyValue, AnyValue> jvp(const Array &which, const AnyValue &x, const AnyValue &y, const std::optional<Array> &,
                                           const AnyValue &x_dot, const AnyValue &y_dot) {
    return {select(which, x, y), x_dot.has_value() ? select(which, x_dot, y_dot) : AnyValue()};
  }
  static std::tuple<AnyValue, AnyValue, AnyValue> transpose(const Array &which, const AnyValue &x, const AnyValue &y, const AnyValue &bar) {
    return {AnyValue(), x.has_value() ? AnyValue() : onlyWhere(which, bar, true), y.has_value() ? AnyValue() : onlyWhere(which, bar, false)};
  }
};
HJX_REGISTER_PRIMITIVE(Select)

//===----------------------------------------------------------------------===//
// Making and taking apart
//===----------------------------------------------------------------------===//

AnyValue tangentOrEmpty(const AnyValue &dot) { return dot.has_value() ? dot : AnyValue(tuple({}).hjxHandle()); }

struct MakeOptional {
  static constexpr const char *name = "hjx.optional";

  static Type infer(const Type &present, const Type &value) {
    if (!isFlag(present))
      throw Error("expected a bool scalar as the flag, got " + to_string(present), "map over many with hjx::vmap", {});
    return OptionalType{present, value};
  }
  static Optional expand(const Array &present, const AnyValue &value) {
    return raise<Optional>(OptionalType{Type(DType::bool_), value.type()}, {present, value});
  }
  static std::pair<Optional, AnyValue> jvp(const Array &present, const AnyValue &value, const std::optional<Array> &, const AnyValue &dot) {
    return {optional(present, value), tangentOrEmpty(dot)};
  }
};
HJX_REGISTER_PRIMITIVE(MakeOptional)

struct Parts {
  static constexpr const char *name = "hjx.optional_parts";

  static std::vector<Type> infer(const Type &o) {
    OptionalType type = o.as<OptionalType>();
    return {type.flag, type.value};
  }
  static std::pair<Array, AnyValue> expand(const Optional &o) {
    auto [present, value] = lower<Array, AnyValue>(o);
    return {present, value};
  }
  static std::pair<std::pair<Array, AnyValue>, std::pair<Array, AnyValue>> jvp(const Optional &o, const AnyValue &dot) {
    auto parts = call_primitive<Parts>(o);
    return {parts, {Array(), tangent_type(parts.second.type()) ? dot : AnyValue()}};
  }
};
HJX_REGISTER_PRIMITIVE(Parts)

/// Zeros, whatever the type: what stands where no value is.
AnyValue placeholder(const Type &type) {
  if (type.is_array())
    return zeros(type.shape(), type.dtype());
  std::vector<AnyValue> parts;
  for (const Type &part : lo_types(type))
    parts.push_back(placeholder(part));
  return detail::raiseFlat(type, detail::handlesOf(parts), Where::current());
}

struct NoneOf {
  Type type;

  static constexpr const char *name = "hjx.none_of";
  HJX_PARAMS(type)

  Type infer() const { return OptionalType{.value = type}; }
  Optional expand() const { return raise<Optional>(OptionalType{.value = type}, {array(false), placeholder(type)}); }
};
HJX_REGISTER_PRIMITIVE(NoneOf)

} // namespace

Optional optional(const Array &present, const AnyValue &value, Where where) { return call_primitive<MakeOptional>(where, present, value); }
Optional some(const AnyValue &value, Where where) { return optional(array(true), value, where); }
Optional none_of(const Type &type, Where where) { return call_primitive(NoneOf{type}, where); }
Array has_value(const Optional &o, Where where) { return call_primitive<Parts>(where, o).first; }
AnyValue select(const Array &which, const AnyValue &x, const AnyValue &y, Where where) { return call_primitive<Select>(where, which, x, y); }
AnyValue detail::valueOrAnything(const Optional &o, Where where) { return call_primitive<Parts>(where, o).second; }

} // namespace hjx
