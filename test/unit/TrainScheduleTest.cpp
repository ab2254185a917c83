// SPDX-License-Identifier: Apache-2.0
//
// Learning-rate schedules against their golden numbers, and configurations against their schema.
#include "TemporaryFolder.h"

#include "lib/Train/Schedule.h"

#include <cmath>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;

TEST(Schedule, WarmupCosineGolden) {
  Schedule s{ScheduleKind::WarmupCosine, 0, 1, 0.1, 10, 110};
  for (auto [step, want] :
       std::initializer_list<std::pair<int64_t, double>>{{0, 0.0},
                                                         {1, 0.1},
                                                         {5, 0.5},
                                                         {9, 0.9},
                                                         {10, 1.0},
                                                         {35, 0.8681980515339464},
                                                         {60, 0.55},
                                                         {110, 0.1},
                                                         {500, 0.1}})
    EXPECT_NEAR(learningRate(s, step), want, 1e-15) << step;
}

TEST(Schedule, ExponentAppliesToTheCosine) {
  Schedule s{ScheduleKind::WarmupCosine, 0, 1, 0, 0, 100, 2};
  EXPECT_NEAR(learningRate(s, 50), 0.25, 1e-15);
}

TEST(Schedule, LinearFallsInAStraightLine) {
  Schedule s{ScheduleKind::Linear, 0.5, 2, 1, 4, 14};
  EXPECT_DOUBLE_EQ(learningRate(s, 0), 0.5);
  EXPECT_DOUBLE_EQ(learningRate(s, 2), 1.25);
  EXPECT_DOUBLE_EQ(learningRate(s, 4), 2);
  EXPECT_DOUBLE_EQ(learningRate(s, 9), 1.5);
  EXPECT_DOUBLE_EQ(learningRate(s, 14), 1);
  EXPECT_DOUBLE_EQ(learningRate(s, 1'000'000), 1);
}

TEST(Schedule, WsdKeepsThePeakThenFallsAsOneMinusSquareRoot) {
  Schedule s{ScheduleKind::Wsd, 0, 1, 0, 10, 100};
  EXPECT_DOUBLE_EQ(learningRate(s, 5), 0.5);
  EXPECT_DOUBLE_EQ(learningRate(s, 10), 1);
  EXPECT_DOUBLE_EQ(learningRate(s, 80), 1);
  EXPECT_DOUBLE_EQ(learningRate(s, 85), 0.5); // a quarter of the fall: 1 - sqrt(1/4)
  EXPECT_DOUBLE_EQ(learningRate(s, 100), 0);
  s.stableFraction = 1;
  EXPECT_DOUBLE_EQ(learningRate(s, 99), 1);
}

TEST(Schedule, ConstantWarmsUpOnlyWhenAsked) {
  Schedule s{ScheduleKind::Constant, 0, 3, 0};
  EXPECT_DOUBLE_EQ(learningRate(s, 0), 3);
  EXPECT_DOUBLE_EQ(learningRate(s, 1'000'000'000), 3);
  s.warmupSteps = 2;
  EXPECT_DOUBLE_EQ(learningRate(s, 0), 0);
  EXPECT_DOUBLE_EQ(learningRate(s, 1), 1.5);
}

TEST(Schedule, RefusesWhatHasNoMeaning) {
  Schedule good{ScheduleKind::WarmupCosine, 0, 1, 0.1, 10, 110};
  EXPECT_THAT(checkSchedule(good), IsOk());
  Schedule s = good;
  s.peak = -1;
  EXPECT_THAT(checkSchedule(s), FailsWith("schedule: peak: expected a rate of 0 or more, got -1"));
  s = good;
  s.final = std::nan("");
  EXPECT_THAT(checkSchedule(s), FailsWith("schedule: final"));
  s = good;
  s.totalSteps = 10;
  EXPECT_THAT(checkSchedule(s), FailsWith("more than the 10 steps of warm-up, which it includes"));
  s = good;
  s.warmupSteps = -1;
  EXPECT_THAT(checkSchedule(s), FailsWith("schedule: warmup_steps"));
  s = good;
  s.stableFraction = 2;
  EXPECT_THAT(checkSchedule(s), FailsWith("schedule: stable_fraction"));
  s = good;
  s.exponent = 0;
  EXPECT_THAT(checkSchedule(s), FailsWith("schedule: exponent"));
}

TEST(Schedule, ReadFromConfiguration) {
  Json config = scheduleDefaults();
  ASSERT_THAT(
      mergeConfig(config, Json::parse(R"({"kind":"linear","peak":2,"warmup_steps":5})"), "t"),
      IsOk());
  auto schedule = scheduleFromConfig(config, 25);
  ASSERT_THAT(schedule, IsOk());
  EXPECT_EQ(schedule->totalSteps, 25) << "0 stands for the length of the run";
  EXPECT_DOUBLE_EQ(learningRate(*schedule, 5), 2);
  config["kind"] = "warmup_cosin";
  EXPECT_THAT(scheduleFromConfig(config, 25), FailsWith("did you mean 'warmup_cosine'?"));
  config["kind"] = "constant";
  EXPECT_THAT(scheduleFromConfig(config, 0), IsOk());
}

Json defaults() {
  return Json::parse(R"({"batch": 6, "rate": 0.5, "name": "x", "deep": {"flag": true, "any": null},
                         "list": []})");
}

TEST(Config, MergesKnownKeysOfTheRightKind) {
  Json config = defaults();
  ASSERT_THAT(mergeConfig(config, Json::parse(R"({"rate": 1, "deep": {"any": [1]}})"), "t"),
              IsOk());
  EXPECT_EQ(config["rate"], 1.0);
  EXPECT_EQ(config["deep"]["any"], Json::parse("[1]"));
  EXPECT_EQ(config["deep"]["flag"], true);
}

TEST(Config, ErrorsNameTheKeyAndARemedy) {
  Json config = defaults();
  auto merge = [&](const char *text) {
    return mergeConfig(config, Json::parse(text), "train.json");
  };
  EXPECT_THAT(
      merge(R"({"bacth": 1})"),
      FailsWith("train.json: expected a known key, got 'bacth'\n  help: did you mean 'batch'?"));
  EXPECT_THAT(merge(R"({"deep": {"flog": 1}})"), FailsWith("did you mean 'deep.flag'?"));
  EXPECT_THAT(merge(R"({"zzzzzzzzz": 1})"),
              FailsWith("the keys are batch, deep, list, name, rate"));
  EXPECT_THAT(merge(R"({"batch": 1.5})"),
              FailsWith("train.json: batch: expected an integer, got a number, 1.5"));
  EXPECT_THAT(merge(R"({"name": 1})"), FailsWith("expected a string"));
  EXPECT_THAT(merge(R"({"deep": 1})"), FailsWith("expected an object"));
  EXPECT_THAT(merge("[]"), FailsWith("expected a JSON object, got an array"));
  EXPECT_EQ(config, defaults());
}

TEST(Config, SettingsAreJsonOrStrings) {
  Json config = defaults();
  ASSERT_THAT(applySetting(config, "deep.flag=false"), IsOk());
  ASSERT_THAT(applySetting(config, "name=a=b"), IsOk());
  ASSERT_THAT(applySetting(config, "rate=1e-3"), IsOk());
  ASSERT_THAT(applySetting(config, "list=[1, 2]"), IsOk());
  EXPECT_EQ(config["deep"]["flag"], false);
  EXPECT_EQ(config["name"], "a=b");
  EXPECT_EQ(config["rate"], 1e-3);
  EXPECT_EQ(config["list"].size(), 2u);
  EXPECT_THAT(applySetting(config, "rate"), FailsWith("--set: expected key=value"));
  EXPECT_THAT(applySetting(config, "=1"), FailsWith("--set: expected key=value"));
  EXPECT_THAT(applySetting(config, "deep.flug=1"), FailsWith("did you mean 'deep.flag'?"));
  EXPECT_THAT(applySetting(config, "batch=six"),
              FailsWith("batch: expected an integer, got a string"));
  EXPECT_THAT(applySetting(config, "batch=" + std::string(100'000, '[')),
              FailsWith("got a string"));
  std::string path;
  for (int i = 0; i < 10'000; ++i)
    path += "a.";
  EXPECT_THAT(applySetting(config, path + "a=1"), FailsWith("a known key"));
}

TEST(Config, Files) {
  test::TemporaryFolder folder;
  Json config = defaults();
  ASSERT_THAT(mergeConfigFile(config, folder.write("a.json", R"({"batch": 7})")), IsOk());
  EXPECT_EQ(config["batch"], 7);
  EXPECT_THAT(mergeConfigFile(config, folder.write("b.json", "{")),
              FailsWith("got a syntax error"));
  EXPECT_THAT(mergeConfigFile(
                  config, folder.write("c.json", std::string(100, '[') + std::string(100, ']'))),
              FailsWith("got deeper nesting"));
  EXPECT_FALSE(mergeConfigFile(config, folder.path("none.json")).ok());
}

TEST(Config, HashIgnoresOrderAndSeesEveryValue) {
  Json a = Json::parse(R"({"x": 1, "y": {"z": 2}})"), b = Json::parse(R"({"y": {"z": 2}, "x": 1})");
  EXPECT_EQ(configHash(a), configHash(b));
  b["y"]["z"] = 3;
  EXPECT_NE(configHash(a), configHash(b));
  EXPECT_EQ(configHash(a).size(), 16u);
}

TEST(Config, DifferencesAreLines) {
  Json a = Json::parse(R"({"x": 1, "y": {"z": 2, "w": 0}, "gone": "a"})");
  Json b = Json::parse(R"({"x": 1, "y": {"z": 3, "w": 5}, "new": []})");
  EXPECT_THAT(configDifferences(a, b),
              ElementsAre("gone: \"a\" before, nothing now", "new: nothing before, [] now",
                          "y.w: 0 before, 5 now", "y.z: 2 before, 3 now"));
  EXPECT_THAT(configDifferences(a, b, {"y", "gone", "new"}), ElementsAre());
  EXPECT_THAT(configDifferences(a, b, {"y.w", "gone", "new"}), ElementsAre("y.z: 2 before, 3 now"));
}

} // namespace
} // namespace hjx
