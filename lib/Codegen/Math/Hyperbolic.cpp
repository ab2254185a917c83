// SPDX-License-Identifier: Apache-2.0
//
// Hyperbolic functions and their inverses. With x = n ln2 + r, S = 2^n, s = 2^-n:
//   2 sinh(x) = (S - s) cosh(r) + (S + s) sinh(r),  2 cosh(x) = (S + s) cosh(r) + (S - s) sinh(r)
// from one odd and one even polynomial, with no division and no cancellation near 0.
// The inverses are log1p of an argument that keeps its precision near 0.
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Reductions.h"

#include <limits>

namespace hjx::math {
namespace {

struct HyperbolicParts {
  Float sum, difference; ///< (S + s) / 4 and (S - s) / 4: S alone would overflow
  Float sinh, coshTail;  ///< sinh(r) and cosh(r) - 1
};

HyperbolicParts split(Float magnitude) {
  ExpReduction reduced = reduceByLn2(atMost(magnitude, magnitude.pick(89.5, 710.5)));
  int mantissa = mantissaBits(magnitude);
  Float power = powerOfTwo(reduced, -2);
  Float inverse =
      asFloat(((exponentBias(magnitude) - 2) << mantissa) - (reduced.shifted << mantissa));
  inverse = select(magnitude < 40.0, inverse, 0.0); // its exponent field wraps for large n
  Float z = reduced.r * reduced.r;
  return {power + inverse, power - inverse,
          fma(reduced.r * z, horner(z, kSinhTailF32, kSinhTailF64), reduced.r),
          z * horner(z, kCoshTailF32, kCoshTailF64)};
}

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

} // namespace

Float sinh(Float x) {
  HyperbolicParts parts = split(abs(x));
  Float half = fma(parts.difference, parts.coshTail, fma(parts.sum, parts.sinh, parts.difference));
  return select(abs(x) < x.pick(0x1p-14, 0x1p-28), x, copySign(half + half, x));
}

Float cosh(Float x) {
  HyperbolicParts parts = split(abs(x));
  Float half = fma(parts.sum, parts.coshTail, fma(parts.difference, parts.sinh, parts.sum));
  return half + half;
}

Float tanh(Float x) {
  Float bounded = atMost(abs(x), x.pick(9.1, 19.1)); // 1 from there on
  // -t / (2 + t) with t = expm1(-2|x|), not of 2|x|: 2 + t in (1, 2] rounds finer.
  ExpReduction reduced = reduceByLn2(bounded * -2.0);
  Float power = powerOfTwo(reduced);
  Float p = expm1Near0(reduced.r);
  return copySign(fma(power, p, power - 1.0) / fma(power, p, power + 1.0), x);
}

Float asinh(Float x) {
  Float a = abs(x);
  Mask isLarge = a > x.pick(0x1p30, 0x1p60); // log(2a), and a^2 may overflow
  Float square = a * a;
  Float argument = a + square / (sqrt(square + 1.0) + 1.0);
  Float value =
      log1p(select(isLarge, a, argument)) + select(isLarge, a.constant(kLn2), a.constant(0.0));
  return copySign(value, x);
}

Float acosh(Float x) {
  Float t = x - 1.0;
  Mask isLarge = x > x.pick(0x1p30, 0x1p60);
  Float argument = t + sqrt(fma(t, t, t + t));
  Float value =
      log1p(select(isLarge, x, argument)) + select(isLarge, x.constant(kLn2), x.constant(0.0));
  return select(x < 1.0, x.constant(std::numeric_limits<double>::quiet_NaN()), value);
}

Float atanh(Float x) {
  Float a = abs(x);
  Float value = log1p((a + a) / (1.0 - a)) * 0.5;
  return select(a < x.pick(0x1p-14, 0x1p-28), x, copySign(value, x));
}

} // namespace hjx::math
