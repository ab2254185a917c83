// SPDX-License-Identifier: Apache-2.0
//
// The GPT-2 with quantised matrices, for inference: each is one value of one type (hjx/types.h), an
// eighth or a quarter of the size, and the products read it as it is.
#pragma once

#include "model.h"

#include <hjx/types.h>

namespace gpt2 {

struct QuantizedLinear {
  hjx::Quantized kernel; ///< [in, out], a scale for each column, or each group in it
  hjx::Array bias;
};
HJX_TREE(QuantizedLinear, kernel, bias)

struct QuantizedBlock {
  std::optional<hjx::nn::LayerNorm> ln_1;
  std::optional<QuantizedLinear> attn_qkv, attn_out;
  std::optional<hjx::nn::LayerNorm> ln_2;
  std::optional<QuantizedLinear> ffn_in, ffn_out;
};
HJX_TREE(QuantizedBlock, ln_1, attn_qkv, attn_out, ln_2, ffn_in, ffn_out)

struct QuantizedParams {
  hjx::Quantized wte;            ///< [vocab_size, emb_dim], a scale for each token
  std::optional<hjx::Array> wpe; ///< a thousandth of the numbers: stays float
  std::vector<QuantizedBlock> blocks;
  std::optional<hjx::nn::LayerNorm> ln_f;
};
HJX_TREE(QuantizedParams, wte, wpe, blocks, ln_f)

/// The matrices in `format`, "int8" or "int4"; the latter with a scale for each 32 numbers.
QuantizedParams quantized(const Params &params, const std::string &format);

/// As those of the float model, in float32 whatever the configuration's dtype.
hjx::Array logits(const QuantizedParams &params, const hjx::Array &tokens, const Config &config);
hjx::Array loss(const QuantizedParams &params, const hjx::Array &inputs, const hjx::Array &targets, const Config &config);

} // namespace gpt2
