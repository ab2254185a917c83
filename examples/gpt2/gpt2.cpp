// SPDX-License-Identifier: Apache-2.0
//
// Writes the training graph of a GPT-2 for hjx-run (docs/training-graph.md):
//
//   gpt2 examples/gpt2/configs/demo.json gpt2.mlir
//   hjx-run train gpt2.mlir austen.txt --run runs/demo
#include "training.h"

#include <hjx/export.h>

#include <iostream>

using hjx::Array;

namespace {

struct Initial {
  gpt2::State state;
};
HJX_TREE(Initial, state)

struct EvalResult {
  Array loss;
};
HJX_TREE(EvalResult, loss)

struct LogitsResult {
  Array logits;
};
HJX_TREE(LogitsResult, logits)

hjx::Module trainingGraph(const gpt2::Config &config) {
  auto init = [&](const Array &key) { return Initial{gpt2::initialState(key, config)}; };
  auto step = [&](const gpt2::State &state, const Array &inputs, const Array &targets, const Array &learning_rate,
                  const Array &step) { return gpt2::trainStep(state, inputs, targets, learning_rate, step, config); };
  auto eval = [&](const gpt2::Params &params, const Array &inputs, const Array &targets) {
    return EvalResult{gpt2::loss(params, inputs, targets, config)};
  };
  auto logits = [&](const gpt2::Params &params, const Array &tokens) {
    return LogitsResult{gpt2::logits(params, tokens, config)};
  };

  Array key = hjx::abstract({}, hjx::DType::key);
  Initial initial = hjx::eval_shape(init)(key);
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
