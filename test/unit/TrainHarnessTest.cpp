// SPDX-License-Identifier: Apache-2.0
//
// The small parts around a step: progress, signals, non-finite and spike guards, hashes, sampling.
#include "TemporaryFolder.h"

#include "lib/Train/NonFinite.h"
#include "lib/Train/ParameterHash.h"
#include "lib/Train/Progress.h"
#include "lib/Train/RunningMean.h"
#include "lib/Train/Sampler.h"
#include "lib/Train/SpikeDetector.h"
#include "lib/Train/StopSignal.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <csignal>
#include <limits>
#include <map>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Screen {
  double now = 0;
  std::string text;
  ProgressOptions options(bool terminal, double interval, int columns = 100) {
    ProgressOptions o;
    o.terminal = terminal;
    o.intervalSeconds = interval;
    o.columns = columns;
    o.write = [this](std::string_view part) { text += part; };
    o.seconds = [this] { return now; };
    return o;
  }
};

TEST(Progress, PlainLinesAreRateLimited) {
  Screen screen;
  Progress progress(screen.options(false, 10), 0, 100);
  screen.now = 50; // compilation
  progress.update(1, 1000, 5);
  for (int step = 2; step <= 21; ++step) {
    screen.now += 1;
    progress.update(step, 1000, 4.5);
  }
  EXPECT_EQ(screen.text, "step 1/100  loss 5.0000\n"
                         "step 11/100  loss 4.5000  1.0 steps/s  1k tok/s  ETA 1m29s\n"
                         "step 21/100  loss 4.5000  1.0 steps/s  1k tok/s  ETA 1m19s\n");
  progress.finish();
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 3) << "21 was shown already";
}

TEST(Progress, FinishShowsTheLastStep) {
  Screen screen;
  Progress progress(screen.options(false, 1000), 10, 12);
  progress.update(11, 8, 1);
  screen.now = 4;
  progress.update(12, 8, 1);
  progress.finish();
  EXPECT_THAT(screen.text, HasSubstr("step 12/12  loss 1.0000  4.00 s/step  2 tok/s  ETA 0s\n"));
  Screen untouched;
  Progress(untouched.options(true, 1), 5, 5).finish();
  EXPECT_EQ(untouched.text, "");
}

TEST(Progress, BarFitsTheTerminalAndNotesGoAboveIt) {
  for (int columns : {1, 20, 60, 100, 200}) {
    Screen screen;
    Progress progress(screen.options(true, 0, columns), 0, 10);
    for (int step = 1; step <= 10; ++step) {
      screen.now += 0.5;
      progress.update(step, 100, 2);
      screen.text.clear();
      progress.note("saved");
      size_t row = screen.text.find('\r', 1);
      EXPECT_THAT(screen.text, ::testing::StartsWith("\r\x1b[Ksaved\n\r"));
      std::string bar = screen.text.substr(row + 1, screen.text.rfind("\x1b[K") - row - 1);
      EXPECT_LT(bar.size(), static_cast<size_t>(std::max(columns, 2)));
    }
    screen.text.clear();
    progress.finish();
    EXPECT_EQ(screen.text, "\n");
  }
}

TEST(Progress, Formats) {
  EXPECT_EQ(formatDuration(59.4), "59s");
  EXPECT_EQ(formatDuration(72), "1m12s");
  EXPECT_EQ(formatDuration(3 * 3600 + 300), "3h05m");
  EXPECT_EQ(formatDuration(2 * 86400 + 4 * 3600), "2d04h");
  EXPECT_EQ(formatDuration(std::nan("")), "?");
  EXPECT_EQ(formatDuration(HUGE_VAL), "?");
  EXPECT_EQ(formatCount(950), "950");
  EXPECT_EQ(formatCount(50'400), "50.4k");
  EXPECT_EQ(formatCount(1.25e6), "1.25M");
}

TEST(StopSignal, FirstSignalSetsTheFlag) {
  for (int signal : {SIGINT, SIGTERM}) {
    StopSignal stop;
    EXPECT_FALSE(stop.requested());
    std::raise(signal);
    EXPECT_TRUE(stop.requested());
  }
}

TEST(StopSignalDeathTest, SecondSignalExits) {
  auto twice = [](int signal) {
    StopSignal stop;
    std::raise(signal);
    std::raise(signal);
    std::abort();
  };
  EXPECT_EXIT(twice(SIGINT), ::testing::ExitedWithCode(130), "stopped at once");
  EXPECT_EXIT(twice(SIGTERM), ::testing::ExitedWithCode(143), "stopped at once");
}

TEST(StopSignal, HandlersReturnAfterwards) {
  static volatile std::sig_atomic_t mine = 0;
  std::signal(SIGTERM, [](int) { mine = 1; });
  { StopSignal stop; }
  std::raise(SIGTERM);
  EXPECT_EQ(mine, 1);
  std::signal(SIGTERM, SIG_DFL);
}

TEST(NonFiniteGuard, AbortsAtOnceByDefault) {
  NonFiniteGuard guard;
  EXPECT_EQ(guard.observe(1, 2), NonFiniteAction::Apply);
  EXPECT_EQ(guard.observe(1, kNan), NonFiniteAction::Abort);
  EXPECT_EQ(NonFiniteGuard().observe(kInf, 1), NonFiniteAction::Abort);
}

TEST(NonFiniteGuard, SkipsUpToTheLimitThenAborts) {
  NonFiniteGuard guard(2);
  EXPECT_EQ(guard.observe(kNan, 1), NonFiniteAction::Skip);
  EXPECT_EQ(guard.observe(kNan, 1), NonFiniteAction::Skip);
  EXPECT_EQ(guard.observe(1, 1), NonFiniteAction::Apply) << "a good step starts the count again";
  EXPECT_EQ(guard.observe(1, -kInf), NonFiniteAction::Skip);
  NonFiniteGuard resumed(2);
  ASSERT_THAT(resumed.restore(guard.state()), IsOk());
  EXPECT_EQ(resumed.skipped(), 3);
  EXPECT_EQ(resumed.observe(kNan, 1), NonFiniteAction::Skip);
  EXPECT_EQ(resumed.observe(kNan, 1), NonFiniteAction::Abort);
  EXPECT_THAT(resumed.restore(Json::parse("[]")), FailsWith("a count 'consecutive'"));
  EXPECT_THAT(resumed.restore(Json::parse(R"({"consecutive": 0, "skipped": -1})")),
              FailsWith("a count 'skipped'"));
}

TEST(NonFiniteTensors, AreFoundInEveryFloatType) {
  std::vector<float> f32 = {1, kNan, kInf, std::numeric_limits<float>::max()};
  std::vector<double> f64 = {-HUGE_VAL, 1e308};
  std::vector<uint16_t> f16 = {0x7bff, 0x7c00, 0xfc01}; // 65504, infinity, NaN
  std::vector<uint16_t> bf16 = {0x7f7f, 0xff80, 0x7fc0};
  std::vector<int32_t> ints = {0x7f800000};
  std::vector<TensorView> tensors = {{"a", StoredType::F32, {4}, bytesOf(f32)},
                                     {"b", StoredType::F64, {2}, bytesOf(f64)},
                                     {"c", StoredType::F16, {3}, bytesOf(f16)},
                                     {"d", StoredType::BF16, {3}, bytesOf(bf16)},
                                     {"e", StoredType::I32, {1}, bytesOf(ints)},
                                     {"f", StoredType::F32, {1}, bytesOf(f32).substr(0, 4)},
                                     {"g", StoredType::F32, {0}, {}}};
  std::vector<std::string> lines;
  for (const NonFiniteTensor &tensor : findNonFinite(tensors))
    lines.push_back(describe(tensor));
  EXPECT_THAT(lines, ElementsAre("a: 1 NaN, 1 infinite, first at element 1",
                                 "b: 0 NaN, 1 infinite, first at element 0",
                                 "c: 1 NaN, 1 infinite, first at element 1",
                                 "d: 1 NaN, 1 infinite, first at element 1"));
}

TEST(SpikeDetector, ScoresAgainstTheWindowBefore) {
  SpikeDetector detector(4);
  for (double v : {1.0, 3.0, 1.0, 3.0})
    EXPECT_EQ(detector.observe(v), std::nullopt);
  EXPECT_EQ(detector.observe(kNan), std::nullopt) << "NaN has no score and stays out";
  EXPECT_DOUBLE_EQ(*detector.observe(5), 3); // mean 2, deviation 1
  SpikeDetector resumed(4);
  ASSERT_THAT(resumed.restore(detector.state()), IsOk());
  EXPECT_EQ(*resumed.observe(2), *detector.observe(2));
  EXPECT_THAT(resumed.restore(Json::parse("[1,2,3,4,5]")), FailsWith("at most 4 numbers"));
  EXPECT_THAT(resumed.restore(Json::parse("[\"1\"]")), FailsWith("at most 4 numbers"));
  SpikeDetector flat(2);
  flat.observe(1), flat.observe(1);
  EXPECT_EQ(flat.observe(9), std::nullopt) << "no deviation, no score";
}

TEST(RunningMean, PassesThroughTheGoldenValues) {
  RunningMean mean;
  std::vector<double> passed;
  for (double x : {1, 2, 3, 4}) {
    mean.add(x);
    passed.push_back(mean.value());
  }
  EXPECT_THAT(passed, ElementsAre(1, 1.5, 2, 2.5));
  RunningMean large;
  large.add(1.5e308), large.add(1.5e308);
  EXPECT_EQ(large.value(), 1.5e308) << "a sum would have overflowed";
}

TEST(ParameterHash, NamesWhatAStepDidNotChange) {
  std::vector<float> a = {1, 2}, b = {3};
  auto views = [&] {
    return std::vector<TensorView>{{"b", StoredType::F32, {1}, bytesOf(b)},
                                   {"a", StoredType::F32, {2}, bytesOf(a)}};
  };
  std::vector<TensorHash> before = hashTensors(views());
  EXPECT_EQ(before[0].name, "a");
  EXPECT_THAT(unchangedTensors(before, hashTensors(views())), ElementsAre("a", "b"));
  a[1] = std::nextafter(a[1], 3.0f);
  std::vector<TensorHash> after = hashTensors(views());
  EXPECT_THAT(unchangedTensors(before, after), ElementsAre("b"));
  EXPECT_NE(combinedHash(before), combinedHash(after));
  EXPECT_EQ(formatHash(0xab), "00000000000000ab");
}

TEST(Threefry, KnownAnswersOfRandom123) {
  using Pair = std::array<uint32_t, 2>;
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (Pair{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({~0u, ~0u}, {~0u, ~0u}), (Pair{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}),
            (Pair{0xc4923a9c, 0x483df7a0}));
}

int32_t draw(const SamplingOptions &options, const std::vector<float> &logits, uint64_t position) {
  auto token = Sampler::create(options)->sample(logits, position);
  EXPECT_THAT(token, IsOk());
  return *token;
}

TEST(Sampler, GreedyTakesTheFirstOfTheHighest) {
  EXPECT_EQ(draw({.temperature = 0}, {1, 5, 5, -kInf}, 0), 1);
  EXPECT_EQ(draw({.temperature = 0}, {-kInf, -3}, 9), 1);
}

TEST(Sampler, IsAFunctionOfSeedAndPosition) {
  std::vector<float> logits(100, 0);
  std::vector<int32_t> first, again, other;
  for (uint64_t i = 0; i < 50; ++i) {
    first.push_back(draw({.seed = 1}, logits, i));
    other.push_back(draw({.seed = 2}, logits, i));
  }
  for (uint64_t i = 50; i-- > 0;)
    again.insert(again.begin(), draw({.seed = 1}, logits, i));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(Sampler, FrequenciesFollowTheDistribution) {
  // p = 1/7, 2/7, 4/7; 3 sigma of 14,000 draws is below 180.
  std::vector<float> logits = {0, std::log(2.0f), std::log(4.0f)};
  auto frequencies = [&](SamplingOptions options) {
    std::vector<int> counts(3, 0);
    Sampler sampler = *Sampler::create(options);
    for (uint64_t i = 0; i < 14'000; ++i)
      ++counts[static_cast<size_t>(*sampler.sample(logits, i))];
    return counts;
  };
  std::vector<int> plain = frequencies({});
  EXPECT_NEAR(plain[0], 2000, 180);
  EXPECT_NEAR(plain[1], 4000, 180);
  EXPECT_NEAR(plain[2], 8000, 180);
  std::vector<int> cold = frequencies({.temperature = 0.5}); // 1/21, 4/21, 16/21
  EXPECT_NEAR(cold[1], 14'000 * 4.0 / 21, 180);
  std::vector<int> two = frequencies({.topK = 2});
  EXPECT_EQ(two[0], 0);
  EXPECT_NEAR(two[1], 14'000 / 3.0, 180);
  std::vector<int> nucleus = frequencies({.topP = 0.8}); // 4/7 + 2/7 reach it
  EXPECT_EQ(nucleus[0], 0);
  EXPECT_NEAR(nucleus[1], 14'000 / 3.0, 180);
  EXPECT_EQ(frequencies({.topP = 0.5})[2], 14'000);
  EXPECT_EQ(frequencies({.topK = 1})[2], 14'000);
  EXPECT_EQ(frequencies({.topP = 1e-300})[2], 14'000) << "at least one stays";
}

TEST(Sampler, TopKBreaksTiesByIndexAndMasksStayMasked) {
  std::vector<float> logits = {1, 1, 1, -kInf};
  std::map<int32_t, int> seen;
  for (uint64_t i = 0; i < 300; ++i)
    ++seen[draw({.topK = 2}, logits, i)];
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen.contains(0) && seen.contains(1));
  for (uint64_t i = 0; i < 300; ++i)
    EXPECT_NE(draw({.temperature = 100}, logits, i), 3);
  EXPECT_EQ(draw({.topK = 1000}, {2}, 0), 0) << "more than there are";
  // Logits so far apart that the rest underflows.
  for (uint64_t i = 0; i < 300; ++i)
    EXPECT_EQ(draw({}, {-3e38f, 3e38f, -3e38f}, i), 1);
}

TEST(Sampler, BadInputs) {
  EXPECT_THAT(Sampler::create({.temperature = -1}), FailsWith("sampling: temperature"));
  EXPECT_THAT(Sampler::create({.temperature = kNan}), FailsWith("sampling: temperature"));
  EXPECT_THAT(Sampler::create({.topK = -1}), FailsWith("sampling: top_k"));
  for (double p : {0.0, -1.0, 1.5, std::nan("")})
    EXPECT_THAT(Sampler::create({.topP = p}), FailsWith("sampling: top_p"));
  Sampler sampler = *Sampler::create({});
  EXPECT_THAT(sampler.sample(std::vector<float>{1, kNan}, 0), FailsWith("nan for token 1"));
  EXPECT_THAT(sampler.sample(std::vector<float>{kInf}, 0), FailsWith("inf for token 0"));
  EXPECT_THAT(sampler.sample(std::vector<float>{-kInf, -kInf}, 0), FailsWith("2 of -infinity"));
  EXPECT_THAT(sampler.sample({}, 0), FailsWith("at least one finite logit"));
}

} // namespace
} // namespace hjx
