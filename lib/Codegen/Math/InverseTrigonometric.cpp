// SPDX-License-Identifier: Apache-2.0
//
// atan, atan2, asin and acos: one odd polynomial each on the central range, and the
// identities atan(x) = pi/2 - atan(1/x), asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
// pi is kept in two parts, so that the last subtraction rounds once.
#include "lib/Codegen/Math/Coefficients.h"
#include "lib/Codegen/Math/Functions.h"

namespace hjx::math {
namespace {

/// factor * pi - x, with the part of pi that does not fit the format. `factor` is a power of two.
Float piMinus(double factor, Float x) {
  double high = factor * x.pick(0x1.921fb6p+1, 0x1.921fb54442d18p+1);
  double low = factor * x.pick(-0x1.777a5cp-24, 0x1.1a62633145c07p-53);
  return high - (x - low);
}

Float atanNear0(Float t) {
  Float z = t * t;
  return fma(t * z, horner(z, kAtanTailF32, kAtanTailF64), t);
}

Float asinNear0(Float x, Float square) {
  return fma(x * square, horner(square, kAsinTailF32, kAsinTailF64), x);
}

Int signOf(Float x) { return bits(x) & signBit(x); }

} // namespace

Float atan(Float x) {
  Float a = abs(x);
  Mask isSteep = a > 1.0;
  Float angle = atanNear0(select(isSteep, 1.0 / a, a));
  return copySign(select(isSteep, piMinus(0.5, angle), angle), x);
}

Float atan2(Float y, Float x) {
  Float ay = abs(y), ax = abs(x);
  Mask isSteep = ay > ax;
  Float shorter = select(isSteep, ax, ay), longer = select(isSteep, ay, ax);
  // 0/0 and inf/inf stand for the axes and the diagonals.
  Float ratio =
      select(ay == ax, select(ay == 0.0, y.constant(0.0), y.constant(1.0)), shorter / longer);
  Float angle = atanNear0(ratio);
  angle = select(isSteep, piMinus(0.5, angle), angle);
  Mask isLeft = notEqual(signOf(x), 0); // -0 too: atan2(0, -0) = pi
  return copySign(select(isLeft, piMinus(1.0, angle), angle), y);
}

Float asin(Float x) {
  Float a = abs(x);
  Mask isOuter = a > 0.5;
  Float square = select(isOuter, fma(a, -0.5, 0.5), a * a); // outside [-1, 1] the root is NaN
  Float base = select(isOuter, sqrt(square), a);
  Float angle = asinNear0(base, square);
  return copySign(select(isOuter, piMinus(0.5, angle + angle), angle), x);
}

Float acos(Float x) {
  Float a = abs(x);
  Mask isOuter = a > 0.5;
  Float square = select(isOuter, fma(a, -0.5, 0.5), a * a);
  Float base = select(isOuter, sqrt(square), x);
  Float angle = asinNear0(base, square);
  Float outer = angle + angle;
  outer = select(x < 0.0, piMinus(1.0, outer), outer);
  return select(isOuter, outer, piMinus(0.5, angle));
}

} // namespace hjx::math
