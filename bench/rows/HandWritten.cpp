// SPDX-License-Identifier: Apache-2.0
//
// Four vectors a step where a sum is carried, so that additions overlap.
#include "bench/rows/HandWritten.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include "bench/math/Avx2.h"

namespace hjx::bench {

namespace {

HJX_AVX2 inline __m256 load(const float *p) { return _mm256_loadu_ps(p); }
HJX_AVX2 inline __m256 splat(float x) { return _mm256_set1_ps(x); }

HJX_AVX2 inline float sumOf(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
HJX_AVX2 inline float maxOf(__m256 v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

HJX_AVX2 float rowMax(const float *x, int64_t cols) {
  __m256 m[4] = {load(x), load(x), load(x), load(x)};
  int64_t j = 0;
  for (; j + 32 <= cols; j += 32)
    for (int v = 0; v < 4; ++v)
      m[v] = _mm256_max_ps(m[v], load(x + j + 8 * v));
  for (; j + 8 <= cols; j += 8)
    m[0] = _mm256_max_ps(m[0], load(x + j));
  float best = maxOf(_mm256_max_ps(_mm256_max_ps(m[0], m[1]), _mm256_max_ps(m[2], m[3])));
  for (; j < cols; ++j)
    best = std::max(best, x[j]);
  return best;
}

} // namespace

// What is hidden is not computed: a row ends at its diagonal, in whole vectors.
HJX_AVX2 void causalSoftmaxAvx2(const float *x, float *y, int64_t count, int64_t size) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (int64_t i = 0; i < count * size; ++i, x += size, y += size) {
    int64_t row = i % size, end = row / 8 * 8 + 8;
    auto hidden = [&](int64_t j) HJX_AVX2 {
      __m256i column = _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(j)));
      return _mm256_castsi256_ps(
          _mm256_cmpgt_epi32(column, _mm256_set1_epi32(static_cast<int>(row))));
    };
    auto score = [&](int64_t j) HJX_AVX2 {
      __m256 scaled = _mm256_mul_ps(load(x + j), splat(0.25f));
      return _mm256_blendv_ps(scaled, splat(-1e10f), hidden(j));
    };
    __m256 max = score(0), sum = splat(0);
    for (int64_t j = 8; j < end; j += 8)
      max = _mm256_max_ps(max, score(j));
    max = splat(maxOf(max));
    for (int64_t j = 0; j < end; j += 8) {
      __m256 e = _mm256_andnot_ps(hidden(j), exp8(_mm256_sub_ps(score(j), max)));
      _mm256_storeu_ps(y + j, e);
      sum = _mm256_add_ps(sum, e);
    }
    __m256 inverse = splat(1 / sumOf(sum));
    for (int64_t j = 0; j < end; j += 8)
      _mm256_storeu_ps(y + j, _mm256_mul_ps(load(y + j), inverse));
    for (int64_t j = end; j < size; j += 8)
      _mm256_storeu_ps(y + j, splat(0));
  }
}

HJX_AVX2 void softmaxAvx2(const float *x, float *y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols, y += cols) {
    __m256 max = splat(rowMax(x, cols)), sum[4] = {splat(0), splat(0), splat(0), splat(0)};
    int64_t j = 0;
    for (; j + 32 <= cols; j += 32)
      for (int v = 0; v < 4; ++v) {
        __m256 e = exp8(_mm256_sub_ps(load(x + j + 8 * v), max));
        _mm256_storeu_ps(y + j + 8 * v, e);
        sum[v] = _mm256_add_ps(sum[v], e);
      }
    for (; j < cols; j += 8) {
      __m256 e = exp8(_mm256_sub_ps(load(x + j), max));
      _mm256_storeu_ps(y + j, e);
      sum[0] = _mm256_add_ps(sum[0], e);
    }
    __m256 inverse = splat(
        1 / sumOf(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]))));
    for (j = 0; j < cols; j += 8)
      _mm256_storeu_ps(y + j, _mm256_mul_ps(load(y + j), inverse));
  }
}

HJX_AVX2 void layerNormAvx2(const float *x, const float *scale, const float *bias, float *y,
                            int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols, y += cols) {
    __m256 sum[4] = {splat(0), splat(0), splat(0), splat(0)};
    for (int64_t j = 0; j < cols; j += 8)
      sum[j / 8 % 4] = _mm256_add_ps(sum[j / 8 % 4], load(x + j));
    __m256 mean = splat(
        sumOf(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]))) / cols);
    __m256 square[4] = {splat(0), splat(0), splat(0), splat(0)};
    for (int64_t j = 0; j < cols; j += 8) {
      __m256 d = _mm256_sub_ps(load(x + j), mean);
      square[j / 8 % 4] = _mm256_fmadd_ps(d, d, square[j / 8 % 4]);
    }
    float variance = sumOf(_mm256_add_ps(_mm256_add_ps(square[0], square[1]),
                                         _mm256_add_ps(square[2], square[3]))) /
                     cols;
    __m256 inverse = splat(1 / std::sqrt(variance + 1e-5f));
    for (int64_t j = 0; j < cols; j += 8) {
      __m256 normal = _mm256_mul_ps(_mm256_sub_ps(load(x + j), mean), inverse);
      _mm256_storeu_ps(y + j, _mm256_fmadd_ps(normal, load(scale + j), load(bias + j)));
    }
  }
}

HJX_AVX2 void geluAvx2(const float *x, float *y, int64_t count) {
  for (int64_t i = 0; i < count; i += 8) {
    __m256 v = load(x + i), half = _mm256_mul_ps(v, splat(0.5f));
    __m256 cube = _mm256_mul_ps(_mm256_mul_ps(v, v), v);
    __m256 u = _mm256_mul_ps(splat(0.7978845608f), _mm256_fmadd_ps(splat(0.044715f), cube, v));
    _mm256_storeu_ps(y + i, _mm256_fmadd_ps(half, tanh8(u), half));
  }
}

HJX_AVX2 void crossEntropyAvx2(const float *x, const int32_t *labels, float *loss, int64_t rows,
                               int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols) {
    float max = rowMax(x, cols);
    __m256 sum[4] = {splat(0), splat(0), splat(0), splat(0)};
    int64_t j = 0;
    for (; j + 32 <= cols; j += 32)
      for (int v = 0; v < 4; ++v)
        sum[v] = _mm256_add_ps(sum[v], exp8(_mm256_sub_ps(load(x + j + 8 * v), splat(max))));
    for (; j + 8 <= cols; j += 8)
      sum[0] = _mm256_add_ps(sum[0], exp8(_mm256_sub_ps(load(x + j), splat(max))));
    float total =
        sumOf(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
    for (; j < cols; ++j)
      total += std::exp(x[j] - max);
    loss[i] = std::log(total) + max - x[labels[i]];
  }
}

HJX_AVX2 void adamwAvx2(const AdamW &o, int32_t count, const float *grad, float *mu, float *nu,
                        float *p, int64_t size) {
  __m256 unbias1 = splat(1 / (1 - std::pow(o.b1, count)));
  __m256 unbias2 = splat(1 / (1 - std::pow(o.b2, count)));
  for (int64_t i = 0; i < size; i += 8) {
    __m256 g = load(grad + i), old = load(p + i);
    __m256 m = _mm256_fmadd_ps(splat(o.b1), load(mu + i), _mm256_mul_ps(splat(1 - o.b1), g));
    __m256 n = _mm256_fmadd_ps(splat(o.b2), load(nu + i),
                               _mm256_mul_ps(splat(1 - o.b2), _mm256_mul_ps(g, g)));
    __m256 root = _mm256_add_ps(_mm256_sqrt_ps(_mm256_mul_ps(n, unbias2)), splat(o.eps));
    __m256 direction = _mm256_div_ps(_mm256_mul_ps(m, unbias1), root);
    direction = _mm256_fmadd_ps(splat(o.decay), old, direction);
    _mm256_storeu_ps(mu + i, m);
    _mm256_storeu_ps(nu + i, n);
    _mm256_storeu_ps(p + i, _mm256_fnmadd_ps(splat(o.learningRate), direction, old));
  }
}

} // namespace hjx::bench

#else

namespace hjx::bench {
void softmaxAvx2(const float *, float *, int64_t, int64_t) {}
void causalSoftmaxAvx2(const float *, float *, int64_t, int64_t) {}
void layerNormAvx2(const float *, const float *, const float *, float *, int64_t, int64_t) {}
void geluAvx2(const float *, float *, int64_t) {}
void crossEntropyAvx2(const float *, const int32_t *, float *, int64_t, int64_t) {}
void adamwAvx2(const AdamW &, int32_t, const float *, float *, float *, float *, int64_t) {}
} // namespace hjx::bench

#endif
