// SPDX-License-Identifier: Apache-2.0
#include "forward.h"

#include <cmath>

namespace gpt2 {

hjx::DType computeType(const Config &config) { return config.dtype == "bfloat16" ? hjx::bfloat16 : hjx::float32; }

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

Array logits(const Params &params, const Array &tokens, const Config &config, const std::optional<Array> &dropoutKey) {
  return forward(params, tokens, config, dropoutKey);
}

Array loss(const Params &params, const Array &inputs, const Array &targets, const Config &config,
           const std::optional<Array> &dropoutKey) {
  const Array &wanted = config.target == "same" ? inputs : targets;
  return hjx::mean(nn::softmax_cross_entropy(logits(params, inputs, config, dropoutKey), wanted));
}

} // namespace gpt2
