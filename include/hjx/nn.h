// SPDX-License-Identifier: Apache-2.0
//
// Layers and losses: plain functions of arrays and of small structs of
// parameters, which are pytrees. Nothing here knows a transform: grad, vmap and
// jit apply from outside. Formulas are GPT-2's where there is a choice.
//
//   auto layer = hjx::nn::linear_init(key, 3, 4);
//   hjx::Array y = hjx::nn::linear(layer, x);          // x[..., 3] -> y[..., 4]
#pragma once

#include <hjx/attention.h>
#include <hjx/hjx.h>

namespace hjx::nn {

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

struct Linear {
  Array kernel; ///< [in, out]
  Array bias;   ///< [out]
};
HJX_TREE(Linear, kernel, bias)

/// Kernel from N(0, stddev^2), bias zero. GPT-2's stddev is 0.02.
HJX_API Linear linear_init(const Array &key, int64_t in, int64_t out, double stddev = 0.02, Where where = Where::current());

/// Returns x kernel + bias; x is [..., in].
HJX_API Array linear(const Linear &layer, ArrayLike x);

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

struct LayerNorm {
  Array scale; ///< [features]
  Array bias;  ///< [features]
};
HJX_TREE(LayerNorm, scale, bias)

/// Scale one, bias zero.
HJX_API LayerNorm layer_norm_init(int64_t features, Where where = Where::current());

/// Returns (x - mean) / sqrt(var + epsilon) * scale + bias over the last axis; the
/// variance is the biased one. (Ba et al. 2016; flax's default epsilon is 1e-6.) Computed in
/// float32 for 16-bit x; the result has x's type then.
HJX_API Array layer_norm(const LayerNorm &layer, ArrayLike x, double epsilon = 1e-5);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Attention of heads, [..., T, heads, d].
using hjx::dot_product_attention;

/// Returns softmax(q k^T / sqrt(d)) v, where position t sees positions 0..t: attention of one head.
///
/// Shapes: q, k, v and the result are [..., T, d].
HJX_API Array causal_attention(ArrayLike q, ArrayLike k, ArrayLike v);

/// Multi-head attention of a sequence with itself.
///
/// Shapes: qkv is [..., T, 3C], the three thirds being queries, keys and values of
///         all heads; the result is [..., T, C] with heads side by side.
/// Errors: hjx::Error if the last dimension is not three times a multiple of heads.
HJX_API Array causal_self_attention(ArrayLike qkv, int64_t heads);

//===----------------------------------------------------------------------===//
// Regularisation and losses
//===----------------------------------------------------------------------===//

/// Zeroes each element with probability `rate` and scales the rest by
/// 1 / (1 - rate); rate 0 returns x. The mask is a function of the key alone.
///
/// Errors: hjx::Error unless 0 <= rate < 1.
HJX_API Array dropout(ArrayLike x, double rate, const Array &key);

/// Returns logsumexp(logits) - logits[label], per label, in nats.
///
/// Shapes: logits [..., classes], labels [...] of an integer type; result [...].
/// Source: optax `softmax_cross_entropy_with_integer_labels`. Computed in float32
///         for 16-bit logits.
HJX_API Array softmax_cross_entropy(ArrayLike logits, ArrayLike labels);

} // namespace hjx::nn
