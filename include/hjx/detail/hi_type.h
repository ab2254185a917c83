// SPDX-License-Identifier: Apache-2.0
//
// The boundary between users' classes of types and primitives and the library.
// Templates look at a class once: which methods and rules it has, and how flat lists
// of values become the trees that these take. Behind them stand two plain abstract
// classes, which lib/Frontend/HiTypes.cpp shows to the compiler.
#pragma once

#include <hjx/axis_spec.h>
#include <hjx/detail/flat.h>
#include <hjx/type.h>

#include <variant>

namespace hjx {

template <typename T>
class HiValue;

/// Which operands may have a tangent (vjp_forward), or want a cotangent (vjp_backward).
struct Active : std::vector<bool> {
  using std::vector<bool>::vector;
  Active(std::vector<bool> mask) : std::vector<bool>(std::move(mask)) {}
};

/// What a batch rule is given: the size of the mapped axis, and for each operand where it is.
struct Mapped {
  int64_t size = 0;
  std::vector<AxisSpec> specs;
};

namespace detail {

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// A static parameter of a primitive.
using Param = std::variant<bool, int64_t, double, std::string, Shape, Type>;
using Params = std::vector<std::pair<std::string, Param>>;

/// Throws unless the numbers are equal; `op` may be null where the caller names it.
HJX_API void checkCount(const char *op, const char *what, size_t expected, size_t got, Where where);
[[noreturn]] HJX_API void failParam(const std::string &owner, const std::string &field, const char *expected);

template <typename T>
concept HasParams = requires(T &object) { object.hjxVisitParams([](const char *, auto &) {}); };

template <HasParams T>
void visitParams(const T &object, auto &&visit) {
  const_cast<T &>(object).hjxVisitParams(visit); // Visitors of const objects change nothing.
}

template <typename P>
Params paramsOf(const P &primitive) {
  Params params;
  if constexpr (HasParams<P>)
    visitParams(primitive, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Field, bool> || std::is_floating_point_v<Field> || std::is_convertible_v<Field, Param>)
        params.emplace_back(field, Param(value));
      else if constexpr (std::is_same_v<Field, std::vector<int64_t>>)
        params.emplace_back(field, Shape(value));
      else
        params.emplace_back(field, static_cast<int64_t>(value));
    });
  return params;
}

template <typename P>
P primitiveWith(const Params &params) {
  P primitive{};
  if constexpr (HasParams<P>)
    visitParams(primitive, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      const Param *param = nullptr;
      for (const auto &[name, candidate] : params)
        if (name == field)
          param = &candidate;
      auto read = [&]<typename Stored>(const char *expected, Stored) {
        if (!param || !std::holds_alternative<Stored>(*param))
          failParam(P::name, field, expected);
        if constexpr (std::is_same_v<Field, std::vector<int64_t>>)
          value = std::get<Shape>(*param).vec();
        else
          value = static_cast<Field>(std::get<Stored>(*param));
      };
      if constexpr (std::is_same_v<Field, bool>)
        read("a bool", bool());
      else if constexpr (std::is_floating_point_v<Field>)
        read("a float64", double());
      else if constexpr (std::is_same_v<Field, std::string>)
        read("a string", std::string());
      else if constexpr (std::is_same_v<Field, Type>)
        read("a type", Type());
      else if constexpr (std::is_same_v<Field, Shape> || std::is_same_v<Field, std::vector<int64_t>>)
        read("a list of sizes", Shape());
      else
        read("an integer", int64_t());
    });
  return primitive;
}

/// The parameters of a type: an integer is a shape of one, a vector of types what remains.
template <TypeClass T>
Type typeOfClass(const T &object) {
  std::vector<TypeParam> params;
  if constexpr (HasParams<T>)
    visitParams(object, [&](const char *, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Field, std::vector<Type>>)
        params.insert(params.end(), value.begin(), value.end());
      else if constexpr (std::is_integral_v<Field> || std::is_enum_v<Field>)
        params.push_back(Shape{static_cast<int64_t>(value)});
      else
        params.push_back(value);
    });
  return Type(T::name, std::move(params));
}

[[noreturn]] HJX_API void failType(const char *expected, const Type &got, Where where);

template <TypeClass T>
T classOfType(const Type &type, Where where) {
  if (!type.is<T>())
    failType(T::name, type, where);
  T object{};
  size_t next = 0;
  const std::vector<TypeParam> &params = type.params();
  if constexpr (HasParams<T>)
    visitParams(object, [&](const char *field, auto &value) {
      using Field = std::decay_t<decltype(value)>;
      auto read = [&](const char *expected, auto question) -> const auto & {
        const auto *param = next < params.size() ? (params[next].*question)() : nullptr;
        if (!param)
          failParam(T::name, field, expected);
        ++next;
        return *param;
      };
      if constexpr (std::is_same_v<Field, std::vector<Type>>) {
        while (next < params.size())
          value.push_back(read("a type", &TypeParam::type));
      } else if constexpr (std::is_same_v<Field, std::string>) {
        value = read("a string", &TypeParam::text);
      } else if constexpr (std::is_same_v<Field, Type>) {
        value = read("a type", &TypeParam::type);
      } else if constexpr (std::is_same_v<Field, Shape>) {
        value = read("a shape", &TypeParam::shape);
      } else {
        const Shape &number = read("an integer", &TypeParam::shape);
        if (number.ndim() != 1)
          failParam(T::name, field, "an integer");
        value = static_cast<Field>(number[0]);
      }
    });
  checkCount(T::name, "parameters", next, params.size(), where);
  return object;
}

//===----------------------------------------------------------------------===//
// Trees from flat lists
//===----------------------------------------------------------------------===//

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

/// A tree of known structure whose leaves are leaves[next..]: a vector takes all that remain.
template <typename T>
T fromLeaves(const std::vector<Array> &leaves, size_t &next) {
  if constexpr (std::is_same_v<T, Array>) {
    return leaves.at(next++);
  } else if constexpr (Handle<T>) {
    return AnyValue(leaves.at(next++)).as<T>();
  } else if constexpr (IsOptional<T>::value) {
    auto value = fromLeaves<typename T::value_type>(leaves, next);
    return value.has_value() ? T(value) : T();
  } else if constexpr (IsTuple<T>::value) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return T{fromLeaves<std::tuple_element_t<i, T>>(leaves, next)...}; // Braces: in order.
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (IsVector<T>::value) {
    T list;
    while (next < leaves.size())
      list.push_back(fromLeaves<typename T::value_type>(leaves, next));
    return list;
  } else {
    static_assert(TreeStruct<T>, "a rule takes trees of arrays and hi values: Array, HiValue, AnyValue, optional, tuple, pair, "
                                 "structs with HJX_TREE, and as the last a vector");
    T tree{};
    hjxVisitFields(tree, [&](const char *, auto &field) { field = fromLeaves<std::decay_t<decltype(field)>>(leaves, next); });
    return tree;
  }
}

inline std::vector<Array> handlesOf(const std::vector<AnyValue> &values) {
  std::vector<Array> handles;
  for (const AnyValue &value : values)
    handles.push_back(value.hjxHandle());
  return handles;
}

/// The leaves of what a rule returns; an optional is one leaf, with or without value.
template <typename T>
void appendLeaves(const T &tree, std::vector<Array> &leaves) {
  if constexpr (IsOptional<T>::value) {
    if (tree)
      appendLeaves(*tree, leaves);
    else
      leaves.emplace_back();
  } else if constexpr (IsTuple<T>::value) {
    std::apply([&](const auto &...entries) { (appendLeaves(entries, leaves), ...); }, tree);
  } else if constexpr (std::is_arithmetic_v<T>) {
    leaves.emplace_back(tree);
  } else {
    std::vector<Array> list = leavesOf(tree);
    leaves.insert(leaves.end(), list.begin(), list.end());
  }
}
template <typename T>
std::vector<Array> ruleLeaves(const T &tree) {
  std::vector<Array> leaves;
  appendLeaves(tree, leaves);
  return leaves;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A class of types. Methods throw; one that the class lacks is not called: `has` says so.
class HJX_API UserType {
public:
  enum class Method { Verify, TangentType, Zero, Add, DecRank, IncRank, LeadingAxisSpec };
  virtual ~UserType();
  virtual std::string name() const = 0;
  /// As errors call it: the class's name.
  virtual bool has(Method method) const = 0;
  /// Throws unless the parameters make a type.
  virtual void verify(const Type &type) const = 0;
  virtual std::vector<Type> loTypes(const Type &type) const = 0;
  virtual Type tangentType(const Type &type) const = 0;
  virtual Array zero(const Type &type) const = 0;
  virtual Array add(const Type &type, const Array &x, const Array &y) const = 0;
  virtual Type decRank(const Type &type, int64_t size, const AxisSpec &spec) const = 0;
  virtual Type incRank(const Type &type, int64_t size, const AxisSpec &spec) const = 0;
  virtual AxisSpec leadingAxisSpec(const Type &type) const = 0;
};

template <TypeClass T>
class UserTypeOf final : public UserType {
public:
  std::string name() const override { return T::name; }
  bool has(Method method) const override {
    switch (method) {
    case Method::Verify:
      return true;
    case Method::TangentType:
      return requires(const T &t) { t.tangent_type(); };
    case Method::Zero:
      return requires(const T &t) { t.zero(); };
    case Method::Add:
      return requires { &T::add; };
    case Method::DecRank:
      return requires { &T::dec_rank; };
    case Method::IncRank:
      return requires { &T::inc_rank; };
    case Method::LeadingAxisSpec:
      return requires(const T &t) { t.leading_axis_spec(); };
    }
    return false;
  }
  void verify(const Type &type) const override {
    T object = object_of(type);
    if constexpr (requires { object.verify(); })
      object.verify();
  }
  std::vector<Type> loTypes(const Type &type) const override { return object_of(type).lo_types(); }
  Type tangentType(const Type &type) const override {
    if constexpr (requires(const T &t) { t.tangent_type(); })
      return object_of(type).tangent_type();
    return type;
  }
  Array zero(const Type &type) const override {
    if constexpr (requires(const T &t) { t.zero(); })
      return AnyValue(object_of(type).zero()).hjxHandle();
    return {};
  }
  Array add(const Type &type, const Array &x, const Array &y) const override {
    if constexpr (requires { &T::add; }) {
      using Operand = std::tuple_element_t<0, typename SignatureOf<decltype(&T::add)>::Params>;
      return AnyValue(object_of(type).add(AnyValue(x).as<Operand>(), AnyValue(y).as<Operand>())).hjxHandle();
    }
    return {};
  }
  Type decRank(const Type &type, int64_t size, const AxisSpec &spec) const override {
    if constexpr (requires { &T::dec_rank; })
      return object_of(type).dec_rank(size, spec);
    return type;
  }
  Type incRank(const Type &type, int64_t size, const AxisSpec &spec) const override {
    if constexpr (requires { &T::inc_rank; })
      return object_of(type).inc_rank(size, spec);
    return type;
  }
  AxisSpec leadingAxisSpec(const Type &type) const override {
    if constexpr (requires(const T &t) { t.leading_axis_spec(); })
      return object_of(type).leading_axis_spec();
    return {};
  }

private:
  static T object_of(const Type &type) { return classOfType<T>(type, Where()); }
};

/// Throws if another class has the name.
HJX_API bool registerType(std::unique_ptr<UserType> type);
template <typename T>
bool registerTypeClass() {
  static_assert(TypeClass<T>, "a hi-type needs `static constexpr const char *name` and `std::vector<hjx::Type> lo_types() const`");
  return registerType(std::make_unique<UserTypeOf<T>>());
}

HJX_API Array raiseFlat(const Type &type, const std::vector<Array> &components, Where where);
HJX_API std::vector<Array> lowerFlat(const Array &value, Where where);
HJX_API Array constantFlat(const Array &value, Where where);
HJX_API Array abstractFlat(const Type &type, Where where);
HJX_API Array zeroFlat(const Type &type, Where where);
HJX_API Array sumFlat(const Array &x, const Array &y, Where where);
HJX_API std::optional<Type> tangentTypeOf(const Type &type);

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// A call of a primitive, as its rules see it.
struct RuleCall {
  Params params;
  std::vector<Type> operandTypes, resultTypes;
};

/// A class of primitives. Rules throw; lists are flat; a leaf without value is a symbolic zero.
class HJX_API UserPrimitive {
public:
  enum class Rule { Expand, Jvp, Vjp, Transpose, Batch };
  virtual ~UserPrimitive();
  virtual std::string name() const = 0;
  virtual bool has(Rule rule) const = 0;
  virtual std::vector<Type> infer(const Params &params, const std::vector<Type> &operands) const = 0;
  virtual ArrayList expand(const RuleCall &call, const ArrayList &operands) const = 0;
  /// Results, then their tangents.
  virtual ArrayList jvp(const RuleCall &call, const ArrayList &primals, const ArrayList &tangents) const = 0;
  /// Results, then residuals.
  virtual ArrayList vjpForward(const RuleCall &call, const ArrayList &primals, const Active &active) const = 0;
  virtual ArrayList vjpBackward(const RuleCall &call, const ArrayList &residuals, const ArrayList &resultBars,
                                const Active &wanted) const = 0;
  virtual ArrayList transpose(const RuleCall &call, const ArrayList &operands, const ArrayList &resultBars) const = 0;
  virtual ArrayList batch(const RuleCall &call, const Mapped &mapped, const ArrayList &operands,
                          std::vector<AxisSpec> &resultSpecs) const = 0;
};

template <typename F>
struct ReturnOf;
template <typename R, typename... P>
struct ReturnOf<R (*)(P...)> {
  using type = std::decay_t<R>;
};
template <typename R, typename C, typename... P>
struct ReturnOf<R (C::*)(P...) const> {
  using type = std::decay_t<R>;
};

/// What a rule's own signature says: its parameters after a leading Active or Mapped.
template <typename F>
struct RuleParams {
  using All = typename SignatureOf<F>::Params;
  template <typename Tuple>
  struct Rest {
    static constexpr bool hasLead = false;
    using type = Tuple;
  };
  template <typename First, typename... Others>
    requires(std::is_same_v<First, Active> || std::is_same_v<First, Mapped>)
  struct Rest<std::tuple<First, Others...>> {
    static constexpr bool hasLead = true;
    using type = std::tuple<Others...>;
  };
  static constexpr bool hasLead = Rest<All>::hasLead;
  using type = typename Rest<All>::type;
};

template <typename P>
struct PrimitiveTraits {
  using Operands = typename SignatureOf<decltype(&P::expand)>::Params;
  using Result = typename ReturnOf<decltype(&P::expand)>::type;
};

/// The zero of the tangent of a value of `type`, in place of nothing; nothing where there is no tangent.
HJX_API Array zeroTangent(const Type &type);

/// The parameters [first, first + n) of a rule out of a flat list. Leaves that are symbolic zeros
/// become zeros of tangents of `types`, unless the parameter is an optional.
template <typename Tuple, size_t first, size_t... i>
auto ruleArgs(std::index_sequence<i...>, ArrayList leaves, const std::vector<Type> *types) {
  size_t next = 0;
  auto take = [&]<typename T>(std::type_identity<T>) {
    if (types && !IsOptional<T>::value) {
      size_t end = next, count = leaves.size();
      if constexpr (!IsVector<T>::value)
        (void)fromLeaves<T>(ArrayList(count), end), count = end;
      for (size_t k = next; k < count; ++k)
        if (!leaves[k].has_value())
          leaves[k] = zeroTangent((*types)[k]);
    }
    return fromLeaves<T>(leaves, next);
  };
  return std::tuple<std::tuple_element_t<first + i, Tuple>...>{take(std::type_identity<std::tuple_element_t<first + i, Tuple>>())...};
}
template <typename Tuple, size_t first, size_t count>
auto ruleArgs(const ArrayList &leaves, const std::vector<Type> *types = nullptr) {
  return ruleArgs<Tuple, first>(std::make_index_sequence<count>(), leaves, types);
}

template <typename P>
class UserPrimitiveOf final : public UserPrimitive {
public:
  std::string name() const override { return P::name; }
  bool has(Rule rule) const override {
    switch (rule) {
    case Rule::Expand:
      return requires { &P::expand; };
    case Rule::Jvp:
      return requires { &P::jvp; };
    case Rule::Vjp:
      return requires { &P::vjp_forward; &P::vjp_backward; };
    case Rule::Transpose:
      return requires { &P::transpose; };
    case Rule::Batch:
      return requires { &P::batch; };
    }
    return false;
  }

  std::vector<Type> infer(const Params &params, const std::vector<Type> &operands) const override {
    P primitive = primitiveWith<P>(params);
    using Types = typename SignatureOf<decltype(&P::infer)>::Params;
    if constexpr (std::is_same_v<Types, std::tuple<std::vector<Type>>>) {
      return typeList(primitive.infer(operands));
    } else {
      constexpr size_t count = std::tuple_size_v<Types>;
      checkCount(nullptr, "operands", count, operands.size(), Where());
      return [&]<size_t... i>(std::index_sequence<i...>) {
        return typeList(primitive.infer(operands[i]...));
      }(std::make_index_sequence<count>());
    }
  }

  ArrayList expand(const RuleCall &call, const ArrayList &operands) const override {
    return ruleLeaves(apply<Operands>(call, &P::expand, ruleArgs<Operands, 0, kOperands>(operands)));
  }

  ArrayList jvp(const RuleCall &call, const ArrayList &primals, const ArrayList &tangents) const override {
    if constexpr (requires { &P::jvp; }) {
      using All = typename SignatureOf<decltype(&P::jvp)>::Params;
      static_assert(std::tuple_size_v<All> == 2 * kOperands, "jvp: expected a tangent for each operand, after the operands");
      auto result = apply<All>(call, &P::jvp,
                               std::tuple_cat(ruleArgs<All, 0, kOperands>(primals),
                                              ruleArgs<All, kOperands, kOperands>(tangents, &call.operandTypes)));
      ArrayList leaves = ruleLeaves(std::get<0>(result)), dots = ruleLeaves(std::get<1>(result));
      leaves.insert(leaves.end(), dots.begin(), dots.end());
      return leaves;
    }
    return {};
  }

  ArrayList vjpForward(const RuleCall &call, const ArrayList &primals, const Active &active) const override {
    if constexpr (requires { &P::vjp_forward; }) {
      using Parameters = RuleParams<decltype(&P::vjp_forward)>;
      static_assert(std::tuple_size_v<typename Parameters::type> == kOperands, "vjp_forward: expected the operands of expand");
      auto result = applyWith<Parameters>(call, &P::vjp_forward, active, ruleArgs<typename Parameters::type, 0, kOperands>(primals));
      static_assert(IsTuple<decltype(result)>::value && std::tuple_size_v<decltype(result)> == 2,
                    "vjp_forward: expected a pair (result, residuals)");
      ArrayList leaves = ruleLeaves(std::get<0>(result)), residuals = ruleLeaves(std::get<1>(result));
      leaves.insert(leaves.end(), residuals.begin(), residuals.end());
      return leaves;
    }
    return {};
  }

  ArrayList vjpBackward(const RuleCall &call, const ArrayList &residuals, const ArrayList &resultBars,
                        const Active &wanted) const override {
    if constexpr (requires { &P::vjp_backward; }) {
      using Parameters = RuleParams<decltype(&P::vjp_backward)>;
      using All = typename Parameters::type;
      constexpr size_t kBars = std::tuple_size_v<All> - 1;
      auto args = std::tuple_cat(ruleArgs<All, 0, 1>(residuals), ruleArgs<All, 1, kBars>(resultBars, &call.resultTypes));
      return ruleLeaves(applyWith<Parameters>(call, &P::vjp_backward, wanted, std::move(args)));
    }
    return {};
  }

  ArrayList transpose(const RuleCall &call, const ArrayList &operands, const ArrayList &resultBars) const override {
    if constexpr (requires { &P::transpose; }) {
      using All = typename SignatureOf<decltype(&P::transpose)>::Params;
      constexpr size_t kBars = std::tuple_size_v<All> - kOperands;
      return ruleLeaves(apply<All>(call, &P::transpose,
                                   std::tuple_cat(ruleArgs<All, 0, kOperands>(operands),
                                                  ruleArgs<All, kOperands, kBars>(resultBars, &call.resultTypes))));
    }
    return {};
  }

  ArrayList batch(const RuleCall &call, const Mapped &mapped, const ArrayList &operands,
                  std::vector<AxisSpec> &resultSpecs) const override {
    if constexpr (requires { &P::batch; }) {
      using Parameters = RuleParams<decltype(&P::batch)>;
      static_assert(Parameters::hasLead, "batch: expected `const Mapped &` as the first parameter");
      auto result = applyWith<Parameters>(call, &P::batch, mapped, ruleArgs<typename Parameters::type, 0, kOperands>(operands));
      ArrayList leaves = ruleLeaves(std::get<0>(result));
      if constexpr (std::is_convertible_v<decltype(std::get<1>(result)), std::vector<AxisSpec>> &&
                    !std::is_same_v<std::decay_t<decltype(std::get<1>(result))>, AxisSpec>)
        resultSpecs = std::get<1>(result);
      else
        resultSpecs.assign(leaves.size(), AxisSpec(std::get<1>(result)));
      return leaves;
    }
    return {};
  }

private:
  using Operands = typename PrimitiveTraits<P>::Operands;
  static constexpr size_t kOperands = std::tuple_size_v<Operands>;

  /// Calls a static or a const member function.
  template <typename Function, typename... Args>
  static auto invoke(const P &primitive, Function function, Args &&...args) {
    if constexpr (std::is_member_function_pointer_v<Function>)
      return (primitive.*function)(std::forward<Args>(args)...);
    else
      return function(std::forward<Args>(args)...);
  }
  template <typename All, typename Function, typename Tuple>
  static auto apply(const RuleCall &call, Function function, Tuple &&args) {
    P primitive = primitiveWith<P>(call.params);
    return std::apply([&](auto &&...arg) { return invoke(primitive, function, arg...); }, std::forward<Tuple>(args));
  }
  template <typename Parameters, typename Function, typename Lead, typename Tuple>
  static auto applyWith(const RuleCall &call, Function function, const Lead &lead, Tuple &&args) {
    P primitive = primitiveWith<P>(call.params);
    return std::apply(
        [&](auto &&...arg) {
          if constexpr (Parameters::hasLead)
            return invoke(primitive, function, lead, arg...);
          else
            return invoke(primitive, function, arg...);
        },
        std::forward<Tuple>(args));
  }
  template <typename R>
  static std::vector<Type> typeList(const R &types) {
    if constexpr (std::is_same_v<R, std::vector<Type>>)
      return types;
    else if constexpr (IsTuple<R>::value)
      return std::apply([](const auto &...type) { return std::vector<Type>{Type(type)...}; }, types);
    else
      return {Type(types)};
  }
};

/// The one object for a class, kept until the process ends.
template <typename P>
const UserPrimitive &primitiveOf() {
  static_assert(requires { &P::infer; &P::expand; P::name; },
                "a primitive needs `static constexpr const char *name`, and the rules infer and expand (not overloaded)");
  static const UserPrimitive &primitive = *new UserPrimitiveOf<P>;
  return primitive;
}

/// Throws if another class has the name.
HJX_API bool registerPrimitive(const UserPrimitive &primitive);
template <typename P>
bool registerPrimitiveClass() {
  return registerPrimitive(primitiveOf<P>());
}

HJX_API ArrayList callPrimitiveFlat(const UserPrimitive &primitive, const Params &params, const ArrayList &operands, Where where);

} // namespace detail
} // namespace hjx
