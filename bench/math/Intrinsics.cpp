// SPDX-License-Identifier: Apache-2.0
#include "bench/math/Intrinsics.h"

#if defined(__x86_64__)
#include "bench/math/Avx2.h"

namespace hjx::bench {

bool hostHasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

#define HJX_LOOP(function)                                                                         \
  HJX_AVX2 void function##Avx2(const float *x, float *y, int64_t count) {                          \
    for (int64_t i = 0; i < count; i += 8)                                                         \
      _mm256_storeu_ps(y + i, function##8(_mm256_loadu_ps(x + i)));                                \
  }
HJX_LOOP(exp)
HJX_LOOP(log)
HJX_LOOP(tanh)

} // namespace hjx::bench

#else

namespace hjx::bench {
bool hostHasAvx2() { return false; }
void expAvx2(const float *, float *, int64_t) {}
void logAvx2(const float *, float *, int64_t) {}
void tanhAvx2(const float *, float *, int64_t) {}
} // namespace hjx::bench

#endif
