// SPDX-License-Identifier: Apache-2.0
//
// jit's cache: what compiles again, and whether it says why. A retrace that nobody
// asked for is a slow program without a message.
#include "FrontendTesting.h"

#include <cstdlib>

using namespace hjx;

namespace {

struct Batch {
  Array x, y;
  std::vector<Array> more;
  int heads = 2;
  std::string mode = "train";
};
HJX_TREE(Batch, x, y, more, heads, mode)

Array total(Batch batch, Array scale) {
  Array sums = sum(batch.x) + sum(batch.y) * batch.heads;
  for (const Array &array : batch.more)
    sums = sums + sum(array);
  return scale * sums;
}

/// Why the last call compiled.
template <typename F>
std::string lastReason(const F &f) {
  return f.stats().compilations.back().reason;
}

} // namespace

TEST(FrontendJit, EqualTypesCompileOnce) {
  auto f = jit(total);
  for (int i = 0; i < 3; ++i)
    f(Batch{full({2}, i), zeros({3})}, array(1.0f));
  EXPECT_EQ(f.stats().calls, 3);
  ASSERT_EQ(f.stats().compilations.size(), 1u);
  EXPECT_EQ(lastReason(f), "first call");
}

TEST(FrontendJit, RetracesNameWhatChanged) {
  auto f = jit(total);
  Batch batch{zeros({2}), zeros({3})};
  f(batch, array(1.0f));
  batch.y = zeros({4});
  f(batch, array(1.0f));
  EXPECT_EQ(lastReason(f), "args[0].y is f32[4], was f32[3]");
  batch.x = zeros({2}, int32);
  f(batch, array(1.0f));
  EXPECT_EQ(lastReason(f), "args[0].x is i32[2], was f32[2]") << "against the program that differs least";
  f(batch, 1.0);
  EXPECT_EQ(lastReason(f), "args[1] is weak f32, was f32");
  batch.heads = 3;
  f(batch, 1.0);
  EXPECT_EQ(lastReason(f), "args[0].heads is 3, was 2");
  batch.mode = "test";
  f(batch, 1.0);
  EXPECT_EQ(lastReason(f), "args[0].mode is \"test\", was \"train\"");
  batch.more = {zeros({1})};
  f(batch, 1.0);
  EXPECT_EQ(lastReason(f), "the structure differs: args[0].more: a list of 0 against a list of 1");
  batch.heads = 5, batch.mode = "both";
  f(batch, array(2.0f));
  EXPECT_EQ(lastReason(f), "args[0].heads is 5, was 3; args[0].mode is \"both\", was \"test\"; args[1] is f32, was weak f32");
  EXPECT_EQ(f.stats().compilations.size(), 8u);
  EXPECT_EQ(f.stats().explain().substr(0, 20), "8 calls, 8 programs\n");
}

static std::string line(int number) { return "FrontendJitTest.cpp:" + std::to_string(number); }

TEST(FrontendJit, RetracesAreReportedOnRequest) {
  int made = 0, called = 0;
  auto run = [&] {
    ::testing::internal::CaptureStderr();
    made = __LINE__ + 1;
    auto f = jit([](Array x) { return 2 * x; }, {.name = "double"});
    f(zeros({2}));
    called = __LINE__ + 1;
    f(zeros({3}));
    return ::testing::internal::GetCapturedStderr();
  };
  unsetenv("HJX_EXPLAIN_RETRACES");
  EXPECT_EQ(run(), "");
  setenv("HJX_EXPLAIN_RETRACES", "1", 1);
  std::string report = run();
  unsetenv("HJX_EXPLAIN_RETRACES");
  EXPECT_EQ(report, line(called) + ": jit: double of " + line(made) + " compiles again: args[0] is f32[3], was f32[2]\n");
}

TEST(FrontendJit, ErrorsNameTheLineOfTheCall) {
  const unsigned made = __LINE__ + 1;
  auto f = jit([](Array x) { return 2 * x; }, {.donate = {0}});
  Array x = ones({2});
  const int donated = __LINE__ + 1;
  f(x);
  EXPECT_HJX_ERROR(f(x), "jit: the array f32[2] was donated at " + line(donated) + " and has no value any more\n"
                         "  help: use the result of that call instead, or do not donate the argument");
  // Where the C++ library makes the call, the line that made the transform is the user's.
  std::function<Array(Array)> indirect = f;
  try {
    indirect(Array());
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    EXPECT_EQ(error.where().line(), made);
  }
}
