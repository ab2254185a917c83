// SPDX-License-Identifier: Apache-2.0
//
// HJX_AUTOTUNE for what jit compiles: the tiles of its products are measured on the device of the first call, once for all
// devices of that name, and the results stay within rounding of the processor's.
#include "test/unit/TemporaryFolder.h"

#include <hjx/hjx.h>

using namespace hjx;
using ::testing::MatchesRegex;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_AUTOTUNE", "1", 1) == 0 && setenv("HJX_PTXSIM_DEVICES", "2", 1) == 0;

/// Calls `f`; returns what that said on standard error.
template <typename F> std::string saidBy(const F &f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

} // namespace

TEST(Autotune, JitMeasuresOnceForAllDevicesOfAName) {
  test::TemporaryFolder folder;
  setenv("HJX_CACHE_DIR", folder.path("cache").c_str(), 1);
  auto layer = [](Array x, Array w) { return tanh(matmul(x, w)); };
  Array x = random::normal(random::key(1), {32, 96}), w = random::normal(random::key(2), {96, 48});
  Array expected = jit(layer)(x, w), y;
  auto f = jit(layer);
  auto callOn = [&](const char *name) { y = f(device_put(x, device(name)), device_put(w, device(name))); };
  transfer_guard guard("disallow"); // Measuring moves nothing of the program's.
  EXPECT_THAT(saidBy([&] { callOn("sim:0"); }), MatchesRegex("autotune: 0 of 1 products known from .*\\.schedules, 1 measured in .* s\n"));
  EXPECT_LE(max(abs(device_get(y) - expected)).item<float>(), 1e-5f);
  EXPECT_EQ(saidBy([&] { callOn("sim:1"); }), "");
  // The same product in another function; on the processor there is nothing to measure.
  auto g = jit([&](Array x, Array w) { return layer(x, w); });
  EXPECT_THAT(saidBy([&] { g(device_put(x, device("sim:0")), device_put(w, device("sim:0"))); }), MatchesRegex("(autotune: 1 of 1 products known from .*\\.schedules\n)?"));
  EXPECT_EQ(saidBy([&] { jit(layer)(x + 0, w); }), "");
}
