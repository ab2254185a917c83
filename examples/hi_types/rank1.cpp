// SPDX-License-Identifier: Apache-2.0
//
// A matrix kept as a column and a row: products that never make it dense.
#include "rank1.h"

#include <iostream>

using namespace rank1;

int main() {
  Array column = hjx::arange(6, hjx::float32) + 1, row = hjx::arange(5, hjx::float32) - 2;
  Array x = hjx::arange(18, hjx::float32).reshape({3, 6});
  Rank1 matrix = outer(column, row);
  std::cout << matrix.type() << "\n" << matmul_r1(x, matrix) << "\n";

  // The gradient is a dense matrix, or, through `outer`, a column and a row.
  auto loss = [&](Rank1 m) { return sum(square(matmul_r1(x, m))); };
  std::cout << hjx::grad(loss)(matrix) << "\n";
  auto [column_bar, row_bar] =
      hjx::grad([&](Array c, Array r) { return loss(outer(c, r)); }, hjx::argnums<0, 1>)(column, row);
  std::cout << column_bar << "\n" << row_bar << "\n";
}
