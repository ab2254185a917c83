// SPDX-License-Identifier: Apache-2.0
//
// Programs that do not fit into the memory of a device: an error before anything is taken, after
// which the data are there and a smaller program runs. And one code on several cpu devices.
#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Pipelines/Register.h"

#include "mlir/Parser/Parser.h"
#include "absl/strings/str_replace.h"
#include <gmock/gmock.h>

using namespace hjx;
using namespace mlir;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_MEMORY_LIMIT", "6MiB", 1) == 0 && setenv("HJX_NUM_CPU_DEVICES", "2", 1) == 0;

// The sum of x x, whose product needs room.
constexpr const char *kProduct = R"mlir(
  func.func @main(%x: tensor<NxNxf32>) -> tensor<f32> {
    %y = hjx.dot_general %x, %x contracting = [1] x [0] : (tensor<NxNxf32>, tensor<NxNxf32>) -> tensor<NxNxf32>
    %s = hjx.reduce_sum %y axes = [0, 1] : tensor<NxNxf32> -> tensor<f32>
    return %s : tensor<f32>
  })mlir";

class DeviceMemory : public testing::TestWithParam<const char *> {
protected:
  DeviceMemory() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::unique_ptr<DeviceExecutable> compile(int n, RuntimeDevice &device) {
    std::string text = absl::StrReplaceAll(kProduct, {{"NxN", absl::StrCat(n, "x", n)}});
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context), "product.mlir");
    if (device.kind() == DeviceKind::Cpu) {
      auto code = CpuExecutable::compile(*module, {.device = &device, .startFrom = Stage::Lo});
      EXPECT_TRUE(code.ok()) << code.status();
      return *std::move(code);
    }
    auto program = GpuProgram::compile(*module, {.startFrom = Stage::Lo});
    EXPECT_TRUE(program.ok()) << program.status();
    return *(*program)->load(device);
  }

  /// An n x n matrix of ones.
  static DeviceBuffer ones(int n, RuntimeDevice &device) {
    std::vector<float> values(static_cast<size_t>(n) * static_cast<size_t>(n), 1.0f);
    auto sizeBytes = static_cast<int64_t>(values.size() * sizeof(float));
    DeviceBuffer buffer = *device.allocate(sizeBytes);
    EXPECT_TRUE(device.copyToDevice(buffer.data(), values.data(), sizeBytes).ok());
    return buffer;
  }

  static float read(const DeviceBuffer &buffer) {
    float value = 0;
    EXPECT_TRUE(buffer.device()->copyToHost(&value, buffer.data(), sizeof value).ok());
    return value;
  }

  MLIRContext context;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Backends, DeviceMemory, testing::Values("cpu:0", "sim:0"));

TEST_P(DeviceMemory, AProgramThatDoesNotFitChangesNothing) {
  RuntimeDevice &device = **openDevice(GetParam());
  DeviceBuffer x = ones(1024, device), sum = *device.allocate(sizeof(float));
  std::unique_ptr<DeviceExecutable> large = compile(1024, device);
  DeviceStatistics before = device.statistics();
  for (absl::Status status : {large->reserve(), large->run({x.data()}, {sum.data()})}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(status.message()),
                MatchesRegex(device.name() + ": out of memory, wanted [0-9.]+ MiB for the arena of a program, free [0-9.]+ MiB of "
                                             "6.0 MiB, largest block [0-9.]+ MiB\n"
                                             "  largest of the [0-9]+ buffers of the plan: 4.0 MiB of product.mlir:3.*\n"
                                             "  help: free arrays of this device, use smaller batches, or raise HJX_MEMORY_LIMIT"));
  }
  EXPECT_THAT(std::string(large->reserve("buy memory").message()), HasSubstr("\n  help: buy memory"));
  EXPECT_EQ(device.statistics().bytesInUse, before.bytesInUse);
  EXPECT_EQ(device.statistics().numAllocations, before.numAllocations) << "it was known before";

  // The data are there, and there is room for less.
  EXPECT_EQ(read(x), 1);
  DeviceBuffer small = ones(32, device);
  std::unique_ptr<DeviceExecutable> fits = compile(32, device);
  ASSERT_TRUE(fits->run({small.data()}, {sum.data()}).ok());
  EXPECT_EQ(read(sum), 32 * 32 * 32);
}

TEST_P(DeviceMemory, WhatIsFreedCanBeHadAgain) {
  RuntimeDevice &device = **openDevice(GetParam());
  std::unique_ptr<DeviceExecutable> code = compile(500, device);
  DeviceBuffer x = ones(500, device), sum = *device.allocate(sizeof(float));
  {
    DeviceBuffer ballast = *device.allocate(*device.freeBytes() - code->memoryPlan().sizeBytes / 2);
    EXPECT_EQ(code->run({x.data()}, {sum.data()}).code(), absl::StatusCode::kResourceExhausted);
  }
  absl::Status status = code->reserve();
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(DeviceMemory, OneCodeOnTwoCpuDevices) {
  RuntimeDevice &first = **openDevice("cpu:0"), &second = **openDevice("cpu:1");
  std::unique_ptr<DeviceExecutable> code = compile(32, first);
  std::unique_ptr<CpuExecutable> other = static_cast<CpuExecutable &>(*code).on(second);
  code.reset();
  EXPECT_EQ(&other->device(), &second);
  DeviceBuffer x = ones(32, second), sum = *second.allocate(sizeof(float));
  int64_t firstAllocations = first.statistics().numAllocations, secondAllocations = second.statistics().numAllocations;
  ASSERT_TRUE(other->run({x.data()}, {sum.data()}).ok());
  EXPECT_EQ(read(sum), 32 * 32 * 32);
  EXPECT_EQ(first.statistics().numAllocations, firstAllocations);
  EXPECT_EQ(second.statistics().numAllocations, secondAllocations + 1) << "the arena";
}
