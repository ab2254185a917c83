// SPDX-License-Identifier: Apache-2.0
//
// Flat lists of values as the trees that the rules of primitives take and return, and
// the accumulators that a backward rule adds to.
#pragma once

#include <hjx/detail/flat.h>
#include <hjx/indexing.h>
#include <hjx/type.h>

namespace hjx {

class HJX_API Ref;
template <typename T>
class Accum;

namespace detail {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

/// The next of the values that a rule is given. There are too few where two rules, or infer and expand, disagree.
inline const Array &nextLeaf(const std::vector<Array> &leaves, size_t &next) {
  if (next >= leaves.size())
    throw Error("expected at least " + std::to_string(next + 1) + " values, got " + std::to_string(leaves.size()),
                "compare the trees that the rule takes with what infer, expand and the rule of the first half return", {});
  return leaves[next++];
}

/// A tree of known structure whose leaves are leaves[next..]: a vector takes all that remain.
template <typename T>
T fromLeaves(const std::vector<Array> &leaves, size_t &next) {
  if constexpr (std::is_same_v<T, Array>) {
    return nextLeaf(leaves, next);
  } else if constexpr (Handle<T>) {
    return AnyValue(nextLeaf(leaves, next)).as<T>(Where());
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
  } else if constexpr (IsVector<T>::value) {
    for (const auto &entry : tree)
      appendLeaves(entry, leaves);
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

/// Which of `total` leaves of a tree are refs.
template <typename T>
void markRefs(std::vector<bool> &refs, size_t total) {
  if constexpr (std::is_same_v<T, Ref>) {
    refs.push_back(true);
  } else if constexpr (IsTuple<T>::value) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      (markRefs<std::tuple_element_t<i, T>>(refs, total), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (IsVector<T>::value) {
    while (refs.size() < total)
      markRefs<typename T::value_type>(refs, total);
  } else if constexpr (Handle<T> || IsOptional<T>::value) {
    refs.push_back(false);
  } else {
    T tree{};
    hjxVisitFields(tree, [&](const char *, auto &field) { markRefs<std::decay_t<decltype(field)>>(refs, total); });
  }
}
template <typename T>
struct HoldsRef : std::is_same<T, Ref> {};
template <typename... Ts>
struct HoldsRef<std::tuple<Ts...>> : std::disjunction<HoldsRef<Ts>...> {};
template <typename T>
struct HoldsRef<std::vector<T>> : HoldsRef<T> {};

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// What becomes of the cotangent of one operand.
struct AccumSlot {
  enum Kind { Unwanted, Sum, Cell } kind = Unwanted;
  Type type;  ///< of the cotangent
  Array cell; ///< the ref that is added to
  Array sum;  ///< what was added; no value for nothing
};
HJX_API void accumulate(AccumSlot &slot, const std::vector<Index> &part, const Array &bar, Where where);

template <typename T>
struct IsAccum : std::false_type {};
template <typename T>
struct IsAccum<Accum<T>> : std::true_type {};
template <typename T>
struct IsAccum<std::vector<T>> : IsAccum<T> {};
template <typename First, typename... Ts>
struct IsAccum<std::tuple<First, Ts...>> : std::conjunction<IsAccum<First>, IsAccum<Ts>...> {};
template <typename A, typename B>
struct IsAccum<std::pair<A, B>> : std::conjunction<IsAccum<A>, IsAccum<B>> {};

/// A tree of accumulators for slots[next..].
template <typename T>
T accumsFor(std::vector<AccumSlot> &slots, size_t &next) {
  if constexpr (IsTuple<T>::value) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return T{accumsFor<std::tuple_element_t<i, T>>(slots, next)...}; // Braces: in order.
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (IsVector<T>::value) {
    T list;
    while (next < slots.size())
      list.push_back(accumsFor<typename T::value_type>(slots, next));
    return list;
  } else {
    return T(slots.at(next++));
  }
}

} // namespace detail
} // namespace hjx
