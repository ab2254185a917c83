// SPDX-License-Identifier: Apache-2.0
//
// Trains a GPT-2 in its own process: jit compiles the step, hjx's training loop
// does the rest (batches, validation, charts, checkpoints, resume).
//
//   gpt2-train examples/gpt2/configs/demo.json data/austen.txt runs/demo [latest]
#include "training.h"

#include "lib/Train/Sampler.h"
#include "lib/Train/Trainer.h"

#include <iostream>

using hjx::Array;

namespace {

class Gpt2Program : public hjx::TrainProgram {
public:
  explicit Gpt2Program(const gpt2::Config &config)
      : config(config),
        state_(hjx::jit([&config](const Array &key) { return gpt2::initialState(key, config); })(hjx::random::key(0))),
        jitStep(hjx::jit([&config](const gpt2::State &state, const Array &inputs, const Array &targets, const Array &rate,
                                   const Array &step) { return gpt2::trainStep(state, inputs, targets, rate, step, config); },
                         {.donate = {0}, .name = "step"})),
        jitEval(hjx::jit([&config](const gpt2::Params &params, const Array &inputs, const Array &targets) {
          return gpt2::loss(params, inputs, targets, config);
        })),
        jitLogits(hjx::jit([&config](const gpt2::Params &params, const Array &tokens) {
          return gpt2::logits(params, tokens, config);
        })) {}

  absl::StatusOr<hjx::StepResult> step(std::span<const hjx::Batch> batches, double learningRate, int64_t step) override {
    std::vector<int32_t> inputs, targets;
    for (const hjx::Batch &batch : batches) {
      inputs.insert(inputs.end(), batch.inputs.begin(), batch.inputs.end());
      targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
    }
    std::vector<int64_t> shape{config.batch_size, config.context_length};
    if (config.accumulation_steps > 1)
      shape.insert(shape.begin(), config.accumulation_steps);
    gpt2::StepResult result =
        jitStep(state_, hjx::array(inputs, shape), hjx::array(targets, shape), hjx::array(static_cast<float>(learningRate)),
                hjx::array(static_cast<int32_t>(step)));
    state_ = result.state;
    return hjx::StepResult{result.loss.item<float>(), result.grad_norm.item<float>(), result.clip_factor.item<float>()};
  }

  absl::StatusOr<double> evaluate(const hjx::Batch &batch) override {
    hjx::Shape shape{config.batch_size, config.context_length};
    return jitEval(state_.params, hjx::array(batch.inputs, shape), hjx::array(batch.targets, shape)).item<float>();
  }

  absl::StatusOr<std::vector<hjx::NamedTensor>> state() override {
    std::vector<hjx::NamedTensor> tensors;
    for (const auto &[path, leaf] : hjx::tree_leaves_with_path(state_)) {
      auto bytes = leaf.bytes();
      tensors.push_back({path, {storedType(leaf), leaf.shape().vec(), {reinterpret_cast<const char *>(bytes.data()), bytes.size()}}});
    }
    return tensors;
  }

  absl::Status restore(const hjx::SafetensorsFile &checkpoint) override {
    std::vector<Array> leaves;
    for (const auto &[path, leaf] : hjx::tree_leaves_with_path(state_)) {
      absl::StatusOr<hjx::HostTensor> tensor = checkpoint.load(path);
      if (!tensor.ok())
        return tensor.status();
      leaves.push_back(hjx::from_bytes(std::as_bytes(std::span(tensor->bytes)), leaf.shape(), leaf.dtype()));
    }
    state_ = hjx::tree_unflatten(state_, leaves);
    return absl::OkStatus();
  }

  /// `prompt`, continued by `count` bytes.
  std::string write(const std::string &prompt, int count) {
    hjx::Sampler sampler = *hjx::Sampler::create({.temperature = 0.8, .seed = 1});
    std::string text = prompt;
    for (int i = 0; i < count; ++i) {
      int64_t length = config.context_length, first = std::max<int64_t>(0, static_cast<int64_t>(text.size()) - length);
      std::vector<int32_t> tokens(length, 0);
      int64_t used = static_cast<int64_t>(text.size()) - first;
      for (int64_t j = 0; j < used; ++j)
        tokens[j] = static_cast<unsigned char>(text[first + j]);
      std::vector<float> rows = jitLogits(state_.params, hjx::array(tokens, {1, length})).to_vector<float>();
      std::span<const float> row(rows.data() + (used - 1) * config.vocab_size, config.vocab_size);
      absl::StatusOr<int32_t> next = sampler.sample(row, i);
      if (!next.ok())
        break;
      text += static_cast<char>(*next);
    }
    return text;
  }

private:
  static hjx::StoredType storedType(const Array &leaf) {
    return leaf.dtype() == hjx::int32 ? hjx::StoredType::I32 : leaf.dtype() == hjx::uint32 ? hjx::StoredType::U32 : hjx::StoredType::F32;
  }

  const gpt2::Config &config;
  gpt2::State state_;
  std::function<gpt2::StepResult(const gpt2::State &, const Array &, const Array &, const Array &, const Array &)> jitStep;
  std::function<Array(const gpt2::Params &, const Array &, const Array &)> jitEval;
  std::function<Array(const gpt2::Params &, const Array &)> jitLogits;
};

template <typename T>
T valueOrDie(absl::StatusOr<T> value) {
  if (value.ok())
    return *std::move(value);
  std::cerr << value.status().message() << "\n";
  std::exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: gpt2-train CONFIG.json TEXT RUN_FOLDER [latest|best]\n  Trains on the bytes of TEXT; the last argument "
                 "resumes from a checkpoint.\n";
    return 2;
  }
  try {
    gpt2::Config config = gpt2::readConfig(argv[1]);
    hjx::TokenSource source = valueOrDie(hjx::TokenSource::open(argv[2], {.vocabSize = config.vocab_size}));
    auto split = valueOrDie(source.splitTail(0.1));
    auto length = static_cast<uint64_t>(config.context_length), rows = static_cast<uint64_t>(config.batch_size);
    hjx::BatchStream data = valueOrDie(hjx::BatchStream::create(
        split.train, {length, rows, static_cast<uint64_t>(config.accumulation_steps)}, hjx::WindowOrder::Shuffled));
    hjx::BatchStream heldOut = valueOrDie(hjx::BatchStream::create(split.validation, {length, rows}));

    Gpt2Program program(config);
    hjx::TrainOptions options;
    options.runFolder = argv[3];
    options.config = hjx::Json::parse(config.text);
    options.resume = argc == 5 ? argv[4] : "";
    options.steps = config.steps;
    options.schedule = {.kind = hjx::ScheduleKind::WarmupCosine, .peak = config.learning_rate,
                        .final = config.learning_rate * config.final_lr_fraction, .warmupSteps = config.warmup_steps,
                        .totalSteps = config.steps};
    options.validateEvery = 250;
    options.validationBatches = 40;
    options.bytesPerToken = 1;
    options.checkpointEvery = 500;
    options.progress = hjx::standardErrorProgress();
    hjx::StopSignal stop;
    hjx::TrainSummary summary = valueOrDie(hjx::train(program, data, &heldOut, options, &stop));
    std::cout << hjx::describe(summary) << "\n\nIt writes:\n\n" << program.write("It is a truth universally acknowledged, that ", 400) << "\n";
  } catch (const hjx::Error &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
