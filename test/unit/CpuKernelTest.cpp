// SPDX-License-Identifier: Apache-2.0
//
// Kernels against upstream's scalar loops: each program is compiled both ways and
// run on the same random inputs, on one thread and on three. Elementwise results
// and integers must be equal, sums and the like close.
#include "KernelPrograms.h"
#include "lib/Execution/CpuExecutable.h"
#include "runtime/ThreadPool.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace hjx;
using namespace mlir;

namespace {

/// Runs on a copy of the inputs and returns the outputs.
Bytes run(const CpuExecutable &executable, Bytes inputs) {
  Bytes outputs;
  std::vector<const void *> in;
  std::vector<void *> out;
  for (auto &bytes : inputs)
    in.push_back(bytes.empty() ? static_cast<void *>(&in) : bytes.data());
  for (const BufferSpec &spec : executable.outputs())
    outputs.emplace_back(spec.sizeBytes, char(0x5a));
  for (auto [index, spec] : llvm::enumerate(executable.outputs()))
    out.push_back(spec.alias >= 0 ? nullptr : outputs[index].data());
  absl::Status status = executable.run(in, out);
  EXPECT_TRUE(status.ok()) << status;
  for (auto [index, spec] : llvm::enumerate(executable.outputs()))
    if (spec.alias >= 0)
      outputs[index] = inputs[spec.alias];
  return outputs;
}

class CpuKernelTest : public testing::TestWithParam<KernelProgram> {
protected:
  std::unique_ptr<CpuExecutable> compile(bool scalarLoops, const std::string &cpu) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(GetParam().text, &context);
    EXPECT_TRUE(module);
    CpuOptions options;
    options.scalarLoops = scalarLoops;
    options.cpu = cpu;
    auto executable = CpuExecutable::compile(*module, options);
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? *std::move(executable) : nullptr;
  }

  CpuKernelTest() {
    DialectRegistry registry;
    registerCpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void compareKernelsForCpu(const std::string &cpu);

  MLIRContext context;
};

void CpuKernelTest::compareKernelsForCpu(const std::string &cpu) {
  std::unique_ptr<CpuExecutable> plain = compile(true, cpu), kernels = compile(false, cpu);
  ASSERT_TRUE(plain && kernels);
  Bytes inputs = randomInputs(kernels->inputs());
  Bytes expected = run(*plain, inputs);
  ThreadPool::global().resize(1);
  Bytes got = run(*kernels, inputs);
  ThreadPool::global().resize(3);
  EXPECT_EQ(run(*kernels, inputs), got) << "results depend on the number of threads";

  expectClose(kernels->outputs(), expected, got, GetParam().tolerance);
}

TEST_P(CpuKernelTest, AgreesWithScalarLoops) { compareKernelsForCpu(""); }

#ifdef __x86_64__
// The vectors that the host's widest registers hide: split, and without AVX-512's masks.
TEST_P(CpuKernelTest, AgreesOnAvx2) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    compareKernelsForCpu("x86-64-v3");
  else
    GTEST_SKIP() << "this processor has no AVX2";
}
#endif

INSTANTIATE_TEST_SUITE_P(Programs, CpuKernelTest, testing::ValuesIn(kernelPrograms()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
