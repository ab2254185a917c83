// SPDX-License-Identifier: Apache-2.0
//
// Programs compiled for a GPU, on the simulated device; and how targets are spelled.
#include "lib/Execution/GpuExecutable.h"

#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/Target.h"
#include "lib/Pipelines/Register.h"

#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

#include <thread>

using namespace hjx;
using namespace mlir;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

// r[i] = p[i] - g[i] * lr, stored in p; and the sum of r.
constexpr const char *kUpdate = R"mlir(
  #id = affine_map<(i) -> (i)>
  #scalar = affine_map<(i) -> ()>
  func.func @main(%p: tensor<100xf32> {hjx.alias = 1 : i64}, %g: tensor<100xf32>, %lr: tensor<f32>)
      -> (tensor<f32>, tensor<100xf32>) {
    %e = tensor.empty() : tensor<100xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #scalar, #id], iterator_types = ["parallel"]}
        ins(%p, %g, %lr : tensor<100xf32>, tensor<100xf32>, tensor<f32>) outs(%e : tensor<100xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
        %s = arith.mulf %b, %c : f32
        %d = arith.subf %a, %s : f32
        linalg.yield %d : f32
    } -> tensor<100xf32>
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<f32>
    %init = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction"]}
        ins(%new : tensor<100xf32>) outs(%init : tensor<f32>) {
      ^bb0(%a: f32, %acc: f32):
        %s = arith.addf %a, %acc : f32
        linalg.yield %s : f32
    } -> tensor<f32>
    return %sum, %new : tensor<f32>, tensor<100xf32>
  })mlir";

std::string messageOf(const absl::Status &status) { return std::string(status.message()); }

class GpuExecutableTest : public testing::Test {
protected:
  GpuExecutableTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  absl::StatusOr<std::unique_ptr<GpuProgram>> compile(llvm::StringRef text, GpuOptions options = {}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return absl::InvalidArgumentError("the test's module does not parse");
    return GpuProgram::compile(*module, options);
  }

  std::unique_ptr<DeviceExecutable> load(llvm::StringRef text) {
    auto program = compile(text);
    EXPECT_TRUE(program.ok()) << program.status();
    auto executable = (*program)->load(**openDevice("cuda"));
    EXPECT_TRUE(executable.ok()) << executable.status();
    return *std::move(executable); // The program itself is gone now.
  }

  MLIRContext context;
};

/// Host values in device memory.
DeviceBuffer upload(const std::vector<float> &values) {
  RuntimeDevice &device = **openDevice("cuda");
  auto sizeBytes = static_cast<int64_t>(values.size() * sizeof(float));
  DeviceBuffer buffer = *device.allocate(sizeBytes);
  EXPECT_TRUE(device.copyToDevice(buffer.data(), values.data(), sizeBytes).ok());
  return buffer;
}

std::vector<float> download(const DeviceBuffer &buffer) {
  std::vector<float> values(static_cast<size_t>(buffer.sizeBytes()) / sizeof(float));
  EXPECT_TRUE(buffer.device()->copyToHost(values.data(), buffer.data(), buffer.sizeBytes()).ok());
  return values;
}

} // namespace

// The first: a later test leaves the device at fault.
TEST(SimulatedTarget, OpensOneArchitectureAProcess) {
  absl::StatusOr<RuntimeDevice *> device = Target::parse("sim:sm_80")->open();
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->name(), "sim:0");
  EXPECT_EQ((*device)->info().computeCapability, 80);
  EXPECT_EQ(*Target::parse("sim:sm_80")->open(), *device);
  EXPECT_THAT(messageOf(Target::parse("sim:sm_90")->open().status()),
              HasSubstr("device sim:sm_90: expected sm_80, which the simulated devices of this process are, got sm_90"));
}

TEST_F(GpuExecutableTest, CompilesWithoutADevice) {
  auto program = compile(kUpdate, {.chip = "sm_90"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT((*program)->ptx(), AllOf(HasSubstr(".version 8.0"), HasSubstr(".target sm_90")));
  EXPECT_FALSE((*program)->kernelNames().empty());
  EXPECT_GE(*(*program)->numLaunches(), static_cast<int64_t>((*program)->kernelNames().size()));
  EXPECT_THAT((*program)->interface().inputs, SizeIs(3));
  EXPECT_EQ((*program)->interface().outputs[1].alias, 0);
  for (const std::string &kernel : (*program)->kernelNames())
    EXPECT_THAT((*program)->ptx(), HasSubstr(".entry " + kernel + "("));
}

TEST_F(GpuExecutableTest, RunsOnDeviceMemory) {
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate);
  EXPECT_EQ(executable->device().name(), "cuda:0");
  std::vector<float> p(100), g(100);
  float sum = 0;
  for (int i = 0; i < 100; ++i) {
    p[i] = static_cast<float>(i);
    g[i] = static_cast<float>(2 * i);
    sum += p[i] - 3 * (g[i] * 0.25f);
  }
  DeviceBuffer dp = upload(p), dg = upload(g), rate = upload({0.25f}), total = upload({0});
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(executable->run({dp.data(), dg.data(), rate.data()}, {total.data(), nullptr}).ok());
  std::vector<float> updated = download(dp);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(updated[i], p[i] - 3 * (g[i] * 0.25f));
  EXPECT_EQ(download(total)[0], sum);
}

TEST_F(GpuExecutableTest, RunsOnHostMemoryThroughCopies) {
  std::unique_ptr<Executable> executable = makeHostExecutable(load(kUpdate));
  std::vector<float> p(100, 3), g(100, 4);
  float rate = 0.5f, sum = 0;
  ASSERT_TRUE(executable->run({p.data(), g.data(), &rate}, {&sum, nullptr}).ok());
  EXPECT_THAT(p, testing::Each(1.0f));
  EXPECT_EQ(sum, 100.0f);
  absl::Status status = executable->run({p.data()}, {&sum});
  EXPECT_THAT(messageOf(status), HasSubstr("expected 3 inputs and 2 outputs, got 1 and 1"));
}

TEST_F(GpuExecutableTest, RunsFromSeveralThreads) {
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate);
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      DeviceBuffer p = upload(std::vector<float>(100, 1)), g = upload(std::vector<float>(100, 1));
      DeviceBuffer rate = upload({static_cast<float>(t)}), sum = upload({0});
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(executable->run({p.data(), g.data(), rate.data()}, {sum.data(), nullptr}).ok());
      EXPECT_EQ(download(sum)[0], 100.0f * (1 - 5 * t));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(GpuExecutableTest, ChecksPointersAtTheCall) {
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate);
  EXPECT_THAT(messageOf(executable->run({nullptr, nullptr, nullptr}, {nullptr, nullptr})),
              HasSubstr("input 0 is null"));
}

TEST_F(GpuExecutableTest, ReportsTheDeviceError) {
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate);
  DeviceBuffer p = upload(std::vector<float>(100, 1)), rate = upload({1}), sum = upload({0});
  DeviceBuffer tooSmall = upload({1, 2});
  absl::Status status = executable->run({p.data(), tooSmall.data(), rate.data()}, {sum.data(), nullptr});
  if (status.ok())
    status = executable->device().synchronize();
  EXPECT_THAT(messageOf(status), AllOf(HasSubstr("cuda:0: "), HasSubstr("CUDA_ERROR_")));
}

TEST_F(GpuExecutableTest, ReportsWhatItCannotCompile) {
  auto foreign = compile("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }");
  EXPECT_EQ(foreign.status().code(), absl::StatusCode::kInvalidArgument);
  auto chip = compile(kUpdate, {.chip = "sm_1"});
  EXPECT_THAT(messageOf(chip.status()), HasSubstr("'sm_1'"));
}

TEST_F(GpuExecutableTest, TheProcessorRunsNoKernels) {
  auto program = compile(kUpdate);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ((*program)->load(cpuDevice()).status().code(), absl::StatusCode::kUnimplemented);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

TEST(Target, Parses) {
  EXPECT_EQ(Target::parse("cpu")->kind, Target::Kind::Cpu);
  EXPECT_EQ(Target::parse("cuda")->device, "cuda:0");
  EXPECT_EQ(Target::parse("cuda:12")->device, "cuda:12");
  EXPECT_EQ(Target::parse("sim:sm_90")->device, "sim:sm_90");
  EXPECT_EQ(Target::parse("sim")->device, "sim:0");
  EXPECT_EQ(Target::parse("cpu:3")->device, "cpu:3");
  EXPECT_EQ(Target::parse("ptx:sm_90")->kind, Target::Kind::Ptx);
  EXPECT_EQ(Target::parse("ptx:sm_90")->chip, "sm_90");
  for (const char *bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "ptx", "ptx:sm_70", "ptx:", "sim:", "sim:sm_70", "cpu:x", "CPU", "cpu "})
    EXPECT_THAT(messageOf(Target::parse(bad).status()),
                HasSubstr("target: expected cpu, cuda, sim, one of these with :<number>, sim:sm_80 or sim:sm_90, ptx:sm_80 or ptx:sm_90, got '"))
        << bad;
}

TEST(Target, OpensDevices) {
  EXPECT_EQ(*Target::parse("cpu")->open(), &cpuDevice());
  EXPECT_EQ((*Target::parse("cuda")->open())->kind(), DeviceKind::Cuda);
  EXPECT_THAT(messageOf(Target::parse("ptx:sm_80")->open().status()),
              HasSubstr("target ptx:sm_80: expected a device to run on"));
}

TEST(Target, ChoosesTheNewestCodeThatADeviceRuns) {
  DeviceInfo device{DeviceKind::Cuda, "cuda:0", "A GPU", 0, 0};
  for (auto [capability, chip] : {std::pair{80, "sm_80"}, {86, "sm_80"}, {89, "sm_80"}, {90, "sm_90"}, {100, "sm_90"}}) {
    device.computeCapability = capability;
    EXPECT_EQ(*chipFor(device), chip);
  }
  device.computeCapability = 75;
  EXPECT_THAT(messageOf(chipFor(device).status()),
              HasSubstr("cuda:0 (A GPU): expected a CUDA device of architecture sm_80 or later, got sm_75"));
}
