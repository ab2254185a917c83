// SPDX-License-Identifier: Apache-2.0
//
// Writes the training graph of a GPT-2 for hjx-run (docs/training-graph.md):
//
//   gpt2 examples/gpt2/configs/demo.json gpt2.mlir
//   hjx-run train gpt2.mlir austen.txt --run runs/demo
#include "model.h"

#include <hjx/export.h>

#include <iostream>

using hjx::Array;

namespace {

struct State {
  gpt2::Params params;
  hjx::optim::AdamWState<gpt2::Params> opt;
  Array dropout_key; ///< [2] uint32; masks are functions of it and of the step
};
HJX_TREE(State, params, opt, dropout_key)

struct Initial {
  State state;
};
HJX_TREE(Initial, state)

struct StepResult {
  State state;
  Array loss, grad_norm, clip_factor;
};
HJX_TREE(StepResult, state, loss, grad_norm, clip_factor)

struct EvalResult {
  Array loss;
};
HJX_TREE(EvalResult, loss)

struct LogitsResult {
  Array logits;
};
HJX_TREE(LogitsResult, logits)

/// Loss and gradients of a batch: of one piece, or the mean over its micro-batches.
std::pair<Array, gpt2::Params> lossAndGradient(const gpt2::Params &params, const Array &inputs, const Array &targets,
                                               const gpt2::Config &config, const Array &key) {
  auto lossOf = [&](const gpt2::Params &p, const Array &x, const Array &y, const Array &k) {
    return gpt2::loss(p, x, y, config, k);
  };
  if (config.accumulation_steps == 1)
    return hjx::value_and_grad(lossOf)(params, inputs, targets, key);
  Array micro = hjx::arange(config.accumulation_steps);
  auto accumulate = [&](std::pair<Array, gpt2::Params> sums, std::tuple<Array, Array, Array> batch) {
    auto [x, y, i] = batch;
    auto [value, grads] = hjx::value_and_grad(lossOf)(params, x, y, hjx::random::fold_in(key, i));
    return std::pair(std::pair(sums.first + value, hjx::tree_map([](Array a, Array b) { return a + b; }, sums.second, grads)),
                     hjx::Nothing());
  };
  auto zero = hjx::tree_map([](const Array &p) { return hjx::zeros_like(p); }, params);
  auto [sums, nothing] = hjx::scan(accumulate, std::pair(hjx::zeros({}), zero), std::tuple(inputs, targets, micro));
  double count = static_cast<double>(config.accumulation_steps);
  return {sums.first / count, hjx::tree_map([&](const Array &g) { return g / count; }, sums.second)};
}

hjx::Module trainingGraph(const gpt2::Config &config) {
  hjx::optim::AdamWOptions adamw{.b1 = config.beta1, .b2 = config.beta2, .weight_decay = config.weight_decay,
                                 .mask = [](const Array &p) { return p.ndim() >= 2; }};

  auto init = [&](const Array &key) {
    gpt2::Params params = gpt2::init(key, config);
    return Initial{{params, hjx::optim::adamw_init(params), hjx::random::key_data(hjx::random::fold_in(key, 1))}};
  };
  auto step = [&](const State &state, const Array &inputs, const Array &targets, const Array &learning_rate,
                  const Array &step) {
    Array key = hjx::random::fold_in(hjx::random::wrap_key_data(state.dropout_key), step);
    auto [loss, raw] = lossAndGradient(state.params, inputs, targets, config, key);
    auto [grads, norm, factor] = hjx::optim::clip_by_global_norm(raw, config.clip_norm);
    auto [updates, opt] = hjx::optim::adamw(grads, state.opt, state.params, learning_rate, adamw);
    return StepResult{{hjx::optim::apply_updates(state.params, updates), opt, state.dropout_key}, loss, norm, factor};
  };
  auto eval = [&](const gpt2::Params &params, const Array &inputs, const Array &targets) {
    return EvalResult{gpt2::loss(params, inputs, targets, config)};
  };
  auto logits = [&](const gpt2::Params &params, const Array &tokens) {
    return LogitsResult{gpt2::logits(params, tokens, config)};
  };

  Array key = hjx::abstract({}, hjx::DType::key);
  Initial initial = hjx::eval_shape(init, key);
  std::vector<int64_t> batch{config.batch_size, config.context_length};
  Array rows = hjx::abstract(batch, hjx::int32);
  if (config.accumulation_steps > 1)
    batch.insert(batch.begin(), config.accumulation_steps);
  Array tokens = hjx::abstract(batch, hjx::int32);
  Array scalar = hjx::abstract({}), count = hjx::abstract({}, hjx::int32);
  Array line = hjx::abstract({1, config.context_length}, hjx::int32);

  hjx::Module module;
  module.add("init", init, hjx::arg("key", key));
  module.add("step", step, {.donate = {0}}, hjx::arg("state", initial.state), hjx::arg("inputs", tokens),
             hjx::arg("targets", tokens), hjx::arg("learning_rate", scalar), hjx::arg("step", count));
  module.add("eval", eval, hjx::arg("state.params", initial.state.params), hjx::arg("inputs", rows), hjx::arg("targets", rows));
  module.add("logits", logits, hjx::arg("state.params", initial.state.params), hjx::arg("tokens", line));

  auto role = [&](const char *function, std::initializer_list<const char *> paths, const char *role) {
    for (const char *path : paths)
      module.set_attribute(function, path, "hjx.role", role);
  };
  role("init", {"key"}, "key");
  for (const char *function : {"init", "step", "eval", "logits"})
    role(function, {"state"}, "state");
  for (const char *function : {"step", "eval"})
    role(function, {"inputs", "targets"}, "batch");
  role("step", {"learning_rate", "step"}, "scalar");
  role("step", {"loss", "grad_norm", "clip_factor"}, "metric");
  role("eval", {"loss"}, "metric");
  role("logits", {"tokens"}, "batch");
  role("logits", {"logits"}, "logits");
  module.set_attribute("hjx.training_graph", {{"version", 1},
                                              {"vocabulary", config.vocab_size},
                                              {"tokenizer", config.vocab_size == 256 ? "bytes" : "gpt2"},
                                              {"config", config.text}});
  return module;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: gpt2 CONFIG.json GRAPH.mlir\n  Writes the training graph of a GPT-2 for hjx-run; a path that ends "
                 "in .mlirbc gets bytecode.\n";
    return 2;
  }
  try {
    trainingGraph(gpt2::readConfig(argv[1])).write(argv[2]);
  } catch (const hjx::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
