// SPDX-License-Identifier: Apache-2.0
//
// The functions of this folder on f32 and f64 lanes; each file's head states the method,
// test/unit/MathTest.cpp the measured errors. All are free of branches and calls.
#pragma once

#include "lib/Codegen/Math/Lanes.h"

namespace hjx::math {

// Exponential.cpp
Float exp(Float x);
Float exp2(Float x);
Float expm1(Float x);
Float tanh(Float x);
Float logistic(Float x);

// Logarithm.cpp
Float log(Float x);
Float log2(Float x);
Float log10(Float x);
Float log1p(Float x);

// Trigonometric.cpp
Float sin(Float x);
Float cos(Float x);
Float tan(Float x);

// ErrorFunction.cpp
Float erf(Float x);
Float erfInv(Float x);

// Power.cpp
Float rsqrt(Float x);

} // namespace hjx::math
