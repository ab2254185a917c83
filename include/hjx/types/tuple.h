// SPDX-License-Identifier: Apache-2.0
//
// A tuple of values of any types as one value: a leaf of trees, unlike std::tuple, and one value in
// the IR. Everything is left to the components, which may be hi-types themselves.
//
//   hjx::Tuple t = hjx::tuple({x, hjx::quantize(w)});     // tuple{f32[3],quantized{"int8",[2,3],[2,1]}}
//   hjx::Array first = hjx::get(t, 0);
//   auto w = hjx::get<hjx::Quantized>(t, 1);
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace hjx {

struct TupleType;
using Tuple = HiValue<TupleType>;

/// The type: tuple{f32[3],i32}. Its tangents are tuples of tangents; that of a component without any, such as an
/// integer, is the empty tuple. A mapping spec is a list with one for each component, none for one that is
/// shared, or one axis for all.
struct HJX_API TupleType {
  std::vector<Type> types;

  static constexpr const char *name = "tuple";
  HJX_PARAMS(types)

  std::vector<Type> lo_types() const { return types; }
  Type tangent_type() const;
  Tuple zero() const;
  Tuple add(const Tuple &x, const Tuple &y) const;
  Type dec_rank(int64_t size, const AxisSpec &spec) const;
  Type inc_rank(int64_t size, const AxisSpec &spec) const;
  AxisSpec leading_axis_spec() const;
};

/// Returns the tuple of the values.
HJX_API Tuple tuple(const std::vector<AnyValue> &xs, Where where = Where::current());

/// Returns the values of a tuple.
HJX_API std::vector<AnyValue> elements(const Tuple &t, Where where = Where::current());

/// Returns one value of a tuple, counted from 0.
///
/// Errors: hjx::Error if there is none of that number, or T is not its class.
HJX_API AnyValue element(const Tuple &t, int64_t index, Where where = Where::current());
template <detail::Handle T = Array>
T get(const Tuple &t, int64_t index, Where where = Where::current()) {
  return element(t, index, where).as<T>(where);
}

} // namespace hjx
