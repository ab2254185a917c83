// SPDX-License-Identifier: Apache-2.0
//
// What a person writes in an afternoon: exp, log and tanh of f32 with AVX2 intrinsics, 8
// floats a step. They clamp instead of handling subnormal results, infinities and NaN, so
// they do less than the generated code does: a bar, not a twin.
#pragma once

#include <cstdint>

namespace hjx::bench {

bool hostHasAvx2();
void expAvx2(const float *x, float *y, int64_t count);
void logAvx2(const float *x, float *y, int64_t count);
void tanhAvx2(const float *x, float *y, int64_t count);

} // namespace hjx::bench
