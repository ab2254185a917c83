// SPDX-License-Identifier: Apache-2.0
//
// The two argument reductions that most functions share: x = n ln2 + r for what grows like
// e^x, and x = 2^k m for what grows like log(x). Both work on the bits, with no rounding
// instruction, no integer conversion and no branch.
#pragma once

#include "lib/Codegen/Math/Coefficients.h"
#include "lib/Codegen/Math/Lanes.h"

namespace hjx::math {

/// x = n ln2 + r with |r| <= ln2 / 2; the low bits of `shifted` hold n (see roundingShift), plus an
/// offset if one was asked for.
struct ExpReduction {
  Float n, r;
  Int shifted;
};

/// Cody & Waite: ln2 in two parts; fma makes n times the high part exact.
inline ExpReduction reduceByLn2(Float x, int64_t offset = 0) {
  double shift = roundingShift(x) + offset;
  Float shifted = fma(x, 0x1.71547652b82fep+0, shift);
  Float n = shifted - shift;
  double high = x.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1);
  double low = x.pick(-0x1.05c61p-29, 0x1.abc9e3b39803fp-56);
  return {n, fma(n, -low, fma(n, -high, x)), bits(shifted)};
}

/// x = n + r with |r| <= 1/2.
inline ExpReduction reduceByOne(Float x, int64_t offset = 0) {
  double shift = roundingShift(x) + offset;
  Float shifted = x + shift;
  Float n = shifted - shift;
  return {n, x - n, bits(shifted)};
}

/// 2^(n + offset), which must be normal.
inline Float powerOfTwo(const ExpReduction &x, int64_t offset = 0) {
  int mantissa = mantissaBits(x.n);
  return asFloat((x.shifted << mantissa) + ((exponentBias(x.n) + offset) << mantissa));
}

/// value * 2^n, rounded once, where the result may be subnormal or overflow; |n| < 2 bias.
inline Float scaleToEdges(Float value, const ExpReduction &x) {
  // 2^n may be out of range, so in two halves; the first product is exact.
  int mantissa = mantissaBits(value);
  int64_t one = exponentBias(value) << mantissa;
  Int half = x.shifted >> 1; // only the low bits count
  Int rest = x.shifted - half;
  return value * asFloat((half << mantissa) + one) * asFloat((rest << mantissa) + one);
}

/// e^r and 2^r on the reduced range.
inline Float expNear0(Float r) { return fma(fma(horner(r, kExpF32, kExpF64), r, 1.0), r, 1.0); }
inline Float exp2Near0(Float r) { return fma(horner(r, kExp2F32, kExp2F64), r, 1.0); }
/// e^r - 1 with a relative error of about an ulp.
inline Float expm1Near0(Float r) { return fma(r * r, horner(r, kExpm1F32, kExpm1F64), r); }

/// A positive normal x = 2^k m with m in [sqrt(1/2), sqrt(2)); for negative x, k is NaN.
class MantissaSplit {
public:
  explicit MantissaSplit(Float x)
      : moved(bits(x) + ((exponentBias(x) << mantissaBits(x)) - rootHalf(x))) {}

  Int biasedExponent() const { return arithmeticShift(moved, mantissaBits(moved)); }
  Float mantissa() const {
    return asFloat((moved & ((int64_t(1) << mantissaBits(moved)) - 1)) + rootHalf(moved));
  }
  /// k + shift(): writes the exponent as an integer under a large float's exponent. The ones
  /// that a negative x shifts in make that exponent NaN's.
  Float shiftedExponent() const {
    return asFloat(biasedExponent() |
                   ((exponentBias(moved) + mantissaBits(moved)) << mantissaBits(moved)));
  }
  double shift() const { return double(int64_t(1) << mantissaBits(moved)) + exponentBias(moved); }

private:
  static int64_t rootHalf(Lanes x) { return x.width() == 64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3; }

  Int moved; ///< the bits of x, moved so that fields count from sqrt(1/2) and k + bias
};

/// x = 2^k (1 + f) for x > 0, subnormals included; f is exact.
struct LogReduction {
  Float k, f;
};

inline LogReduction reduceForLog(Float x) {
  // Subnormals are scaled up by an exact power of two that k takes back.
  int lift = mantissaBits(x) + 1;
  Mask isSubnormal = x < x.pick(0x1p-126, 0x1p-1022);
  MantissaSplit split(select(isSubnormal, x * double(int64_t(1) << lift), x));
  Float shift = select(isSubnormal, x.constant(split.shift() + lift), x.constant(split.shift()));
  return {split.shiftedExponent() - shift, split.mantissa() - 1.0};
}

/// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)): a polynomial in f32; in f64 the
/// shorter series in s = f / (2 + f).
inline Float logTail(Float f) {
  if (!f.isF64())
    return f * f * fma(horner(f, kLogF32), f, -0.5);
  Float s = f / (f + 2.0);
  Float z = s * s;
  Float halfSquare = f * f * 0.5;
  return fma(s, fma(z, horner(z, kLogF64), halfSquare), -halfSquare);
}

} // namespace hjx::math
