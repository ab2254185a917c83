// SPDX-License-Identifier: Apache-2.0
//
// Writes the training graph of a GPT-2 for hjx-run (docs/training-graph.md):
//
//   gpt2 examples/gpt2/configs/demo.json gpt2.mlir
//   hjx-run train gpt2.mlir austen.txt --run runs/demo
//
// and that of the same model with int8 or int4 matrices, which is not trained but converted:
//
//   gpt2 --quantize=int8 examples/gpt2/configs/demo.json gpt2-int8.mlir
//   hjx-run convert gpt2-int8.mlir --from runs/demo --run runs/demo-int8
#include "quantized.h"
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

struct QuantizedState {
  gpt2::QuantizedParams params;
};
HJX_TREE(QuantizedState, params)

struct QuantizedInitial {
  QuantizedState state;
};
HJX_TREE(QuantizedInitial, state)

void setRole(hjx::Module &module, const char *function, std::initializer_list<const char *> paths, const char *role) {
  for (const char *path : paths)
    module.set_attribute(function, path, "hjx.role", role);
}

/// eval and logits, of either model.
template <typename Params>
void addInference(hjx::Module &module, const Params &params, const gpt2::Config &config) {
  auto eval = [&](const Params &params, const Array &inputs, const Array &targets) {
    return EvalResult{gpt2::loss(params, inputs, targets, config)};
  };
  auto logits = [&](const Params &params, const Array &tokens) { return LogitsResult{gpt2::logits(params, tokens, config)}; };
  Array rows = hjx::abstract({config.batch_size, config.context_length}, hjx::int32);
  Array line = hjx::abstract({1, config.context_length}, hjx::int32);
  module.add("eval", eval, hjx::arg("state.params", params), hjx::arg("inputs", rows), hjx::arg("targets", rows));
  module.add("logits", logits, hjx::arg("state.params", params), hjx::arg("tokens", line));
  setRole(module, "eval", {"state"}, "state");
  setRole(module, "logits", {"state"}, "state");
  setRole(module, "eval", {"inputs", "targets"}, "batch");
  setRole(module, "eval", {"loss"}, "metric");
  setRole(module, "logits", {"tokens"}, "batch");
  setRole(module, "logits", {"logits"}, "logits");
  module.set_attribute("hjx.training_graph", {{"version", 1},
                                              {"vocabulary", config.vocab_size},
                                              {"tokenizer", config.vocab_size == 256 ? "bytes" : "gpt2"},
                                              {"config", config.text}});
}

hjx::Module trainingGraph(const gpt2::Config &config) {
  auto init = [&](const Array &key) { return Initial{gpt2::initialState(key, config)}; };
  auto step = [&](const gpt2::State &state, const Array &inputs, const Array &targets, const Array &learning_rate,
                  const Array &step) { return gpt2::trainStep(state, inputs, targets, learning_rate, step, config); };
  Array key = hjx::abstract({}, hjx::DType::key);
  Initial initial = hjx::eval_shape(init)(key);
  std::vector<int64_t> batch{config.batch_size, config.context_length};
  if (config.accumulation_steps > 1)
    batch.insert(batch.begin(), config.accumulation_steps);
  Array tokens = hjx::abstract(batch, hjx::int32);
  Array scalar = hjx::abstract({}), count = hjx::abstract({}, hjx::int32);

  hjx::Module module;
  module.add("init", init, hjx::arg("key", key));
  module.add("step", step, {.donate = {0}}, hjx::arg("state", initial.state), hjx::arg("inputs", tokens),
             hjx::arg("targets", tokens), hjx::arg("learning_rate", scalar), hjx::arg("step", count));
  addInference(module, initial.state.params, config);
  setRole(module, "init", {"key"}, "key");
  setRole(module, "init", {"state"}, "state");
  setRole(module, "step", {"state"}, "state");
  setRole(module, "step", {"inputs", "targets"}, "batch");
  setRole(module, "step", {"learning_rate", "step"}, "scalar");
  setRole(module, "step", {"loss", "grad_norm", "clip_factor"}, "metric");
  return module;
}

hjx::Module quantizedGraph(const gpt2::Config &config, const std::string &format) {
  auto convert = [&](const gpt2::Params &params) { return QuantizedInitial{{gpt2::quantized(params, format)}}; };
  auto init = [&](const Array &key) { return convert(gpt2::init(key, config)); };
  Array key = hjx::abstract({}, hjx::DType::key);
  gpt2::Params params = hjx::eval_shape([&](const Array &key) { return gpt2::init(key, config); })(key);

  hjx::Module module;
  module.add("init", init, hjx::arg("key", key));
  module.add("convert", convert, hjx::arg("state.params", params));
  addInference(module, hjx::eval_shape(convert)(params).state.params, config);
  setRole(module, "init", {"key"}, "key");
  setRole(module, "init", {"state"}, "state");
  setRole(module, "convert", {"state"}, "state");
  return module;
}

} // namespace

int main(int argc, char **argv) {
  std::string format, first = argc > 1 ? argv[1] : "";
  if (first.starts_with("--quantize=")) {
    format = first.substr(first.find('=') + 1);
    if (format != "int8" && format != "int4") {
      std::cerr << "gpt2: --quantize: expected int8 or int4, got \"" << format << "\"\n  help: those are the formats of hjx::Quantized\n";
      return 2;
    }
    --argc, ++argv;
  }
  if (argc != 3) {
    std::cerr << "usage: gpt2 [--quantize=int8|int4] CONFIG.json GRAPH.mlir\n  Writes the training graph of a GPT-2 for hjx-run, or the "
                 "graph that only infers of one with quantized matrices; a path that ends in .mlirbc gets bytecode.\n";
    return 2;
  }
  try {
    gpt2::Config config = gpt2::readConfig(argv[1]);
    (format.empty() ? trainingGraph(config) : quantizedGraph(config, format)).write(argv[2]);
  } catch (const hjx::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
