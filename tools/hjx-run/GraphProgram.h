// SPDX-License-Identifier: Apache-2.0
//
// A training graph as a program that runs: the state in buffers of a device that stay where they
// are, and the compiled functions bound to them. It is what the training loop trains, and what
// evaluation and generation read from a checkpoint.
//
// What moves: a batch and the scalars of a step go to the device, its metrics come back. The state
// comes back only where somebody asks for it (`state`): for checkpoints and hashes. All of this is
// the same code for the processor, where a copy is a memcpy. A guard sees to it that a step moves
// nothing else (the first one may: constants).
//
// Batches of steps have two places that take turns: the next one is copied, from memory that the
// device reads by itself, while the kernels of this step run.
#pragma once

#include "lib/Data/Tokenizer.h"
#include "lib/Execution/CompiledFunction.h"
#include "lib/Execution/TrainingGraph.h"
#include "lib/Train/Sampler.h"
#include "lib/Train/Trainer.h"

namespace hjx {

struct GraphProgramOptions {
  bool step = true;   ///< compile init and step
  bool eval = true;   ///< and eval, where the graph has it
  bool logits = true; ///< and logits
  bool profile = false;
  bool reserve = true; ///< take the memory for calls at once, so that what does not fit is known before anything runs
  Trace *trace = nullptr; ///< gets steps, kernels of a GPU and copies; with `profile`
  RuntimeDevice *device = &cpuDevice();
  TransferLevel transfers = TransferLevel::Disallow; ///< of steps after the first; see runtime/TransferGuard.h
  std::string dumpDir; ///< gets <function>/1-traced.mlir, ...
};

/// Not for use by several threads at once.
class GraphProgram : public TrainProgram {
public:
  static absl::StatusOr<std::unique_ptr<GraphProgram>> create(const TrainingGraph &graph,
                                                              const GraphProgramOptions &options);

  /// Fills the state from a seed through init.
  absl::Status initialise(uint64_t seed);

  absl::StatusOr<StepResult> step(std::span<const Batch> batches, double learningRate, int64_t step) override;
  absl::StatusOr<double> evaluate(const Batch &batch) override;
  absl::StatusOr<std::vector<NamedTensor>> state() override;
  absl::Status restore(const SafetensorsFile &checkpoint) override;

  int64_t context() const;
  /// Returns the logits for the token after `tokens`, of which the last `context()` count.
  absl::StatusOr<std::vector<float>> nextLogits(std::span<const int32_t> tokens);

  /// A table of the compiled functions: compile time, FLOPs of matrix products, arena.
  std::string describeFunctions() const;
  /// A table of the time spent in each; with `profile`, also of the kernels that took most.
  absl::StatusOr<std::string> profile() const;
  /// The memory plan of each.
  std::string memoryPlans() const;

private:
  struct Bound {
    CompiledFunction function;
    std::vector<DeviceBuffer> owned;
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    int64_t numCalls = 0, beganNs = 0;
    double seconds = 0;

    absl::Status call();
    /// The two halves of `call`: to ask the device, and to wait for it.
    absl::Status launch();
    absl::Status wait();
    /// The index of the argument, or -1.
    int argument(std::string_view role, std::string_view leafName) const;
    /// Sets an argument, which has that many bytes, from host memory.
    absl::Status set(int argument, const void *bytes) const;
    /// Sets an argument of the batch to the ids of all `parts`, one after the other.
    absl::Status setTokens(std::string_view leafName, std::span<const std::span<const int32_t>> parts) const;
    /// Returns `count` elements of a float result, from element `first` on.
    absl::StatusOr<std::vector<double>> read(size_t result, size_t first, size_t count) const;
  };

  /// A place for the batch of a step: buffers of the device, and what they are copied from.
  struct BatchPlace {
    struct Part {
      int argument; ///< of step
      DeviceBuffer buffer;
      std::unique_ptr<StagingBuffer> staging;
    };
    std::vector<Part> parts;
    bool isFilled = false;
  };

  GraphProgram(const TrainingGraph &graph, const GraphProgramOptions &options)
      : graph_(graph), device_(*options.device), trace_(options.trace) {}
  /// Takes the memory that a call needs beside its arguments and results.
  absl::Status reserve(const Bound &bound) const;
  absl::StatusOr<Bound> bind(const std::string &name, const GraphProgramOptions &options);
  absl::Status makePlaces();
  /// Asks for copies of the batches to `place`, unless they are there.
  absl::Status fillPlace(BatchPlace &place, std::span<const Batch> batches);
  absl::Status traceCopies();
  std::vector<const Bound *> bound() const;

  const TrainingGraph &graph_;
  TransferLevel transfers_ = TransferLevel::Disallow;
  bool hasStepped_ = false;
  RuntimeDevice &device_;
  std::vector<DeviceBuffer> state_; ///< in the order of graph_.state()
  std::optional<Bound> init_, step_, eval_, logits_;
  BatchPlace places_[2]; ///< of step_; this step's is the first
  Trace *trace_;
  DeviceClock clock_;              ///< of this step, if there is a trace
  std::vector<DeviceSpan> copies_; ///< that are not in the trace yet
};

/// Draws `count` tokens after `tokens`, of which there is one at least; calls `emit` with each
/// piece of text.
absl::Status generateText(GraphProgram &program, const Tokenizer &tokenizer, std::vector<int32_t> tokens, int64_t count,
                          const Sampler &sampler, const std::function<void(std::string_view)> &emit);

} // namespace hjx
