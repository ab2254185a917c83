// SPDX-License-Identifier: Apache-2.0
//
// Nanoseconds per element of the generated vector maths, of hand-written AVX2 loops and of
// libm, on arrays that stay in the first-level cache. Candidates run in turn, the best of
// many rounds counts, so that a busy machine disturbs all of them alike.
#include "bench/math/Intrinsics.h"
#include "test/unit/MathKernel.h"

#include "llvm/Support/CommandLine.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

using namespace hjx::test;
namespace cl = llvm::cl;

static cl::OptionCategory benchOptions("Options of bench-math");
static cl::opt<int> lanes(cl::Positional, cl::desc("[lanes of f32, twice those of f64]"), cl::init(32),
                          cl::cat(benchOptions));

namespace {

constexpr int kCount = 2048, kRounds = 300;

template <typename T> struct Case {
  const char *name;
  double low, high;
  T (*libm)(T);
  void (*byHand)(const float *, float *, int64_t) = nullptr;
};

double timeNs(const std::function<void()> &body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

template <typename T> void run(const Case<T> &c, int lanes) {
  std::vector<T> x(kCount), y(kCount);
  for (int i = 0; i < kCount; ++i)
    x[i] = T(c.low + (c.high - c.low) * ((i * 7919) % kCount) / kCount);
  std::string name = c.name;
  bool isBuilderFunction = name == "erf_inv" || name == "logistic";
  KernelSpec spec{isBuilderFunction ? name : "%y = math." + name + " %x : TYPE",
                  sizeof(T) == 8 ? "f64" : "f32", lanes};
  if (hjx::bench::hostHasAvx2())
    spec.cpu = "x86-64-v3"; // like for like
  Kernel kernel(spec);
  double generated = 1e9, byHand = 1e9, libm = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    generated = std::min(generated, timeNs([&] { kernel(x.data(), x.data(), y.data(), kCount); }));
    if constexpr (sizeof(T) == 4)
      if (c.byHand && hjx::bench::hostHasAvx2())
        byHand = std::min(byHand, timeNs([&] { c.byHand(x.data(), y.data(), kCount); }));
    if (c.libm && round % 10 == 0)
      libm = std::min(libm, timeNs([&] {
                        for (int i = 0; i < kCount; ++i)
                          y[i] = c.libm(x[i]);
                      }));
  }
  printf("%-9s %s %9.3f", c.name, sizeof(T) == 8 ? "f64" : "f32", generated / kCount);
  byHand < 1e9 ? printf(" %9.3f %6.2fx", byHand / kCount, byHand / generated)
               : printf(" %9s %7s", "", "");
  libm < 1e9 ? printf(" %9.3f %6.1fx\n", libm / kCount, libm / generated) : printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(benchOptions);
  cl::ParseCommandLineOptions(argc, argv, "Generated vector maths beside AVX2 intrinsics and libm\n");
  if (lanes < 2) {
    std::fprintf(stderr, "bench-math: expected at least 2 lanes, got %d\n", int(lanes));
    return 1;
  }
  printf("%-9s %s %9s %9s %7s %9s %7s\n", "ns/elt", "   ", "generated", "by hand", "ratio", "libm",
         "ratio");
  for (const Case<float> &c : {Case<float>{"exp", -10, 10, std::exp, hjx::bench::expAvx2},
                               {"log", 0.01, 100, std::log, hjx::bench::logAvx2},
                               {"tanh", -5, 5, std::tanh, hjx::bench::tanhAvx2},
                               {"expm1", -5, 5, std::expm1},
                               {"log1p", -0.9, 10, std::log1p},
                               {"logistic", -10, 10, nullptr},
                               {"erf", -3, 3, std::erf},
                               {"erf_inv", -0.999, 0.999, nullptr},
                               {"sin", -100, 100, std::sin},
                               {"cos", -100, 100, std::cos},
                               {"rsqrt", 0.1, 10, nullptr},
                               {"atan", -5, 5, std::atan},
                               {"sinh", -5, 5, std::sinh}})
    run(c, lanes);
  for (const Case<double> &c : {Case<double>{"exp", -10, 10, std::exp},
                                {"log", 0.01, 100, std::log},
                                {"tanh", -5, 5, std::tanh},
                                {"erf", -3, 3, std::erf},
                                {"sin", -100, 100, std::sin}})
    run(c, lanes / 2);
}
