// SPDX-License-Identifier: Apache-2.0
//
// Powers and roots.
#include "lib/Codegen/Math/Functions.h"

namespace hjx::math {

/// Two correctly rounded operations: at most one ulp, and +-0, inf and NaN by IEEE rules.
Float rsqrt(Float x) { return x.constant(1.0) / sqrt(x); }

} // namespace hjx::math
