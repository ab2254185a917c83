// SPDX-License-Identifier: Apache-2.0
//
// Two primitives: a tuple from its elements, and all elements of a tuple at once. Each is linear and
// the other's transpose, and elements that nobody uses cost nothing.
#include <hjx/types/tuple.h>

namespace hjx {

using Values = std::vector<AnyValue>;

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

/// What a component's tangent is in the tangent tuple.
static Type tangentOrEmpty(const Type &type) { return tangent_type(type).value_or(TupleType{}); }

Type TupleType::tangent_type() const {
  TupleType tangents;
  for (const Type &type : types)
    tangents.types.push_back(tangentOrEmpty(type));
  return tangents;
}

Tuple TupleType::zero() const {
  Values zeros;
  for (const Type &type : types)
    zeros.push_back(zero_of(type));
  return tuple(zeros);
}

Tuple TupleType::add(const Tuple &x, const Tuple &y) const {
  Values sums, left = elements(x), right = elements(y);
  for (size_t i = 0; i < types.size(); ++i)
    sums.push_back(sum_of(left[i], right[i]));
  return tuple(sums);
}

/// The spec of each component.
static std::vector<AxisSpec> entriesOf(const TupleType &type, const AxisSpec &spec) {
  size_t count = type.types.size();
  if (spec.is_axis() || count == 0)
    return std::vector<AxisSpec>(count, spec);
  if (!spec.is_list() || spec.list().size() != count)
    throw Error("expected an axis or a list with a mapping spec for each of " + std::to_string(count) + " components of " +
                    to_string(Type(type)) + ", got " + to_string(spec),
                "write hjx::none for a component that is shared", {});
  return spec.list();
}

static Type mapped(const TupleType &type, const AxisSpec &spec, const auto &change) {
  TupleType result;
  std::vector<AxisSpec> entries = entriesOf(type, spec);
  for (size_t i = 0; i < entries.size(); ++i)
    result.types.push_back(entries[i].is_none() ? type.types[i] : change(type.types[i], entries[i]));
  return result;
}

Type TupleType::dec_rank(int64_t size, const AxisSpec &spec) const {
  return mapped(*this, spec, [&](const Type &type, const AxisSpec &entry) { return hjx::dec_rank(type, size, entry); });
}
Type TupleType::inc_rank(int64_t size, const AxisSpec &spec) const {
  return mapped(*this, spec, [&](const Type &type, const AxisSpec &entry) { return hjx::inc_rank(type, size, entry); });
}
AxisSpec TupleType::leading_axis_spec() const {
  std::vector<AxisSpec> specs;
  for (const Type &type : types)
    specs.push_back(hjx::leading_axis_spec(type));
  return specs;
}

HJX_REGISTER_TYPE(TupleType)

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

namespace {

struct MakeTuple {
  static constexpr const char *name = "hjx.tuple";

  static Type infer(const std::vector<Type> &xs) { return TupleType{xs}; }
  static Tuple expand(const Values &xs) {
    TupleType type;
    for (const AnyValue &x : xs)
      type.types.push_back(x.type());
    return raise<Tuple>(type, xs);
  }
  static std::pair<Tuple, Tuple> jvp(const Values &xs, Values dots) {
    for (AnyValue &dot : dots)
      if (!dot.has_value()) // no tangent: an integer
        dot = tuple({});
    return {tuple(xs), tuple(dots)};
  }
  static Values transpose(const Values &xs, const Tuple &bar) {
    Values bars = elements(bar);
    for (size_t i = 0; i < xs.size(); ++i)
      if (xs[i].has_value())
        bars[i] = AnyValue();
    return bars;
  }
  static std::pair<Tuple, AxisSpec> batch(const Mapped &mapped, const Values &xs) { return {tuple(xs), AxisSpec(mapped.specs)}; }
};
HJX_REGISTER_PRIMITIVE(MakeTuple)

struct Elements {
  static constexpr const char *name = "hjx.elements";

  static std::vector<Type> infer(const Type &t) { return t.as<TupleType>().types; }
  static Values expand(const Tuple &t) { return lower(t); }
  static std::pair<Values, Values> jvp(const Tuple &t, const Tuple &dot) {
    Values xs = elements(t), dots = elements(dot);
    for (size_t i = 0; i < xs.size(); ++i)
      if (!tangent_type(xs[i].type()))
        dots[i] = AnyValue();
    return {xs, dots};
  }
  static Tuple transpose(const Tuple &, const Values &bars) { return tuple(bars); }
  static std::pair<Values, std::vector<AxisSpec>> batch(const Mapped &mapped, const Tuple &t) {
    return {elements(t), entriesOf(t.hi_type(), mapped.specs[0])};
  }
};
HJX_REGISTER_PRIMITIVE(Elements)

} // namespace

Tuple tuple(const Values &xs, Where where) { return call_primitive<MakeTuple>(where, xs); }

Values elements(const Tuple &t, Where where) { return call_primitive<Elements>(where, t); }

AnyValue element(const Tuple &t, int64_t index, Where where) {
  size_t count = t.hi_type(where).types.size();
  if (index < 0 || static_cast<size_t>(index) >= count)
    throw Error("element: expected an index of " + to_string(t.type()) + ", got " + std::to_string(index), "count elements from 0", where);
  return elements(t, where)[static_cast<size_t>(index)];
}

} // namespace hjx
