// SPDX-License-Identifier: Apache-2.0
//
// The training loop, with the model behind an interface of four functions.
//
// The loop owns everything that is not arithmetic: batches, schedule, metrics, validation,
// checkpoints, resume, stopping. Its promise is that a run is a function of its configuration:
// N steps, or k steps, a kill and N - k steps, give the same parameters bit by bit. Batches and
// schedule are computed from the step number, and what else has memory (spike windows, skip
// counts, the program's own tensors) is in the checkpoint.
//
//   run folder: config.json  metrics.jsonl  run.log  loss.svg  ...  checkpoints/
#pragma once

#include "lib/Data/Batches.h"
#include "lib/Train/Checkpoints.h"
#include "lib/Train/Progress.h"
#include "lib/Train/Schedule.h"
#include "lib/Train/StopSignal.h"

#include <limits>

namespace hjx {

struct StepResult {
  double loss = 0;         ///< mean over all tokens of all micro-batches
  double gradientNorm = 0; ///< before clipping
  double clipFactor = 1;   ///< what the gradient was multiplied by
  std::vector<std::pair<std::string, double>> others; ///< logged by name
};

/// What a model offers to the loop; hjx-run implements it over compiled graphs.
class TrainProgram {
public:
  virtual ~TrainProgram() = default;

  /// Makes one update from the gradients of `batches`, averaged. When the loss or the norm is not
  /// finite, it must leave all state as it was.
  virtual absl::StatusOr<StepResult> step(std::span<const Batch> batches, double learningRate,
                                          int64_t step) = 0;

  /// While a step runs, the program may ask for the batches of the next one, to bring them to where
  /// they are needed; none if that is not known. Set by train().
  std::function<std::span<const Batch>()> nextBatches;

  /// Returns the mean loss over one batch, without changing anything.
  virtual absl::StatusOr<double> evaluate(const Batch &batch) = 0;

  /// Copies all state out: parameters and the optimizer's, the same names at every call.
  virtual absl::StatusOr<std::vector<NamedTensor>> state() = 0;

  /// Replaces all state; the loop has checked names, types and shapes.
  virtual absl::Status restore(const SafetensorsFile &checkpoint) = 0;
};

struct TrainOptions {
  std::string runFolder;
  Json config;                       ///< merged; must be the same on resume ...
  std::vector<std::string> freeKeys; ///< ... except for these
  std::string resume;                ///< "" begins; else "latest", "best", a step, a path

  int64_t steps = 0; ///< of the whole run, restarts included
  Schedule schedule;
  int64_t validateEvery = 0;      ///< 0: only at the end
  uint64_t validationBatches = 0; ///< from the start of the stream; 0: all full ones
  double bytesPerToken = 0;       ///< when known, validation is logged in bits per byte too
  int64_t checkpointEvery = 0;    ///< 0: only at the end or when stopped
  CheckpointPolicy checkpoints;
  int64_t hashEvery = 0;
  int64_t maxConsecutiveSkips = 0;  ///< see NonFiniteGuard
  std::optional<double> targetLoss; ///< stop when the validation loss reaches this
  std::optional<double> maxSeconds; ///< stop, as a signal would, after so long in this session
  bool overfitOneBatch = false;     ///< every step sees the batches of step 0
  int64_t sampleEvery = 0;
  std::function<absl::StatusOr<std::string>(int64_t step)> sample;

  ProgressOptions progress;
};

enum class StopReason { Finished, TargetReached, Signalled };

struct TrainSummary {
  StopReason reason = StopReason::Finished;
  int64_t step = 0;
  uint64_t tokens = 0; ///< over all restarts, as are the seconds and skipped steps
  double seconds = 0;
  int64_t skipped = 0;
  double loss = std::numeric_limits<double>::quiet_NaN(); ///< of the last step, if one was made
  std::optional<double> validationLoss;
  uint64_t parametersHash = 0;
};

/// Trains; `validation` and `stop` may be null.
/// Errors: a run folder in use or already trained in, a resume that does not fit, bad data, a
/// non-finite loss or norm beyond the limit (after naming the tensors in run.log), a failed write.
absl::StatusOr<TrainSummary> train(TrainProgram &program, const BatchStream &data,
                                   const BatchStream *validation, const TrainOptions &options,
                                   const StopSignal *stop = nullptr);

/// "finished at step 1000: 98.3M tokens in 1h02m, loss 3.2, validation 3.3, 0 skipped, parameters
/// ..."
std::string describe(const TrainSummary &summary);

} // namespace hjx
