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

/// Masks of every form: the loop along the row splits where a mask starts to hide all. Bounds are
/// from -9 to beyond the row, and in one row as large as can be.
std::vector<KernelProgram> maskPrograms() {
  std::vector<KernelProgram> programs;
  for (const char *predicate : {"slt", "sle", "sgt", "sge", "ult", "eq"})
    for (const char *operands : {"%j, %bound", "%bound, %j"}) {
      std::string name = predicate + std::string(operands[1] == 'j' ? "_bound" : "_variable");
      std::string text = std::string(R"mlir(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<130x107xf32>) -> (tensor<130x107xf32>, tensor<130xf32>) {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant -3.0 : f32
  %huge = arith.constant 9223372036854775807 : index
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<130x107xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<130x107xf32>) outs(%e : tensor<130x107xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %less = arith.subi %i, %c9 : index
      %is7 = arith.cmpi eq, %i, %c7 : index
      %bound = arith.select %is7, %huge, %less : index
      %mask = arith.cmpi )mlir") + predicate + ", " + operands + R"mlir( : index
      %v = arith.select %mask, %a, %hidden : f32
      %w = arith.select %mask, %hidden, %v : f32
      %s = arith.addf %v, %w : f32
      %r = math.exp %s : f32
      linalg.yield %r : f32
  } -> tensor<130x107xf32>
  %e1 = tensor.empty() : tensor<130xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<130xf32>) -> tensor<130xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<130x107xf32>) outs(%f : tensor<130xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
  } -> tensor<130xf32>
  return %y, %sum : tensor<130x107xf32>, tensor<130xf32>
})mlir";
      programs.push_back({name, text, 1e-5});
    }
  return programs;
}

INSTANTIATE_TEST_SUITE_P(Masks, CpuKernelTest, testing::ValuesIn(maskPrograms()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Programs, CpuKernelTest, testing::ValuesIn(kernelPrograms()),
                         [](const auto &info) { return info.param.name; });

} // namespace
