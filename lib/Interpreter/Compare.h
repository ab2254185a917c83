// SPDX-License-Identifier: Apache-2.0
//
// Are two arrays equal, and where do they differ? One answer for the check ops,
// the property tests and the comparison of a compiled program with the
// interpreter.
#pragma once

#include "lib/Interpreter/HostArray.h"

#include <optional>
#include <string>

namespace hjx {

/// How far a float may be from the expected one. An element passes when it is
/// equal, or |got - expected| <= atol + rtol * |expected|, or at most `ulps`
/// representable numbers lie between. NaN equals NaN and nothing else; an
/// infinity only itself. Integers, bools and keys must be equal.
struct Tolerance {
  double rtol = 0, atol = 0;
  int64_t ulps = 0;
  /// Bit for bit, except that every NaN equals every NaN; -0 is not +0.
  bool bitwise = false;

  static Tolerance exact() { return {0, 0, 0, true}; }
};

struct Difference {
  int64_t numDifferent = 0;
  /// The first few places, in row-major order.
  llvm::SmallVector<int64_t> first;
};

/// None when `got` and `expected`, of one type, agree within `tolerance`.
std::optional<Difference> findDifference(const HostArray &got, const HostArray &expected,
                                         Tolerance tolerance);

/// The same as text for a test's message: types, count and the first elements.
std::optional<std::string> describeDifference(const HostArray &got, const HostArray &expected,
                                              Tolerance tolerance);

/// The number of representable numbers between element `i` of two float arrays
/// of one type, 0 if equal (or both zero); the greatest int64_t when either is
/// not finite.
int64_t ulpDistance(const HostArray &a, const HostArray &b, int64_t i);

/// One element, floats in the shortest form that reads back.
std::string printElement(const HostArray &array, int64_t i);
/// "[0, 1]", the index of element `i`.
std::string printIndex(llvm::ArrayRef<int64_t> shape, int64_t i);
/// Nested lists, as in `dense<...>`.
void print(llvm::raw_ostream &os, const HostArray &array);

} // namespace hjx
