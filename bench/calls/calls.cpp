// SPDX-License-Identifier: Apache-2.0
//
// What a call of a jitted function costs when its program is compiled already and does
// next to nothing: the way from C++ values to a program and back. Best of many rounds.
//   bench-calls
#include <hjx/hjx.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace hjx;

namespace {

struct Layer {
  Array kernel, bias;
};
HJX_TREE(Layer, kernel, bias)

template <typename Body> void measure(const char *name, Body body) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 200, kCalls = 200;
  body(); // Compiles.
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < kCalls; ++i)
      body();
    std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
    best = std::min(best, elapsed.count() / kCalls);
  }
  std::printf("%-44s %8.2f us\n", name, best);
}

} // namespace

int main() {
  Array x = ones({4});
  auto one = jit([](Array a) { return a + 1.0; });
  measure("one array of 4 floats", [&] { one(x); });

  Layer layer{ones({4, 4}), ones({4})};
  auto small = jit([](Layer l, Array a) { return matmul(a, l.kernel) + l.bias; });
  measure("a layer of 4 x 4 and a vector", [&] { small(layer, x); });

  std::vector<Layer> model(24, layer);
  auto update =
      jit([](std::vector<Layer> m) { return tree_map([](const Array &p) { return p * 0.5; }, m); },
          {.donate = {0}});
  for (Layer &l : model) // Donated storage must not be shared.
    l = {l.kernel + 0.0, l.bias + 0.0};
  measure("48 arrays, updated in place", [&] { model = update(model); });

  // Of a ref, only the part that is written moves.
  auto row = jit([](Ref table, Array i, Array values) { table.set(i, values); });
  for (int64_t rows : {int64_t(1) << 10, int64_t(1) << 20}) {
    Ref table = new_ref(zeros({rows, 256}));
    Array i = array(3), values = ones({256});
    measure(rows >> 20 ? "one row of a ref of 1 GiB" : "one row of a ref of 1 MiB", [&] { row(table, i, values); });
  }
}
