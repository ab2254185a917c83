// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of your own: where the mathematics knows better than the chain rule.
#include <hjx/hjx.h>

#include <iostream>

int main() {
  // log(1 + e^x): the automatic derivative is e^x / (1 + e^x), nan for large x.
  auto naive = [](hjx::Array x) { return log(1 + exp(x)); };
  std::cout << hjx::grad(naive)(100.0) << "\n";

  auto stable = hjx::custom_jvp(naive, [naive](std::tuple<hjx::Array> x, std::tuple<hjx::Array> x_dot) {
    auto [value] = x;
    auto [dot] = x_dot;
    return std::pair(naive(value), (1 - 1 / (1 + exp(value))) * dot);
  });
  std::cout << hjx::grad(stable)(100.0) << "\n";

  // A gradient that is clipped on its way back: the forward function is the identity.
  auto clipped = hjx::custom_vjp([](hjx::Array x) { return x; },
                                 [](hjx::Array x) { return std::pair(x, hjx::Nothing()); },
                                 [](hjx::Nothing, hjx::Array x_bar) { return clip(x_bar, -1, 1); });
  auto f = [&](hjx::Array x) { return sum(power(clipped(x), 3)); };
  std::cout << hjx::grad(f)(hjx::array({0.1, 1.0, -2.0})) << "\n";
}
