// SPDX-License-Identifier: Apache-2.0
//
// sin, cos and tan. x = n pi/2 + r, |r| <= pi/4, then one polynomial each for sin(r) and
// cos(r), chosen by the quadrant n mod 4. Up to 2^40 the reduction is five operations;
// beyond, LargeAngles.h keeps the result exact.
#include "lib/Codegen/Math/Coefficients.h"
#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/LargeAngles.h"

namespace hjx::math {
namespace {

/// Cody & Waite with pi/2 in three parts. n * high is exact by fma, and the difference
/// is a multiple of the last bit of x below 1 in magnitude: exact too.
Angle reduceF64(Float x) {
  Float shifted = fma(x, 0x1.45f306dc9c883p-1, roundingShift(x));
  Float n = shifted - roundingShift(x);
  Float r = fma(n, -0x1.921fb54442d18p+0, x);
  r = fma(n, -0x1.1a62633145c07p-54, r);
  r = fma(n, 0x1.f1976b7ed8fbcp-110, r);
  return withLargeAngles(x, 0x1p40, {r, bits(shifted)});
}

/// For x >= 0 or NaN.
Angle reduce(Float x) {
  if (x.isF64())
    return reduceF64(x);
  // In f64 the f32 argument leaves so many spare bits that r is exact to f32.
  Angle wide = reduceF64(widen(x));
  return {narrow(wide.r), resize(wide.quadrant, 32)};
}

Float sinNear0(Float r, Float z) { return fma(r * z, horner(z, kSinTailF32, kSinTailF64), r); }

Float cosNear0(Float z) {
  Float tail = z * z * horner(z, kCosTailF32, kCosTailF64);
  return fma(z, -0.5, tail) + 1.0;
}

/// sin(r + quadrant pi/2).
Float sinInQuadrant(const Angle &x) {
  Float z = x.r * x.r;
  Float value = select(equal(x.quadrant & 1, 0), sinNear0(x.r, z), cosNear0(z));
  Int sign = (x.quadrant << (value.width() - 2)) & signBit(value);
  return asFloat(bits(value) ^ sign);
}

} // namespace

namespace {

// Through |x|: the sums inside would turn -0 into +0.
Float sinOf(const Angle &magnitude, Float x) {
  return asFloat(bits(sinInQuadrant(magnitude)) ^ (bits(x) & signBit(x)));
}
Float cosOf(const Angle &magnitude) { return sinInQuadrant({magnitude.r, magnitude.quadrant + 1}); }

} // namespace

Float sin(Float x) { return sinOf(reduce(abs(x)), x); }
Float cos(Float x) { return cosOf(reduce(abs(x))); }

std::pair<Float, Float> sinCos(Float x) {
  Angle reduced = reduce(abs(x));
  return {sinOf(reduced, x), cosOf(reduced)};
}

Float tan(Float x) {
  Angle reduced = reduce(abs(x));
  Float z = reduced.r * reduced.r;
  Float sine = sinNear0(reduced.r, z), cosine = cosNear0(z);
  Mask isEven = equal(reduced.quadrant & 1, 0);
  // tan(r) = sin / cos, tan(r + pi/2) = -cos / sin.
  Float value = select(isEven, sine, -cosine) / select(isEven, cosine, sine);
  return asFloat(bits(value) ^ (bits(x) & signBit(x)));
}

} // namespace hjx::math
