// SPDX-License-Identifier: Apache-2.0
//
// vmap: write for one, run for many. Transforms compose in any order.
#include <hjx/hjx.h>

#include <iostream>

int main() {
  // The distance between two points, then between all pairs.
  auto distance = [](hjx::Array a, hjx::Array b) { return sqrt(sum(square(a - b))); };
  auto fromOne = hjx::vmap(distance, {hjx::none, 0});
  auto allPairs = hjx::vmap(fromOne, {0, hjx::none});
  hjx::Array points = hjx::array({{0.0, 0.0}, {3.0, 4.0}, {0.0, 8.0}});
  std::cout << allPairs(points, points) << "\n";

  // A gradient for each example, compiled.
  auto loss = [](hjx::Array w, hjx::Array x) { return square(hjx::dot(w, x)); };
  auto perExample = hjx::jit(hjx::vmap(hjx::grad(loss), {hjx::none, 0}));
  std::cout << perExample(hjx::array({1.0, 1.0}), points) << "\n";

  // The matrix of second derivatives: a direction for each row of the identity.
  auto f = [](hjx::Array x) { return x[0] * x[0] * x[1]; };
  hjx::Array at = hjx::array({1.0, 2.0});
  std::cout << hjx::vmap([&](hjx::Array d) { return hjx::jvp(hjx::grad(f), at, d).second; })(hjx::eye(2)) << "\n";
}
