// SPDX-License-Identifier: Apache-2.0
//
// The loops over rows of a GPT as a person writes them with AVX2 intrinsics, in as few
// passes over memory as they need: the peers of bench-rows. Widths are multiples of 8,
// or at least 8 where a remainder is handled.
#pragma once

#include <cstdint>

namespace hjx::bench {

void softmaxAvx2(const float *x, float *y, int64_t rows, int64_t cols);
/// Of `count` squares of scores times 1/4, in which column j > i is hidden: 0 in the result.
void causalSoftmaxAvx2(const float *x, float *y, int64_t count, int64_t size);
void layerNormAvx2(const float *x, const float *scale, const float *bias, float *y, int64_t rows,
                   int64_t cols);
/// The tanh approximation.
void geluAvx2(const float *x, float *y, int64_t count);
/// log(sum(exp(x))) - x[label] per row; any width from 8.
void crossEntropyAvx2(const float *x, const int32_t *labels, float *loss, int64_t rows,
                      int64_t cols);
struct AdamW {
  float b1, b2, eps, decay, learningRate;
};
/// Update `count` (from 1) of p, mu and nu in place.
void adamwAvx2(const AdamW &o, int32_t count, const float *grad, float *mu, float *nu, float *p,
               int64_t size);

} // namespace hjx::bench
