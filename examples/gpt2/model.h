// SPDX-License-Identifier: Apache-2.0
//
// A GPT-2 of any size, and the ladder that leads to it: each rung is a setting.
//
//   A-to-A      no attention, no FFN, target "same": says the token it was given
//   bigram      target "next"
//   + layernorm, + attention, + shortcut, + positions, + heads, + FFN, + layers
//
// Formulas are OpenAI's GPT-2's: pre-norm blocks, tanh GELU, tied head.
#pragma once

#include <hjx/nn.h>
#include <hjx/optim.h>

#include <optional>
#include <string>
#include <vector>

namespace gpt2 {

/// What the model and its training are. Fields and defaults are those of the JSON file.
struct Config {
  int64_t vocab_size = 256, context_length = 128, emb_dim = 192, n_heads = 6, n_layers = 4;
  double drop_rate = 0;
  // The ladder.
  bool layer_norm = true, attention = true, shortcut = true, positions = true, ffn = true;
  std::string target = "next"; ///< or "same"
  /// What is computed in: parameters, their gradients as the optimizer sees them and its state are float32 with either.
  std::string dtype = "float32"; ///< or "bfloat16"
  // Training.
  int64_t batch_size = 8, accumulation_steps = 1, steps = 2000, warmup_steps = 100;
  double learning_rate = 2e-3, final_lr_fraction = 0.05, beta1 = 0.9, beta2 = 0.95, weight_decay = 0.1, clip_norm = 1;
  std::string text; ///< the JSON itself, kept in checkpoints
};

/// config.dtype as a type.
hjx::DType computeType(const Config &config);

/// Reads a JSON file. Exits with a message that names the key on unknown keys, wrong types and
/// sizes that do not go together.
Config readConfig(const std::string &path);

struct Block {
  std::optional<hjx::nn::LayerNorm> ln_1;
  std::optional<hjx::nn::Linear> attn_qkv, attn_out;
  std::optional<hjx::nn::LayerNorm> ln_2;
  std::optional<hjx::nn::Linear> ffn_in, ffn_out;
};
HJX_TREE(Block, ln_1, attn_qkv, attn_out, ln_2, ffn_in, ffn_out)

struct Params {
  hjx::Array wte;                ///< [vocab_size, emb_dim], also the head
  std::optional<hjx::Array> wpe; ///< [context_length, emb_dim]
  std::vector<Block> blocks;
  std::optional<hjx::nn::LayerNorm> ln_f;
};
HJX_TREE(Params, wte, wpe, blocks, ln_f)

/// N(0, 0.02); residual projections scaled by 1 / sqrt(2 n_layers); one key per matrix.
Params init(const hjx::Array &key, const Config &config);

/// tokens [rows, length] -> logits [rows, length, vocab_size]. Without a key nothing is dropped.
hjx::Array logits(const Params &params, const hjx::Array &tokens, const Config &config,
                  const std::optional<hjx::Array> &dropoutKey = {});

/// The mean loss of a batch, nats per token.
hjx::Array loss(const Params &params, const hjx::Array &inputs, const hjx::Array &targets, const Config &config,
                const std::optional<hjx::Array> &dropoutKey = {});

} // namespace gpt2
