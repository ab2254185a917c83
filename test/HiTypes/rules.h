// SPDX-License-Identifier: Apache-2.0
//
// Primitives with each kind of rule, and a type with parts and partition specs: for
// tests of text (the plugin) and of numbers (FrontendRulesTest).
#pragma once

#include <hjx/hi_type.h>
#include <hjx/hjx.h>

namespace rules {

using hjx::Accum, hjx::Active, hjx::Array, hjx::AxisSpec, hjx::Index, hjx::Mapped, hjx::Mesh, hjx::Ref, hjx::Shape, hjx::Type;
using hjx::call_primitive;

//===----------------------------------------------------------------------===//
// Backward rules that add to accumulators
//===----------------------------------------------------------------------===//

/// x @ w; a product is made only for an operand whose cotangent somebody wants.
struct Dot {
  static constexpr const char *name = "dot";
  static Type infer(const Type &x, const Type &w) { return Type(x.dtype(), {x.shape()[0], w.shape()[1]}); }
  static Array expand(const Array &x, const Array &w) { return hjx::matmul(x, w); }
  static std::pair<Array, std::pair<Array, Array>> vjp_forward(const Array &x, const Array &w) { return {call_primitive<Dot>(x, w), {x, w}}; }
  static void vjp_backward_into(const std::pair<Array, Array> &saved, const Array &bar, Accum<> x_bar, Accum<> w_bar) {
    if (x_bar)
      x_bar.add(hjx::matmul(bar, saved.second.T()));
    if (w_bar)
      w_bar.add(hjx::matmul(saved.first.T(), bar));
  }
};
HJX_REGISTER_PRIMITIVE(Dot)
inline Array dot(const Array &x, const Array &w, hjx::Where where = hjx::Where::current()) { return call_primitive<Dot>(where, x, w); }

/// table[row]: its cotangent touches one row.
struct TakeRow {
  static constexpr const char *name = "take_row";
  static Type infer(const Type &table, const Type &) { return Type(table.dtype(), Shape(table.shape().begin() + 1, table.shape().end())); }
  static Array expand(const Array &table, const Array &row) { return table[row]; }
  static std::pair<Array, Array> vjp_forward(const Array &table, const Array &row) { return {call_primitive<TakeRow>(table, row), row}; }
  static void vjp_backward_into(const Array &row, const Array &bar, Accum<> table_bar, Accum<>) { table_bar.add({row}, bar); }
};
HJX_REGISTER_PRIMITIVE(TakeRow)
inline Array take_row(const Array &table, const Array &row) { return call_primitive<TakeRow>(table, row); }

//===----------------------------------------------------------------------===//
// A derivative in halves
//===----------------------------------------------------------------------===//

/// sin x, whose linear half gets the slope.
struct Sine {
  static constexpr const char *name = "sine";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return hjx::sin(x); }
  static std::pair<Array, Array> linearize(const Array &x) { return {call_primitive<Sine>(x), hjx::cos(x)}; }
  static Array linearized(const Array &slope, const Array &dot) { return slope * dot; }
};
HJX_REGISTER_PRIMITIVE(Sine)
inline Array sine(const Array &x) { return call_primitive<Sine>(x); }

/// x^2, with rules for tangents and for cotangents.
struct Square {
  static constexpr const char *name = "square";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x * x; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) { return {call_primitive<Square>(x), 2 * x * dot}; }
  static std::pair<Array, Array> vjp_forward(const Array &x) { return {call_primitive<Square>(x), x}; }
  static Array vjp_backward(const Array &x, const Array &bar) { return x * bar * 2; }
};
HJX_REGISTER_PRIMITIVE(Square)
inline Array square(const Array &x) { return call_primitive<Square>(x); }

//===----------------------------------------------------------------------===//
// Mapped
//===----------------------------------------------------------------------===//

/// A matrix transposed. Mapped, its result is mapped at the last axis; where nothing is, nowhere.
struct Turn {
  static constexpr const char *name = "turn";
  static Type infer(const Type &x) { return Type(x.dtype(), {x.shape()[1], x.shape()[0]}); }
  static Array expand(const Array &x) { return x.T(); }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) { return {call_primitive<Turn>(x), call_primitive<Turn>(dot)}; }
  static Array transpose(const std::optional<Array> &, const Array &bar) { return call_primitive<Turn>(bar); }
  static AxisSpec batch_axes(const Mapped &) { return 2; }
};
HJX_REGISTER_PRIMITIVE(Turn)
inline Array turn(const Array &x) { return call_primitive<Turn>(x); }

/// x, and the sum of w, which its author says that no element has of its own.
struct Mixed {
  static constexpr const char *name = "mixed";
  static std::vector<Type> infer(const std::vector<Type> &types) { return {types[0], Type(hjx::float32)}; }
  static std::pair<Array, Array> expand(const Array &x, const Array &w) { return {x + 1, hjx::sum(w)}; }
  static std::vector<AxisSpec> batch_axes(const Mapped &mapped) { return {mapped.specs[0], hjx::none}; }
};
HJX_REGISTER_PRIMITIVE(Mixed)
inline std::pair<Array, Array> mixed(const Array &x, const Array &w) { return call_primitive<Mixed>(x, w); }

//===----------------------------------------------------------------------===//
// Savings
//===----------------------------------------------------------------------===//

/// sin x and cos x; one alone where only one is used.
struct SinCos {
  static constexpr const char *name = "sincos";
  static std::pair<Type, Type> infer(const Type &x) { return {x, x}; }
  static std::pair<Array, Array> expand(const Array &x) { return {hjx::sin(x), hjx::cos(x)}; }
  static std::pair<std::optional<Array>, std::optional<Array>> dce(const Active &used, const Array &x) {
    return {used[0] ? std::optional(hjx::sin(x)) : std::nullopt, used[1] ? std::optional(hjx::cos(x)) : std::nullopt};
  }
};
HJX_REGISTER_PRIMITIVE(SinCos)
inline std::pair<Array, Array> sincos(const Array &x) { return call_primitive<SinCos>(x); }

/// The same without the rule, and with one that finds nothing to save.
struct Twins {
  static constexpr const char *name = "twins";
  static std::pair<Type, Type> infer(const Type &x) { return {x, x}; }
  static std::pair<Array, Array> expand(const Array &x) { return {hjx::sin(x), hjx::cos(x)}; }
};
HJX_REGISTER_PRIMITIVE(Twins)
inline std::pair<Array, Array> twins(const Array &x) { return call_primitive<Twins>(x); }
struct Again {
  static constexpr const char *name = "again";
  static std::pair<Type, Type> infer(const Type &x) { return {x, x}; }
  static std::pair<Array, Array> expand(const Array &x) { return {hjx::sin(x), hjx::cos(x)}; }
  static std::pair<Array, Array> dce(const Active &, const Array &x) { return call_primitive<Again>(x); }
};
HJX_REGISTER_PRIMITIVE(Again)

/// x over its norm. A checkpoint keeps the norm, a number.
struct Normalize {
  static constexpr const char *name = "normalize";
  static Type infer(const Type &x) { return x; }
  static Array norm(const Array &x) { return hjx::sqrt(hjx::sum(x * x)); }
  static Array expand(const Array &x) { return x / norm(x); }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) {
    Array y = call_primitive<Normalize>(x);
    return {y, (dot - y * hjx::sum(y * dot)) / hjx::sum(x * y)};
  }
  static std::pair<Array, std::pair<Array, Array>> remat(const Array &x) {
    Array length = norm(x);
    return {x / length, {x, length}};
  }
  static Array recompute(const std::pair<Array, Array> &saved) { return saved.first / saved.second; }
};
HJX_REGISTER_PRIMITIVE(Normalize)
inline Array normalize(const Array &x) { return call_primitive<Normalize>(x); }

//===----------------------------------------------------------------------===//
// Refs
//===----------------------------------------------------------------------===//

/// Adds x to a total, and returns the new total.
struct Tally {
  static constexpr const char *name = "tally";
  static Type infer(const Type &total, const Type &x) {
    if (!(total == x))
      throw hjx::Error("expected a total of type " + to_string(x) + ", got " + to_string(total), "make a ref of the type of x", {});
    return x;
  }
  static Array expand(const Ref &total, const Array &x) {
    total.add(x);
    return total.get();
  }
};
HJX_REGISTER_PRIMITIVE(Tally)
inline Array tally(const Ref &total, const Array &x, hjx::Where where = hjx::Where::current()) {
  return call_primitive<Tally>(where, total, x);
}

//===----------------------------------------------------------------------===//
// A type with parts and partition specs
//===----------------------------------------------------------------------===//

/// Rows of numbers, each with a weight. Its refs are indexed by row; it is cut up by row.
struct RowsType {
  int64_t rows = 0, width = 0;

  static constexpr const char *name = "rows";
  HJX_PARAMS(rows, width)

  std::vector<Type> lo_types() const { return {Type(hjx::float32, {rows, width}), Type(hjx::float32, {rows})}; }
  Type tangent_type() const { return Type(hjx::float32, {rows, width}); }

  Shape index_shape() const { return {rows}; }
  Type part_type(const Shape &part) const { return RowsType{part.ndim() ? part[0] : 1, width}; }
  static hjx::HiValue<RowsType> get_part(const hjx::HiValue<RowsType> &whole, const std::vector<Index> &row);
  static hjx::HiValue<RowsType> set_part(const hjx::HiValue<RowsType> &whole, const std::vector<Index> &row,
                                         const hjx::HiValue<RowsType> &part);

  // A spec is a mesh axis, or none.
  Type shard(const Mesh &mesh, const AxisSpec &spec) const { return RowsType{rows / parts(mesh, spec), width}; }
  Type unshard(const Mesh &mesh, const AxisSpec &spec) const { return RowsType{rows * parts(mesh, spec), width}; }
  AxisSpec no_spec(const Mesh &) const { return hjx::none; }
  std::vector<AxisSpec> lo_partitions(const AxisSpec &spec) const { return {AxisSpec{spec, hjx::none}, AxisSpec(std::vector<AxisSpec>{spec})}; }
  AxisSpec tangent_partition(const AxisSpec &spec) const { return AxisSpec{spec, hjx::none}; }

private:
  static int64_t parts(const Mesh &mesh, const AxisSpec &spec) {
    for (const auto &[axis, size] : mesh.axes)
      if (spec.is_text() && spec.text() == axis)
        return size;
    return 1;
  }
};
HJX_REGISTER_TYPE(RowsType)
using Rows = hjx::HiValue<RowsType>;

inline Rows make_rows(const Array &values, const Array &weights) {
  return hjx::raise<Rows>(RowsType{values.shape(0), values.shape(1)}, {values, weights});
}
inline Rows RowsType::get_part(const Rows &whole, const std::vector<Index> &row) {
  auto [values, weights] = hjx::lower<Array, Array>(whole);
  int64_t width = values.shape(1);
  return make_rows(hjx::Indexed(values, row).get().reshape({-1, width}), hjx::Indexed(weights, row).get().reshape({-1}));
}
inline Rows RowsType::set_part(const Rows &whole, const std::vector<Index> &row, const Rows &part) {
  auto [values, weights] = hjx::lower<Array, Array>(whole);
  auto [newValues, newWeights] = hjx::lower<Array, Array>(part);
  Array oldValues = hjx::Indexed(values, row).get(), oldWeights = hjx::Indexed(weights, row).get();
  return make_rows(hjx::Indexed(values, row).set(newValues.reshape(oldValues.shape())),
                   hjx::Indexed(weights, row).set(newWeights.reshape(oldWeights.shape())));
}

} // namespace rules
