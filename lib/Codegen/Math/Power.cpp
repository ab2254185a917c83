// SPDX-License-Identifier: Apache-2.0
//
// Powers and roots. pow(x, y) = 2^(y log2|x|), where log2 needs about ten bits more than
// the result has: f32 computes in f64; f64 computes log2 as an unevaluated sum of two f64
// (Dekker 1971; products split exactly by fma). Special cases follow C99 annex F.
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Reductions.h"

#include <limits>

namespace hjx::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An unevaluated sum; |low| is at most half an ulp of high.
struct Pair {
  Float high, low;
};

/// The exact a + b for |a| >= |b|.
Pair fastTwoSum(Float a, Float b) {
  Float sum = a + b;
  return {sum, b - (sum - a)};
}

Pair multiply(Pair a, Pair b) {
  Float high = a.high * b.high;
  Float low = fma(a.high, b.high, -high);
  return {high, fma(a.high, b.low, fma(a.low, b.high, low))};
}

/// log2(x) of a positive f64 to 2^-65 of its value. With s = f / (2 + f),
/// log(1 + f) = 2 s (1 + z (1/3 + z R(z))), z = s^2; all but z R(z) in two parts.
Pair log2Pair(Float x) {
  auto [k, f] = reduceForLog(x);
  Pair denominator = fastTwoSum(f.constant(2.0), f);
  Float quotient = f / denominator.high;
  Float remainder = fma(-quotient, denominator.high, f) - quotient * denominator.low;
  Pair s = {quotient, remainder / denominator.high};
  Pair z = multiply(s, s);
  Pair third = fastTwoSum(f.constant(0x1.5555555555555p-2), z.high * horner(z.high, kLogPow));
  third.low = third.low + 0x1.5555555555555p-56;
  Pair tail = multiply(z, third);
  Pair sum = fastTwoSum(f.constant(1.0), tail.high);
  sum.low = sum.low + tail.low;
  Pair twoOverLn2 = {f.constant(0x1.71547652b82fep+1), f.constant(0x1.777d0ffda0d24p-55)};
  Pair fraction = multiply(multiply(s, twoOverLn2), sum);
  Pair total = fastTwoSum(k, fraction.high); // k is 0 or larger than the fraction
  return {total.high, total.low + fraction.low};
}

/// log2(x) of a positive f64, to f64 precision.
Float log2Single(Float x) {
  auto [k, f] = reduceForLog(x);
  double high = 0x1.71547652b82fep+0, low = 0x1.777d0ffda0d24p-56;
  return k + fma(f, high, fma(logTail(f), high, f * low));
}

/// What pow needs to know about an exponent: y as a float, and its parity.
struct Exponent {
  Float y;
  Mask isInteger, isOdd;
};

Exponent analyse(Float y) {
  // Adding 2^52 rounds a smaller |y| to an integer and puts its parity in the last bit;
  // a larger |y| is an integer, with its parity in its own last bit below 2^53.
  Float a = abs(y);
  Mask isLarge = a >= 0x1p52;
  Float shifted = a + 0x1p52;
  Mask isInteger = isLarge | (shifted - 0x1p52 == a);
  Mask isOddWhenInteger = notEqual(select(isLarge, bits(a), bits(shifted)) & 1, 0) & (a < 0x1p53);
  return {y, isInteger, isInteger & isOddWhenInteger};
}

/// x^y in f64; `precise` for an f64 result, else good enough for f32.
Float power(Float x, const Exponent &exponent, bool precise) {
  Float a = abs(x), y = exponent.y;
  // Beyond 2^66 every power is 0, 1 or infinite already, and the product stays finite.
  Float bounded = atMost(atLeast(y, -0x1p66), 0x1p66);
  Pair log = precise ? log2Pair(a) : Pair{log2Single(a), a.constant(0.0)};
  Float logHigh = select(a == 0.0, a.constant(-kInfinity), select(a == kInfinity, a, log.high));
  Float product = bounded * logHigh;
  Float productLow = fma(bounded, log.high, -(bounded * log.high)) + bounded * log.low;
  Float limited = atMost(atLeast(product, -1080.0), 1024.0);
  ExpReduction reduced = reduceByOne(limited);
  Float value = select(limited == product, reduced.r + productLow, reduced.r);
  value = scaleToEdges(exp2Near0(value), reduced);

  Int sign = bits(x) & signBit(x);
  value = asFloat(bits(value) ^ select(exponent.isOdd, sign, sign.constant(0)));
  Mask isUndefined = (x < 0.0) & (a < kInfinity) & !exponent.isInteger;
  value = select(isUndefined | isNan(x) | isNan(y), x.constant(kNan), value);
  return select((y == 0.0) | (x == 1.0), x.constant(1.0), value);
}

} // namespace

Float pow(Float x, Float y) {
  if (x.isF64())
    return power(x, analyse(y), /*precise=*/true);
  return narrow(power(widen(x), analyse(widen(y)), /*precise=*/false));
}

Float pow(Float x, Int n) {
  Float wide = x.isF64() ? x : widen(x);
  Float y = {{x.builder, n.make<mlir::arith::SIToFPOp>(wide.value.getType(), n.value)}};
  Mask isOdd = notEqual(n & 1, 0);
  Float value = power(wide, {y, allTrue(isOdd), isOdd}, x.isF64());
  return x.isF64() ? value : narrow(value);
}

/// Two correctly rounded operations: under 1.5 ulp, and +-0, inf and NaN by IEEE rules.
Float rsqrt(Float x) { return 1.0 / sqrt(x); }

Float cbrt(Float x) {
  if (!x.isF64())
    return narrow(cbrt(widen(x)));
  // Away from the edges, by powers of 2^3.
  Float a = abs(x);
  Mask isTiny = a<0x1p-1000, isHuge = a> 0x1p1000;
  Float one = x.constant(1.0);
  Float scaled = a * select(isTiny, 0x1p90, select(isHuge, 0x1p-90, one));
  // A third of the exponent, in the upper half of the bits: off by less than 6%.
  Int upper = resize(bits(scaled) >> 32, 32);
  Int third = {{x.builder, upper.make<mlir::arith::DivUIOp>(upper.value, upper.constant(3).value)}};
  Float t = asFloat(resize(third + 715094163, 64) << 32);
  for (int i = 0; i < 2; ++i) { // Halley: the error is cubed, to 2^-40
    Float cube = t * t * t;
    t = t * ((cube + scaled + scaled) / (cube + cube + scaled));
  }
  // Newton, with the residual t^3 - x from exact products.
  Float square = t * t;
  Float residual = fma(square, t, -scaled) + fma(t, t, -square) * t;
  t = t - residual / (square * 3.0);
  t = t * select(isTiny, 0x1p-30, select(isHuge, 0x1p30, one));
  Mask isItself = (x == 0.0) | (a == kInfinity) | isNan(x);
  return select(isItself, x, copySign(t, x));
}

} // namespace hjx::math
