// SPDX-License-Identifier: Apache-2.0
//
// log and its family. x = 2^k (1 + f), log(1 + f) = f + tail with f exact and the tail
// small, so that each base needs only one careful sum (Tang 1990).
// log1p finds k from 1 + x but computes f = 2^-k x + (2^-k - 1) in one rounding.
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Reductions.h"

#include <limits>

namespace hjx::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// k ln2 + log(1 + f).
Float naturalLog(const LogReduction &x) {
  double high = x.f.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1);
  double low = x.f.pick(-0x1.05c61p-29, 0x1.abc9e3b39803fp-56);
  return fma(x.k, high, fma(x.k, low, logTail(x.f)) + x.f);
}

/// value for x in (pole, inf), and below the pole, where it is NaN already; x itself for
/// +inf and NaN; -inf at the pole.
Float withEdges(Float x, double pole, Float value) {
  return select(x == pole, -kInfinity, select(x < kInfinity, value, x));
}

} // namespace

Float log(Float x) { return withEdges(x, 0.0, naturalLog(reduceForLog(x))); }

Float log2(Float x) {
  auto [k, f] = reduceForLog(x);
  double high = x.pick(0x1.715476p+0, 0x1.71547652b82fep+0);
  double low = x.pick(0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56);
  return withEdges(x, 0.0, k + fma(f, high, fma(logTail(f), high, f * low)));
}

Float log10(Float x) {
  auto [k, f] = reduceForLog(x);
  double high = x.pick(0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2);
  double low = x.pick(-0x1.5b235ep-27, 0x1.95355baaafad3p-57);
  double log2High = x.pick(0x1.344136p-2, 0x1.34413509f79ffp-2);
  double log2Low = x.pick(-0x1.ec10cp-27, -0x1.9dc1da994fd21p-59);
  Float small = fma(logTail(f), high, fma(f, low, k * log2Low));
  return withEdges(x, 0.0, fma(k, log2High, fma(f, high, small)));
}

Float log1p(Float x) {
  MantissaSplit split(x + 1.0);
  // 4 * 2^-k and x / 4: 2^-k alone is subnormal for the largest x.
  Int exponent = split.biasedExponent();
  Float scale = asFloat((exponent.constant(2 * exponentBias(x) + 2) - exponent) << mantissaBits(x));
  Float f = fma(x * 0.25, scale, fma(scale, 0.25, -1.0));
  Float value = naturalLog({split.shiftedExponent() - split.shift(), f});
  // Keeps the sign of zero and all bits of subnormals.
  return select(abs(x) < x.pick(0x1p-25, 0x1p-54), x, withEdges(x, -1.0, value));
}

} // namespace hjx::math
