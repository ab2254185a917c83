// SPDX-License-Identifier: Apache-2.0
//
// State that a program updates in place: counters, tables, gradients that add up.
// docs/tutorial/refs.md explains it.
#include <hjx/hjx.h>

#include <iostream>

int main() {
  // A cell is an argument like any other; the compiled step writes into its memory.
  hjx::Ref calls = hjx::new_ref(hjx::array(0)), table = hjx::new_ref(hjx::zeros({4, 2}));
  auto step = hjx::jit([](hjx::Ref calls, hjx::Ref table, hjx::Array ids, hjx::Array rows) {
    calls.add(1);
    table[ids] += rows; // equal ids add up
    return hjx::sum(table.get(0));
  });
  for (int i = 0; i < 3; ++i)
    step(calls, table, hjx::array({0, 2, 0}), hjx::ones({3, 2}));
  std::cout << calls.get() << " calls\n" << table.get() << "\n";

  // A loop for its effects: Fibonacci numbers, each from the two before it.
  auto fibonacci = [](hjx::Array first) {
    hjx::Ref f = hjx::new_ref(hjx::zeros({10}).at(hjx::Slice(0, 2)).set(first));
    hjx::foreach([&](hjx::Array i) { f[i] = f.get(i - 1) + f.get(i - 2); }, hjx::arange(8) + 2);
    return hjx::freeze(f)[-1];
  };
  // A function that makes its refs itself is pure: it has a derivative and maps over batches.
  std::cout << fibonacci(hjx::array({1.0, 1.0})) << " " << hjx::grad(fibonacci)(hjx::array({1.0, 1.0})) << "\n";

  // Gradients of many small batches, added to one array. No batch's gradient exists by itself.
  auto loss = [](hjx::Array w, hjx::Array x) { return hjx::mean(hjx::square(hjx::matmul(x, w))); };
  auto accumulate = hjx::jit([&](hjx::Array w, hjx::Array batches) {
    hjx::Ref gradient = hjx::new_ref(hjx::zeros_like(w));
    hjx::foreach([&](hjx::Array x) {
      auto [value, pullBack] = hjx::vjp(loss, w, x);
      pullBack.with_refs(gradient, hjx::dont_want)(hjx::array(1.0f));
    }, batches);
    return hjx::freeze(gradient);
  });
  hjx::Array batches = hjx::reshape(hjx::arange(12).astype(hjx::float32), {3, 2, 2});
  std::cout << accumulate(hjx::ones({2}), batches) << "\n";

  // Misuse is an error at its line, before anything runs.
  try {
    step(calls, calls, hjx::array({0}), hjx::array({1}));
  } catch (const hjx::Error &error) {
    std::string text = error.what();
    std::cout << text.substr(text.find("expected")) << "\n";
  }
}
