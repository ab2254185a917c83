// SPDX-License-Identifier: Apache-2.0
//
// exp and its family. x = n ln2 + r with |r| <= ln2 / 2, the reduction by Cody & Waite
// (ln2 in two parts, exact through fma), a polynomial in r, and 2^n built from bits.
// expm1 keeps p = e^r - 1 and returns 2^n p + (2^n - 1), which loses nothing near 0;
// tanh |x| = -t / (2 + t) with t = expm1(-2 |x|) inherits that.
#include "lib/Codegen/Math/Coefficients.h"
#include "lib/Codegen/Math/Functions.h"

namespace hjx::math {
namespace {

/// x = n ln2 + r; the low bits of `shifted` hold n (see roundingShift).
struct Reduced {
  Float n, r;
  Int shifted;
};

Reduced reduceByLn2(Float x) {
  double shift = roundingShift(x);
  Float shifted = fma(x, 0x1.71547652b82fep+0, shift);
  Float n = shifted - shift;
  // The high part has trailing zeros only for the reader: fma makes n * high exact.
  double high = x.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1);
  double low = x.pick(-0x1.05c610ca86c39p-29, 0x1.abc9e3b39803fp-56);
  Float r = fma(n, -low, fma(n, -high, x));
  return {n, r, bits(shifted)};
}

/// 2^(n + offset); needs n + offset within the normal range.
Float scale(const Reduced &x, int64_t offset) {
  return asFloat((x.shifted << mantissaBits(x.n)) +
                 ((exponentBias(x.n) + offset) << mantissaBits(x.n)));
}

/// value * 2^n where the result may be subnormal or overflow and value is near 1.
Float scaleToEdges(Float value, Int shifted, Mask isSmall) {
  // 2^n itself may be out of range: 2^(n-1) * 2, or 2^(n+64) * 2^-64 for small results.
  Int exponent = shifted << mantissaBits(value);
  int64_t one = int64_t(1) << mantissaBits(value);
  Int bias = select(isSmall, exponent.constant((exponentBias(value) + 64) * one),
                    exponent.constant((exponentBias(value) - 1) * one));
  Float rest = select(isSmall, value.constant(0x1p-64), value.constant(2.0));
  return value * asFloat(exponent + bias) * rest;
}

/// e^r - 1 for |r| <= ln2 / 2, with a relative error of about an ulp.
Float expm1Near0(Float r) { return fma(r * r, horner(r, kExpm1F32, kExpm1F64), r); }

} // namespace

Float exp(Float x) {
  x = atMost(atLeast(x, x.pick(-104, -746)), x.pick(89, 710));
  Reduced reduced = reduceByLn2(x);
  Float q = horner(reduced.r, kExpF32, kExpF64);
  Float value = fma(fma(q, reduced.r, 1.0), reduced.r, 1.0);
  return scaleToEdges(value, reduced.shifted, x < x.pick(-86, -707));
}

Float exp2(Float x) {
  x = atMost(atLeast(x, x.pick(-151, -1076)), x.pick(129, 1025));
  double shift = roundingShift(x);
  Float shifted = x + shift;
  Float r = x - (shifted - shift);
  Float value = fma(horner(r, kExp2F32, kExp2F64), r, 1.0);
  return scaleToEdges(value, bits(shifted), x < x.pick(-124, -1020));
}

Float expm1(Float x) {
  Float bounded = atMost(atLeast(x, x.pick(-25, -50)), x.pick(89, 710));
  Reduced reduced = reduceByLn2(bounded);
  Float half = scale(reduced, -1); // 2^n would overflow for n = 128
  Float y = fma(half, expm1Near0(reduced.r), half - 0.5);
  // Keeps the sign of zero and all bits of subnormals.
  return select(abs(x) < x.pick(0x1p-26, 0x1p-55), x, y + y);
}

Float tanh(Float x) {
  Float bounded = atMost(abs(x), x.pick(9.1, 19.1)); // 1 from there on
  // With t = expm1(-2|x|), not of 2|x|: 2 + t lies in (1, 2], where it rounds finer.
  Reduced reduced = reduceByLn2(bounded * -2.0);
  Float power = scale(reduced, 0);
  Float p = expm1Near0(reduced.r);
  Float t = fma(power, p, power - 1.0);
  Float denominator = fma(power, p, power + 1.0);
  return copySign(t / denominator, x);
}

Float logistic(Float x) {
  // e^-|x| cannot overflow, and keeps the tail of negative x down to subnormals.
  Float e = exp(-abs(x));
  return select(x < 0.0, e, 1.0) / (e + 1.0);
}

} // namespace hjx::math
