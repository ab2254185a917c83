// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of a GPU, on the simulated device, against sums in double: every type that has
// kernels of its own, all layouts, ragged and aligned sizes, batches, C += A * B; and what the
// assembler says of them, where there is one.
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Target/Ptx/Ptxas.h"
#include "runtime/Backends.h"
#include "TemporaryFolder.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>

#include <fstream>
#include <random>

using namespace hjx;
using namespace mlir;
using testing::HasSubstr;
using testing::Not;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

enum class Kind { F32, Tf32, Bf16, F16, I8, U8 };

struct Case {
  Kind kind;
  int64_t m, n, k;
  bool lhsTransposed = false, rhsTransposed = false; ///< Stored as k x m, n x k.
  int64_t batch = 0;                                 ///< 0: no such axis
  bool accumulate = false;
};

const char *elementOf(Kind kind) {
  return kind == Kind::Bf16 ? "bf16" : kind == Kind::F16 ? "f16" : kind >= Kind::I8 ? "i8" : "f32";
}
bool isInteger(Kind kind) { return kind >= Kind::I8; }

std::string nameOf(const Case &c) {
  const char *names[] = {"f32", "tf32", "bf16", "f16", "i8", "u8"};
  return llvm::formatv("{0}_{1}x{2}x{3}_{4}{5}{6}{7}", names[static_cast<int>(c.kind)], c.m, c.n,
                       c.k, c.lhsTransposed ? "t" : "n", c.rhsTransposed ? "t" : "n",
                       c.batch ? llvm::formatv("_batch{0}", c.batch).str() : "",
                       c.accumulate ? "_add" : "");
}

/// C = A * B, or C += A * B, at the stage tensor.
std::string textOf(const Case &c) {
  std::string batch = c.batch ? llvm::formatv("{0}x", c.batch).str() : "";
  auto type = [&](int64_t rows, int64_t columns, llvm::StringRef element) {
    return llvm::formatv("tensor<{0}{1}x{2}x{3}>", batch, rows, columns, element).str();
  };
  bool wide = isInteger(c.kind);
  std::string element = elementOf(c.kind), sum = wide ? "i32" : "f32";
  std::string lhs = c.lhsTransposed ? type(c.k, c.m, element) : type(c.m, c.k, element);
  std::string rhs = c.rhsTransposed ? type(c.n, c.k, element) : type(c.k, c.n, element);
  std::string result = type(c.m, c.n, sum);
  std::string b = c.batch ? "b, " : "";
  std::string extend;
  if (element != sum) {
    const char *op = c.kind == Kind::I8 ? "extsi" : c.kind == Kind::U8 ? "extui" : "extf";
    for (const char *value : {"x", "y"})
      extend += llvm::formatv("%{0} = arith.{1} %{0}0 : {2} to {3}\n", value, op, element, sum);
  }
  const char *suffix = extend.empty() ? "0" : "";
  std::string start = "%c";
  std::string init;
  if (!c.accumulate) {
    init = llvm::formatv(
        "%zero = arith.constant {0} : {1}\n%e = tensor.empty() : {2}\n"
        "%f = linalg.fill ins(%zero : {1}) outs(%e : {2}) -> {2}\n",
        wide ? "0" : "0.0", sum, result);
    start = "%f";
  }
  std::string attribute =
      c.kind == Kind::Tf32 ? "attributes {hjx.matmul_precision = \"tf32\"}" : "";
  return llvm::formatv(R"mlir(module {0} {{
    func.func @main(%a: {1}, %b: {2}, %c: {3}) -> {3} {{
      {4}
      %p = linalg.generic {{indexing_maps = [affine_map<({5}i, j, k) -> ({5}{6})>,
             affine_map<({5}i, j, k) -> ({5}{7})>, affine_map<({5}i, j, k) -> ({5}i, j)>],
             iterator_types = [{8}"parallel", "parallel", "reduction"]}
          ins(%a, %b : {1}, {2}) outs({9} : {3}) {{
        ^bb0(%x0: {10}, %y0: {10}, %o: {11}):
          {12}
          %m = arith.mul{13} %x{14}, %y{14} : {11}
          %s = arith.add{13} %o, %m : {11}
          linalg.yield %s : {11}
      } -> {3}
      return %p : {3}
    }
  })mlir",
                       attribute, lhs, rhs, result, init, b, c.lhsTransposed ? "k, i" : "i, k",
                       c.rhsTransposed ? "j, k" : "k, j", c.batch ? "\"parallel\", " : "", start,
                       element, sum, extend, wide ? "i" : "f", suffix);
}

/// Random numbers as a program and as a double sees them.
struct Numbers {
  std::vector<char> bytes;
  std::vector<double> values;

  Numbers(Kind kind, int64_t count, std::mt19937 &generator) {
    std::uniform_real_distribution<double> real(-1, 1);
    std::uniform_int_distribution<int> small(0, 255);
    for (int64_t i = 0; i < count; ++i) {
      if (isInteger(kind)) {
        int byte = small(generator);
        bytes.push_back(static_cast<char>(byte));
        values.push_back(kind == Kind::I8 ? static_cast<int8_t>(byte) : byte);
        continue;
      }
      llvm::APFloat number(real(generator));
      bool lost;
      number.convert(kind == Kind::Bf16  ? llvm::APFloat::BFloat()
                     : kind == Kind::F16 ? llvm::APFloat::IEEEhalf()
                                         : llvm::APFloat::IEEEsingle(),
                     llvm::APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = number.bitcastToAPInt().getZExtValue();
      const char *begin = reinterpret_cast<const char *>(&bits); // Little-endian.
      bytes.insert(bytes.end(), begin, begin + number.bitcastToAPInt().getBitWidth() / 8);
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      values.push_back(number.convertToDouble());
    }
  }
};

class GpuProductTest : public testing::TestWithParam<Case> {
protected:
  GpuProductTest() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::unique_ptr<GpuProgram> compile(const Case &c, const char *chip) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(textOf(c), &context);
    if (!module)
      return nullptr;
    auto program = GpuProgram::compile(*module, {.chip = chip});
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? *std::move(program) : nullptr;
  }

  /// Compares the result with sums in double. `c` may have size 0.
  void expectProduct(const Case &c) {
    SCOPED_TRACE(nameOf(c));
    std::unique_ptr<GpuProgram> program = compile(c, "sm_80");
    ASSERT_TRUE(program) << textOf(c);
    auto loaded = program->load(**openDevice("cuda"));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    std::unique_ptr<Executable> executable = makeHostExecutable(*std::move(loaded));

    std::mt19937 generator(static_cast<unsigned>(c.m * 31 + c.n * 7 + c.k));
    int64_t batch = std::max<int64_t>(c.batch, 1);
    Numbers lhs(c.kind, batch * c.m * c.k, generator), rhs(c.kind, batch * c.k * c.n, generator);
    std::vector<int32_t> start(batch * c.m * c.n), got(start.size());
    std::vector<double> before(start.size());
    for (size_t i = 0; i < start.size(); ++i) {
      int value = static_cast<int>(i % 17) - 8;
      float real = static_cast<float>(value);
      before[i] = c.accumulate ? value : 0;
      isInteger(c.kind) ? void(start[i] = value) : void(std::memcpy(&start[i], &real, 4));
    }
    char none;
    auto pointer = [&](auto &data) -> void * {
      return data.empty() ? static_cast<void *>(&none) : static_cast<void *>(data.data());
    };
    absl::Status status = executable->run(
        {pointer(lhs.bytes), pointer(rhs.bytes), pointer(start)}, {pointer(got)});
    ASSERT_TRUE(status.ok()) << status;

    // Rounding of each product's factors, and of each sum.
    double tolerance = c.kind == Kind::Tf32 ? 0x1p-10 : 0;
    if (!isInteger(c.kind))
      tolerance += static_cast<double>(c.k + 2) * 0x1p-23;
    int64_t wrong = 0;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          int64_t at = (b * c.m + i) * c.n + j;
          double sum = before[at], size = std::abs(sum);
          for (int64_t k = 0; k < c.k; ++k) {
            int64_t row = c.lhsTransposed ? k * c.m + i : i * c.k + k;
            int64_t column = c.rhsTransposed ? j * c.k + k : k * c.n + j;
            double product = lhs.values[b * c.m * c.k + row] * rhs.values[b * c.k * c.n + column];
            sum += product;
            size += std::abs(product);
          }
          float real;
          std::memcpy(&real, &got[at], 4);
          double value = isInteger(c.kind) ? got[at] : real;
          if (!(std::abs(value - sum) <= tolerance * size) && ++wrong <= 3)
            ADD_FAILURE() << b << "," << i << "," << j << ": expected " << sum << ", got " << value;
        }
    EXPECT_EQ(wrong, 0);
  }

  MLIRContext context;
};

using GpuProductAssemblyTest = GpuProductTest;

/// Each of `sizes` in all types and layouts.
std::vector<Case> inAllLayouts(std::initializer_list<Case> sizes) {
  std::vector<Case> cases;
  for (Case c : sizes)
    for (Kind kind : {Kind::Tf32, Kind::Bf16, Kind::F16, Kind::I8, Kind::U8})
      for (int layout = 0; layout < 4; ++layout) {
        c.kind = kind, c.lhsTransposed = layout & 1, c.rhsTransposed = layout & 2;
        cases.push_back(c);
      }
  return cases;
}

constexpr Case kWhole{Kind::F32, 128, 64, 96}; // Nothing is ragged.
constexpr Case kVectors{Kind::F32, 72, 88, 40}; // Edges are, by whole vectors.
constexpr Case kUnaligned{Kind::F32, 67, 70, 37};
constexpr Case kBatches{Kind::F32, 70, 66, 34, false, false, 3, true};

} // namespace

TEST_P(GpuProductTest, AgreesWithDouble) { expectProduct(GetParam()); }

TEST_P(GpuProductAssemblyTest, HasNoSpills) {
  auto ptxas = findPtxas();
  ASSERT_TRUE(ptxas.ok()) << ptxas.status();
  if (!*ptxas)
    GTEST_SKIP() << "there is no ptxas";
  test::TemporaryFolder folder;
  for (const char *chip : {"sm_80", "sm_90"}) {
    std::unique_ptr<GpuProgram> program = compile(GetParam(), chip);
    ASSERT_TRUE(program);
    std::string path = folder.path("device.ptx");
    std::ofstream(path) << program->ptx();
    auto resources = assemble(**ptxas, chip, path, folder.path("device.cubin"));
    ASSERT_TRUE(resources.ok()) << resources.status();
    for (const KernelResources &kernel : *resources)
      EXPECT_EQ(kernel.spillBytes, 0) << kernel.name;
  }
}

auto printName = [](const auto &info) { return nameOf(info.param); };
INSTANTIATE_TEST_SUITE_P(Products, GpuProductTest,
                         testing::ValuesIn(inAllLayouts({kWhole, kVectors, kUnaligned, kBatches})),
                         printName);
INSTANTIATE_TEST_SUITE_P(Products, GpuProductAssemblyTest,
                         testing::ValuesIn(inAllLayouts({kWhole, kUnaligned})), printName);

/// The kernels of many blocks have a larger tile.
TEST_F(GpuProductTest, LargeTilesAgreeWithDouble) {
  Case large{Kind::Bf16, 1024 + 8, 2048 - 24, 40};
  for (bool lhsTransposed : {false, true}) {
    large.lhsTransposed = lhsTransposed, large.rhsTransposed = !lhsTransposed;
    for (Kind kind : {Kind::Bf16, Kind::Tf32}) {
      large.kind = kind;
      expectProduct(large);
    }
  }
}

TEST_F(GpuProductTest, AnySizesAgreeWithDouble) {
  std::mt19937 generator(11);
  auto below = [&](int64_t bound) { return static_cast<int64_t>(generator() % bound); };
  for (int round = 0; round < 60; ++round) {
    int64_t most = round % 3 == 0 ? 6 : 90; // From 0 on.
    Case c{static_cast<Kind>(below(6)), below(most), below(most), below(most)};
    c.lhsTransposed = below(2);
    c.rhsTransposed = below(2);
    c.batch = below(3);
    c.accumulate = below(2);
    expectProduct(c);
  }
}

/// Whether a type has tensor cores, and where it does not get them.
TEST_F(GpuProductTest, TensorCoresAreChosenByTypeAndLayout) {
  auto ptx = [&](const Case &c) { return compile(c, "sm_80")->ptx(); };
  EXPECT_THAT(ptx({Kind::F32, 128, 128, 64}), Not(HasSubstr("mma.sync")));
  EXPECT_THAT(ptx({Kind::Tf32, 128, 128, 64}),
              testing::AllOf(HasSubstr("m16n8k8.row.col.f32.tf32.tf32.f32"),
                             HasSubstr("cvt.rna.tf32.f32")));
  EXPECT_THAT(ptx({Kind::Bf16, 128, 128, 64}), HasSubstr("m16n8k16.row.col.f32.bf16.bf16.f32"));
  EXPECT_THAT(ptx({Kind::F16, 128, 128, 64}), HasSubstr("m16n8k16.row.col.f32.f16.f16.f32"));
  EXPECT_THAT(ptx({Kind::I8, 128, 128, 64, false, true}),
              HasSubstr("m16n8k32.row.col.s32.s8.s8.s32"));
  EXPECT_THAT(ptx({Kind::U8, 128, 128, 64, false, true}),
              HasSubstr("m16n8k32.row.col.s32.u8.u8.s32"));
  EXPECT_THAT(ptx({Kind::I8, 128, 128, 64}), Not(HasSubstr("mma.sync"))); // B is not along k.
}

TEST_F(GpuProductTest, RefusesAnotherPrecision) {
  std::string text = textOf({Kind::Tf32, 8, 8, 8});
  text.replace(text.find("tf32"), 4, "tf16");
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  auto program = GpuProgram::compile(*module, {});
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("attribute 'hjx.matmul_precision': expected \"f32\" or \"tf32\", got \"tf16\""));
}
