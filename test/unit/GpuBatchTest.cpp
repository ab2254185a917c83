// SPDX-License-Identifier: Apache-2.0
//
// Launches that run as one, on the simulated device: random programs of products and sums on shared operands, whose
// results are, bit for bit, those of each op compiled alone. The device is an sm_80, or what HJX_PTXSIM_ARCH says.
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "runtime/Backends.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>

#include <random>

using namespace hjx;
using namespace mlir;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

/// An op on matrices with sides of kSide; values are numbered, the inputs come first.
struct Step {
  bool isProduct;        ///< Else sums of columns.
  unsigned lhs, rhs = 0; ///< Values.
  bool lhsTransposed = false, rhsTransposed = false;
};

constexpr unsigned kInputs = 3;
constexpr int64_t kSide = 72; // Two tiles, the second of them ragged.

std::string typeOf(const std::vector<Step> &steps, unsigned value) {
  bool isMatrix = value < kInputs || steps[value - kInputs].isProduct;
  return isMatrix ? llvm::formatv("tensor<{0}x{0}xf32>", kSide).str() : llvm::formatv("tensor<{0}xf32>", kSide).str();
}

std::string textOf(const Step &step, unsigned value) {
  std::string matrix = llvm::formatv("tensor<{0}x{0}xf32>", kSide), row = llvm::formatv("tensor<{0}xf32>", kSide);
  const std::string &type = step.isProduct ? matrix : row;
  std::string start = llvm::formatv("%e{0} = tensor.empty() : {1}\n%f{0} = linalg.fill ins(%zero : f32) outs(%e{0} : {1}) -> {1}\n", value, type);
  if (!step.isProduct)
    return start + llvm::formatv("%v{0} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], "
                                 "iterator_types = [\"parallel\", \"reduction\"]} ins(%v{1} : {2}) outs(%f{0} : {3}) {{\n^bb0(%x: f32, %o: f32):\n"
                                 "%s = arith.addf %o, %x : f32\nlinalg.yield %s : f32\n} -> {3}\n",
                                 value, step.lhs, matrix, row).str();
  return start + llvm::formatv("%v{0} = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> ({4})>, affine_map<(i, j, k) -> ({5})>, "
                               "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
                               "ins(%v{1}, %v{2} : {3}, {3}) outs(%f{0} : {3}) {{\n^bb0(%x: f32, %y: f32, %o: f32):\n"
                               "%m = arith.mulf %x, %y : f32\n%s = arith.addf %o, %m : f32\nlinalg.yield %s : f32\n} -> {3}\n",
                               value, step.lhs, step.rhs, matrix, step.lhsTransposed ? "k, i" : "i, k", step.rhsTransposed ? "j, k" : "k, j").str();
}

/// A function of the values `arguments` that returns the values `results`, computed by the steps that make these.
std::string programOf(const std::vector<Step> &steps, llvm::ArrayRef<unsigned> arguments, llvm::ArrayRef<unsigned> results, bool isTf32) {
  auto list = [&](llvm::ArrayRef<unsigned> values, bool hasNames, bool hasTypes) {
    std::string text;
    for (unsigned value : values)
      text += (text.empty() ? "" : ", ") + (hasNames ? "%v" + std::to_string(value) : "") + (hasNames && hasTypes ? ": " : "") +
              (hasTypes ? typeOf(steps, value) : "");
    return text;
  };
  std::string body;
  for (unsigned value : results)
    body += textOf(steps[value - kInputs], value);
  return llvm::formatv("module {0} {{\nfunc.func @main({1}) -> ({2}) {{\n%zero = arith.constant 0.0 : f32\n{3}return {4} : {2}\n}\n}",
                       isTf32 ? "attributes {hjx.matmul_precision = \"tf32\"}" : "", list(arguments, true, true), list(results, false, true),
                       body, list(results, true, false));
}

class GpuBatchTest : public testing::TestWithParam<unsigned> {
protected:
  GpuBatchTest() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Runs the program and returns how many launches it has.
  int64_t run(const std::string &text, llvm::ArrayRef<unsigned> arguments, llvm::ArrayRef<unsigned> results,
              std::vector<std::vector<float>> &values) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    RuntimeDevice *device = *openDevice("cuda");
    auto program = GpuProgram::compile(*module, {.chip = *chipFor(device->info())});
    EXPECT_TRUE(program.ok()) << program.status();
    std::unique_ptr<Executable> executable = makeHostExecutable(*(*program)->load(*device));
    std::vector<void *> in, out;
    for (unsigned value : arguments)
      in.push_back(values[value].data());
    for (unsigned value : results)
      out.push_back(values[value].data());
    absl::Status status = executable->run(in, out);
    EXPECT_TRUE(status.ok()) << status;
    return (*program)->cost()->launches;
  }

  MLIRContext context;
};

} // namespace

TEST_P(GpuBatchTest, GivesWhatEachGivesAlone) {
  std::mt19937 generator(GetParam());
  auto draw = [&](unsigned below) { return static_cast<unsigned>(generator() % below); };
  bool isTf32 = GetParam() % 2 == 0;
  std::vector<Step> steps;
  std::vector<unsigned> matrices, all, inputs = {0, 1, 2};
  matrices = inputs;
  for (unsigned value = kInputs; value < kInputs + 9; ++value) {
    // Mostly on what has been there for some time, so that much is independent.
    auto pick = [&] { return matrices[draw(draw(3) ? kInputs : static_cast<unsigned>(matrices.size()))]; };
    bool isProduct = draw(3) > 0;
    steps.push_back({isProduct, pick(), pick(), draw(2) == 1, draw(2) == 1});
    if (isProduct)
      matrices.push_back(value);
    all.push_back(value);
  }
  std::vector<std::vector<float>> together(kInputs + steps.size());
  for (unsigned value = 0; value < together.size(); ++value) {
    bool isMatrix = value < kInputs || steps[value - kInputs].isProduct;
    together[value].resize(isMatrix ? kSide * kSide : kSide, -7);
  }
  std::uniform_real_distribution<float> real(-1, 1);
  for (unsigned input : inputs)
    for (float &number : together[input])
      number = real(generator);
  std::vector<std::vector<float>> alone = together;

  std::string program = programOf(steps, inputs, all, isTf32);
  SCOPED_TRACE(program);
  int64_t launches = run(program, inputs, all, together), launchesAlone = 0;
  for (unsigned value : all) {
    const Step &step = steps[value - kInputs];
    std::vector<unsigned> arguments = {step.lhs};
    if (step.isProduct && step.rhs != step.lhs)
      arguments.push_back(step.rhs);
    launchesAlone += run(programOf(steps, arguments, {value}, isTf32), arguments, {value}, alone);
  }
  EXPECT_LT(launches, launchesAlone);
  for (unsigned value : all)
    EXPECT_EQ(together[value], alone[value]) << "value " << value;
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuBatchTest, testing::Range(1u, 9u));
