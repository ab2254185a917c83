// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches that depend on traced values, as operations of the program.
// A C++ `for` is recorded once for each iteration, a C++ `if` is decided while
// recording; these are neither.
//
//   auto [last, partial] = scan([](Array c, Array x) { return std::pair(c + x, c + x); }, zero, xs);
//   Array y = cond(x.sum() > 0, [](Array x) { return x; }, [](Array x) { return -x; }, x);
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
HJX_API ArrayList whileFlat(const CarryCheck &check, const ArrayList &init, int64_t maxTrip, FlatFunction condition,
                            FlatFunction body);
/// `structures[i]` is known after branch i was recorded.
HJX_API ArrayList condFlat(const char *op, Where where, const Array &index, const ArrayList &operands,
                           const std::vector<FlatFunction> &branches, const std::vector<TreeDef> &structures);
HJX_API int64_t lengthOf(const char *op, Where where, const ArrayList &xs, const std::vector<std::string> &paths);

template <typename Carry>
CarryCheck carryCheck(const char *op, Where where, const Carry &init) {
  return {op, where, pathsOf(structureOf(init, "carry"))};
}

} // namespace detail

struct ScanOptions {
  bool reverse = false;
  /// Number of iterations; needed when there are no xs.
  std::optional<int64_t> length = {};
};

/// Stands for "no xs" and "no ys".
using Nothing = std::tuple<>;

/// Runs body(carry, x) -> pair(carry, y) over the leading axis of xs; returns the last carry and
/// the stacked ys.
///
/// Shapes: every leaf of xs has one leading size; the carry keeps its structure and types.
/// Errors: hjx::Error naming the first leaf of the carry that changes, with both types.
/// Cost:   the body is recorded and compiled once.
template <typename F, typename Carry, typename Xs>
auto scan(const F &body, const Carry &init, const Xs &xs, ScanOptions options = {}, Where where = Where::current()) {
  using Step = std::decay_t<decltype(body(init, xs))>;
  static_assert(detail::IsTuple<Step>::value && std::tuple_size_v<Step> == 2, "scan: the body must return a pair (carry, y)");
  detail::ArrayList initLeaves = detail::leavesOf(init), xsLeaves = detail::leavesOf(xs);
  std::vector<std::string> xsPaths = detail::pathsOf(detail::structureOf(xs, "xs"));
  int64_t length = options.length ? *options.length : detail::lengthOf("scan", where, xsLeaves, xsPaths);
  std::optional<Step> step;
  auto flat = [&](const detail::ArrayList &leaves) {
    step.emplace(body(detail::withLeaves(init, leaves), detail::withLeaves(xs, leaves, initLeaves.size())));
    detail::checkSameStructure(detail::structureOf(init, "carry"), detail::structureOf(std::get<0>(*step), "carry"), "scan",
                               "the carry before and after the body", where);
    return detail::leavesOf(*step);
  };
  detail::ArrayList results =
      detail::scanFlat(detail::carryCheck("scan", where, init), initLeaves, xsLeaves, xsPaths, length, options.reverse, flat);
  return detail::withLeaves(*step, results);
}

/// Applies f to each slice along the leading axis of xs and stacks the results.
template <typename F, typename Xs>
auto map(const F &f, const Xs &xs, Where where = Where::current()) {
  return scan([&](Nothing, const Xs &x) { return std::pair(Nothing(), f(x)); }, Nothing(), xs, {}, where).second;
}

/// Runs body(carry) while condition(carry) is true; returns the last carry.
///
/// Reverse mode needs a bound on the number of iterations: max_trip, where the loop then stops.
/// Errors: hjx::Error naming the first leaf of the carry that changes its type, or if the
///         condition is not a bool scalar.
template <typename Cond, typename Body, typename Carry>
Carry while_loop(const Cond &condition, const Body &body, const Carry &init, std::optional<int64_t> max_trip = {},
                 Where where = Where::current()) {
  auto flatCondition = [&](const detail::ArrayList &leaves) {
    return detail::ArrayList{condition(detail::withLeaves(init, leaves))};
  };
  auto flatBody = [&](const detail::ArrayList &leaves) {
    Carry next = body(detail::withLeaves(init, leaves));
    detail::checkSameStructure(detail::structureOf(init, "carry"), detail::structureOf(next, "carry"), "while_loop",
                               "the carry before and after the body", where);
    return detail::leavesOf(next);
  };
  return detail::withLeaves(init, detail::whileFlat(detail::carryCheck("while_loop", where, init), detail::leavesOf(init),
                                                    max_trip.value_or(-1), flatCondition, flatBody));
}

/// Runs carry = body(i, carry) for i in [lower, upper); differentiable both ways.
template <std::integral L, std::integral U, typename Body, typename Carry>
Carry fori_loop(L lower, U upper, const Body &body, const Carry &init, Where where = Where::current()) {
  auto step = [&](const std::tuple<Array, Carry> &state, Nothing) {
    const auto &[i, carry] = state;
    return std::pair(std::tuple<Array, Carry>(i + 1, body(i, carry)), Nothing());
  };
  int64_t length = static_cast<int64_t>(upper) - static_cast<int64_t>(lower);
  std::tuple<Array, Carry> start(array(static_cast<int32_t>(lower), int32, where), init);
  return std::get<1>(scan(step, start, Nothing(), {.length = length < 0 ? 0 : length}, where).first);
}

/// The same with bounds that are arrays, known only at run time: a while_loop.
template <typename Body, typename Carry>
Carry fori_loop(const Array &lower, const Array &upper, const Body &body, const Carry &init,
                Where where = Where::current()) {
  using State = std::tuple<Array, Array, Carry>;
  State last = while_loop([](const State &state) { return std::get<0>(state) < std::get<1>(state); },
                          [&](const State &state) {
                            const auto &[i, end, carry] = state;
                            return State(i + 1, end, body(i, carry));
                          },
                          State(lower.astype(int32, where), upper.astype(int32, where), init), {}, where);
  return std::get<2>(last);
}

namespace detail {
template <typename ArgTuple, typename... Branches>
auto branch(const char *op, Where where, const Array &index, const ArgTuple &operands, const Branches &...branches) {
  using Result = std::common_type_t<ResultOf<Branches, ArgTuple>...>;
  std::vector<TreeDef> structures(sizeof...(Branches));
  std::optional<Result> result;
  auto flatten = [&](const auto &f, size_t number) {
    return [&, number](const ArrayList &leaves) {
      result.emplace(std::apply(f, withLeaves(operands, leaves)));
      structures[number] = structureOf(*result, "result");
      return leavesOf(*result);
    };
  };
  size_t number = 0;
  auto flat = std::tuple{flatten(branches, number++)...};
  std::vector<FlatFunction> functions;
  std::apply([&](auto &...f) { (functions.emplace_back(f), ...); }, flat);
  ArrayList results = condFlat(op, where, index, leavesOf(operands), functions, structures);
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
