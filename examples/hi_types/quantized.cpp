// SPDX-License-Identifier: Apache-2.0
//
// A quantised array as a type of its own: computed with, differentiated, mapped, scanned.
#include "q8.h"

#include <iostream>

using namespace quantized;

int main() {
  Array x = hjx::array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}});
  QArray q = quantize(x);
  auto [values, scales] = hjx::lower<Array, Array>(q);
  std::cout << q.type() << "\n" << values << "\n" << dequantize(q) << "\n";

  // A product with weights that stay int8.
  Array w = hjx::arange(12, hjx::float32).reshape({3, 4}) / 12;
  auto product = hjx::jit([](Array x, QArray w) { return matmul_q(x, w); });
  std::cout << product(x, quantize(w)) << "\n";

  // Gradients are dense: the type says so.
  auto loss = [](Array x, QArray w) { return sum(square(matmul_q(x, w))); };
  auto [x_bar, w_bar] = hjx::grad(loss, hjx::argnums<0, 1>)(x, quantize(w));
  std::cout << x_bar << "\n" << w_bar << "\n";

  // Mapped, and a scan over the leading axis.
  Array batch = hjx::arange(24, hjx::float32).reshape({4, 2, 3});
  QArray many = hjx::vmap([](Array x) { return quantize(x); }, 0, "leading")(batch);
  auto add = [](Array total, QArray q) { return std::pair(total + sum(dequantize(q)), hjx::Nothing()); };
  std::cout << many.type() << " sums to " << hjx::scan(add, hjx::array(0.0f), many, {.length = 4}).first << "\n";

  std::cout << hjx::make_ir([](Array x) { return dequantize(quantize(x)); })(x);
}
