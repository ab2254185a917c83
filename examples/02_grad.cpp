// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of functions, of functions of structs, and of derivatives.
#include <hjx/hjx.h>

#include <iostream>

struct Line {
  hjx::Array slope, offset;
};
HJX_TREE(Line, slope, offset)

int main() {
  auto f = [](hjx::Array x) { return x * x * x; };
  std::cout << hjx::grad(f)(2.0) << " " << hjx::grad(hjx::grad(f))(2.0) << "\n";

  // The gradient of a struct is such a struct.
  auto loss = [](Line line, hjx::Array x, hjx::Array y) { return mean(square(line.slope * x + line.offset - y)); };
  hjx::Array x = hjx::array({0.0, 1.0, 2.0, 3.0}), y = 3 * x + 1;
  Line line{0.0, 0.0};
  for (int step = 0; step < 200; ++step) {
    Line gradient = hjx::grad(loss)(line, x, y);
    line = hjx::tree_map([](hjx::Array p, hjx::Array g) { return p - 0.1 * g; }, line, gradient);
  }
  for (auto &[path, value] : hjx::tree_leaves_with_path(line))
    std::cout << path << " = " << round(100 * value) / 100 << "\n";

  // Forward: one direction through the function. Backward: a cotangent pulled through it.
  auto [value, dot] = hjx::jvp([](hjx::Array x) { return x * x; }, x, hjx::ones_like(x));
  auto [same, pull] = hjx::vjp([](hjx::Array x) { return x * x; }, x);
  auto [x_bar] = pull(hjx::array({1.0, 0.0, 0.0, 10.0}));
  std::cout << dot << " " << x_bar << "\n";
}
