// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace gpt2 {

[[noreturn]] static void fail(const std::string &path, const std::string &message, const std::string &help) {
  std::cerr << path << ": " << message << "\n  help: " << help << "\n";
  std::exit(2);
}

Config readConfig(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    fail(path, "cannot be read", "give the path of a configuration, such as examples/gpt2/configs/demo.json");
  std::stringstream text;
  text << file.rdbuf();
  nlohmann::json json = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    fail(path, "expected a JSON object", "see examples/gpt2/configs/demo.json");

  Config config;
  config.text = json.dump();
  std::string known;
  auto read = [&](const char *key, auto &field) {
    known += std::string(known.empty() ? "" : ", ") + key;
    auto it = json.find(key);
    if (it == json.end())
      return;
    using Field = std::decay_t<decltype(field)>;
    bool fits = std::is_same_v<Field, bool>      ? it->is_boolean()
                : std::is_same_v<Field, int64_t> ? it->is_number_integer()
                : std::is_same_v<Field, double>  ? it->is_number()
                                                 : it->is_string();
    const char *kind = std::is_same_v<Field, bool>      ? "true or false"
                       : std::is_same_v<Field, int64_t> ? "an integer"
                       : std::is_same_v<Field, double>  ? "a number"
                                                        : "a string";
    if (!fits)
      fail(path, std::string(key) + ": expected " + kind + ", got " + it->dump(), "its default is " + nlohmann::json(field).dump());
    field = it->template get<Field>();
    json.erase(it);
  };
  std::string model = "gpt2";
  read("model", model);
  read("vocab_size", config.vocab_size);
  read("context_length", config.context_length);
  read("emb_dim", config.emb_dim);
  read("n_heads", config.n_heads);
  read("n_layers", config.n_layers);
  read("drop_rate", config.drop_rate);
  read("layer_norm", config.layer_norm);
  read("attention", config.attention);
  read("shortcut", config.shortcut);
  read("positions", config.positions);
  read("ffn", config.ffn);
  read("target", config.target);
  read("dtype", config.dtype);
  read("batch_size", config.batch_size);
  read("accumulation_steps", config.accumulation_steps);
  read("steps", config.steps);
  read("warmup_steps", config.warmup_steps);
  read("learning_rate", config.learning_rate);
  read("final_lr_fraction", config.final_lr_fraction);
  read("beta1", config.beta1);
  read("beta2", config.beta2);
  read("weight_decay", config.weight_decay);
  read("clip_norm", config.clip_norm);
  if (!json.empty())
    fail(path, "unknown key '" + json.begin().key() + "'", "known keys: " + known);
  for (auto [key, value] : {std::pair("vocab_size", config.vocab_size), {"context_length", config.context_length},
                            {"emb_dim", config.emb_dim}, {"n_heads", config.n_heads}, {"batch_size", config.batch_size},
                            {"accumulation_steps", config.accumulation_steps}})
    if (value < 1)
      fail(path, std::string(key) + ": expected at least 1, got " + std::to_string(value), "make it positive");
  if (config.n_layers < 0)
    fail(path, "n_layers: expected at least 0, got " + std::to_string(config.n_layers), "0 is a bigram model");
  if (config.emb_dim % config.n_heads != 0)
    fail(path, "emb_dim " + std::to_string(config.emb_dim) + " is not a multiple of n_heads " + std::to_string(config.n_heads),
         "choose heads that divide the width");
  if (config.target != "next" && config.target != "same")
    fail(path, "target: expected \"next\" or \"same\", got \"" + config.target + "\"", "\"next\" predicts the following token");
  if (config.dtype != "float32" && config.dtype != "bfloat16")
    fail(path, "dtype: expected \"float32\" or \"bfloat16\", got \"" + config.dtype + "\"",
         "parameters are float32 with either; it is what products are computed in");
  if (!(config.drop_rate >= 0 && config.drop_rate < 1))
    fail(path, "drop_rate: expected 0 <= rate < 1", "0 keeps everything");
  return config;
}

} // namespace gpt2
