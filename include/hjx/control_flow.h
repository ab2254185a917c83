// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches that depend on traced values, as operations of the program.
// A C++ `for` is recorded once for each iteration, a C++ `if` is decided while
// recording; these are neither.
//
//   auto [last, partial] = scan([](Array c, Array x) { return std::pair(c + x, c + x); }, zero, xs);
//   Array y = cond(sum(x) > 0, [](Array x) { return x; }, [](Array x) { return -x; }, x);
#pragma once

#include <hjx/detail/flat.h>

namespace hjx {

namespace detail {

/// What a loop's carry must keep from one iteration to the next.
struct CarryCheck {
  const char *op;
  Where where;
  std::vector<std::string> paths;
};

HJX_API ArrayList scanFlat(const CarryCheck &check, const ArrayList &init, const ArrayList &xs,
                           const std::vector<std::string> &xsPaths, int64_t length, bool reverse, FlatFunction body);
HJX_API ArrayList whileFlat(const CarryCheck &check, const ArrayList &init, std::optional<int64_t> maxTrip,
                            FlatFunction condition, FlatFunction body);
/// `structures[i]` is known after branch i was recorded.
HJX_API ArrayList condFlat(const char *op, Where where, const Array &index, const ArrayList &operands,
                           const std::vector<std::string> &paths,
                           const std::vector<FlatFunction> &branches, const std::vector<TreeDef> &structures);
/// A bound of a fori_loop as int32; throws unless it is an integer scalar that int32 can hold (of
/// an array the nearest that it can).
HJX_API Array loopBound(const Array &bound, Where where);
[[noreturn]] HJX_API void failLoopBound(Where where);
template <std::integral T>
int32_t loopBound(T bound, Where where) {
  return std::in_range<int32_t>(+bound) ? static_cast<int32_t>(bound) : (failLoopBound(where), 0);
}
HJX_API int64_t lengthOf(const char *op, Where where, const ArrayList &xs, const std::vector<std::string> &paths);

template <typename Carry>
CarryCheck carryCheck(const char *op, Where where, const Carry &init) {
  return {op, where, pathsOf(structureOf(init, "carry"))};
}

} // namespace detail

struct ScanOptions {
  bool reverse = false;
  /// Number of iterations; needed when there is no array among the xs.
  std::optional<int64_t> length = {};
};

/// Stands for "no xs" and "no ys".
using Nothing = std::tuple<>;

namespace detail {
/// scan under the name of the function that the user called.
template <typename F, typename Carry, typename Xs>
auto scanAs(const char *op, const F &body, const Carry &init, const Xs &xs, ScanOptions options, Where where) {
  using Step = std::decay_t<decltype(body(init, xs))>;
  static_assert(IsTuple<Step>::value && std::tuple_size_v<Step> == 2, "scan: the body must return a pair (carry, y)");
  ArrayList initLeaves = leavesOf(init), xsLeaves = leavesOf(xs);
  std::vector<std::string> xsPaths = pathsOf(structureOf(xs, "xs"));
  int64_t length = options.length ? *options.length : lengthOf(op, where, xsLeaves, xsPaths);
  std::optional<Step> step;
  auto flat = [&](const ArrayList &leaves) {
    step.emplace(body(withLeaves(init, leaves), withLeaves(xs, leaves, initLeaves.size())));
    checkSameStructure(structureOf(init, "carry"), structureOf(std::get<0>(*step), "carry"), op,
                       "the carry before and after the body", where);
    return leavesOf(*step);
  };
  ArrayList results = scanFlat(carryCheck(op, where, init), initLeaves, xsLeaves, xsPaths, length, options.reverse, flat);
  return withLeaves(*step, results);
}

/// while_loop, the same way.
template <typename Cond, typename Body, typename Carry>
Carry whileAs(const char *op, const Cond &condition, const Body &body, const Carry &init, std::optional<int64_t> maxTrip,
              Where where) {
  auto flatCondition = [&](const ArrayList &leaves) { return ArrayList{condition(withLeaves(init, leaves))}; };
  auto flatBody = [&](const ArrayList &leaves) {
    Carry next = body(withLeaves(init, leaves));
    checkSameStructure(structureOf(init, "carry"), structureOf(next, "carry"), op, "the carry before and after the body", where);
    return leavesOf(next);
  };
  return withLeaves(init, whileFlat(carryCheck(op, where, init), leavesOf(init), maxTrip, flatCondition, flatBody));
}
} // namespace detail

/// Runs body(carry, x) -> pair(carry, y) over the leading axis of xs; returns the last carry and
/// the stacked ys.
///
/// Shapes: every leaf of xs has one leading size; the carry keeps its structure and types.
/// Errors: hjx::Error naming the first leaf of the carry that changes, with both types.
/// Cost:   the body is recorded and compiled once.
template <typename F, typename Carry, typename Xs>
auto scan(const F &body, const Carry &init, const Xs &xs, ScanOptions options = {}, Where where = Where::current()) {
  return detail::scanAs("scan", body, init, xs, options, where);
}

/// Applies f to each slice along the leading axis of xs and stacks the results.
template <typename F, typename Xs>
auto map(const F &f, const Xs &xs, ScanOptions options = {}, Where where = Where::current()) {
  auto step = [&](Nothing, const Xs &x) { return std::pair(Nothing(), f(x)); };
  return detail::scanAs("map", step, Nothing(), xs, options, where).second;
}

/// Runs body(x..) over the leading axes of up to eight xs, in order, and stacks what it returns, if
/// anything: a loop for the effects that it has on refs. An xs that is a ref is seen as the ref of its
/// slice. More xs are a tuple. Options come last.
///
///   foreach([&](Array i, Array x) { table[i] += x; }, ids, updates);
///   foreach([&](Quantized row) { total.add(dequantize(row)); }, rows, {.length = 8});
///
/// Cost: in reverse mode a read of a ref by index is an addition in place; no need to pass as xs.
template <typename F, typename A, typename B = ScanOptions, typename C = ScanOptions, typename D = ScanOptions,
          typename E = ScanOptions, typename G = ScanOptions, typename H = ScanOptions, typename I = ScanOptions>
auto foreach(const F &body, const A &a, const B &b = {}, const C &c = {}, const D &d = {}, const E &e = {}, const G &g = {},
             const H &h = {}, const I &i = {}, ScanOptions options = {}, Where where = Where::current()) {
  auto copy = []<typename... Xs>(const Xs &...xs) { return std::tuple<Xs...>(xs...); };
  auto xs = std::apply(copy, detail::argsOtherThan<ScanOptions>(a, b, c, d, e, g, h, i));
  auto step = [&](Nothing, const decltype(xs) &slices) {
    if constexpr (std::is_void_v<decltype(std::apply(body, slices))>) {
      std::apply(body, slices);
      return std::pair(Nothing(), Nothing());
    } else {
      return std::pair(Nothing(), std::apply(body, slices));
    }
  };
  ScanOptions given = std::get<0>(detail::argsThatAre<ScanOptions>(b, c, d, e, g, h, i, options));
  return detail::scanAs("foreach", step, Nothing(), xs, given, where).second;
}

/// Runs body(carry) while condition(carry) is true; returns the last carry.
///
/// Reverse mode needs a bound on the number of iterations: max_trip, where the loop then stops.
/// Errors: hjx::Error naming the first leaf of the carry that changes its type, or if the
///         condition is not a bool scalar.
template <typename Cond, typename Body, typename Carry>
Carry while_loop(const Cond &condition, const Body &body, const Carry &init, std::optional<int64_t> max_trip = {},
                 Where where = Where::current()) {
  return detail::whileAs("while_loop", condition, body, init, max_trip, where);
}

/// Runs carry = body(i, carry) for i in [lower, upper); differentiable both ways.
template <std::integral L, std::integral U, typename Body, typename Carry>
Carry fori_loop(L lower, U upper, const Body &body, const Carry &init, Where where = Where::current()) {
  auto step = [&](const std::tuple<Array, Carry> &state, Nothing) {
    const auto &[i, carry] = state;
    return std::pair(std::tuple<Array, Carry>(i + 1, body(i, carry)), Nothing());
  };
  int32_t first = detail::loopBound(lower, where);
  int64_t length = int64_t(detail::loopBound(upper, where)) - first;
  std::tuple<Array, Carry> start(array(first, int32, where), init);
  return std::get<1>(detail::scanAs("fori_loop", step, start, Nothing(), {.length = length < 0 ? 0 : length}, where).first);
}

/// The same with bounds that are arrays, known only at run time: a while_loop.
template <typename Body, typename Carry>
Carry fori_loop(const Array &lower, const Array &upper, const Body &body, const Carry &init,
                Where where = Where::current()) {
  using State = std::tuple<Array, Array, Carry>;
  auto isBelow = [](const State &state) { return std::get<0>(state) < std::get<1>(state); };
  auto step = [&](const State &state) {
    const auto &[i, end, carry] = state;
    return State(i + 1, end, body(i, carry));
  };
  State start(detail::loopBound(lower, where), detail::loopBound(upper, where), init);
  return std::get<2>(detail::whileAs("fori_loop", isBelow, step, start, {}, where));
}

namespace detail {
template <typename ArgTuple, typename... Branches>
auto branch(const char *op, Where where, const Array &index, const ArgTuple &operands, const Branches &...branches) {
  using Result = std::common_type_t<ResultOf<Branches, ArgTuple>...>;
  std::vector<TreeDef> structures(sizeof...(Branches));
  std::optional<Result> result;
  auto flatten = [&](const auto &f, size_t number) {
    return [&, number](const ArrayList &leaves) {
      result.emplace(applyTo(withLeaves(operands, leaves), f));
      structures[number] = structureOf(*result, "result");
      return leavesOf(*result);
    };
  };
  size_t number = 0;
  auto flat = std::tuple{flatten(branches, number++)...};
  std::vector<FlatFunction> functions;
  std::apply([&](auto &...f) { (functions.emplace_back(f), ...); }, flat);
  ArrayList results = condFlat(op, where, index, leavesOf(operands), pathsOf(structureOf(operands, "operands")), functions, structures);
  return withLeaves(*result, results);
}
} // namespace detail

/// Returns on_true(operands..) where the bool scalar holds, else on_false(operands..); only one of
/// them runs.
///
/// Errors: hjx::Error naming the first leaf in which the branches' results differ.
template <typename True, typename False, typename... Operands>
auto cond(ArrayLike predicate, const True &on_true, const False &on_false, const Operands &...operands) {
  std::tuple<typename detail::GenericArg<Operands>::type...> tuple(operands...);
  return detail::branch("cond", predicate.where, predicate.array, tuple, on_false, on_true);
}

/// Returns the branch of an int32 scalar's number, clamped to the branches there are:
/// switch_(i, std::tuple{f, g, h}, operands..).
template <typename... Branches, typename... Operands>
auto switch_(ArrayLike index, const std::tuple<Branches...> &branches, const Operands &...operands) {
  std::tuple<typename detail::GenericArg<Operands>::type...> tuple(operands...);
  return std::apply(
      [&](const auto &...branch) { return detail::branch("switch_", index.where, index.array, tuple, branch...); }, branches);
}

} // namespace hjx
