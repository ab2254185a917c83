// SPDX-License-Identifier: Apache-2.0
//
// GPU kernels, on the simulated device, against upstream's scalar loops on the CPU; and what the
// assembler says of them, where there is one: no registers spilt.
#include "KernelPrograms.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "runtime/Backends.h"
#include "test/unit/Assembler.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace hjx;
using namespace mlir;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

/// Runs on a copy of the inputs and returns the outputs.
Bytes run(const auto &executable, const std::vector<BufferSpec> &specs, Bytes inputs) {
  Bytes outputs;
  std::vector<const void *> in;
  std::vector<void *> out;
  for (auto &bytes : inputs)
    in.push_back(bytes.empty() ? static_cast<void *>(&in) : bytes.data());
  for (const BufferSpec &spec : specs)
    outputs.emplace_back(spec.sizeBytes, char(0x5a));
  for (auto [index, spec] : llvm::enumerate(specs))
    out.push_back(spec.alias >= 0 ? nullptr : outputs[index].data());
  absl::Status status = executable.run(in, out);
  EXPECT_TRUE(status.ok()) << status;
  for (auto [index, spec] : llvm::enumerate(specs))
    if (spec.alias >= 0)
      outputs[index] = inputs[spec.alias];
  return outputs;
}

class GpuKernelTest : public testing::TestWithParam<KernelProgram> {
protected:
  GpuKernelTest() {
    DialectRegistry registry;
    registerCpuDialects(registry);
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(GetParam().text, &context);
  }

  std::unique_ptr<GpuProgram> compile(const std::string &chip) {
    OwningOpRef<ModuleOp> copy = module->clone();
    auto program = GpuProgram::compile(*copy, {.chip = chip});
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok())
      return nullptr;
    EXPECT_GE((*program)->cost()->movedBytes, (*program)->cost()->minimumBytes);
    return *std::move(program);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_P(GpuKernelTest, AgreesWithScalarLoops) {
  std::unique_ptr<GpuProgram> program = compile("sm_80");
  ASSERT_TRUE(program);
  auto loaded = program->load(**openDevice("cuda"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::unique_ptr<Executable> kernels = makeHostExecutable(*std::move(loaded));
  auto plain = CpuExecutable::compile(*module, {.scalarLoops = true});
  ASSERT_TRUE(plain.ok()) << plain.status();
  Bytes inputs = randomInputs((*plain)->inputs());
  const std::vector<BufferSpec> &outputs = (*plain)->outputs();
  expectClose(outputs, run(**plain, outputs, inputs), run(*kernels, outputs, inputs),
              GetParam().tolerance);
}

TEST_P(GpuKernelTest, IsAcceptedByTheAssembler) {
  std::optional<std::string> ptxas = test::assembler();
  if (!ptxas)
    GTEST_SKIP() << "there is no ptxas";
  for (const char *chip : {"sm_80", "sm_90a"}) {
    std::unique_ptr<GpuProgram> program = compile(chip);
    ASSERT_TRUE(program);
    test::expectNoSpills(*ptxas, program->ptx(), chip);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, GpuKernelTest, testing::ValuesIn(kernelPrograms()),
                         [](const auto &info) { return info.param.name; });

} // namespace
