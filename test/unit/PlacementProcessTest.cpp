// SPDX-License-Identifier: Apache-2.0
//
// What the environment of a process says of placement: no CUDA, little memory, another default
// device. Nothing stands in for what is missing, and what fails leaves all else as it was.
#include "runtime/Backends.h"
#include "test/unit/PlacementTesting.h"

#include <thread>

using namespace hjx;
using hjx::testing::messageOf;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", "libhjx-none.so", 1) == 0 && setenv("HJX_MEMORY_LIMIT", "8MiB", 1) == 0 &&
                          setenv("HJX_NUM_CPU_DEVICES", "2", 1) == 0 && setenv("HJX_PTXSIM_DEVICES", "2", 1) == 0;

constexpr const char *kNoCuda = "cuda: libhjx-none.so: cannot load the driver: libhjx-none.so: ",
                     *kInstall = "\n  help: install NVIDIA's driver, or name another library in HJX_CUDA_DRIVER, or compile only, or run on cpu";

/// A backend with a limit; its first device is never used by other tests of this process.
class PlacementMemory : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(On, PlacementMemory, ::testing::Values("cpu:1", "sim:0"), [](const auto &info) { return info.param.substr(0, 3); });

} // namespace

//===----------------------------------------------------------------------===//
// CUDA is not there
//===----------------------------------------------------------------------===//

TEST(PlacementProcess, WithoutCudaEveryMessageSaysWhyAndWhatToDo) {
  BackendStatus cuda = backends()[1];
  EXPECT_FALSE(cuda.is_available());
  EXPECT_THAT(cuda.reason, AllOf(HasSubstr(kNoCuda), HasSubstr(kInstall)));
  Array x = array({1.0, 2.0});
  using Body = std::function<void()>;
  for (auto [op, body] : {std::pair<const char *, Body>{"devices", [] { devices("cuda"); }},
                          {"device", [] { device("cuda"); }},
                          {"device", [] { device("cuda:1"); }},
                          {"device", [&] { device_put(x, device("cuda")); }},
                          {"default_device", [] { default_device on("cuda"); }},
                          {"default_device", [] { default_device on(std::string("cuda:0")); }}})
    EXPECT_THAT(messageOf(body), AllOf(HasSubstr("PlacementProcessTest.cpp:"), HasSubstr(std::string(": ") + op + ": " + kNoCuda), HasSubstr(kInstall)));
  EXPECT_EQ(default_device::current().name(), "cpu:0"); // A scope that failed is none.
  for (const Device &device : devices())
    EXPECT_NE(device.backend(), "cuda");
}

//===----------------------------------------------------------------------===//
// HJX_DEVICE
//===----------------------------------------------------------------------===//

TEST(PlacementProcess, TheDefaultIsTheProcessorWhateverThereIs) {
  EXPECT_GE(devices("sim").size(), 1u);
  EXPECT_EQ(default_backend(), "cpu");
  EXPECT_EQ(ones({2}).device().name(), "cpu:0");
}

static void testDefaultOfEnvironment() {
  // What is not there is an error wherever it is needed, and not the processor.
  setenv("HJX_DEVICE", "cuda", 1);
  for (auto [op, body] : {std::pair<const char *, std::function<void()>>{"default_backend", [] { default_backend(); }},
                          {"default_device", [] { default_device::current(); }},
                          {"array", [] { array({1.0}); }}})
    EXPECT_THAT(messageOf(body), AllOf(HasSubstr(std::string(": ") + op + ": HJX_DEVICE=cuda: " + kNoCuda), HasSubstr(kInstall)));
  setenv("HJX_DEVICE", "tpu", 1);
  EXPECT_THAT(messageOf([] { zeros({2}); }), HasSubstr(": HJX_DEVICE=tpu: device: expected one of cpu:0, cpu:1, sim:0, sim:1, got 'tpu'\n  help: "));
  {
    default_device on("cpu:1"); // Nobody needs it here.
    EXPECT_EQ(zeros({2}).device().name(), "cpu:1");
  }
  setenv("HJX_DEVICE", "sim:1", 1);
  EXPECT_EQ(default_backend(), "sim");
  Array x = array({1.0, 2.0}), y = x + 1;
  EXPECT_EQ(x.device().name(), "cpu:0"); // Numbers wait on the host.
  EXPECT_EQ(y.device().name(), "sim:1");
  EXPECT_FALSE(y.committed());
  EXPECT_EQ(jit([](Array x) { return x * 2; })(x).device().name(), "sim:1");
  // Of all threads, unlike a scope.
  default_device on("cpu");
  EXPECT_EQ(default_backend(), "sim");
  EXPECT_EQ((x + 1).device().name(), "cpu:0");
  std::thread([] { EXPECT_EQ(default_device::current().name(), "sim:1"); }).join();
}

TEST(PlacementProcess, TheEnvironmentNamesTheDefaultDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // In a process of its own: the variable is read once.
  EXPECT_EXIT((testDefaultOfEnvironment(), std::exit(HasFailure())), ::testing::ExitedWithCode(0), "");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_P(PlacementMemory, OutOfMemoryLeavesDataAndProcess) {
  Device there = device(GetParam());
  const std::string kRemedy = "\n  help: free arrays of this device, use smaller batches, or raise HJX_MEMORY_LIMIT";
  Array x = device_put(ones({512, 512}), there); // 1 MiB
  auto f = jit([](Array x) { return sum(matmul(x, x) * matmul(x + 1, x)); });
  int64_t before = there.memory().in_use;

  // An array that is asked for.
  std::string message = messageOf([&] { broadcast_to(x, {8, 512, 512}) + 1; });
  EXPECT_THAT(message, AllOf(HasSubstr("PlacementProcessTest.cpp:"), HasSubstr(there.name() + ": out of memory, wanted 8.0 MiB, free "),
                             HasSubstr(" of 8.0 MiB, largest block "), HasSubstr(kRemedy)));
  // A move.
  Array large = ones({1800, 1024}); // 7 MiB
  message = messageOf([&] { device_put(std::vector<Array>{large, large}, there); });
  EXPECT_THAT(message, AllOf(HasSubstr("PlacementProcessTest.cpp:"), HasSubstr(": device_put: " + there.name() + ": out of memory, wanted 7.0 MiB, free "),
                             HasSubstr(kRemedy)));
  EXPECT_EQ(there.memory().in_use, before);
  // A program, which tells its largest buffers.
  {
    large = {};
    Array ballast = device_put(ones({1500, 1024}), there);
    message = messageOf([&] { f(x); });
    EXPECT_THAT(message, AllOf(HasSubstr(": jit: " + there.name() + ": out of memory, wanted "), HasSubstr(" for the arena of a program, free "),
                               HasSubstr("\n  largest of the "), HasSubstr(kRemedy)));
    EXPECT_THAT(message, ::testing::ContainsRegex("of the plan: [0-9.]+ MiB of PlacementProcessTest.cpp:[0-9]+, [0-9.]+ MiB of PlacementProcessTest.cpp:[0-9]+, [0-9.]+ MiB of "));
  }
  // All that there was is as it was, and there is room again.
  EXPECT_EQ(there.memory().in_use, before);
  EXPECT_EQ(sum(x).item<float>(), 512 * 512);
  EXPECT_FLOAT_EQ(f(x).item<float>(), 512.f * 512 * 512 * 1024);
}

TEST_P(PlacementMemory, WhatDidNotFitIsNotConsumed) {
  Device there = device(GetParam());
  Array ballast = device_put(zeros({1024, 1280}), there), x = ones({1024, 1024}); // 5 and 4 MiB
  EXPECT_THAT(messageOf([&] { device_put(x, there, {.donate = true}); }), HasSubstr("out of memory"));
  EXPECT_EQ(x[0][0].item<float>(), 1);
  auto f = jit([](Array x, Array y) { return x + sum(y); }, {.donate = {0}});
  EXPECT_THAT(messageOf([&] { f(x, ballast); }), HasSubstr("out of memory"));
  EXPECT_EQ(x[0][0].item<float>(), 1);
  ballast = {};
  EXPECT_EQ(device_put(x, there, {.donate = true}).device(), there);
  EXPECT_THAT(messageOf([&] { x.item<float>(); }), HasSubstr("was donated at PlacementProcessTest.cpp:"));
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

// Programs do not fail once they run; what else uses the GPU may. It is a runtime of this test's own, which shares the driver
// with the library's; no other test uses sim:1.
TEST(PlacementProcess, AnErrorOfWhatRunsIsThrownWhereItIsAwaited) {
  Array x = device_put(ones({4}), device("sim:1")), y = x + 1;
  EXPECT_NO_THROW(y.block_until_ready());
  RuntimeDevice &same = **openDevice("sim:1");
  auto module = same.loadModule(".version 8.0\n.target sm_80\n.address_size 64\n"
                                ".visible .entry store() {\n  .reg .b64 %to;\n  .reg .b32 %x;\n"
                                "  mov.b64 %to, 64;\n  mov.b32 %x, 7;\n  st.global.b32 [%to], %x;\n  ret;\n}\n",
                                {"store"});
  ASSERT_TRUE(module.ok()) << module.status();
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(same.launch((*module)->kernels()[0], {}, nullptr).ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("kernel 'store'"));
  using Body = std::function<void()>;
  for (auto [op, body] : {std::pair<const char *, Body>{"block_until_ready", [&] { y.block_until_ready(); }},
                          {"block_until_ready", [&] { block_until_ready(std::vector<Array>{y}); }},
                          {"synchronize", [&] { y.device().synchronize(); }},
                          {"to_vector", [&] { y.to_vector<float>(); }}})
    EXPECT_THAT(messageOf(body), AllOf(HasSubstr("PlacementProcessTest.cpp:"), HasSubstr(std::string(": ") + op + ": sim:1: "), HasSubstr("kernel 'store'")));
  EXPECT_TRUE(y.is_ready());
  EXPECT_EQ((ones({4}) + 1).to_vector<float>(), std::vector<float>(4, 2)); // The processor goes on.
}
