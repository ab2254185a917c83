// SPDX-License-Identifier: Apache-2.0
//
// Launches that run as one, on the simulated device: random programs of products and sums on shared operands, whose
// results are, bit for bit, those of each op compiled alone, and those of a recorded graph. The device is an sm_80, or what HJX_PTXSIM_ARCH says.
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "runtime/Backends.h"
#include "test/unit/CountedDevice.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>

#include <random>

using namespace hjx;
using namespace mlir;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

/// What matrices are of; sums of columns are f32.
enum class Precision { F32, Tf32, Bf16 };

/// An op on matrices with sides of kSide; values are numbered, the inputs come first.
struct Step {
  bool isProduct;        ///< Else sums of columns.
  unsigned lhs, rhs = 0; ///< Values.
  bool lhsTransposed = false, rhsTransposed = false;
};

constexpr unsigned kInputs = 3;
constexpr int64_t kSide = 72; // Two tiles, the second of them ragged.

bool isMatrix(const std::vector<Step> &steps, unsigned value) { return value < kInputs || steps[value - kInputs].isProduct; }

std::string typeOf(const std::vector<Step> &steps, unsigned value, Precision precision) {
  if (!isMatrix(steps, value))
    return llvm::formatv("tensor<{0}xf32>", kSide);
  return llvm::formatv("tensor<{0}x{0}x{1}>", kSide, precision == Precision::Bf16 ? "bf16" : "f32");
}

std::string textOf(const Step &step, unsigned value, Precision precision) {
  bool isBf16 = precision == Precision::Bf16;
  const char *element = isBf16 ? "bf16" : "f32", *widen = isBf16 ? "arith.extf" : "arith.bitcast";
  std::string wide = llvm::formatv("tensor<{0}x{0}xf32>", kSide), matrix = llvm::formatv("tensor<{0}x{0}x{1}>", kSide, element);
  std::string row = llvm::formatv("tensor<{0}xf32>", kSide);
  const std::string &type = step.isProduct ? wide : row;
  std::string start = llvm::formatv("%e{0} = tensor.empty() : {1}\n%f{0} = linalg.fill ins(%zero : f32) outs(%e{0} : {1}) -> {1}\n", value, type);
  if (!step.isProduct)
    return start + llvm::formatv("%v{0} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], "
                                 "iterator_types = [\"parallel\", \"reduction\"]} ins(%v{1} : {2}) outs(%f{0} : {3}) {{\n^bb0(%x0: {4}, %o: f32):\n"
                                 "%x = {5} %x0 : {4} to f32\n%s = arith.addf %o, %x : f32\nlinalg.yield %s : f32\n} -> {3}\n",
                                 value, step.lhs, matrix, row, element, widen).str();
  start += llvm::formatv("%p{0} = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> ({5})>, affine_map<(i, j, k) -> ({6})>, "
                         "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
                         "ins(%v{1}, %v{2} : {3}, {3}) outs(%f{0} : {4}) {{\n^bb0(%x0: {7}, %y0: {7}, %o: f32):\n"
                         "%x = {8} %x0 : {7} to f32\n%y = {8} %y0 : {7} to f32\n"
                         "%m = arith.mulf %x, %y : f32\n%s = arith.addf %o, %m : f32\nlinalg.yield %s : f32\n} -> {4}\n",
                         value, step.lhs, step.rhs, matrix, wide, step.lhsTransposed ? "k, i" : "i, k",
                         step.rhsTransposed ? "j, k" : "k, j", element, widen).str();
  return start + llvm::formatv("%g{0} = tensor.empty() : {1}\n%v{0} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
                               "affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%p{0} : {2}) outs(%g{0} : {1}) {{\n"
                               "^bb0(%x: f32, %o: {3}):\n%s = {4} %x : f32 to {3}\nlinalg.yield %s : {3}\n} -> {1}\n",
                               value, matrix, wide, element, isBf16 ? "arith.truncf" : "arith.bitcast").str();
}

/// A function of the values `arguments` that returns the values `results`, computed by the steps that make these.
std::string programOf(const std::vector<Step> &steps, llvm::ArrayRef<unsigned> arguments, llvm::ArrayRef<unsigned> results, Precision precision) {
  auto list = [&](llvm::ArrayRef<unsigned> values, bool hasNames, bool hasTypes) {
    std::string text;
    for (unsigned value : values)
      text += (text.empty() ? "" : ", ") + (hasNames ? "%v" + std::to_string(value) : "") + (hasNames && hasTypes ? ": " : "") +
              (hasTypes ? typeOf(steps, value, precision) : "");
    return text;
  };
  std::string body;
  for (unsigned value : results)
    body += textOf(steps[value - kInputs], value, precision);
  return llvm::formatv("module {0} {{\nfunc.func @main({1}) -> ({2}) {{\n%zero = arith.constant 0.0 : f32\n{3}return {4} : {2}\n}\n}",
                       precision == Precision::Tf32 ? "attributes {hjx.matmul_precision = \"tf32\"}" : "", list(arguments, true, true), list(results, false, true),
                       body, list(results, true, false));
}

using Bytes = std::vector<char>;

int64_t bytesOf(const std::vector<Step> &steps, unsigned value, Precision precision) {
  return isMatrix(steps, value) ? kSide * kSide * (precision == Precision::Bf16 ? 2 : 4) : kSide * 4;
}

Bytes randomMatrix(Precision precision, std::mt19937 &generator) {
  std::uniform_real_distribution<float> real(-1, 1);
  Bytes bytes;
  for (int64_t i = 0; i < kSide * kSide; ++i) {
    float number = real(generator);
    auto *first = reinterpret_cast<const char *>(&number);
    bytes.insert(bytes.end(), first + (precision == Precision::Bf16 ? 2 : 0), first + 4); // Of bf16 the upper half.
  }
  return bytes;
}

class GpuBatchTest : public testing::TestWithParam<unsigned> {
protected:
  GpuBatchTest() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::unique_ptr<GpuProgram> compile(const std::string &text, RuntimeDevice &device) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    auto program = GpuProgram::compile(*module, {.chip = *chipFor(device.info())});
    EXPECT_TRUE(program.ok()) << program.status();
    return *std::move(program);
  }

  /// Runs the program and returns how many launches it has.
  int64_t run(const std::string &text, llvm::ArrayRef<unsigned> arguments, llvm::ArrayRef<unsigned> results,
              std::vector<Bytes> &values) {
    RuntimeDevice *device = *openDevice("cuda");
    std::unique_ptr<GpuProgram> program = compile(text, *device);
    std::unique_ptr<Executable> executable = makeHostExecutable(*program->load(*device));
    std::vector<void *> in, out;
    for (unsigned value : arguments)
      in.push_back(values[value].data());
    for (unsigned value : results)
      out.push_back(values[value].data());
    absl::Status status = executable->run(in, out);
    EXPECT_TRUE(status.ok()) << status;
    return program->cost()->launches;
  }

  MLIRContext context;
};

} // namespace

TEST_P(GpuBatchTest, GivesWhatEachGivesAlone) {
  std::mt19937 generator(GetParam());
  auto draw = [&](unsigned below) { return static_cast<unsigned>(generator() % below); };
  auto precision = static_cast<Precision>(GetParam() % 3);
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
  std::vector<Bytes> together;
  for (unsigned value = 0; value < kInputs + steps.size(); ++value)
    together.push_back(value < kInputs ? randomMatrix(precision, generator) : Bytes(bytesOf(steps, value, precision), 'x'));
  std::vector<Bytes> alone = together;

  std::string program = programOf(steps, inputs, all, precision);
  SCOPED_TRACE(program);
  int64_t launches = run(program, inputs, all, together), launchesAlone = 0;
  for (unsigned value : all) {
    const Step &step = steps[value - kInputs];
    std::vector<unsigned> arguments = {step.lhs};
    if (step.isProduct && step.rhs != step.lhs)
      arguments.push_back(step.rhs);
    launchesAlone += run(programOf(steps, arguments, {value}, precision), arguments, {value}, alone);
  }
  EXPECT_LT(launches, launchesAlone);
  for (unsigned value : all)
    EXPECT_EQ(together[value], alone[value]) << "value " << value;
}

// The pointers, and in kernels by warp groups the tensor maps, that a graph keeps are those of its own buffers.
TEST_P(GpuBatchTest, ReplaysWithTheBuffersOfEachCall) {
  std::mt19937 generator(GetParam());
  auto precision = static_cast<Precision>(GetParam() % 3);
  const std::vector<Step> steps = {{true, 0, 1, false, true}, {true, 0, 2, false, true}, {true, 2, 1, true, false}, {false, 3}};
  const std::vector<unsigned> results = {3, 4, 5, 6};
  std::unique_ptr<RuntimeDevice> device = test::openCounted();
  std::unique_ptr<GpuProgram> program = compile(programOf(steps, {0, 1, 2}, results, precision), *device);
  EXPECT_LT(program->cost()->launches, steps.size());
  bool hasMaps = program->ptx().find("cp.async.bulk.tensor") != std::string::npos;
  EXPECT_EQ(hasMaps, device->info().computeCapability == 90 && precision != Precision::F32);
  std::unique_ptr<DeviceExecutable> replayed = *program->load(*device), single = *program->load(*device, {.profile = true});
  constexpr int kSets = 2, kCalls = 4;
  std::vector<DeviceBuffer> buffers[kSets], expected[kSets];
  for (int set = 0; set < kSets; ++set)
    for (unsigned value = 0; value < kInputs + steps.size(); ++value)
      for (std::vector<DeviceBuffer> *to : {&buffers[set], &expected[set]})
        to->push_back(*device->allocate(bytesOf(steps, value, precision)));
  auto call = [](DeviceExecutable &executable, const std::vector<DeviceBuffer> &of, const std::vector<DeviceBuffer> &inputs) {
    return executable.run({inputs[0].data(), inputs[1].data(), inputs[2].data()}, {of[3].data(), of[4].data(), of[5].data(), of[6].data()});
  };
  for (int number = 0; number < kSets * kCalls; ++number) {
    int set = number % kSets;
    for (unsigned input = 0; input < kInputs; ++input) {
      Bytes matrix = randomMatrix(precision, generator);
      ASSERT_TRUE(device->copyToDevice(buffers[set][input].data(), matrix.data(), static_cast<int64_t>(matrix.size())).ok());
    }
    ASSERT_TRUE(call(*replayed, buffers[set], buffers[set]).ok());
    ASSERT_TRUE(call(*single, expected[set], buffers[set]).ok());
    for (unsigned value : results) {
      Bytes got(bytesOf(steps, value, precision)), wanted(got.size());
      auto size = static_cast<int64_t>(got.size());
      ASSERT_TRUE(device->copyToHost(got.data(), buffers[set][value].data(), size).ok());
      ASSERT_TRUE(device->copyToHost(wanted.data(), expected[set][value].data(), size).ok());
      EXPECT_EQ(got, wanted) << "call " << number << ", value " << value;
    }
  }
  EXPECT_EQ(test::asked["replay"], kSets * (kCalls - 1));
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuBatchTest, testing::Range(1u, 10u));
