// SPDX-License-Identifier: Apache-2.0
//
// exp, log and tanh of 8 floats with AVX2 intrinsics, for the loops written by hand that
// benchmarks compare with. For x86-64 only.
#pragma once

#include <immintrin.h>

#define HJX_AVX2 __attribute__((target("avx2,fma")))

namespace hjx::bench {

HJX_AVX2 static inline __m256 horner(__m256 x, const float *coefficients, int count) {
  __m256 sum = _mm256_set1_ps(coefficients[count - 1]);
  for (int i = count - 2; i >= 0; --i)
    sum = _mm256_fmadd_ps(sum, x, _mm256_set1_ps(coefficients[i]));
  return sum;
}

HJX_AVX2 static inline __m256 exp8(__m256 x) {
  static const float taylor[] = {1, 1, 1 / 2.f, 1 / 6.f, 1 / 24.f, 1 / 120.f, 1 / 720.f};
  x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-87)), _mm256_set1_ps(88));
  __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256i power =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(horner(r, taylor, 7), _mm256_castsi256_ps(power));
}

// Cephes logf, vectorised the usual way.
HJX_AVX2 static inline __m256 log8(__m256 x) {
  static const float tail[] = {3.3333331174e-1f,  -2.4999993993e-1f, 2.0000714765e-1f,
                               -1.6668057665e-1f, 1.4249322787e-1f,  -1.2420140846e-1f,
                               1.1676998740e-1f,  -1.1514610310e-1f, 7.0376836292e-2f};
  __m256 invalid = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LE_OS);
  x = _mm256_max_ps(x, _mm256_set1_ps(1.17549435e-38f));
  __m256i all = _mm256_castps_si256(x);
  __m256 e =
      _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(all, 23), _mm256_set1_epi32(126)));
  __m256 m = _mm256_or_ps(_mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffff))),
                          _mm256_set1_ps(0.5f));
  __m256 small = _mm256_cmp_ps(m, _mm256_set1_ps(0.70710678f), _CMP_LT_OS);
  e = _mm256_sub_ps(e, _mm256_and_ps(small, _mm256_set1_ps(1)));
  m = _mm256_add_ps(_mm256_sub_ps(m, _mm256_set1_ps(1)), _mm256_and_ps(small, m));
  __m256 z = _mm256_mul_ps(m, m);
  __m256 y = _mm256_mul_ps(_mm256_mul_ps(horner(m, tail, 9), m), z);
  y = _mm256_fmadd_ps(e, _mm256_set1_ps(-2.12194440e-4f), y);
  y = _mm256_fnmadd_ps(z, _mm256_set1_ps(0.5f), y);
  y = _mm256_fmadd_ps(e, _mm256_set1_ps(0.693359375f), _mm256_add_ps(m, y));
  return _mm256_or_ps(y, invalid);
}

HJX_AVX2 static inline __m256 tanh8(__m256 x) {
  __m256 sign = _mm256_and_ps(x, _mm256_set1_ps(-0.f));
  __m256 e = exp8(_mm256_mul_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.f), x), _mm256_set1_ps(-2)));
  __m256 one = _mm256_set1_ps(1);
  __m256 y = _mm256_div_ps(_mm256_sub_ps(one, e), _mm256_add_ps(one, e)); // cancels near 0
  return _mm256_or_ps(y, sign);
}

} // namespace hjx::bench
