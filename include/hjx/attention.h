// SPDX-License-Identifier: Apache-2.0
//
// Attention as one op of the IR, which a compiler for GPUs has kernels for (docs/gpu.md).
#pragma once

#include <hjx/ops.h>

namespace hjx {

/// What attention sees and how scores are scaled.
struct AttentionOptions {
  bool causal = false;              ///< Position t sees positions 0..t only.
  std::optional<double> scale = {}; ///< 1 / sqrt(features) unless given.
};
/// Returns softmax(scale query key^T) value, for each head.
///
/// Shapes: query [..., T, heads, d], key [..., S, heads, d], value [..., S, heads, e]; the result is
///         [..., T, heads, e]. Leading axes and heads broadcast: keys of one head serve all queries.
/// Errors: hjx::Error unless there are three axes, and the sizes agree.
/// Cost:   one op, whose scores a GPU never stores for heads of up to 128 features (docs/gpu.md).
/// Source: Vaswani et al. 2017; JAX `jax.nn.dot_product_attention`. Hidden scores are -1e10, as in
///         OpenAI's GPT-2: finite, so that no row is ever NaN. Of 16-bit arrays, scores and softmax
///         are in float32, as in JAX.
HJX_API Array dot_product_attention(ArrayLike query, ArrayLike key, ArrayLike value, const AttentionOptions &options = {});

} // namespace hjx
