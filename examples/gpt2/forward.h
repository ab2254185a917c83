// SPDX-License-Identifier: Apache-2.0
//
// The forward pass, whatever the matrices are.
#pragma once

#include "model.h"

#include <hjx/types.h>

namespace gpt2 {

using hjx::Array;
namespace nn = hjx::nn;

/// Drops elements at the sites in the order in which they come: each takes the next key.
class Dropout {
public:
  Dropout(double rate, const std::optional<Array> &key) : rate(rate), key(key) {}
  Array operator()(const Array &x) {
    return key && rate > 0 ? nn::dropout(x, rate, hjx::random::fold_in(*key, site++)) : x;
  }

private:
  double rate;
  std::optional<Array> key;
  int64_t site = 0;
};

/// A layer as it takes part in the computation. Derivatives with respect to `layer` are of its own type again.
inline nn::Linear as(const nn::Linear &layer, hjx::DType type) { return {layer.kernel.astype(type), layer.bias.astype(type)}; }

inline Array normalised(const std::optional<nn::LayerNorm> &norm, const Array &x) {
  return norm ? nn::layer_norm(*norm, x) : x;
}

/// The head is the embedding.
inline Array head(const Array &h, const Array &wte) { return matmul(h, wte.astype(h.dtype()).T()); }
inline Array head(const Array &h, const hjx::Quantized &wte) { return matmul_transposed(h, wte); }

/// tokens [rows, length] -> logits in float32; P is Params, or one with other matrices.
template <typename P>
Array forward(const P &params, const Array &tokens, const Config &config, const std::optional<Array> &dropoutKey = {}) {
  using nn::linear;
  Dropout dropout(config.drop_rate, dropoutKey);
  const hjx::DType type = computeType(config);
  Array h = take(params.wte, tokens);
  if (params.wpe)
    h = h + *params.wpe;
  h = dropout(h.astype(type)); // The table's gradient is summed in the table's type.
  auto join = [&](const Array &branch) { return config.shortcut ? h + branch : branch; };
  for (const auto &block : params.blocks) {
    if (block.attn_qkv) {
      Array qkv = linear(as(*block.attn_qkv, type), normalised(block.ln_1, h));
      h = join(dropout(linear(as(*block.attn_out, type), nn::causal_self_attention(qkv, config.n_heads))));
    }
    if (block.ffn_in) {
      Array hidden = hjx::gelu(linear(as(*block.ffn_in, type), normalised(block.ln_2, h)));
      h = join(dropout(linear(as(*block.ffn_out, type), hidden)));
    }
  }
  return head(normalised(params.ln_f, h), params.wte).astype(hjx::float32);
}

} // namespace gpt2
