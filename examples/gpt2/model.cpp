// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <cmath>

using hjx::Array;
namespace nn = hjx::nn;

namespace gpt2 {

Params init(const Array &key, const Config &config) {
  int64_t layers = config.n_layers, width = config.emb_dim;
  Array keys = hjx::random::split(key, {2 + 4 * layers});
  double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));
  auto norm = [&]() { return config.layer_norm ? std::optional(nn::layer_norm_init(width)) : std::nullopt; };

  Params params;
  params.wte = hjx::random::normal(keys[0], {config.vocab_size, width}) * 0.02;
  if (config.positions)
    params.wpe = hjx::random::normal(keys[1], {config.context_length, width}) * 0.02;
  for (int64_t l = 0; l < layers; ++l) {
    int64_t first = 2 + 4 * l;
    Block block;
    if (config.attention) {
      block.ln_1 = norm();
      block.attn_qkv = nn::linear_init(keys[first], width, 3 * width);
      block.attn_out = nn::linear_init(keys[first + 1], width, width, residual);
    }
    if (config.ffn) {
      block.ln_2 = norm();
      block.ffn_in = nn::linear_init(keys[first + 2], width, 4 * width);
      block.ffn_out = nn::linear_init(keys[first + 3], 4 * width, width, residual);
    }
    params.blocks.push_back(block);
  }
  params.ln_f = norm();
  return params;
}

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

static Array normalised(const std::optional<nn::LayerNorm> &norm, const Array &x) {
  return norm ? nn::layer_norm(*norm, x) : x;
}

Array logits(const Params &params, const Array &tokens, const Config &config, const std::optional<Array> &dropoutKey) {
  Dropout dropout(config.drop_rate, dropoutKey);
  Array h = hjx::take(params.wte, tokens);
  if (params.wpe)
    h = h + *params.wpe;
  h = dropout(h);
  auto join = [&](const Array &branch) { return config.shortcut ? h + branch : branch; };
  for (const Block &block : params.blocks) {
    if (block.attn_qkv) {
      Array qkv = nn::linear(*block.attn_qkv, normalised(block.ln_1, h));
      h = join(dropout(nn::linear(*block.attn_out, nn::causal_self_attention(qkv, config.n_heads))));
    }
    if (block.ffn_in) {
      Array hidden = hjx::gelu(nn::linear(*block.ffn_in, normalised(block.ln_2, h)));
      h = join(dropout(nn::linear(*block.ffn_out, hidden)));
    }
  }
  return hjx::matmul(normalised(params.ln_f, h), params.wte.T());
}

Array loss(const Params &params, const Array &inputs, const Array &targets, const Config &config,
           const std::optional<Array> &dropoutKey) {
  const Array &wanted = config.target == "same" ? inputs : targets;
  return hjx::mean(nn::softmax_cross_entropy(logits(params, inputs, config, dropoutKey), wanted));
}

} // namespace gpt2
