// SPDX-License-Identifier: Apache-2.0
#include "quantized.h"

#include "forward.h"

namespace gpt2 {

using hjx::Quantized;

static const QuantizedLinear &as(const QuantizedLinear &layer, hjx::DType) { return layer; }
static Array linear(const QuantizedLinear &layer, const Array &x) { return matmul(x, layer.kernel) + layer.bias; }

QuantizedParams quantized(const Params &params, const std::string &format) {
  auto matrix = [&](const Array &x, int axis) {
    int64_t group = format == "int4" && x.shape(axis) % 32 == 0 ? 32 : 0;
    return hjx::quantize(x, {.format = format, .axis = axis, .group = group});
  };
  auto layer = [&](const std::optional<nn::Linear> &from) -> std::optional<QuantizedLinear> {
    return from ? std::optional(QuantizedLinear{matrix(from->kernel, 0), from->bias}) : std::nullopt;
  };
  QuantizedParams result{matrix(params.wte, 1), params.wpe, {}, params.ln_f};
  for (const Block &block : params.blocks)
    result.blocks.push_back({block.ln_1, layer(block.attn_qkv), layer(block.attn_out), block.ln_2, layer(block.ffn_in), layer(block.ffn_out)});
  return result;
}

Array logits(const QuantizedParams &params, const Array &tokens, const Config &config) {
  Config inFloat = config;
  inFloat.dtype = "float32";
  return forward(params, tokens, inFloat);
}

Array loss(const QuantizedParams &params, const Array &inputs, const Array &targets, const Config &config) {
  const Array &wanted = config.target == "same" ? inputs : targets;
  return hjx::mean(nn::softmax_cross_entropy(logits(params, inputs, config), wanted));
}

} // namespace gpt2
