// SPDX-License-Identifier: Apache-2.0
//
// exp, exp2, expm1 and logistic. x = n ln2 + r, a polynomial in r, and 2^n from bits.
// expm1 keeps p = e^r - 1 and returns 2^n p + (2^n - 1), which loses nothing near 0.
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Reductions.h"

namespace hjx::math {

/// What scaleOrVanish wants added to n: 1 is left of the lowest n, whose power of two is 0.
static int64_t vanishingOffset(Float x) { return x.isF64() ? 1077 : 152; }

/// value * 2^n, rounded once, where the result may be subnormal or overflow. 2^n may be out of
/// range, so in two factors: half of n + offset is the exponent field of the first, what is missing
/// that of the second. For the lowest n the first field is 0, and so is the factor: a product that
/// underflows costs a hundred times as much as one that does not, and a masked softmax has many.
static Float scaleOrVanish(Float value, const ExpReduction &reduced) {
  int mantissa = mantissaBits(value);
  Int sum = reduced.shifted << mantissa;
  Int half = (sum >> 1) & -(int64_t(1) << mantissa);
  Int rest = sum - half + ((2 * exponentBias(value) - vanishingOffset(value)) << mantissa);
  return value * asFloat(half) * asFloat(rest);
}

Float exp(Float x) {
  Float bounded = atMost(atLeast(x, x.pick(-104.7, -746)), x.pick(89, 710));
  ExpReduction reduced = reduceByLn2(bounded, vanishingOffset(x));
  return scaleOrVanish(expNear0(reduced.r), reduced);
}

Float exp2(Float x) {
  Float bounded = atMost(atLeast(x, x.pick(-151, -1076)), x.pick(128, 1024));
  ExpReduction reduced = reduceByOne(bounded, vanishingOffset(x));
  return scaleOrVanish(exp2Near0(reduced.r), reduced);
}

Float expm1(Float x) {
  Float bounded = atMost(atLeast(x, x.pick(-25, -50)), x.pick(89, 710));
  ExpReduction reduced = reduceByLn2(bounded);
  Float half = powerOfTwo(reduced, -1); // 2^n would overflow for n = bias + 1
  Float y = fma(half, expm1Near0(reduced.r), half - 0.5);
  // Keeps the sign of zero and all bits of subnormals.
  return select(abs(x) < x.pick(0x1p-26, 0x1p-55), x, y + y);
}

Float logistic(Float x) {
  // e^-|x| cannot overflow, and keeps the tail of negative x down to subnormals.
  Float e = exp(-abs(x));
  return select(x < 0.0, e, 1.0) / (e + 1.0);
}

} // namespace hjx::math
