// SPDX-License-Identifier: Apache-2.0
//
// The functions of this folder on f32 and f64 lanes; each file's head states the method,
// test/unit/MathTest.cpp bounds the errors. None calls a function; sin, cos and tan alone
// branch, around huge angles.
#pragma once

#include "lib/Codegen/Math/Lanes.h"

namespace hjx::math {

// ErrorFunction.cpp
Float erf(Float x);
Float erfc(Float x);
Float erfInv(Float x);

// Exponential.cpp
Float exp(Float x);
Float exp2(Float x);
Float expm1(Float x);
Float logistic(Float x);

// Hyperbolic.cpp
Float acosh(Float x);
Float asinh(Float x);
Float atanh(Float x);
Float cosh(Float x);
Float sinh(Float x);
Float tanh(Float x);

// InverseTrigonometric.cpp
Float acos(Float x);
Float asin(Float x);
Float atan(Float x);
Float atan2(Float y, Float x);

// Logarithm.cpp
Float log(Float x);
Float log10(Float x);
Float log1p(Float x);
Float log2(Float x);

// Power.cpp
Float cbrt(Float x);
Float pow(Float x, Float y);
Float pow(Float x, Int n);
Float rsqrt(Float x);

// Trigonometric.cpp
Float cos(Float x);
Float sin(Float x);
std::pair<Float, Float> sinCos(Float x);
Float tan(Float x);

} // namespace hjx::math
