// SPDX-License-Identifier: Apache-2.0
//
// Exact reduction of huge angles (Payne & Hanek 1983): of the product x * 2/pi only the
// bits around the point matter, so it needs a window of 192 bits of 2/pi, chosen by the
// exponent of x, and integer multiplication. About 120 operations on scalars.
#pragma once

#include "lib/Codegen/Math/Lanes.h"

namespace hjx::math {

/// x = n pi/2 + r; the low two bits of `quadrant` are n's.
struct Angle {
  Float r;
  Int quadrant;
};

/// Replaces `fast` in the lanes where limit < |x| < inf, behind one test whether there is such
/// a lane: the only branch in this folder, and an scf.if. Takes f64 lanes, `limit` >= 1.
Angle withLargeAngles(Float magnitude, double limit, Angle fast);

} // namespace hjx::math
