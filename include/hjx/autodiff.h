// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of functions of trees.
//
//   auto loss = [](Params p, Array x, Array y) { return mean(square(model(p, x) - y)); };
//   auto [value, gradient] = value_and_grad(loss)(params, x, y);     // gradient is a Params
//
// All of them nest in any order, with each other and with jit, vmap and control
// flow. Integers, bools and keys have no derivative: where a tree has one of them,
// tangents and cotangents are arrays without value, `Array()`.
#pragma once

#include <hjx/detail/flat.h>

namespace hjx {

/// The arguments to differentiate: `grad(f, argnums<0, 2>)`.
template <size_t... index>
struct ArgNums {};
template <size_t... index>
inline constexpr ArgNums<index...> argnums{};

/// `grad(f, has_aux)`: f returns a pair (value, anything else to keep).
struct HasAux {};
inline constexpr HasAux has_aux{};

namespace detail {

HJX_API ArrayList gradFlat(const char *op, Where where, const ArrayList &args, const std::vector<bool> &wanted,
                           const std::vector<std::string> &paths, FlatFunction f);
HJX_API ArrayList jvpFlat(Where where, const ArrayList &primals, const ArrayList &tangents,
                          const std::vector<std::string> &paths, FlatFunction f);

/// A derivative at a point, as a map that can be applied many times.
struct LinearMap;
using LinearMapRef = std::shared_ptr<LinearMap>;
/// The map of `linearize`, for tangents, and that of `vjp`, for cotangents.
HJX_API LinearMapRef linearizeFlat(Where where, const ArrayList &primals, OwnedFunction f, ArrayList &results,
                                   const std::vector<std::string> &paths);
HJX_API LinearMapRef vjpFlat(Where where, const ArrayList &primals, OwnedFunction f, ArrayList &results,
                             const std::vector<std::string> &paths);
/// Where the gradient of one leaf goes.
struct LeafSink {
  enum Kind { Value, Ref, None };
  Kind kind = Value;
  Array ref;
};
/// Tangents of the results for tangents of the arguments, and cotangents the other way.
HJX_API ArrayList push(const LinearMapRef &map, const ArrayList &tangents);
HJX_API ArrayList pull(const LinearMapRef &map, const ArrayList &cotangents, const std::vector<std::string> &paths,
                       const std::vector<LeafSink> &sinks, const std::vector<std::string> &primalPaths, Where where);
HJX_API void checkSinkCounts(const std::vector<std::pair<size_t, size_t>> &counts, Where where);

/// The structure of several arguments, a tuple or a pair, for messages: "argument 1.layers[0].w".
template <typename Tuple>
TreeDef argumentStructure(const Tuple &args) {
  TreeDef all;
  size_t number = 0;
  std::apply(
      [&](const auto &...arg) {
        ((void)[&] {
          TreeDef one = structureOf(arg, "argument " + std::to_string(number++));
          all.entries.insert(all.entries.end(), one.entries.begin(), one.entries.end());
        }(),
         ...);
      },
      args);
  return all;
}

template <typename F, bool hasAux, bool withValue, size_t... index>
class Gradient : public Transformed<Gradient<F, hasAux, withValue, index...>, F> {
public:
  Gradient(F f, Where made) : Gradient::Transformed(made), f(std::move(f)) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    static_assert(((index < std::tuple_size_v<ArgTuple>) && ...), "grad: an index in argnums has no argument");
    // Leaves of the arguments, and which of them are differentiated.
    ArrayList leaves;
    std::vector<bool> wanted;
    collect(tuple, leaves, wanted, std::make_index_sequence<std::tuple_size_v<ArgTuple>>());

    Flattened<F, ArgTuple> flat(f, tuple);
    using Result = typename Flattened<F, ArgTuple>::Result;
    if constexpr (hasAux)
      static_assert(IsTuple<Result>::value, "grad with has_aux: the function must return a pair (value, aux)");
    else
      static_assert(std::is_same_v<Result, Array>,
                    "grad: the function must return one Array; pass has_aux if it returns (value, aux)");
    ArrayList results = gradFlat(withValue ? "value_and_grad" : "grad", where, leaves, wanted,
                                 pathsOf(argumentStructure(tuple)), flat);
    Result value = flat.rebuild(results);
    size_t next = leavesOf(value).size();
    auto gradient = takeGradient(tuple, results, next);
    if constexpr (withValue)
      return std::pair(value, gradient);
    else if constexpr (hasAux)
      return std::pair(gradient, value.second);
    else
      return gradient;
  }

private:
  static constexpr bool isWanted(size_t number) { return ((number == index) || ...); }
  template <typename ArgTuple, size_t... i>
  static void collect(const ArgTuple &tuple, ArrayList &leaves, std::vector<bool> &wanted, std::index_sequence<i...>) {
    auto add = [&](const auto &arg, bool isMember) {
      ArrayList list = leavesOf(arg);
      leaves.insert(leaves.end(), list.begin(), list.end());
      wanted.resize(leaves.size(), isMember);
    };
    (add(std::get<i>(tuple), isWanted(i)), ...);
  }

  /// The gradient of one argument is a tree like it; of several, a tuple.
  template <typename ArgTuple>
  static auto takeGradient(const ArgTuple &tuple, const ArrayList &results, size_t next) {
    auto take = [&](const auto &arg) { return tangentWithLeaves(arg, results, next); };
    if constexpr (sizeof...(index) == 1)
      return (take(std::get<index>(tuple)), ...);
    else
      return std::tuple{take(std::get<index>(tuple))...}; // Braces: in order.
  }

  F f;
};

/// Do two types nest tuples and pairs in the same way?
template <typename A, typename B>
constexpr bool nestAlike() {
  if constexpr (!IsTuple<A>::value || !IsTuple<B>::value)
    return IsTuple<A>::value == IsTuple<B>::value;
  else if constexpr (std::tuple_size_v<A> != std::tuple_size_v<B>)
    return false;
  else
    return []<size_t... i>(std::index_sequence<i...>) {
      return (nestAlike<std::tuple_element_t<i, A>, std::tuple_element_t<i, B>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<A>>());
}

/// Is T for the only one of the arguments in Args, which may be a tuple itself, or a tuple for all?
template <typename Args, typename T>
constexpr bool isForOnly() {
  if constexpr (std::tuple_size_v<Args> == 1)
    return !IsTuple<T>::value || nestAlike<std::tuple_element_t<0, Args>, T>();
  else
    return !IsTuple<T>::value;
}
template <typename F, typename T>
constexpr bool isOnlyArgument() {
  if constexpr (!std::is_void_v<typename ParamsOf<F>::type>)
    return isForOnly<typename ParamsOf<F>::type, T>();
  else if constexpr (IsTuple<T>::value)
    return []<size_t... i>(std::index_sequence<i...>) {
      return !std::is_invocable_v<const F &, typename GenericArg<std::tuple_element_t<i, T>>::type...>;
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return true;
}

/// The arguments of F, given as their tuple or as the only one.
template <typename F, typename T>
auto argumentsOf(const T &given) {
  auto make = [](const auto &...args) { return makeArgs<F>(args...); };
  if constexpr (isOnlyArgument<F, T>())
    return make(given);
  else
    return std::apply(make, given);
}

/// Tangents or cotangents of the arguments in Args, given in the same two ways.
template <typename Args, typename T>
auto dotsOf(const T &given) {
  if constexpr (isForOnly<Args, T>())
    return std::tuple<T>(given);
  else
    return given;
}

/// A tangent or cotangent for a tree Like, with arrays in place of C++ numbers for its arrays.
template <typename Like, typename T>
auto numbersAsArrays(const T &dot) {
  if constexpr (std::is_same_v<Like, Array> && Number<T>)
    return Array(dot);
  else if constexpr (IsTuple<Like>::value && nestAlike<Like, T>())
    return [&]<size_t... i>(std::index_sequence<i...>) {
      using Parts = std::tuple<decltype(numbersAsArrays<std::tuple_element_t<i, Like>>(std::get<i>(dot)))...>;
      return Parts(numbersAsArrays<std::tuple_element_t<i, Like>>(std::get<i>(dot))...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return dot;
}

} // namespace detail

/// Entries of with_refs: the gradient is returned, as without; or it is not computed.
struct GradValue {};
inline constexpr GradValue grad_value{};
struct DontWant {};
inline constexpr DontWant dont_want{};

namespace detail {

template <typename Result, typename... Args>
class PullBack {
public:
  PullBack(LinearMapRef map, TreeDef result, std::tuple<Args...> args)
      : map(std::move(map)), result(std::move(result)), args(std::move(args)) {}
  /// The cotangents of all arguments for a cotangent of the result.
  template <typename Cotangent>
  auto operator()(const Cotangent &given, Where where = Where::current()) const {
    auto cotangent = numbersAsArrays<Result>(given);
    checkSameStructure(result, structureOf(cotangent, "result"), "vjp", "the result and its cotangent", where);
    checkSinkCounts(counts, where);
    return tangentWithLeaves(args, pull(map, leavesOf(cotangent), pathsOf(result), sinks, pathsOf(argumentStructure(args)), where));
  }

  /// The same pull-back with one entry for each argument: a ref, or a tree or vector of one ref for
  /// each leaf, to which the gradient is added in place; `grad_value` to return it; `dont_want`.
  /// Where a gradient is not returned, the result has leaves without value.
  ///
  ///   auto [loss, pullBack] = vjp(model, params, x);
  ///   pullBack.with_refs(gradients, dont_want)(1.0);        // gradients: std::vector<Ref>
  ///
  /// Errors: hjx::Error unless there is one ref for each leaf, of its type.
  /// Cost:   what is read in parts (indexed, sliced, in a loop) is added to in parts: no sum is
  ///         kept and no array filled with zeros. What nobody wants is not computed.
  template <typename... Entries>
  PullBack with_refs(const Entries &...entries) const {
    static_assert(sizeof...(Entries) == sizeof...(Args), "with_refs: expected one entry for each argument of the function");
    PullBack bound = *this;
    bound.sinks.clear();
    bound.counts.clear();
    [&]<size_t... i>(std::index_sequence<i...>) {
      (bound.append(std::get<i>(args), entries), ...);
    }(std::index_sequence_for<Entries...>());
    return bound;
  }

private:
  template <typename Arg, typename Entry>
  void append(const Arg &arg, const Entry &entry) {
    size_t count = leavesOf(arg).size();
    if constexpr (std::is_same_v<Entry, GradValue> || std::is_same_v<Entry, DontWant>) {
      counts.push_back({count, count});
      sinks.resize(sinks.size() + count, {std::is_same_v<Entry, DontWant> ? LeafSink::None : LeafSink::Value, {}});
    } else {
      ArrayList refs = leavesOf(entry);
      counts.push_back({count, refs.size()});
      for (Array &ref : refs)
        sinks.push_back({LeafSink::Ref, std::move(ref)});
    }
  }

  std::vector<LeafSink> sinks;
  std::vector<std::pair<size_t, size_t>> counts; // per argument: leaves, and sinks for them
  LinearMapRef map;
  TreeDef result;
  std::tuple<Args...> args;
};

template <typename Result, typename ArgTuple>
class PushForward {
public:
  PushForward(LinearMapRef map, Result result) : map(std::move(map)), result(std::move(result)) {}
  /// The tangent of the result for tangents of all arguments.
  template <typename... Tangents>
  auto operator()(const Tangents &...tangents) const {
    return tangentWithLeaves(result, push(map, leavesOf(numbersAsArrays<ArgTuple>(std::tuple<Tangents...>(tangents...)))));
  }

private:
  LinearMapRef map;
  Result result;
};

template <typename Result, typename... Args>
std::pair<Result, PullBack<Result, Args...>> makePullBack(Result result, LinearMapRef map, std::tuple<Args...> args) {
  TreeDef structure = structureOf(result, "result");
  return {std::move(result), PullBack<Result, Args...>(std::move(map), std::move(structure), std::move(args))};
}

template <typename F, typename ArgTuple>
auto vjpOf(const F &f, const ArgTuple &args, Where where) {
  auto owned = std::make_shared<OwnedFlattened<F, ArgTuple>>(f, args);
  ArrayList results;
  LinearMapRef map = vjpFlat(where, leavesOf(args), owned, results, pathsOf(argumentStructure(args)));
  return makePullBack(owned->flat.rebuild(results), map, args);
}

template <typename F, typename ArgTuple>
auto linearizeOf(const F &f, const ArgTuple &args, Where where) {
  auto owned = std::make_shared<OwnedFlattened<F, ArgTuple>>(f, args);
  ArrayList results;
  LinearMapRef map = linearizeFlat(where, leavesOf(args), owned, results, pathsOf(argumentStructure(args)));
  auto result = owned->flat.rebuild(results);
  return std::pair(result, PushForward<decltype(result), ArgTuple>(map, result));
}

} // namespace detail

/// Returns the function that computes the gradient of `f`, a tree like the argument.
///
/// Shapes: f returns a scalar of a floating type; with has_aux, a pair of it and any tree.
/// Errors: hjx::Error if the result is not such a scalar, or a leaf of the differentiated
///         arguments is not of a floating type (it names the leaf).
/// Cost:   a few times f; see checkpoint for memory.
/// Source: Radul et al. 2022, "You Only Linearize Once"; JAX `grad`.
template <typename F>
auto grad(F f, Where where = Where::current()) {
  return detail::Gradient<F, false, false, 0>(std::move(f), where);
}
template <typename F, size_t... index>
auto grad(F f, ArgNums<index...>, Where where = Where::current()) {
  return detail::Gradient<F, false, false, index...>(std::move(f), where);
}
template <typename F>
auto grad(F f, HasAux, Where where = Where::current()) {
  return detail::Gradient<F, true, false, 0>(std::move(f), where);
}
template <typename F, size_t... index>
auto grad(F f, ArgNums<index...>, HasAux, Where where = Where::current()) {
  return detail::Gradient<F, true, false, index...>(std::move(f), where);
}

/// Returns the function that computes the pair (f's result, gradient); see grad.
template <typename F>
auto value_and_grad(F f, Where where = Where::current()) {
  return detail::Gradient<F, false, true, 0>(std::move(f), where);
}
template <typename F, size_t... index>
auto value_and_grad(F f, ArgNums<index...>, Where where = Where::current()) {
  return detail::Gradient<F, false, true, index...>(std::move(f), where);
}
template <typename F>
auto value_and_grad(F f, HasAux, Where where = Where::current()) {
  return detail::Gradient<F, true, true, 0>(std::move(f), where);
}
template <typename F, size_t... index>
auto value_and_grad(F f, ArgNums<index...>, HasAux, Where where = Where::current()) {
  return detail::Gradient<F, true, true, index...>(std::move(f), where);
}

/// Returns f's result and its directional derivative: pair(y, y_dot).
///
/// `primals` and `tangents` are tuples of f's arguments, or the argument itself if there is one.
/// Shapes: tangents have the primals' types; where those have none, `Array()`. C++ numbers are scalars.
/// Errors: hjx::Error if structures or types of primals and tangents differ.
template <typename F, typename Primals, typename Tangents>
auto jvp(const F &f, const Primals &primals, const Tangents &tangents, Where where = Where::current()) {
  auto args = detail::argumentsOf<F>(primals);
  using ArgTuple = decltype(args);
  auto dots = detail::numbersAsArrays<ArgTuple>(detail::dotsOf<ArgTuple>(tangents));
  TreeDef structure = detail::argumentStructure(args);
  detail::checkSameStructure(structure, detail::argumentStructure(dots), "jvp", "tangents", where);
  detail::Flattened<F, ArgTuple> flat(f, args);
  detail::ArrayList results =
      detail::jvpFlat(where, detail::leavesOf(args), detail::leavesOf(dots), detail::pathsOf(structure), flat);
  auto value = flat.rebuild(results);
  size_t next = detail::leavesOf(value).size();
  return std::pair(value, detail::tangentWithLeaves(value, results, next));
}

/// Returns f's result and the pull-back of cotangents: pair(y, y_bar -> tuple of x_bars), for a function
/// of up to eight arguments; more are a tuple.
///
/// Shapes: the cotangent has the type of y, or is a C++ number for a scalar; results have the
///         arguments' types.
/// Errors: hjx::Error if a cotangent's type differs.
/// Cost:   one forward pass; one backward pass for each use of the pull-back.
/// Source: Radul et al. 2022, "You Only Linearize Once"; JAX `vjp`.
template <typename F, typename A, typename B = detail::LeftOut, typename C = detail::LeftOut, typename D = detail::LeftOut,
          typename E = detail::LeftOut, typename G = detail::LeftOut, typename H = detail::LeftOut, typename I = detail::LeftOut>
auto vjp(const F &f, const A &a, const B &b = {}, const C &c = {}, const D &d = {}, const E &e = {}, const G &g = {},
         const H &h = {}, const I &i = {}, Where where = Where::current()) {
  using Fn = std::decay_t<F>;
  auto make = [](const auto &...args) { return detail::makeArgs<Fn>(args...); };
  return detail::vjpOf<Fn>(f, std::apply(make, detail::argsOtherThan<detail::LeftOut>(a, b, c, d, e, g, h, i)), where);
}

/// Returns f's result and its derivative as a function: pair(y, x_dots.. -> y_dot).
///
/// Shapes: as vjp has them, for up to eight arguments.
template <typename F, typename A, typename B = detail::LeftOut, typename C = detail::LeftOut, typename D = detail::LeftOut,
          typename E = detail::LeftOut, typename G = detail::LeftOut, typename H = detail::LeftOut, typename I = detail::LeftOut>
auto linearize(const F &f, const A &a, const B &b = {}, const C &c = {}, const D &d = {}, const E &e = {}, const G &g = {},
               const H &h = {}, const I &i = {}, Where where = Where::current()) {
  using Fn = std::decay_t<F>;
  auto make = [](const auto &...args) { return detail::makeArgs<Fn>(args...); };
  return detail::linearizeOf<Fn>(f, std::apply(make, detail::argsOtherThan<detail::LeftOut>(a, b, c, d, e, g, h, i)), where);
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

/// What reverse mode may keep of a checkpointed function; the rest it computes again.
enum class Policy { nothing_saveable, dots_saveable, dots_with_no_batch_dims_saveable, everything_saveable };

namespace detail {
HJX_API ArrayList checkpointFlat(Where where, const ArrayList &args, const std::vector<std::string> &paths, Policy policy,
                                 FlatFunction f);

template <typename F>
class Checkpointed : public Transformed<Checkpointed<F>, F> {
public:
  Checkpointed(F f, Policy policy, Where made) : Checkpointed::Transformed(made), f(std::move(f)), policy(policy) {}
  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    Flattened<F, ArgTuple> flat(f, tuple);
    ArrayList results = checkpointFlat(where, leavesOf(tuple), pathsOf(structureOf(tuple, "args")), policy, flat);
    return flat.rebuild(results);
  }

private:
  F f;
  Policy policy;
};
} // namespace detail

/// Returns f, whose intermediate values reverse mode computes again instead of keeping.
///
/// Cost: memory for f's arguments and what the policy allows, time for one more forward pass.
template <typename F>
auto checkpoint(F f, Policy policy = Policy::nothing_saveable, Where where = Where::current()) {
  return detail::Checkpointed<F>(std::move(f), policy, where);
}

//===----------------------------------------------------------------------===//
// Rules of the user
//===----------------------------------------------------------------------===//

namespace detail {
/// Residuals are taken apart after fwd and put together before bwd.
HJX_API ArrayList customVjpFlat(Where where, const ArrayList &args, FlatFunction f, FlatFunction fwd, FlatFunction bwd,
                                const std::vector<std::string> &paths);
HJX_API void checkCotangentCount(size_t expected, size_t got, Where where);
HJX_API ArrayList customJvpFlat(Where where, const ArrayList &args, FlatFunction f, FlatFunction rule);

template <typename F, typename Fwd, typename Bwd>
class CustomVjp : public Transformed<CustomVjp<F, Fwd, Bwd>, F> {
public:
  CustomVjp(F f, Fwd fwd, Bwd bwd, Where made)
      : CustomVjp::Transformed(made), f(std::move(f)), fwd(std::move(fwd)), bwd(std::move(bwd)) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    Flattened<F, ArgTuple> flat(f, tuple);
    Flattened<Fwd, ArgTuple> flatFwd(fwd, tuple);
    static_assert(IsTuple<typename Flattened<Fwd, ArgTuple>::Result>::value,
                  "custom_vjp: fwd must return a pair (result, residuals)");
    // bwd(residuals, cotangent) -> a tuple of cotangents, or one.
    auto flatBwd = [&](const ArrayList &list) {
      auto residuals = withLeaves(flatFwd.result->second, list);
      size_t next = leavesOf(residuals).size();
      auto cotangent = tangentWithLeaves(flatFwd.result->first, list, next);
      auto bars = numbersAsArrays<ArgTuple>(dotsOf<ArgTuple>(bwd(residuals, cotangent)));
      checkCotangentCount(std::tuple_size_v<ArgTuple>, std::tuple_size_v<decltype(bars)>, where);
      checkSameStructure(argumentStructure(tuple), argumentStructure(bars), "custom_vjp", "cotangents returned by bwd", where);
      return leavesOf(bars);
    };
    ArrayList results = customVjpFlat(where, leavesOf(tuple), flat, flatFwd, flatBwd, pathsOf(argumentStructure(tuple)));
    return flat.rebuild(results);
  }

private:
  F f;
  Fwd fwd;
  Bwd bwd;
};

template <typename F, typename Rule>
class CustomJvp : public Transformed<CustomJvp<F, Rule>, F> {
public:
  CustomJvp(F f, Rule rule, Where made) : CustomJvp::Transformed(made), f(std::move(f)), rule(std::move(rule)) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    Flattened<F, ArgTuple> flat(f, tuple);
    // rule(primals, tangents) -> (result, tangent), with tuples of the arguments.
    auto flatRule = [&](const ArrayList &list) {
      ArgTuple primals = withLeaves(tuple, list);
      size_t next = leavesOf(tuple).size();
      auto tangents = tangentWithLeaves(tuple, list, next);
      return leavesOf(rule(primals, tangents));
    };
    ArrayList results = customJvpFlat(where, leavesOf(tuple), flat, flatRule);
    return flat.rebuild(results);
  }

private:
  F f;
  Rule rule;
};
} // namespace detail

/// Returns f with a pull-back of the user's: fwd(args..) -> (result, residuals), a pair of trees;
/// bwd(residuals, cotangent) -> the tuple of the arguments' cotangents (or the one).
///
/// Results without tangents (integers, bools, keys) have a derivative of zero; bwd gets arrays without
/// value for them.
///
/// Errors: hjx::Error if fwd's result or bwd's cotangents have other types than f's; if the
///         functions use traced arrays that are not arguments, which would have no derivative;
///         under a derivative, if a result is of a hi-type without the tangent_type method.
template <typename F, typename Fwd, typename Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd, Where where = Where::current()) {
  return detail::CustomVjp<F, Fwd, Bwd>(std::move(f), std::move(fwd), std::move(bwd), where);
}

/// Returns f with a derivative of the user's: rule(primals, tangents) -> (result, tangent), with
/// tuples of the arguments. The rule must be linear in the tangents; reverse mode transposes it.
/// Results without tangents are as for custom_vjp.
///
/// Errors: hjx::Error if the rule's results have other types than f's; in reverse mode, if it is
///         not linear: products of tangents, functions of them, constants added to them;
///         under a derivative, if a result is of a hi-type without the tangent_type method.
template <typename F, typename Rule>
auto custom_jvp(F f, Rule rule, Where where = Where::current()) {
  return detail::CustomJvp<F, Rule>(std::move(f), std::move(rule), where);
}

} // namespace hjx
