// SPDX-License-Identifier: Apache-2.0
//
// Products of x with the weights of GPT-2, small: floats, int8 and int4. One row of x is what a
// decoder asks for at each token, bound by the memory that the weights are read from; 128 rows
// are a prompt. Best of many rounds.
//   bench-quantized
#include <hjx/types.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace hjx;

namespace {

template <typename Body>
double bestMicroseconds(Body body) {
  using Clock = std::chrono::steady_clock;
  body(); // Compiles.
  double best = 1e30, total = 0;
  for (int round = 0; round < 400 && total < 1.5e6; ++round) {
    Clock::time_point start = Clock::now();
    body();
    double elapsed = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    best = std::min(best, elapsed);
    total += elapsed;
  }
  return best;
}

} // namespace

int main() {
  struct Weights {
    const char *name;
    int64_t rows, columns;
    bool transposed;
  };
  std::printf("%-26s %5s %11s %19s %19s %19s\n", "weights", "rows", "float32", "int8", "int4", "int4, groups of 32");
  for (const Weights &w : {Weights{"qkv [768,2304]", 768, 2304, false}, {"ffn in [768,3072]", 768, 3072, false}, {"ffn out [3072,768]", 3072, 768, false},
                           {"head [50257,768]^T", 50257, 768, true}})
    for (int64_t rows : {1, 128}) {
      if (w.transposed && rows > 1)
        continue;
      Array weights = random::normal(random::key(0), {w.rows, w.columns});
      Array x = random::normal(random::key(1), {rows, w.transposed ? w.columns : w.rows});
      auto dense = [&](Array x, Array w_) { return matmul(x, w.transposed ? w_.T() : w_); };
      auto packed = [&](Array x, Quantized q) { return w.transposed ? matmul_transposed(x, q) : matmul(x, q); };
      auto floats = jit(dense);
      auto numbers = jit(packed);
      double base = bestMicroseconds([&] { floats(x, weights); });
      std::printf("%-26s %5lld %8.0f us", w.name, static_cast<long long>(rows), base);
      int axis = w.transposed ? 1 : 0;
      for (QuantizeOptions options : {QuantizeOptions{.axis = axis}, {.format = "int4", .axis = axis}, {.format = "int4", .axis = axis, .group = 32}}) {
        Quantized q = quantize(weights, options);
        double time = bestMicroseconds([&] { numbers(x, q); });
        std::printf(" %8.0f us (%4.2fx)", time, base / time);
      }
      std::printf("\n");
    }
}
