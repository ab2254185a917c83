// SPDX-License-Identifier: Apache-2.0
//
// Element types and the promotion lattice of JAX: the least upper bound in
//
//   b1 ─ i* ┬ u1 ┬──── u2 ┬──── u4 ┬──── u8 ─┐         ┌ bf ┐
//           └ i1 ┴ i2 ────┴ i4 ────┴ i8 ─────┴ f* ─────┴ f2 ┴ f4 ─ f8
//
// where i* and f* are the weak types of C++ numbers.
#include "lib/Frontend/Promotion.h"

#include <array>
#include <bit>

using namespace hjx;
using namespace hjx::detail;

int hjx::item_size(DType type) {
  constexpr int sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return sizes[static_cast<int>(type)];
}

const char *hjx::name(DType type) {
  constexpr const char *names[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",   "uint16",
                                   "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "key"};
  return names[static_cast<int>(type)];
}

const char *hjx::short_name(DType type) {
  constexpr const char *names[] = {"bool", "i8",  "i16", "i32",  "i64", "u8",  "u16",
                                   "u32",  "u64", "f16", "bf16", "f32", "f64", "key"};
  return names[static_cast<int>(type)];
}

namespace {

// Nodes of the lattice: the element types that have arithmetic, then i* and f*.
constexpr int kWeakInt = static_cast<int>(DType::key), kWeakFloat = kWeakInt + 1, kNodes = kWeakFloat + 1;

constexpr int node(DType type) { return static_cast<int>(type); }

/// For each node the set of nodes that are not below it.
constexpr std::array<uint32_t, kNodes> upperBounds = [] {
  constexpr std::pair<int, int> edges[] = {
      {node(DType::bool_), kWeakInt},
      {kWeakInt, node(DType::uint8)},
      {kWeakInt, node(DType::int8)},
      {node(DType::uint8), node(DType::int16)},
      {node(DType::uint8), node(DType::uint16)},
      {node(DType::uint16), node(DType::int32)},
      {node(DType::uint16), node(DType::uint32)},
      {node(DType::uint32), node(DType::int64)},
      {node(DType::uint32), node(DType::uint64)},
      {node(DType::uint64), kWeakFloat},
      {node(DType::int8), node(DType::int16)},
      {node(DType::int16), node(DType::int32)},
      {node(DType::int32), node(DType::int64)},
      {node(DType::int64), kWeakFloat},
      {kWeakFloat, node(DType::bfloat16)},
      {kWeakFloat, node(DType::float16)},
      {node(DType::bfloat16), node(DType::float32)},
      {node(DType::float16), node(DType::float32)},
      {node(DType::float32), node(DType::float64)},
  };
  std::array<uint32_t, kNodes> bounds{};
  for (int n = 0; n < kNodes; ++n)
    bounds[n] = 1u << n;
  for (int round = 0; round < kNodes; ++round) // Long enough for the longest path.
    for (auto [from, to] : edges)
      bounds[from] |= bounds[to];
  return bounds;
}();

/// The node of `common` whose upper bounds are all of `common`.
int leastOf(uint32_t common) {
  for (int n = 0; n < kNodes; ++n)
    if ((common >> n & 1) && upperBounds[n] == common)
      return n;
  return kWeakFloat; // Unreachable: the lattice has least upper bounds.
}

DType typeOf(int latticeNode) {
  if (latticeNode == kWeakInt)
    return DType::int32;
  return latticeNode == kWeakFloat ? DType::float32 : static_cast<DType>(latticeNode);
}

int nodeOf(const Promoted &operand) {
  if (!operand.isWeak || operand.dtype == DType::bool_)
    return node(operand.dtype);
  return is_floating(operand.dtype) ? kWeakFloat : kWeakInt;
}

} // namespace

Promoted detail::promote(const std::vector<Promoted> &operands) {
  bool allWeak = true;
  for (const Promoted &operand : operands)
    allWeak &= operand.isWeak;
  uint32_t common = ~0u;
  for (const Promoted &operand : operands)
    common &= upperBounds[allWeak ? node(operand.dtype) : nodeOf(operand)];
  int least = leastOf(common);
  bool isWeak = allWeak || least == kWeakInt || least == kWeakFloat;
  return {typeOf(least), isWeak};
}

DType hjx::promote_types(DType lhs, DType rhs) { return promote({{lhs, false}, {rhs, false}}).dtype; }
