// SPDX-License-Identifier: Apache-2.0
//
// Programs compiled for a GPU, on the simulated device; and how targets are spelled.
#include "lib/Execution/GpuExecutable.h"

#include "lib/Data/File.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/CubinCache.h"
#include "lib/Execution/Target.h"
#include "lib/Pipelines/Register.h"
#include "runtime/Environment.h"
#include "test/unit/CountedDevice.h"
#include "test/unit/TemporaryFolder.h"

#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <sys/stat.h>

using namespace hjx;
using namespace mlir;
using hjx::test::asked;
using hjx::test::openCounted;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0 && setenv("HJX_PTXSIM_DEVICES", "2", 1) == 0;

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
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context, "update.mlir");
    if (!module)
      return absl::InvalidArgumentError("the test's module does not parse");
    auto program = GpuProgram::compile(*module, options);
    if (program.ok())
      EXPECT_GE((*program)->cost()->movedBytes, (*program)->cost()->minimumBytes);
    return program;
  }

  std::unique_ptr<DeviceExecutable> load(llvm::StringRef text, const std::string &device = "cuda") {
    auto program = compile(text);
    EXPECT_TRUE(program.ok()) << program.status();
    auto executable = (*program)->load(**openDevice(device));
    EXPECT_TRUE(executable.ok()) << executable.status();
    return *std::move(executable); // The program itself is gone now.
  }

  MLIRContext context;
};

/// Host values in device memory.
DeviceBuffer upload(const std::vector<float> &values, RuntimeDevice &device = **openDevice("cuda")) {
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
              HasSubstr("sim:sm_90: expected sm_80, which the simulated devices of this process are, got sm_90"));
}

TEST_F(GpuExecutableTest, CompilesWithoutADevice) {
  auto program = compile(kUpdate, {.chip = "sm_90"});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT((*program)->ptx(), AllOf(HasSubstr(".version 8.0"), HasSubstr(".target sm_90")));
  EXPECT_FALSE((*program)->kernelNames().empty());
  EXPECT_GE((*program)->cost()->launches, static_cast<int64_t>((*program)->kernelNames().size()));
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

TEST_F(GpuExecutableTest, ReplaysWhatItLaunched) {
  auto program = compile(kUpdate);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->plan().numReads, 0);
  std::unique_ptr<RuntimeDevice> device = openCounted();
  std::unique_ptr<DeviceExecutable> executable = *(*program)->load(*device);
  auto launches = static_cast<int>((*program)->cost()->launches);
  std::vector<float> values(100), expected(100);
  for (int i = 0; i < 100; ++i)
    values[i] = 0.1f * static_cast<float>(i * i);
  // Two batches that take turns, a rate that the host changes, and the processor's own arithmetic.
  DeviceBuffer p = upload(values), rate = upload({0}), sum = upload({0});
  DeviceBuffer g[] = {upload(values), upload(std::vector<float>(100, 0.3f))};
  expected = values;
  for (int step = 0; step < 10; ++step) {
    float lr = 0.01f * static_cast<float>(step + 1);
    ASSERT_TRUE(device->copyToDevice(rate.data(), &lr, sizeof lr).ok());
    ASSERT_TRUE(executable->run({p.data(), g[step % 2].data(), rate.data()}, {sum.data(), nullptr}).ok());
    for (int i = 0; i < 100; ++i)
      expected[i] = expected[i] - (step % 2 ? 0.3f : values[i]) * lr;
    EXPECT_EQ(download(p), expected) << "step " << step;
  }
  EXPECT_EQ(asked["launch"], 4 * launches) << "each pair of buffers: once, and into a graph";
  EXPECT_EQ(asked["replay"], 8);
}

TEST_F(GpuExecutableTest, DoesNotReplayWhatReadsTheDevice) {
  auto program = compile(R"mlir(
  func.func @main(%limit: tensor<i32>) -> tensor<i32> {
    %zero = arith.constant dense<0> : tensor<i32>
    %r = scf.while (%i = %zero) : (tensor<i32>) -> tensor<i32> {
      %a = tensor.extract %i[] : tensor<i32>
      %b = tensor.extract %limit[] : tensor<i32>
      %less = arith.cmpi slt, %a, %b : i32
      scf.condition(%less) %i : tensor<i32>
    } do {
    ^bb0(%i: tensor<i32>):
      %e = tensor.empty() : tensor<i32>
      %next = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
          ins(%i : tensor<i32>) outs(%e : tensor<i32>) {
        ^bb0(%a: i32, %o: i32):
          %one = arith.constant 1 : i32
          %s = arith.addi %a, %one : i32
          linalg.yield %s : i32
      } -> tensor<i32>
      scf.yield %next : tensor<i32>
    }
    return %r : tensor<i32>
  })mlir");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_GE((*program)->plan().numReads, 1);
  std::unique_ptr<RuntimeDevice> device = openCounted();
  std::unique_ptr<DeviceExecutable> executable = *(*program)->load(*device);
  DeviceBuffer limit = *device->allocate(4), result = *device->allocate(4);
  for (int32_t wanted : {3, 3, 7, 1}) {
    int32_t got = 0;
    ASSERT_TRUE(device->copyToDevice(limit.data(), &wanted, 4).ok());
    ASSERT_TRUE(executable->run({limit.data()}, {result.data()}).ok());
    ASSERT_TRUE(device->copyToHost(&got, result.data(), 4).ok());
    EXPECT_EQ(got, wanted);
  }
  EXPECT_EQ(asked["replay"], 0);
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

TEST_F(GpuExecutableTest, TimesItsKernels) {
  auto program = compile(kUpdate);
  ASSERT_TRUE(program.ok());
  Trace trace;
  RuntimeDevice &device = **openDevice("cuda");
  std::unique_ptr<DeviceExecutable> executable = *(*program)->load(device, {.profile = true, .trace = &trace});
  DeviceBuffer p = upload(std::vector<float>(100, 1)), rate = upload({1}), sum = upload({0});
  DeviceBuffer g = upload(std::vector<float>(100, 0.5f));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(executable->run({p.data(), g.data(), rate.data()}, {sum.data(), nullptr}).ok());
  EXPECT_EQ(download(sum)[0], 100 * (1 - 1.5f));
  absl::StatusOr<std::vector<KernelTime>> times = executable->profile();
  ASSERT_TRUE(times.ok()) << times.status();
  int64_t calls = 0;
  for (const KernelTime &time : *times)
    calls += time.numCalls;
  EXPECT_EQ(calls, 3 * (*program)->cost()->launches);
  EXPECT_THAT(trace.json(), HasSubstr((*program)->kernelNames().front()));
}

TEST_F(GpuExecutableTest, CountsWhatKernelsMove) {
  // One pass over p, g and the rate to p; the sum reads p again.
  auto program = compile(kUpdate);
  ASSERT_TRUE(program.ok());
  const ProgramCost &cost = *(*program)->cost();
  EXPECT_EQ(cost.minimumBytes, 4 * (100 + 100 + 1) + 4 * (100 + 1));
  EXPECT_GE(cost.movedBytes, cost.minimumBytes);
  EXPECT_LE(cost.movedBytes, cost.minimumBytes + 4 * 100 + 8);
  int64_t launches = 0, bytes = 0;
  for (const KernelCost &kernel : cost.kernels) {
    launches += kernel.launches;
    bytes += kernel.bytes;
  }
  EXPECT_EQ(launches, cost.launches);
  EXPECT_EQ(bytes, cost.movedBytes);
}

TEST_F(GpuExecutableTest, CountsGathersAndProducts) {
  auto gather = compile(R"mlir(
  func.func @main(%table: tensor<1000x4xf32>, %ids: tensor<3xi32>) -> tensor<3x4xf32> {
    %e = tensor.empty() : tensor<3x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%ids : tensor<3xi32>) outs(%e : tensor<3x4xf32>) {
      ^bb0(%id: i32, %o: f32):
        %j = linalg.index 1 : index
        %i = arith.index_cast %id : i32 to index
        %v = tensor.extract %table[%i, %j] : tensor<1000x4xf32>
        linalg.yield %v : f32
    } -> tensor<3x4xf32>
    return %r : tensor<3x4xf32>
  })mlir");
  ASSERT_TRUE(gather.ok()) << gather.status();
  EXPECT_EQ((*gather)->cost()->movedBytes, 3 * 4 + 2 * 4 * 12) << "12 elements of the table, not 4000";
  auto product = compile(R"mlir(
  func.func @main(%a: tensor<64x48xf32>, %b: tensor<48x80xf32>) -> tensor<64x80xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x80xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
    %r = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x80xf32>) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
    return %r : tensor<64x80xf32>
  })mlir");
  ASSERT_TRUE(product.ok()) << product.status();
  EXPECT_EQ((*product)->cost()->launches, 1);
  EXPECT_EQ((*product)->cost()->movedBytes, 4 * (64 * 48 + 48 * 80 + 64 * 80));
  EXPECT_EQ((*product)->cost()->minimumBytes, (*product)->cost()->movedBytes);
}

// p = a b, whose rows sum up to 1 in s; s c and p c. The rows of p are read once more than by the products.
TEST_F(GpuExecutableTest, TheMinimumIsThatOfTheProducts) {
  auto program = compile(R"mlir(
  #id = affine_map<(i, j) -> (i, j)>
  #row = affine_map<(i, j) -> (i)>
  func.func @main(%a: tensor<64x48xf32>, %b: tensor<48x80xf32>, %c: tensor<80x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<64x80xf32>
    %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<64x80xf32>) -> tensor<64x80xf32>
    %p = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x80xf32>) outs(%fp : tensor<64x80xf32>) -> tensor<64x80xf32>
    %er = tensor.empty() : tensor<64xf32>
    %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<64x80xf32>) outs(%fr : tensor<64xf32>) {
      ^bb0(%x: f32, %acc: f32):
        %t = arith.addf %x, %acc : f32
        linalg.yield %t : f32
    } -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p, %sum : tensor<64x80xf32>, tensor<64xf32>) outs(%ep : tensor<64x80xf32>) {
      ^bb0(%x: f32, %t: f32, %o: f32):
        %q = arith.divf %x, %t : f32
        linalg.yield %q : f32
    } -> tensor<64x80xf32>
    %e = tensor.empty() : tensor<64x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
    %sc = linalg.matmul ins(%s, %c : tensor<64x80xf32>, tensor<80x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    %pc = linalg.matmul ins(%p, %c : tensor<64x80xf32>, tensor<80x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    return %sc, %pc : tensor<64x32xf32>, tensor<64x32xf32>
  })mlir");
  ASSERT_TRUE(program.ok()) << program.status();
  const ProgramCost &cost = *(*program)->cost();
  int64_t p = 4 * 64 * 80, arguments = 4 * (64 * 48 + 48 * 80 + 2 * 80 * 32), results = 2 * 4 * 64 * 32;
  EXPECT_EQ(cost.minimumBytes, arguments + results + 2 * p /* p */ + 2 * p /* s */);
  EXPECT_EQ(cost.movedBytes, cost.minimumBytes + p);
}

// An optimizer in small: eleven parameters in two shapes.
TEST_F(GpuExecutableTest, BatchesLaunchesOfTwoKernels) {
  std::string arguments, results, body, values;
  for (int i = 0; i < 11; ++i) {
    std::string n = std::to_string(i), type = i % 3 == 2 ? "tensor<7xf32>" : "tensor<300xf32>";
    arguments += "%p" + n + ": " + type + " {hjx.alias = " + n + " : i64}, ";
    results += (i ? ", " : "") + type;
    values += (i ? ", %r" : "%r") + n;
    body += "%e" + n + " = tensor.empty() : " + type + "\n%r" + n +
            " = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = [\"parallel\"]} ins(%p" + n +
            ", %rate : " + type + ", tensor<f32>) outs(%e" + n + " : " + type + ") {\n^bb0(%a: f32, %b: f32, %o: f32):\n" +
            "%s = arith.mulf %a, %b : f32\nlinalg.yield %s : f32\n} -> " + type + "\n";
  }
  auto program = compile("#id = affine_map<(i) -> (i)>\n#scalar = affine_map<(i) -> ()>\nfunc.func @main(" + arguments +
                         "%rate: tensor<f32>) -> (" + results + ") {\n" + body + "return " + values + " : " + results + "\n}");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->cost()->launches, 1);
  std::unique_ptr<DeviceExecutable> executable = *(*program)->load(**openDevice("cuda"));
  DeviceBuffer rate = upload({3});
  std::vector<DeviceBuffer> buffers;
  std::vector<const void *> inputs;
  for (int i = 0; i < 11; ++i) {
    buffers.push_back(upload(std::vector<float>(i % 3 == 2 ? 7 : 300, static_cast<float>(i))));
    inputs.push_back(buffers.back().data());
  }
  inputs.push_back(rate.data());
  std::vector<void *> outputs(11, nullptr);
  ASSERT_TRUE(executable->run(inputs, absl::MakeSpan(outputs)).ok());
  for (int i = 0; i < 11; ++i)
    EXPECT_THAT(download(buffers[i]), testing::Each(3.0f * static_cast<float>(i))) << "parameter " << i;
}

//===----------------------------------------------------------------------===//
// Machine code on disk
//===----------------------------------------------------------------------===//

namespace {

/// An assembler that writes down how often it ran, for which architecture.
class CubinCacheTest : public testing::Test {
protected:
  CubinCacheTest() {
    std::ofstream script(ptxas());
    script << "#!/bin/sh\nfor a; do case \"$a\" in -arch=*) arch=${a#-arch=};; esac; last=$a; done\n"
           << "echo $arch >> " << folder.path("runs") << "\n[ -e " << folder.path("fail") << " ] && exit 1\n"
           << "printf 'code of %s' $arch > $last\n";
    script.close();
    chmod(ptxas().c_str(), 0755);
  }
  std::string ptxas() const { return folder.path("ptxas"); }
  std::string runs() const {
    absl::StatusOr<std::string> text = readFile(folder.path("runs"));
    return text.ok() ? *text : "";
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder.path("cache/cubins")))
      paths.push_back(entry.path());
    return paths;
  }
  hjx::test::TemporaryFolder folder;
  CubinCache cache{folder.path("cache/cubins"), ptxas()};
};

} // namespace

TEST_F(CubinCacheTest, AssemblesOnce) {
  EXPECT_EQ(cache.find(".target sm_80\nA", 86), "code of sm_86");
  EXPECT_EQ(cache.find(".target sm_80\nA", 86), "code of sm_86");
  EXPECT_EQ(runs(), "sm_86\n");
  EXPECT_EQ(cache.find(".target sm_80\nB", 86), "code of sm_86") << "another text";
  EXPECT_EQ(cache.find(".target sm_80\nA", 90), "code of sm_90") << "another device";
  EXPECT_EQ(cache.find(".target sm_90a\nA", 90), "code of sm_90a") << "text for one architecture alone";
  EXPECT_EQ(runs(), "sm_86\nsm_86\nsm_90\nsm_90a\n");
  std::ofstream(ptxas(), std::ios::app) << "# newer\n";
  EXPECT_EQ(cache.find(".target sm_80\nA", 86), "code of sm_86") << "another assembler";
  EXPECT_EQ(runs(), "sm_86\nsm_86\nsm_90\nsm_90a\nsm_86\n");
}

TEST_F(CubinCacheTest, MakesDamagedEntriesAgain) {
  ASSERT_TRUE(cache.find("A", 80));
  for (const char *damage : {"", "hjx-cubin 1 00\ncode of sm_80", "code of sm_80", "hjx-cubin 2 "}) {
    ASSERT_EQ(entries().size(), 1u);
    std::string good = *readFile(entries()[0]);
    std::ofstream(entries()[0], std::ios::trunc) << damage;
    EXPECT_EQ(cache.find("A", 80), "code of sm_80");
    EXPECT_EQ(*readFile(entries()[0]), good) << "it is written again";
  }
  EXPECT_EQ(runs(), "sm_80\nsm_80\nsm_80\nsm_80\nsm_80\n");
}

TEST_F(CubinCacheTest, DoesWithoutAFolderOrAnAssembler) {
  std::ofstream(folder.path("file")) << "no folder";
  EXPECT_EQ(CubinCache(folder.path("file"), ptxas()).find("A", 80), "code of sm_80");
  EXPECT_EQ(CubinCache("", ptxas()).find("A", 80), "code of sm_80");
  std::ofstream(folder.path("fail")) << "";
  EXPECT_EQ(cache.find("B", 80), std::nullopt) << "the driver assembles then";
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
  EXPECT_EQ(Target::parse("ptx:sm_90a")->chip, "sm_90a");
  for (const char *bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "ptx", "ptx:sm_70", "ptx:", "sim:", "sim:sm_70", "cpu:x", "CPU", "cpu "})
    EXPECT_THAT(messageOf(Target::parse(bad).status()),
                HasSubstr("target: expected cpu, cuda, sim, one of these with :<number>, sim:sm_80 or sim:sm_90 or sim:sm_90a, ptx:sm_80 or ptx:sm_90 or ptx:sm_90a, got '"))
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
  for (auto [capability, chip] : {std::pair{80, "sm_80"}, {86, "sm_80"}, {89, "sm_80"}, {90, "sm_90a"}, {100, "sm_90"}}) {
    device.computeCapability = capability;
    EXPECT_EQ(*chipFor(device), chip);
  }
  device.computeCapability = 75;
  EXPECT_THAT(messageOf(chipFor(device).status()),
              HasSubstr("cuda:0 (A GPU): expected a CUDA device of architecture sm_80 or later, got sm_75"));
}

// The last: it leaves the device at fault.
TEST_F(GpuExecutableTest, ReportsTheDeviceError) {
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate);
  DeviceBuffer p = upload(std::vector<float>(100, 1)), rate = upload({1}), sum = upload({0});
  DeviceBuffer tooSmall = upload({1, 2});
  absl::Status status = executable->run({p.data(), tooSmall.data(), rate.data()}, {sum.data(), nullptr});
  if (status.ok())
    status = executable->device().synchronize();
  EXPECT_THAT(messageOf(status), AllOf(HasSubstr("cuda:0: "), HasSubstr("CUDA_ERROR_"),
                                       HasSubstr("help: run with CUDA_LAUNCH_BLOCKING=1 to have the kernel and its place named")));
}

TEST_F(GpuExecutableTest, NamesTheKernelOfAnErrorThatItWaitedFor) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1); // Before the device is opened.
  std::unique_ptr<DeviceExecutable> executable = load(kUpdate, "cuda:1");
  RuntimeDevice &device = executable->device();
  DeviceBuffer p = upload(std::vector<float>(100, 1), device), rate = upload({1}, device), sum = upload({0}, device);
  DeviceBuffer tooSmall = upload({1, 2}, device);
  absl::Status status = executable->run({p.data(), tooSmall.data(), rate.data()}, {sum.data(), nullptr});
  EXPECT_THAT(messageOf(status), AllOf(StartsWith("update.mlir:7: cuda:1: running 'rows_"), HasSubstr("CUDA_ERROR_"), HasSubstr("compute-sanitizer")));
  EXPECT_FALSE(cudaGraphs());
}
