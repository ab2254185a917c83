// SPDX-License-Identifier: Apache-2.0
//
// The fuzzer finds what is planted: a wrong derivative, made small, a crash and a hang.
#include "test/fuzz/Check.h"
#include "test/fuzz/Generator.h"
#include "test/fuzz/Operations.h"
#include "test/fuzz/Shrink.h"

#include <hjx/hjx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

using namespace fuzz;
using ::testing::HasSubstr;

namespace {

class Fuzz : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("HJX_BACKEND", "interpreter", 1); // Before anything runs.
    // sin with the derivative 1.1 cos.
    operations()["wrong"] = [](const Operands &x) {
      using Tuple = std::tuple<hjx::Array>;
      auto rule = [](const Tuple &x, const Tuple &dot) {
        return std::pair(sin(std::get<0>(x)), 1.1 * cos(std::get<0>(x)) * std::get<0>(dot));
      };
      return hjx::custom_jvp([](hjx::Array x) { return sin(x); }, rule)(x[0]);
    };
    operations()["crash"] = [](const Operands &x) -> hjx::Array { std::abort(); };
    operations()["hang"] = [](const Operands &x) -> hjx::Array {
      std::this_thread::sleep_for(std::chrono::hours(1));
      return x[0];
    };
  }

  /// A program of steps that are right, with the operation among what counts for its result.
  static Program plant(const std::string &op) {
    Program program = draw(19, {.numSteps = 10, .isSmooth = true});
    const Def planted{1000, program.main.params[0].type};
    std::vector<Step> &steps = program.main.steps;
    steps.insert(steps.begin() + steps.size() / 2, Step{op, {program.main.params[0].id}, {planted}});
    EXPECT_EQ(steps.back().op, "collect");
    steps.back().args.push_back(planted.id);
    return program;
  }
};

} // namespace

TEST_F(Fuzz, DrawsWellFormedProgramsThatDependOnTheSeedAlone) {
  std::set<std::string> texts;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Program program = draw(seed, {.numSteps = 14, .isSmooth = seed % 4 == 3});
    EXPECT_EQ(findBrokenName(program), "") << str(program);
    EXPECT_EQ(str(program), str(draw(seed, {.numSteps = 14, .isSmooth = seed % 4 == 3})));
    texts.insert(str(program));
  }
  EXPECT_EQ(texts.size(), 300u);
}

TEST_F(Fuzz, FindsAPlantedDerivativeAndMakesTheProgramSmall) {
  auto fails = [](const Program &program) { return runProgram(program, {.isEager = false, .isSmooth = true}).failure.find("slope") != std::string::npos; };
  Program program = plant("wrong");
  ASSERT_TRUE(fails(program)) << str(program);
  Program small = shrink(program, fails);
  EXPECT_EQ(numSteps(small.main), 2u) << str(small);
  EXPECT_THAT(str(small), HasSubstr("= wrong("));
}

TEST_F(Fuzz, SurvivesACrashAndAHang) {
  Program good = draw(11, {.numSteps = 2, .isSmooth = true});
  std::vector<Outcome> outcomes = runIsolated({good, plant("crash"), plant("hang"), good}, {.isEager = false}, 3);
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[0].failure, "");
  EXPECT_EQ(outcomes[1].failure, "interpreter crashes: Aborted");
  EXPECT_EQ(outcomes[2].failure, "interpreter hangs");
  EXPECT_EQ(outcomes[3].failure, "");
}
