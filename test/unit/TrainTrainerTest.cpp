// SPDX-License-Identifier: Apache-2.0
//
// The training loop around a small model in plain C++ (a table of bigram logits, stochastic
// gradient descent with momentum): learning, bitwise resume, refusals, guards, stopping.
#include "TemporaryFolder.h"

#include "lib/Train/Metrics.h"
#include "lib/Train/Trainer.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <csignal>
#include <map>

namespace hjx {
namespace {

namespace fs = std::filesystem;
using test::FailsWith;
using test::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kVocabulary = 16;

class Bigram : public TrainProgram {
public:
  std::vector<float> table = std::vector<float>(kVocabulary * kVocabulary, 0.0f);
  std::vector<float> momentum = table;
  double clip = 1;
  std::map<int64_t, double> brokenSteps; ///< step -> loss to report in place of an update
  std::function<void(int64_t)> onStep;
  int evaluations = 0;

  absl::StatusOr<StepResult> step(std::span<const Batch> batches, double rate,
                                  int64_t step) override {
    if (onStep)
      onStep(step);
    if (auto it = brokenSteps.find(step); it != brokenSteps.end())
      return StepResult{it->second, 1};
    StepResult result;
    std::vector<float> gradient(table.size(), 0.0f);
    for (const Batch &batch : batches)
      result.loss += accumulate(batch, gradient, 1.0 / static_cast<double>(batches.size()));
    for (float g : gradient)
      result.gradientNorm += double{g} * g;
    result.gradientNorm = std::sqrt(result.gradientNorm);
    result.clipFactor = std::min(1.0, clip / result.gradientNorm);
    for (size_t i = 0; i < table.size(); ++i) {
      momentum[i] = 0.9f * momentum[i] + static_cast<float>(result.clipFactor) * gradient[i];
      table[i] -= static_cast<float>(rate) * momentum[i];
    }
    return result;
  }
  absl::StatusOr<double> evaluate(const Batch &batch) override {
    ++evaluations;
    std::vector<float> unused(table.size(), 0.0f);
    return accumulate(batch, unused, 1);
  }
  absl::StatusOr<std::vector<NamedTensor>> state() override {
    auto tensor = [](const char *name, const std::vector<float> &values) {
      return NamedTensor{
          name, {StoredType::F32, {kVocabulary, kVocabulary}, std::string(bytesOf(values))}};
    };
    return std::vector<NamedTensor>{tensor("table", table), tensor("momentum", momentum)};
  }
  absl::Status restore(const SafetensorsFile &checkpoint) override {
    table = checkpoint.load("table")->as<float>();
    momentum = checkpoint.load("momentum")->as<float>();
    return absl::OkStatus();
  }

private:
  double accumulate(const Batch &batch, std::vector<float> &gradient, double share) {
    double mean = 0, weight = share / static_cast<double>(batch.inputs.size());
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      size_t row = static_cast<size_t>(batch.inputs[i]) * kVocabulary;
      double total = 0;
      for (int j = 0; j < kVocabulary; ++j)
        total += std::exp(double{table[row + j]});
      for (int j = 0; j < kVocabulary; ++j) {
        double p = std::exp(double{table[row + j]}) / total;
        double target = j == batch.targets[i] ? 1 : 0;
        gradient[row + j] += static_cast<float>((p - target) * weight);
        mean -= target * std::log(p) * weight;
      }
    }
    return mean;
  }
};

/// A chain that is easy to predict: 3 x + 1 mod 16, now and then x itself.
TokenSource chain(size_t length) {
  std::vector<int32_t> tokens = {5};
  uint32_t noise = 1;
  while (tokens.size() < length) {
    noise = noise * 1664525u + 1013904223u;
    tokens.push_back(noise >> 29 ? (3 * tokens.back() + 1) % kVocabulary : tokens.back());
  }
  return TokenSource::fromTokens(tokens);
}

class Trainer : public ::testing::Test {
protected:
  Trainer()
      : data(*BatchStream::create(chain(1000), {8, 4, 2}, WindowOrder::Shuffled, 3)),
        validation(*BatchStream::create(chain(200), {8, 4})) {
    options.runFolder = folder.path("run");
    options.config = {{"width", 16}, {"log_every", 1}};
    options.freeKeys = {"log_every"};
    options.steps = 40;
    options.schedule = {ScheduleKind::WarmupCosine, 0, 8, 1, 4, 40};
    options.validateEvery = 10;
    options.checkpointEvery = 10;
    options.progress.write = [this](std::string_view text) { screen += text; };
    options.progress.seconds = [] { return 0.0; };
  }
  absl::StatusOr<TrainSummary> run(Bigram &program, const StopSignal *stop = nullptr) {
    return train(program, data, &validation, options, stop);
  }
  std::vector<MetricsRecord> metrics() {
    auto records = readMetrics(options.runFolder + "/metrics.jsonl");
    EXPECT_THAT(records, IsOk());
    return *records;
  }
  std::string log() { return folder.read("run/run.log"); }

  test::TemporaryFolder folder;
  BatchStream data, validation;
  TrainOptions options;
  std::string screen;
};

TEST_F(Trainer, LearnsAndLeavesACompleteRunFolder) {
  Bigram program;
  auto summary = run(program);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->reason, StopReason::Finished);
  EXPECT_EQ(summary->step, 40);
  EXPECT_EQ(summary->tokens, 40u * 64);
  std::vector<MetricsRecord> records = metrics();
  EXPECT_NEAR(*records[0].value("loss"), std::log(kVocabulary), 1e-6) << "uniform at the start";
  EXPECT_LT(*summary->validationLoss, 1.0);
  EXPECT_EQ(records[0].value("learning_rate"), 0) << "the first update uses the initial rate";
  EXPECT_EQ(records[3].value("learning_rate"), 6);
  for (const char *name :
       {"config.json", "metrics.jsonl", "run.log", "loss.svg", "loss-log.svg", "learning-rate.svg",
        "checkpoints/latest/meta.json", "checkpoints/best/state.safetensors"})
    EXPECT_TRUE(fs::exists(fs::path(options.runFolder) / name)) << name;
  EXPECT_EQ(Json::parse(folder.read("run/config.json")), options.config);
  size_t validations = 0;
  for (const MetricsRecord &record : records)
    if (record.kind == "validation") {
      ++validations;
      EXPECT_NEAR(*record.value("perplexity"), std::exp(*record.value("loss")), 1e-9);
    }
  EXPECT_EQ(validations, 4u);
  EXPECT_THAT(log(), HasSubstr("finished at step 40: 2.56k tokens"));
  EXPECT_THAT(screen, HasSubstr("step 40/40"));
}

TEST_F(Trainer, ResumedRunEqualsTheUnbrokenOneBitByBit) {
  Bigram whole;
  auto unbroken = run(whole);
  ASSERT_THAT(unbroken, IsOk());
  std::vector<MetricsRecord> wanted = metrics();

  options.runFolder = folder.path("broken");
  for (int64_t crashAt : {17, 33}) { // killed mid-way, twice; each time from the last checkpoint
    Bigram program;
    program.onStep = [&](int64_t step) {
      if (step == crashAt)
        throw std::runtime_error("killed");
    };
    EXPECT_THROW(run(program).IgnoreError(), std::runtime_error);
    options.resume = "latest";
  }
  Bigram program;
  auto resumed = run(program);
  ASSERT_THAT(resumed, IsOk());
  EXPECT_EQ(resumed->parametersHash, unbroken->parametersHash);
  EXPECT_EQ(program.table, whole.table);
  EXPECT_EQ(program.momentum, whole.momentum);
  EXPECT_EQ(resumed->tokens, unbroken->tokens);
  EXPECT_EQ(*resumed->validationLoss, *unbroken->validationLoss);
  std::vector<MetricsRecord> got = metrics();
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].step, wanted[i].step);
    EXPECT_EQ(got[i].kind, wanted[i].kind);
    for (const char *name : {"loss", "grad_norm", "clip_factor", "clipped_fraction",
                             "learning_rate", "tokens", "loss_z", "perplexity"})
      EXPECT_EQ(got[i].value(name), wanted[i].value(name)) << name << " at step " << got[i].step;
  }
}

TEST_F(Trainer, ASignalEndsTheStepSavesAndResumes) {
  Bigram whole;
  uint64_t hash = run(whole)->parametersHash;
  options.runFolder = folder.path("stopped");
  {
    StopSignal stop;
    Bigram program;
    program.onStep = [](int64_t step) {
      if (step == 22)
        std::raise(SIGTERM);
    };
    auto summary = run(program, &stop);
    ASSERT_THAT(summary, IsOk());
    EXPECT_EQ(summary->reason, StopReason::Signalled);
    EXPECT_EQ(summary->step, 23) << "the step is finished first";
  }
  options.resume = "latest";
  Bigram program;
  auto summary = run(program);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->parametersHash, hash);
}

TEST_F(Trainer, RefusesToMixRuns) {
  Bigram program;
  ASSERT_THAT(run(program), IsOk());
  EXPECT_THAT(run(program), FailsWith("a run folder without checkpoints for a new run"));
  options.resume = "latest";
  options.config["log_every"] = 5;
  EXPECT_THAT(run(program), IsOk()) << "a free key; nothing left to do";
  options.config["width"] = 32;
  EXPECT_THAT(run(program), FailsWith("width: 16 before, 32 now"));
  options.config["width"] = 16;
  options.resume = "11";
  EXPECT_THAT(run(program), FailsWith("'11', which is not in"));
}

TEST_F(Trainer, ADamagedStateIsNotResumed) {
  Bigram program;
  ASSERT_THAT(run(program), IsOk());
  std::string path = options.runFolder + "/checkpoints/step-00000040/state.safetensors";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('!');
  file.close();
  options.resume = "latest";
  EXPECT_THAT(run(program), FailsWith("parameters with hash"));
}

TEST_F(Trainer, ANonFiniteLossEndsTheRunAndNamesTensors) {
  Bigram program;
  program.brokenSteps[13] = std::nan("");
  program.onStep = [&](int64_t step) {
    if (step == 13)
      program.momentum[7] = std::nanf("");
  };
  EXPECT_THAT(run(program), FailsWith("at step 14"));
  EXPECT_THAT(log(), HasSubstr("not finite: momentum: 1 NaN, 0 infinite, first at element 7"));
  EXPECT_THAT(log(), Not(HasSubstr("table:")));
  EXPECT_EQ(openCheckpoint(options.runFolder + "/checkpoints", "latest")->meta.step, 10)
      << "the last good checkpoint stays the last";
}

TEST_F(Trainer, SkipsNonFiniteStepsWhenAllowedAndCountsThemOverRestarts) {
  options.maxConsecutiveSkips = 1;
  Bigram program;
  program.brokenSteps = {{5, std::nan("")}, {20, HUGE_VAL}};
  options.steps = 15;
  ASSERT_THAT(run(program), IsOk());
  options.steps = 40;
  options.resume = "latest";
  auto summary = run(program);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->skipped, 2);
  EXPECT_TRUE(std::isnan(*metrics()[5].value("loss")));
  EXPECT_THAT(log(), HasSubstr("step 21 skipped: loss inf"));
  program.brokenSteps = {{41, HUGE_VAL}, {42, HUGE_VAL}};
  options.steps = 50;
  EXPECT_THAT(run(program), FailsWith("at step 43"));
}

TEST_F(Trainer, StopsAtTheTargetLoss) {
  options.targetLoss = 1.5;
  options.validateEvery = 1;
  Bigram program;
  auto summary = run(program);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->reason, StopReason::TargetReached);
  EXPECT_LT(summary->step, 40);
  EXPECT_LE(*summary->validationLoss, 1.5);
}

TEST_F(Trainer, OverfitsOneBatch) {
  options.overfitOneBatch = true;
  Bigram program;
  ASSERT_THAT(run(program), IsOk());
  double overfitted = *metrics()[38].value("loss");
  options.overfitOneBatch = false;
  options.runFolder = folder.path("all");
  Bigram other;
  ASSERT_THAT(run(other), IsOk());
  double trained = 0;
  for (const MetricsRecord &record : metrics())
    if (record.kind == "train" && record.step > 30)
      trained += *record.value("loss") / 10;
  EXPECT_LT(overfitted, trained);
}

TEST_F(Trainer, HashesSamplesAndLimitsValidation) {
  options.hashEvery = 20;
  options.sampleEvery = 15;
  options.validationBatches = 2;
  options.bytesPerToken = 4;
  options.sample = [](int64_t step) -> absl::StatusOr<std::string> {
    return absl::StrCat("text ", step, " \x1b[31m");
  };
  Bigram program;
  ASSERT_THAT(run(program), IsOk());
  EXPECT_EQ(program.evaluations, 4 * 2);
  EXPECT_THAT(log(), HasSubstr("step 20: parameters "));
  EXPECT_THAT(log(), HasSubstr(" momentum\n"));
  EXPECT_THAT(log(), HasSubstr("sample at step 30:\n    text 30 \\x1b[31m"));
  EXPECT_THAT(screen, Not(HasSubstr("\x1b")));
  EXPECT_THAT(log(), Not(HasSubstr("unchanged")));
  for (const MetricsRecord &record : metrics())
    if (record.kind == "validation")
      EXPECT_NEAR(*record.value("bits_per_byte"), *record.value("loss") / std::log(2) / 4, 1e-12);
}

TEST_F(Trainer, NoticesParametersThatNeverChange) {
  options.hashEvery = 10;
  options.schedule = {ScheduleKind::Constant, 0, 0, 0};
  Bigram program;
  ASSERT_THAT(run(program), IsOk());
  EXPECT_THAT(log(), HasSubstr("unchanged since the last hash: table"));
}

TEST_F(Trainer, BadDataIsAnErrorWithItsPlace) {
  validation = *BatchStream::create(chain(20), {8, 4});
  Bigram program;
  EXPECT_THAT(run(program), FailsWith("validation: expected at least 4 windows, got 2"));
}

} // namespace
} // namespace hjx
