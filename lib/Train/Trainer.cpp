// SPDX-License-Identifier: Apache-2.0
//
// One object for the life of a run; train() at the end reads as the table of contents.
#include "lib/Train/Trainer.h"

#include "lib/Data/File.h"
#include "lib/Train/Metrics.h"
#include "lib/Train/NonFinite.h"
#include "lib/Train/ParameterHash.h"
#include "lib/Train/RunCharts.h"
#include "lib/Train/RunLog.h"
#include "lib/Train/RunningMean.h"
#include "lib/Train/SpikeDetector.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace hjx {
namespace {

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Run {
public:
  Run(TrainProgram &program, const BatchStream &data, const BatchStream *validation,
      const TrainOptions &options, CheckpointStore store, RunLog log)
      : program_(program), data_(data), validation_(validation), options_(options),
        store_(std::move(store)), log_(std::move(log)), guard_(options.maxConsecutiveSkips),
        startedAt_(steadySeconds()) {}

  absl::Status begin();
  absl::Status loop(const StopSignal *stop);
  absl::StatusOr<TrainSummary> finish();
  std::span<const Batch> readNext();

private:
  absl::Status resume();
  absl::Status oneStep();
  absl::Status readBatches(int64_t step, std::vector<Batch> &to);
  absl::Status reportNonFinite(const StepResult &result, double learningRate);
  absl::Status validate();
  absl::Status save();
  absl::Status hashParameters();
  absl::Status sample();
  absl::Status record(const std::string &kind, std::vector<std::pair<std::string, double>> values);
  absl::Status note(const std::string &text);

  bool due(int64_t every) const { return every > 0 && summary_.step % every == 0; }
  double secondsSoFar() const { return secondsBefore_ + steadySeconds() - startedAt_; }

  TrainProgram &program_;
  const BatchStream &data_;
  const BatchStream *validation_;
  const TrainOptions &options_;
  CheckpointStore store_;
  RunLog log_;
  std::optional<MetricsLog> metrics_;
  std::optional<Progress> progress_;

  NonFiniteGuard guard_;
  SpikeDetector lossSpikes_, normSpikes_;
  int64_t clipped_ = 0;
  double startedAt_;
  double secondsBefore_ = 0;
  std::vector<Batch> batches_, nextBatches_;
  int64_t nextStep_ = -1; ///< whose batches nextBatches_ holds
  std::vector<TensorHash> hashes_;
  int64_t validatedAt_ = -1, savedAt_ = -1;
  TrainSummary summary_;
};

absl::Status Run::begin() {
  if (!options_.resume.empty()) {
    HJX_RETURN_IF_ERROR(resume());
  } else {
    HJX_RETURN_IF_ERROR(store_.checkNew(options_.runFolder));
  }
  HJX_RETURN_IF_ERROR(writeFileAtomically(
      options_.runFolder + "/config.json",
      options_.config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  HJX_ASSIGN_OR_RETURN(MetricsLog metrics,
                       MetricsLog::open(options_.runFolder + "/metrics.jsonl", summary_.step));
  metrics_.emplace(std::move(metrics));
  progress_.emplace(options_.progress, summary_.step, options_.steps);
  return note(absl::StrCat(options_.resume.empty() ? "started" : "resumed", " at step ",
                           summary_.step, " of ", options_.steps, ", configuration ",
                           configHash(options_.config)));
}

absl::Status Run::resume() {
  HJX_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                       openCheckpoint(options_.runFolder + "/checkpoints", options_.resume));
  HJX_RETURN_IF_ERROR(checkResume(checkpoint.meta, options_.config, options_.freeKeys));
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> expected, program_.state());
  HJX_RETURN_IF_ERROR(checkTensors(checkpoint.tensors, viewsOf(expected)));
  HJX_RETURN_IF_ERROR(program_.restore(checkpoint.tensors));
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> restored, program_.state());
  std::string hash = formatHash(combinedHash(hashTensors(viewsOf(restored))));
  if (hash != checkpoint.meta.parametersHash)
    return badInput(checkpoint.path,
                    absl::StrCat("parameters with hash ", checkpoint.meta.parametersHash), hash,
                    "the state file is damaged; resume from another checkpoint");

  const Json &state = checkpoint.meta.state;
  for (const char *key : {"non_finite", "loss_spikes", "norm_spikes", "clipped"})
    if (!state.is_object() || !state.contains(key))
      return badInput(checkpoint.path, absl::StrCat("a state with '", key, "'"), "none",
                      "resume from another checkpoint");
  HJX_RETURN_IF_ERROR(guard_.restore(state["non_finite"]));
  HJX_RETURN_IF_ERROR(lossSpikes_.restore(state["loss_spikes"]));
  HJX_RETURN_IF_ERROR(normSpikes_.restore(state["norm_spikes"]));
  clipped_ = state["clipped"].is_number_integer() ? state["clipped"].get<int64_t>() : 0;
  summary_.step = checkpoint.meta.step;
  summary_.tokens = checkpoint.meta.tokens;
  summary_.validationLoss = checkpoint.meta.validationLoss;
  if (summary_.validationLoss)
    validatedAt_ = summary_.step;
  secondsBefore_ = checkpoint.meta.seconds;
  savedAt_ = summary_.step;
  return absl::OkStatus();
}

absl::Status Run::loop(const StopSignal *stop) {
  while (summary_.step < options_.steps) {
    if (stop && stop->requested()) {
      summary_.reason = StopReason::Signalled;
      return note("stopped by a signal");
    }
    if (options_.maxSeconds && steadySeconds() - startedAt_ >= *options_.maxSeconds) {
      summary_.reason = StopReason::Signalled;
      return note("stopped: out of time");
    }
    HJX_RETURN_IF_ERROR(oneStep());
    if (due(options_.hashEvery))
      HJX_RETURN_IF_ERROR(hashParameters());
    if (due(options_.sampleEvery) && options_.sample)
      HJX_RETURN_IF_ERROR(sample());
    if (due(options_.validateEvery))
      HJX_RETURN_IF_ERROR(validate());
    if (due(options_.checkpointEvery))
      HJX_RETURN_IF_ERROR(save());
    if (options_.targetLoss && validatedAt_ == summary_.step &&
        *summary_.validationLoss <= *options_.targetLoss) {
      summary_.reason = StopReason::TargetReached;
      return note(absl::StrFormat("target loss %g reached", *options_.targetLoss));
    }
  }
  return absl::OkStatus();
}

absl::Status Run::readBatches(int64_t step, std::vector<Batch> &to) {
  to.resize(data_.layout().accumulate);
  for (size_t micro = 0; micro < to.size(); ++micro)
    HJX_RETURN_IF_ERROR(data_.read(static_cast<uint64_t>(step), micro, to[micro]));
  return absl::OkStatus();
}

/// What the step after this one will see. That it cannot be read is said when it is its turn.
std::span<const Batch> Run::readNext() {
  if (options_.overfitOneBatch)
    return batches_;
  int64_t step = summary_.step + 1;
  if (step >= options_.steps || !readBatches(step, nextBatches_).ok())
    return {};
  nextStep_ = step;
  return nextBatches_;
}

absl::Status Run::oneStep() {
  const int64_t step = summary_.step;
  const double began = steadySeconds();
  if (nextStep_ == step)
    std::swap(batches_, nextBatches_);
  else if (!options_.overfitOneBatch || batches_.empty())
    HJX_RETURN_IF_ERROR(readBatches(options_.overfitOneBatch ? 0 : step, batches_));
  const double rate = learningRate(options_.schedule, step);
  HJX_ASSIGN_OR_RETURN(StepResult result, program_.step(batches_, rate, step));

  NonFiniteAction action = guard_.observe(result.loss, result.gradientNorm);
  if (action == NonFiniteAction::Abort)
    return reportNonFinite(result, rate);
  if (action == NonFiniteAction::Skip)
    HJX_RETURN_IF_ERROR(note(absl::StrFormat("step %d skipped: loss %g, gradient norm %g", step + 1,
                                             result.loss, result.gradientNorm)));
  ++summary_.step;
  summary_.tokens += data_.layout().tokensPerStep();
  summary_.loss = result.loss;
  clipped_ += action == NonFiniteAction::Apply && result.clipFactor < 1;
  const double seconds = steadySeconds() - began;
  std::vector<std::pair<std::string, double>> values = {
      {"loss", result.loss},
      {"grad_norm", result.gradientNorm},
      {"clip_factor", result.clipFactor},
      {"clipped_fraction", static_cast<double>(clipped_) / static_cast<double>(summary_.step)},
      {"learning_rate", rate},
      {"tokens", static_cast<double>(summary_.tokens)},
      {"step_seconds", seconds},
      {"tokens_per_second", static_cast<double>(data_.layout().tokensPerStep()) / seconds}};
  values.insert(values.end(), result.others.begin(), result.others.end());
  if (std::optional<double> score = lossSpikes_.observe(result.loss))
    values.emplace_back("loss_z", *score);
  if (std::optional<double> score = normSpikes_.observe(result.gradientNorm))
    values.emplace_back("grad_norm_z", *score);
  HJX_RETURN_IF_ERROR(record("train", std::move(values)));
  progress_->update(summary_.step, data_.layout().tokensPerStep(), result.loss);
  return absl::OkStatus();
}

absl::Status Run::reportNonFinite(const StepResult &result, double learningRate) {
  std::string what =
      absl::StrFormat("loss %g and gradient norm %g at step %d (learning rate %g)", result.loss,
                      result.gradientNorm, summary_.step + 1, learningRate);
  HJX_RETURN_IF_ERROR(note(absl::StrCat("not finite: ", what)));
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> state, program_.state());
  std::vector<NonFiniteTensor> tensors = findNonFinite(viewsOf(state));
  for (const NonFiniteTensor &tensor : tensors)
    HJX_RETURN_IF_ERROR(note("not finite: " + describe(tensor)));
  return badInput(
      options_.runFolder, "finite values",
      absl::StrCat(what, tensors.empty() ? ", from finite parameters"
                                         : ", from parameters that are not finite themselves"),
      "see run.log for the tensors; lower the learning rate, or allow skipped steps, and "
      "resume from \"latest\"");
}

absl::Status Run::validate() {
  if (!validation_ || validatedAt_ == summary_.step)
    return absl::OkStatus();
  uint64_t count = validation_->numFullBatches();
  if (options_.validationBatches > 0)
    count = std::min(count, options_.validationBatches);
  if (count == 0)
    return badInput(
        "validation", absl::StrCat("at least ", validation_->layout().batch, " windows"),
        absl::StrCat(validation_->numWindows()), "hold out more text, or shrink the batch");
  Batch batch;
  RunningMean mean; // all batches have as many tokens
  for (uint64_t i = 0; i < count; ++i) {
    HJX_RETURN_IF_ERROR(validation_->read(i, 0, batch));
    HJX_ASSIGN_OR_RETURN(double loss, program_.evaluate(batch));
    mean.add(loss);
  }
  validatedAt_ = summary_.step;
  summary_.validationLoss = mean.value();
  std::vector<std::pair<std::string, double>> values = {{"loss", mean.value()},
                                                        {"perplexity", std::exp(mean.value())}};
  if (options_.bytesPerToken > 0)
    values.emplace_back("bits_per_byte", mean.value() / std::numbers::ln2 / options_.bytesPerToken);
  HJX_RETURN_IF_ERROR(record("validation", std::move(values)));
  return note(absl::StrFormat("step %d: validation loss %.4f", summary_.step, mean.value()));
}

absl::Status Run::save() {
  if (savedAt_ == summary_.step)
    return absl::OkStatus();
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, program_.state());
  CheckpointMeta meta;
  meta.step = summary_.step;
  meta.tokens = summary_.tokens;
  meta.seconds = secondsSoFar();
  if (validatedAt_ == summary_.step)
    meta.validationLoss = summary_.validationLoss;
  meta.config = options_.config;
  meta.state = {{"non_finite", guard_.state()},
                {"loss_spikes", lossSpikes_.state()},
                {"norm_spikes", normSpikes_.state()},
                {"clipped", clipped_}};
  meta.parametersHash = formatHash(combinedHash(hashTensors(viewsOf(tensors))));
  HJX_RETURN_IF_ERROR(store_.save(meta, viewsOf(tensors)));
  savedAt_ = summary_.step;
  HJX_ASSIGN_OR_RETURN(std::vector<MetricsRecord> records,
                       readMetrics(options_.runFolder + "/metrics.jsonl"));
  HJX_RETURN_IF_ERROR(writeRunCharts(options_.runFolder, records));
  return note(absl::StrCat("saved checkpoint at step ", summary_.step, ", parameters ",
                           meta.parametersHash));
}

absl::Status Run::hashParameters() {
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, program_.state());
  std::vector<TensorHash> hashes = hashTensors(viewsOf(tensors));
  HJX_RETURN_IF_ERROR(log_.write(
      absl::StrCat("step ", summary_.step, ": parameters ", formatHash(combinedHash(hashes)))));
  for (const TensorHash &entry : hashes)
    HJX_RETURN_IF_ERROR(log_.write(absl::StrCat("  ", formatHash(entry.hash), " ", entry.name)));
  for (const std::string &name : unchangedTensors(hashes_, hashes))
    HJX_RETURN_IF_ERROR(note(absl::StrCat("unchanged since the last hash: ", name)));
  hashes_ = std::move(hashes);
  return absl::OkStatus();
}

absl::Status Run::sample() {
  HJX_ASSIGN_OR_RETURN(std::string text, options_.sample(summary_.step));
  return note(absl::StrCat("sample at step ", summary_.step, ":\n", text));
}

absl::Status Run::record(const std::string &kind,
                         std::vector<std::pair<std::string, double>> values) {
  return metrics_->append({summary_.step, kind, std::move(values)});
}

absl::Status Run::note(const std::string &text) {
  if (progress_)
    progress_->note(printableText(text));
  return log_.write(text);
}

absl::StatusOr<TrainSummary> Run::finish() {
  if (summary_.reason == StopReason::Finished)
    HJX_RETURN_IF_ERROR(validate());
  HJX_RETURN_IF_ERROR(save());
  progress_->finish();
  HJX_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, program_.state());
  summary_.parametersHash = combinedHash(hashTensors(viewsOf(tensors)));
  summary_.seconds = secondsSoFar();
  summary_.skipped = guard_.skipped();
  HJX_RETURN_IF_ERROR(log_.write(describe(summary_)));
  return summary_;
}

} // namespace

absl::StatusOr<TrainSummary> train(TrainProgram &program, const BatchStream &data,
                                   const BatchStream *validation, const TrainOptions &options,
                                   const StopSignal *stop) {
  std::error_code error;
  std::filesystem::create_directories(options.runFolder, error);
  HJX_ASSIGN_OR_RETURN(
      CheckpointStore store,
      CheckpointStore::open(options.runFolder + "/checkpoints", options.checkpoints));
  HJX_ASSIGN_OR_RETURN(RunLog log, RunLog::open(options.runFolder + "/run.log"));
  Run run(program, data, validation, options, std::move(store), std::move(log));
  HJX_RETURN_IF_ERROR(run.begin());
  program.nextBatches = [&run] { return run.readNext(); };
  absl::Status status = run.loop(stop);
  program.nextBatches = nullptr;
  HJX_RETURN_IF_ERROR(status);
  return run.finish();
}

std::string describe(const TrainSummary &summary) {
  const char *reason = summary.reason == StopReason::Finished        ? "finished"
                       : summary.reason == StopReason::TargetReached ? "reached the target"
                                                                     : "stopped";
  std::string out = absl::StrFormat("%s at step %d: %s tokens in %s, loss %.4f", reason,
                                    summary.step, formatCount(static_cast<double>(summary.tokens)),
                                    formatDuration(summary.seconds), summary.loss);
  if (summary.validationLoss)
    absl::StrAppendFormat(&out, ", validation %.4f", *summary.validationLoss);
  absl::StrAppend(&out, ", ", summary.skipped, " skipped, parameters ",
                  formatHash(summary.parametersHash));
  return out;
}

} // namespace hjx
