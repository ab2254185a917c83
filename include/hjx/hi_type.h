// SPDX-License-Identifier: Apache-2.0
//
// Types and operations of your own, as C++ classes.
//
// A hi-type is one value of a program with a name and parameters, `q8[2,3]`, that
// becomes arrays late. Its class has the parameters as fields and says what it is
// made of; everything else it says only if some transform asks:
//
//   struct Q8 {                                     // int8 numbers, a float scale for each row
//     hjx::Shape shape;
//     static constexpr const char *name = "q8";
//     HJX_PARAMS(shape)
//     std::vector<hjx::Type> lo_types() const;      // the components
//     // tangent_type zero add: derivatives;  dec_rank inc_rank: vmap;  leading_axis_spec: scan
//     // index_shape part_type get_part set_part: parts of refs;  shard ..: hjx/sharding.h
//   };
//   HJX_REGISTER_TYPE(Q8)                           // at namespace scope
//   using QArray = hjx::HiValue<Q8>;                // its values: leaves of trees
//
// A primitive is an operation on values of any types. Its class has the static
// parameters as fields, and its rules are member functions (static where they need
// no parameter), written with the functions of hjx/ops.h:
//
//   struct Dequantize {
//     static constexpr const char *name = "dequantize";
//     static hjx::Type infer(hjx::Type q);          // the type of the result; throws for bad input
//     static hjx::Array expand(QArray q);           // what it computes; may raise and lower
//     static std::pair<hjx::Array, std::tuple<>> vjp_forward(QArray q);   // result, residuals
//     static hjx::Array vjp_backward(std::tuple<>, hjx::Array g);         // cotangent of q
//   };
//   HJX_REGISTER_PRIMITIVE(Dequantize)
//   hjx::Array dequantize(QArray q) { return hjx::call_primitive<Dequantize>(q); }
//
// expand's parameters are the operands, trees of arrays and hi values; the last may be
// a std::vector<AnyValue> of all that remain. The rules, with operands x.. and results y:
//
//   infer(Type x..) -> Type, a tuple of them, or a vector
//   expand(x..) -> y
// Derivatives: forwards jvp, or linearize and linearized; in reverse any, best the vjp rules.
//   jvp(x.., x_dot..) -> pair(y, y_dot)
//   linearize(x..) -> pair(y, residuals);    linearized(residuals, x_dot..) -> y_dot
//   vjp_forward(x..) -> pair(y, residuals);  vjp_backward(residuals, y_bar..) -> x_bar, or a tuple
//                                            or vjp_backward_into(residuals, y_bar.., Accum<X>..)
//   transpose(x.., y_bar..) -> x_bar, or a tuple; for operands that are linear, x is absent. Enough where
//                              one operand may have a tangent: then y_dot is the primitive of x_dot
// vmap: without a rule the primitive stays itself, with results mapped at their leading axes.
//   batch(const Mapped &, x..) -> pair(y, AxisSpec), or a vector of specs for several results
//   batch_axes(const Mapped &) -> AxisSpec, or such a vector: it stays itself, with results mapped so
// Savings: without them a call goes when no result is used, and a checkpoint runs all of it again.
//   dce(const Active &used, x..) -> y, empty where not used; all empty for no change
//   remat(x..) -> pair(y, saved);  recompute(saved) -> y
//
// Tangents and cotangents that are zero arrive as zeros; as nothing if the parameter is a
// std::optional. First halves (linearize, vjp_forward) and vjp_backward may begin with a parameter
// `const Active &`. An operand may be a hjx::Ref, for primitives with infer and expand alone: `infer`
// gets the type of what it holds, and what expand does with it counts. After JAX's hijax.
#pragma once

#include <hjx/detail/user_primitive.h>
#include <hjx/detail/user_type.h>

namespace hjx {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A value of the hi-type class T. A class of the user's may derive from it, to add functions.
template <typename T>
class HiValue : public AnyValue {
public:
  using HiType = T;
  HiValue() = default;

  /// The type's object, with its parameters.
  T hi_type(Where where = Where::current()) const { return type(where).template as<T>(where); }
};

/// A value of the class V made of its components, for `expand` and for concrete values.
///
/// Errors: hjx::Error if the components are not of the types that the type's lo_types says.
template <typename V>
V raise(const typename V::HiType &type, const std::vector<AnyValue> &components, Where where = Where::current()) {
  V value;
  value.hjxHandle() = detail::raiseFlat(type, detail::handlesOf(components), where);
  return value;
}

/// The components of a value.
inline std::vector<AnyValue> lower(const AnyValue &value, Where where = Where::current()) {
  std::vector<Array> components = detail::lowerFlat(value.hjxHandle(), where);
  return {components.begin(), components.end()};
}
/// The components in classes: `auto [values, scales] = lower<Array, Array>(q);`
template <typename First, typename... Rest>
std::tuple<First, Rest...> lower(const AnyValue &value, Where where = Where::current()) {
  std::vector<Array> components = detail::lowerFlat(value.hjxHandle(), where);
  detail::checkCount("lower", "components", 1 + sizeof...(Rest), components.size(), where);
  size_t next = 0;
  return std::tuple<First, Rest...>{AnyValue(components[next++]).as<First>(where), (AnyValue(components[next++]).as<Rest>(where))...};
}

/// The zero of a tangent type: of an array type zeros, of a hi-type what its class says.
inline AnyValue zero_of(const Type &type, Where where = Where::current()) { return detail::zeroFlat(type, where); }
/// The sum of two tangents.
inline AnyValue sum_of(const AnyValue &x, const AnyValue &y, Where where = Where::current()) {
  return detail::sumFlat(x.hjxHandle(), y.hjxHandle(), where);
}
/// The type of tangents of values of `type`; none for integers, bools and keys.
inline std::optional<Type> tangent_type(const Type &type) { return detail::tangentTypeOf(type); }

/// The types of the components; of an array type, itself.
HJX_API std::vector<Type> lo_types(const Type &type, Where where = Where::current());

/// `type` without, or with, a mapped axis, for the classes of containers: any type answers.
HJX_API Type dec_rank(const Type &type, int64_t size, const AxisSpec &spec, Where where = Where::current());
HJX_API Type inc_rank(const Type &type, int64_t size, const AxisSpec &spec, Where where = Where::current());
HJX_API AxisSpec leading_axis_spec(const Type &type, Where where = Where::current());

/// A value with a type but no numbers: an argument for make_ir, eval_shape and Module::add.
template <typename V>
V abstract_value(const typename V::HiType &type, Where where = Where::current()) {
  V value;
  value.hjxHandle() = detail::abstractFlat(type, where);
  return value;
}

/// The same value, frozen: a function that jit compiles may capture it as a constant.
template <typename V>
  requires std::derived_from<V, AnyValue>
V constant(const V &value, Where where = Where::current()) {
  V frozen = value;
  frozen.hjxHandle() = detail::constantFlat(value.hjxHandle(), where);
  return frozen;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// Where vjp_backward_into puts the cotangent of one operand, of class T: nowhere, where nobody wants
/// it; into a cell, in place; or into a sum.
///
///   static void vjp_backward_into(const std::pair<Array, Array> &saved, const Array &bar, Accum<> x, Accum<> w) {
///     if (x) x.add(matmul(bar, saved.second.T()));
///     if (w) w.add(matmul(saved.first.T(), bar));
///   }
template <typename T = Array>
class Accum {
public:
  explicit Accum(detail::AccumSlot &slot) : slot(&slot) {}

  /// False where nobody wants the cotangent: skip the work.
  explicit operator bool() const { return slot->kind != detail::AccumSlot::Unwanted; }
  /// True where it is added to a cell.
  bool is_cell() const { return slot->kind == detail::AccumSlot::Cell; }

  /// Adds to it, or to a part of a cotangent that is an array; a cell is touched there only.
  ///
  /// Errors: hjx::Error if `bar` is not of the type of the cotangent, or of its part.
  void add(const T &bar, Where where = Where::current()) const { detail::accumulate(*slot, {}, AnyValue(bar).hjxHandle(), where); }
  void add(std::initializer_list<Index> part, const Array &bar, Where where = Where::current()) const {
    detail::accumulate(*slot, part, bar, where);
  }

private:
  detail::AccumSlot *slot;
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Calls a primitive on trees of values. The line to blame, a Where, may come first; else it is that of the call.
///
/// Errors: hjx::Error with what `infer` says of bad operands.
template <typename P, typename... Args>
auto call_primitive(const P &primitive, Where where, const Args &...args) {
  using Traits = detail::PrimitiveTraits<P>;
  static_assert(sizeof...(Args) == std::tuple_size_v<typename Traits::Operands>, "call_primitive: expand takes another number of operands");
  typename Traits::Operands operands(args...);
  std::vector<Array> results =
      detail::callPrimitiveFlat(detail::primitiveOf<P>(), detail::paramsOf(primitive), detail::leavesOf(operands), where);
  return detail::resultsOf<P>(results, where);
}
template <typename P, typename... Args>
auto call_primitive(const P &primitive, const detail::FirstOperand<std::type_identity_t<P>> &first, const Args &...args) {
  return call_primitive<P>(primitive, first.where, first.value, args...);
}
template <typename P, typename... Args>
  requires std::is_empty_v<P>
auto call_primitive(Where where, const Args &...args) {
  return call_primitive<P>(P(), where, args...);
}
template <typename P, typename... Args>
  requires std::is_empty_v<P>
auto call_primitive(const detail::FirstOperand<P> &first, const Args &...args) {
  return call_primitive<P>(P(), first.where, first.value, args...);
}

} // namespace hjx

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// The parameters of a type or a primitive: all fields of the class (at most 27). Stands in the class.
///
/// Of a type: shapes, types, strings and integers; a vector of types last. Of a primitive, also
/// bools and floats.
#define HJX_PARAMS(...)                                                                                      \
  static constexpr size_t hjxNumParams = ::hjx::detail::countNames(#__VA_ARGS__);                             \
  template <typename HjxVisit>                                                                               \
  void hjxVisitParams(HjxVisit &&hjxVisit) {                                                                 \
    auto &hjxTree = *this;                                                                                   \
    HJX_DETAIL_EXPAND(HJX_DETAIL_FIELDS(__VA_ARGS__))                                                        \
  }

/// Make a type and a primitive known to the process, in the class's namespace: when the program
/// starts, or when a plugin is loaded. Headers may do it: several files of a program register once.
#define HJX_REGISTER_TYPE(Class) inline const bool hjxRegistered##Class = ::hjx::detail::registerTypeClass<Class>();
#define HJX_REGISTER_PRIMITIVE(Class)                                                                        \
  inline const bool hjxRegistered##Class = ::hjx::detail::registerPrimitiveClass<Class>();
