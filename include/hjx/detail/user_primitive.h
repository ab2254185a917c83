// SPDX-License-Identifier: Apache-2.0
//
// A user's class of primitives behind a plain abstract class. Templates look at the
// class once: which rules it has, and how flat lists of values become the trees that
// these take. lib/Frontend/UserPrimitives.cpp shows it to the compiler.
#pragma once

#include <hjx/axis_spec.h>
#include <hjx/detail/params.h>
#include <hjx/detail/rule_trees.h>

namespace hjx {

/// Which operands may have a tangent (vjp_forward, linearize), want a cotangent (vjp_backward), or
/// which results are used (dce).
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

/// A call of a primitive, as its rules see it.
struct RuleCall {
  Params params;
  std::vector<Type> operandTypes, resultTypes;
};

/// A class of primitives. Rules throw; lists are flat; a leaf without value is a symbolic zero.
class HJX_API UserPrimitive {
public:
  enum class Rule { Expand, Jvp, Linearize, Vjp, Transpose, Batch, BatchAxes, Dce, Remat };
  virtual ~UserPrimitive();
  virtual std::string name() const = 0;
  virtual bool has(Rule rule) const = 0;
  /// Which of so many operands are refs. `infer` gets the types of what they hold.
  virtual std::vector<bool> refs(size_t numOperands) const = 0;
  virtual std::vector<Type> infer(const Params &params, const std::vector<Type> &operands) const = 0;
  virtual ArrayList expand(const RuleCall &call, const ArrayList &operands) const = 0;
  /// Results, then their tangents.
  virtual ArrayList jvp(const RuleCall &call, const ArrayList &primals, const ArrayList &tangents) const = 0;
  /// Results, then residuals.
  virtual ArrayList linearize(const RuleCall &call, const ArrayList &primals, const Active &active) const = 0;
  virtual ArrayList linearized(const RuleCall &call, const ArrayList &residuals, const ArrayList &tangents) const = 0;
  virtual ArrayList vjpForward(const RuleCall &call, const ArrayList &primals, const Active &active) const = 0;
  /// Cotangents of the operands; none of those that the rule has added to cells.
  virtual ArrayList vjpBackward(const RuleCall &call, const ArrayList &residuals, const ArrayList &resultBars,
                                std::vector<AccumSlot> &slots) const = 0;
  virtual ArrayList transpose(const RuleCall &call, const ArrayList &operands, const ArrayList &resultBars) const = 0;
  virtual ArrayList batch(const RuleCall &call, const Mapped &mapped, const ArrayList &operands,
                          std::vector<AxisSpec> &resultSpecs) const = 0;
  virtual std::vector<AxisSpec> batchAxes(const RuleCall &call, const Mapped &mapped) const = 0;
  virtual ArrayList dce(const RuleCall &call, const Active &used, const ArrayList &operands) const = 0;
  /// Results, then what is saved.
  virtual ArrayList remat(const RuleCall &call, const ArrayList &operands) const = 0;
  virtual ArrayList recompute(const RuleCall &call, const ArrayList &saved) const = 0;
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

/// The first operand of a primitive, and the line of the call that passes it.
template <typename P, typename Operands = typename PrimitiveTraits<P>::Operands>
struct FirstOperand;
template <typename P, typename First, typename... Rest>
struct FirstOperand<P, std::tuple<First, Rest...>> {
  template <typename T>
    requires(std::is_convertible_v<const T &, First> && !std::is_same_v<T, Where>)
  FirstOperand(const T &value, Where where = Where::current()) : value(value), where(where) {}

  First value;
  Where where;
};
template <typename P>
struct FirstOperand<P, std::tuple<>> {
  FirstOperand() = delete;
};

/// How many values a parameter or a result of a rule is; -1 where that is said at run time.
template <typename T>
constexpr int numLeaves() {
  if constexpr (Handle<T> || std::is_same_v<T, Ref> || std::is_same_v<T, Type> || std::is_arithmetic_v<T>)
    return 1;
  else if constexpr (IsOptional<T>::value)
    return numLeaves<typename T::value_type>();
  else if constexpr (IsTuple<T>::value)
    return []<size_t... i>(std::index_sequence<i...>) {
      constexpr bool isKnown = ((numLeaves<std::tuple_element_t<i, T>>() >= 0) && ... && true);
      return isKnown ? (numLeaves<std::tuple_element_t<i, T>>() + ... + 0) : -1;
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return -1;
}
/// False where two lists of values cannot be of one length.
template <typename A, typename B>
constexpr bool mayAgree() {
  return numLeaves<A>() < 0 || numLeaves<B>() < 0 || numLeaves<A>() == numLeaves<B>();
}
/// The types of a list from `first` on.
template <size_t first, typename Tuple>
using Tail = decltype([]<size_t... i>(std::index_sequence<i...>) {
  return std::type_identity<std::tuple<std::tuple_element_t<first + i, Tuple>...>>();
}(std::make_index_sequence<std::tuple_size_v<Tuple> - first>()));

/// Whether a rule is a member function that would change its object: it is called on one made of parameters.
template <typename F>
struct IsMutating : std::false_type {};
template <typename R, typename C, typename... P>
struct IsMutating<R (C::*)(P...)> : std::true_type {};
#define HJX_DETAIL_REFUSE_MUTATING(rule)                                                                      \
  if constexpr (requires { requires IsMutating<decltype(&P::rule)>::value; })                                 \
    return false;
template <typename P>
constexpr bool rulesAreConst() {
  HJX_DETAIL_REFUSE_MUTATING(infer)
  HJX_DETAIL_REFUSE_MUTATING(expand)
  HJX_DETAIL_REFUSE_MUTATING(jvp)
  HJX_DETAIL_REFUSE_MUTATING(linearize)
  HJX_DETAIL_REFUSE_MUTATING(linearized)
  HJX_DETAIL_REFUSE_MUTATING(vjp_forward)
  HJX_DETAIL_REFUSE_MUTATING(vjp_backward)
  HJX_DETAIL_REFUSE_MUTATING(vjp_backward_into)
  HJX_DETAIL_REFUSE_MUTATING(transpose)
  HJX_DETAIL_REFUSE_MUTATING(batch)
  HJX_DETAIL_REFUSE_MUTATING(batch_axes)
  HJX_DETAIL_REFUSE_MUTATING(dce)
  HJX_DETAIL_REFUSE_MUTATING(remat)
  HJX_DETAIL_REFUSE_MUTATING(recompute)
  return true;
}
#undef HJX_DETAIL_REFUSE_MUTATING

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
  std::tuple<std::tuple_element_t<first + i, Tuple>...> args{take(std::type_identity<std::tuple_element_t<first + i, Tuple>>())...};
  checkCount(nullptr, "values", next, leaves.size(), Where());
  return args;
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
      return true;
    case Rule::Jvp:
      return kHasJvp;
    case Rule::Linearize:
      return kHasLinearize;
    case Rule::Vjp:
      return kHasVjp;
    case Rule::Transpose:
      return kHasTranspose;
    case Rule::Batch:
      return kHasBatch;
    case Rule::BatchAxes:
      return kHasBatchAxes;
    case Rule::Dce:
      return requires { &P::dce; };
    case Rule::Remat:
      return kHasRemat;
    }
    return false;
  }

  std::vector<bool> refs(size_t numOperands) const override {
    std::vector<bool> refs;
    markRefs<Operands>(refs, numOperands);
    refs.resize(numOperands);
    return refs;
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
    if constexpr (kHasJvp) {
      using All = typename SignatureOf<decltype(&P::jvp)>::Params;
      static_assert(std::tuple_size_v<All> == 2 * kOperands, "jvp: expected a tangent for each operand, after the operands");
      return pairLeaves(apply<All>(call, &P::jvp,
                                   std::tuple_cat(ruleArgs<All, 0, kOperands>(primals),
                                                  ruleArgs<All, kOperands, kOperands>(tangents, &call.operandTypes))));
    }
    return {};
  }

  ArrayList linearize(const RuleCall &call, const ArrayList &primals, const Active &active) const override {
    if constexpr (kHasLinearize)
      return firstHalf(call, &P::linearize, active, primals);
    return {};
  }

  ArrayList linearized(const RuleCall &call, const ArrayList &residuals, const ArrayList &tangents) const override {
    if constexpr (kHasLinearize) {
      using All = typename SignatureOf<decltype(&P::linearized)>::Params;
      static_assert(std::tuple_size_v<All> == 1 + kOperands, "linearized: expected the residuals, then a tangent for each operand");
      return ruleLeaves(apply<All>(call, &P::linearized,
                                   std::tuple_cat(ruleArgs<All, 0, 1>(residuals),
                                                  ruleArgs<All, 1, kOperands>(tangents, &call.operandTypes))));
    }
    return {};
  }

  ArrayList vjpForward(const RuleCall &call, const ArrayList &primals, const Active &active) const override {
    if constexpr (kHasVjp)
      return firstHalf(call, &P::vjp_forward, active, primals);
    return {};
  }

  ArrayList vjpBackward(const RuleCall &call, const ArrayList &residuals, const ArrayList &resultBars,
                        std::vector<AccumSlot> &slots) const override {
    if constexpr (kHasValueBackward) {
      using Parameters = RuleParams<decltype(&P::vjp_backward)>;
      using All = typename Parameters::type;
      static_assert(std::tuple_size_v<All> > 1 && mayAgree<typename Tail<1, All>::type, Result>(),
                    "vjp_backward: expected the residuals, then a cotangent for each result of expand");
      constexpr size_t kBars = std::tuple_size_v<All> - 1;
      Active wanted;
      for (const AccumSlot &slot : slots)
        wanted.push_back(slot.kind != AccumSlot::Unwanted);
      auto args = std::tuple_cat(ruleArgs<All, 0, 1>(residuals), ruleArgs<All, 1, kBars>(resultBars, &call.resultTypes));
      return ruleLeaves(applyWith<Parameters>(call, &P::vjp_backward, wanted, std::move(args)));
    } else if constexpr (kHasBackwardInto) {
      using All = typename SignatureOf<decltype(&P::vjp_backward_into)>::Params;
      constexpr size_t kAccums = countAccums<All>(std::make_index_sequence<std::tuple_size_v<All>>());
      static_assert(kAccums == kOperands, "vjp_backward_into: expected an Accum for each operand, after residuals and cotangents");
      constexpr size_t kFirst = std::tuple_size_v<All> - kAccums;
      size_t next = 0;
      auto accums = [&]<size_t... i>(std::index_sequence<i...>) {
        return std::tuple<std::tuple_element_t<kFirst + i, All>...>{accumsFor<std::tuple_element_t<kFirst + i, All>>(slots, next)...};
      }(std::make_index_sequence<kAccums>());
      applyVoid(call, &P::vjp_backward_into,
                std::tuple_cat(ruleArgs<All, 0, 1>(residuals), ruleArgs<All, 1, kFirst - 1>(resultBars, &call.resultTypes), std::move(accums)));
      ArrayList bars;
      for (const AccumSlot &slot : slots)
        bars.push_back(slot.sum);
      return bars;
    }
    return {};
  }

  ArrayList transpose(const RuleCall &call, const ArrayList &operands, const ArrayList &resultBars) const override {
    if constexpr (kHasTranspose) {
      using All = typename SignatureOf<decltype(&P::transpose)>::Params;
      static_assert(std::tuple_size_v<All> > kOperands && mayAgree<typename Tail<kOperands, All>::type, Result>(),
                    "transpose: expected the operands of expand (without value where it is linear), then a cotangent for each result");
      constexpr size_t kBars = std::tuple_size_v<All> - kOperands;
      return ruleLeaves(apply<All>(call, &P::transpose,
                                   std::tuple_cat(ruleArgs<All, 0, kOperands>(operands),
                                                  ruleArgs<All, kOperands, kBars>(resultBars, &call.resultTypes))));
    }
    return {};
  }

  ArrayList batch(const RuleCall &call, const Mapped &mapped, const ArrayList &operands,
                  std::vector<AxisSpec> &resultSpecs) const override {
    if constexpr (kHasBatch) {
      using Parameters = RuleParams<decltype(&P::batch)>;
      static_assert(Parameters::hasLead, "batch: expected `const Mapped &` as the first parameter");
      static_assert(std::tuple_size_v<typename Parameters::type> == kOperands,
                    "batch: expected `const Mapped &`, then the operands of expand");
      using Pair = typename ReturnOf<decltype(&P::batch)>::type;
      static_assert(IsTuple<Pair>::value, "batch: expected a pair, the results and an AxisSpec that says where they are mapped");
      auto result = applyWith<Parameters>(call, &P::batch, mapped, ruleArgs<typename Parameters::type, 0, kOperands>(operands));
      ArrayList leaves = ruleLeaves(std::get<0>(result));
      resultSpecs = specList(std::get<1>(result), leaves.size());
      return leaves;
    }
    return {};
  }

  std::vector<AxisSpec> batchAxes(const RuleCall &call, const Mapped &mapped) const override {
    if constexpr (kHasBatchAxes)
      return specList(applyWith<RuleParams<decltype(&P::batch_axes)>>(call, &P::batch_axes, mapped, std::tuple<>()), call.resultTypes.size());
    return {};
  }

  ArrayList dce(const RuleCall &call, const Active &used, const ArrayList &operands) const override {
    if constexpr (requires { &P::dce; }) {
      using Parameters = RuleParams<decltype(&P::dce)>;
      static_assert(Parameters::hasLead && std::tuple_size_v<typename Parameters::type> == kOperands,
                    "dce: expected `const Active &`, which results are used, then the operands of expand");
      return ruleLeaves(applyWith<Parameters>(call, &P::dce, used, ruleArgs<typename Parameters::type, 0, kOperands>(operands)));
    }
    return {};
  }

  ArrayList remat(const RuleCall &call, const ArrayList &operands) const override {
    if constexpr (kHasRemat)
      return firstHalf(call, &P::remat, Active(), operands);
    return {};
  }

  ArrayList recompute(const RuleCall &call, const ArrayList &saved) const override {
    if constexpr (kHasRemat) {
      using All = typename SignatureOf<decltype(&P::recompute)>::Params;
      static_assert(std::tuple_size_v<All> == 1, "recompute: expected what remat saves");
      return ruleLeaves(apply<All>(call, &P::recompute, ruleArgs<All, 0, 1>(saved)));
    }
    return {};
  }

private:
  using Operands = typename PrimitiveTraits<P>::Operands;
  static constexpr size_t kOperands = std::tuple_size_v<Operands>;
  using Result = typename PrimitiveTraits<P>::Result;

  static_assert(listsAllFields<P>(), "HJX_PARAMS lists every field of a primitive: a rule would see the default of one that it leaves out");
  static_assert(mayAgree<typename SignatureOf<decltype(&P::infer)>::Params, Operands>(),
                "infer: expected the type of each operand of expand, as so many `const Type &` or as one vector of types");
  static constexpr bool kHasJvp = requires { &P::jvp; };
  static constexpr bool kHasLinearize = requires { &P::linearize; };
  static constexpr bool kHasVjp = requires { &P::vjp_forward; };
  static constexpr bool kHasValueBackward = requires { &P::vjp_backward; };
  static constexpr bool kHasBackwardInto = requires { &P::vjp_backward_into; };
  static constexpr bool kHasTranspose = requires { &P::transpose; };
  static constexpr bool kHasBatch = requires { &P::batch; };
  static constexpr bool kHasBatchAxes = requires { &P::batch_axes; };
  static constexpr bool kHasRemat = requires { &P::remat; };
  static_assert(!(kHasValueBackward && kHasBackwardInto),
                "a primitive has one backward rule: vjp_backward, which returns cotangents, or vjp_backward_into, which adds to "
                "accumulators; leave one out");
  static_assert(kHasVjp == (kHasValueBackward || kHasBackwardInto),
                "vjp_forward and a backward rule, vjp_backward or vjp_backward_into, come together: write the other half");
  static_assert(kHasLinearize == requires { &P::linearized; }, "linearize and linearized come together: write the other half");
  static_assert(kHasRemat == requires { &P::recompute; }, "remat and recompute come together: write the other half");
  static_assert(!(kHasBatch && kHasBatchAxes),
                "a primitive has one batching rule: batch, which maps it, or batch_axes, which says where results are mapped; leave "
                "one out");
  static_assert(rulesAreConst<P>(), "the rules of a primitive are static or const member functions: write `const` behind the parameters");
  static_assert(!HoldsRef<Operands>::value ||
                    !(kHasJvp || kHasLinearize || kHasVjp || kHasTranspose || kHasBatch || kHasBatchAxes || kHasRemat),
                "a primitive that takes a Ref is expanded before it is differentiated or mapped; leave its other rules out");

  /// A first half: pair(y, what is kept).
  template <typename Function>
  static ArrayList firstHalf(const RuleCall &call, Function function, const Active &active, const ArrayList &primals) {
    using Parameters = RuleParams<Function>;
    static_assert(std::tuple_size_v<typename Parameters::type> == kOperands,
                  "linearize, vjp_forward, remat: expected the operands of expand");
    return pairLeaves(applyWith<Parameters>(call, function, active, ruleArgs<typename Parameters::type, 0, kOperands>(primals)));
  }
  template <typename Pair>
  static ArrayList pairLeaves(const Pair &pair) {
    static_assert(IsTuple<Pair>::value && std::tuple_size_v<Pair> == 2,
                  "jvp, linearize, vjp_forward, remat: expected a pair, the results and the rest");
    ArrayList leaves = ruleLeaves(std::get<0>(pair)), rest = ruleLeaves(std::get<1>(pair));
    leaves.insert(leaves.end(), rest.begin(), rest.end());
    return leaves;
  }
  /// One spec is that of all results.
  template <typename Specs>
  static std::vector<AxisSpec> specList(const Specs &specs, size_t count) {
    if constexpr (std::is_convertible_v<Specs, std::vector<AxisSpec>> && !std::is_same_v<Specs, AxisSpec>)
      return specs;
    else
      return std::vector<AxisSpec>(count, AxisSpec(specs));
  }
  template <typename All, size_t... i>
  static constexpr size_t countAccums(std::index_sequence<i...>) {
    return (size_t(IsAccum<std::tuple_element_t<i, All>>::value) + ... + 0);
  }

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
  template <typename Function, typename Tuple>
  static void applyVoid(const RuleCall &call, Function function, Tuple &&args) {
    P primitive = primitiveWith<P>(call.params);
    std::apply([&](auto &&...arg) { invoke(primitive, function, arg...); }, std::forward<Tuple>(args));
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
/// Of a call: infer said the types of another tree than expand returns.
[[noreturn]] HJX_API void failResults(const UserPrimitive &primitive, const ArrayList &results, Where where);

/// The results of a call as the tree that expand returns.
template <typename P>
typename PrimitiveTraits<P>::Result resultsOf(const ArrayList &results, Where where) {
  size_t next = 0;
  try {
    auto tree = fromLeaves<typename PrimitiveTraits<P>::Result>(results, next);
    if (next == results.size())
      return tree;
  } catch (const Error &) {
  }
  failResults(primitiveOf<P>(), results, where);
}

} // namespace detail
} // namespace hjx
