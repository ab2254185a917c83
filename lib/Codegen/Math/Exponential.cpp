// SPDX-License-Identifier: Apache-2.0
//
// exp, exp2, expm1 and logistic. x = n ln2 + r, a polynomial in r, and 2^n from bits.
// expm1 keeps p = e^r - 1 and returns 2^n p + (2^n - 1), which loses nothing near 0.
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Reductions.h"

namespace hjx::math {

/// value * 2^n, and 0 without computing it where x is below `lowest`: a product that underflows
/// costs a hundred times as much as one that does not, and a masked softmax has many.
static Float scaleOrVanish(Float value, const ExpReduction &reduced, Float x, double lowest) {
  return scaleToEdges(select(x < lowest, 0.0, value), reduced);
}

Float exp(Float x) {
  double lowest = x.pick(-104, -746);
  ExpReduction reduced = reduceByLn2(atMost(atLeast(x, lowest), x.pick(89, 710)));
  return scaleOrVanish(expNear0(reduced.r), reduced, x, lowest);
}

Float exp2(Float x) {
  double lowest = x.pick(-151, -1076);
  ExpReduction reduced = reduceByOne(atMost(atLeast(x, lowest), x.pick(128, 1024)));
  return scaleOrVanish(exp2Near0(reduced.r), reduced, x, lowest);
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
