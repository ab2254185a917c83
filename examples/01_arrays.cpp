// SPDX-License-Identifier: Apache-2.0
//
// Arrays: making them, computing with them, looking inside.
#include <hjx/hjx.h>

#include <iostream>

int main() {
  hjx::Array x = hjx::array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  hjx::Array weights = hjx::array({0.5, -1.0, 2.0});

  // Shapes broadcast as in NumPy; C++ numbers take the array's type.
  std::cout << 2 * x + weights << "\n";
  std::cout << matmul(x, weights) << "\n";
  std::cout << x[{hjx::every, -1}] << " " << sum(x, 0) << " " << mean(x) << "\n";

  // Arrays are values: an update is a new array.
  hjx::Array y = x.at({0, hjx::Slice(1, 3)}).set(0);
  std::cout << y << "\n" << x << "\n";

  // A mistake names its line, what was expected, and what to do.
  try {
    matmul(x, x);
  } catch (const hjx::Error &error) {
    std::cout << error.what() << "\n";
  }
}
