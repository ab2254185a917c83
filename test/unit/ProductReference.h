// SPDX-License-Identifier: Apache-2.0
//
// Matrix products as doubles see them: the judge of every kernel that makes one.
#pragma once

#include "absl/strings/str_cat.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace hjx::test {

/// Compares got(row, column) with the sum of lhs(row, x) * rhs(x, column) over `k` of x, added to
/// start(row, column). Returns the first difference of more than `tolerance` times the sum of the
/// terms' sizes, in words; or "".
template <typename Lhs, typename Rhs, typename Start, typename Got>
std::string compareProduct(int64_t m, int64_t n, int64_t k, double tolerance, Lhs lhs, Rhs rhs, Start start,
                           Got got) {
  // Each factor is asked for once: where an element lies takes longer than to multiply it.
  std::vector<double> ofRow(k), ofColumns(n * k);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t x = 0; x < k; ++x)
      ofColumns[column * k + x] = rhs(x, column);
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t x = 0; x < k; ++x)
      ofRow[x] = lhs(row, x);
    for (int64_t column = 0; column < n; ++column) {
      double exact = start(row, column), size = std::fabs(exact), result = got(row, column);
      for (int64_t x = 0; x < k; ++x) {
        double product = ofRow[x] * ofColumns[column * k + x];
        exact += product;
        size += std::fabs(product);
      }
      if (!(std::fabs(result - exact) <= tolerance * size))
        return absl::StrCat("wrong result: row ", row, ", column ", column, ": expected ", exact, ", got ", result);
    }
  }
  return "";
}

} // namespace hjx::test
