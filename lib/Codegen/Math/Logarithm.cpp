// SPDX-License-Identifier: Apache-2.0
//
// log and its family. x = 2^k m with m in [sqrt(1/2), sqrt(2)), found by integer
// arithmetic on the bits; log(m) = f + t with f = m - 1 exact and t small, so that each
// base needs only one careful sum. f32 evaluates a polynomial in f; f64 uses the shorter
// series in s = f / (2 + f) (Tang 1990; the identity is also FreeBSD msun's).
// log1p finds k from 1 + x but computes f = 2^-k x + (2^-k - 1) in one rounding.
#include "lib/Codegen/Math/Coefficients.h"
#include "lib/Codegen/Math/Functions.h"

#include <limits>

namespace hjx::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The bits of x moved so that the exponent field is k + bias and the mantissa field
/// counts from sqrt(1/2).
struct Split {
  Int moved;
  int64_t root; // bits of sqrt(1/2)

  explicit Split(Float x)
      : moved{x.constant(0)}, root(x.isF64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3) {
    moved = bits(x) + ((exponentBias(x) << mantissaBits(x)) - root);
  }
  Int biasedExponent() const { return moved >> mantissaBits(moved); }
  Float mantissa() const {
    return asFloat((moved & ((int64_t(1) << mantissaBits(moved)) - 1)) + root);
  }
  /// k + 2^mantissaBits + bias as a float: writes the integer under a large exponent.
  Float shiftedExponent() const {
    return asFloat(biasedExponent() |
                   ((exponentBias(moved) + mantissaBits(moved)) << mantissaBits(moved)));
  }
  static double exponentShift(Lanes x) {
    return double(int64_t(1) << mantissaBits(x)) + exponentBias(x);
  }
};

/// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)).
Float logTail(Float f) {
  if (!f.isF64())
    return f * f * fma(horner(f, kLogF32), f, -0.5);
  Float s = f / (f + 2.0);
  Float z = s * s;
  Float halfSquare = f * f * 0.5;
  return fma(s, fma(z, horner(z, kLogF64), halfSquare), -halfSquare);
}

/// x = 2^k (1 + f), log(1 + f) = f + tail.
struct LogParts {
  Float k, f, tail;
};

LogParts split(Float x) {
  // Subnormals are scaled up by an exact power of two that k takes back.
  int lift = mantissaBits(x) + 1;
  Mask isSubnormal = x < x.pick(0x1p-126, 0x1p-1022);
  Split parts(select(isSubnormal, x * double(int64_t(1) << lift), x));
  double shift = Split::exponentShift(x);
  Float k =
      parts.shiftedExponent() - select(isSubnormal, x.constant(shift + lift), x.constant(shift));
  Float f = parts.mantissa() - 1.0;
  return {k, f, logTail(f)};
}

/// k ln2 + f + tail.
Float naturalLog(const LogParts &parts) {
  double high = parts.f.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1);
  double low = parts.f.pick(-0x1.05c61p-29, 0x1.abc9e3b39803fp-56);
  return fma(parts.k, high, fma(parts.k, low, parts.tail) + parts.f);
}

/// value for x in (pole, inf); x itself for +inf and NaN; -inf at the pole; NaN below it.
Float withEdges(Float x, double pole, Float value) {
  value = select(x < kInfinity, value, x);
  Float below = select(x == pole, x.constant(-kInfinity), x.constant(kNan));
  return select(x <= pole, below, value);
}

} // namespace

Float log(Float x) { return withEdges(x, 0.0, naturalLog(split(x))); }

Float log2(Float x) {
  LogParts parts = split(x);
  double high = x.pick(0x1.715476p+0, 0x1.71547652b82fep+0);
  double low = x.pick(0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56);
  Float fraction = fma(parts.f, high, fma(parts.tail, high, parts.f * low));
  return withEdges(x, 0.0, parts.k + fraction);
}

Float log10(Float x) {
  LogParts parts = split(x);
  double high = x.pick(0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2);
  double low = x.pick(-0x1.5b235ep-27, 0x1.95355baaafad3p-57);
  double log2High = x.pick(0x1.344136p-2, 0x1.34413509f79ffp-2);
  double log2Low = x.pick(-0x1.ec10cp-27, -0x1.9dc1da994fd21p-59);
  Float fraction = fma(parts.tail, high, fma(parts.f, low, parts.k * log2Low));
  return withEdges(x, 0.0, fma(parts.k, log2High, fma(parts.f, high, fraction)));
}

Float log1p(Float x) {
  Split parts(x + 1.0);
  // 4 * 2^-k and x / 4: 2^-k alone is subnormal for the largest x.
  Int exponent = parts.biasedExponent();
  Float scale = powerOfTwo(exponent.constant(2 * exponentBias(x) + 2) - exponent);
  Float f = fma(x * 0.25, scale, fma(scale, 0.25, -1.0));
  Float k = parts.shiftedExponent() - Split::exponentShift(x);
  Float value = naturalLog({k, f, logTail(f)});
  // Keeps the sign of zero and all bits of subnormals.
  return select(abs(x) < x.pick(0x1p-25, 0x1p-54), x, withEdges(x, -1.0, value));
}

} // namespace hjx::math
