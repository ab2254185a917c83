// SPDX-License-Identifier: Apache-2.0
//
// Attention of a GPU, forward and backward, on the simulated device, against sums in double: types,
// ragged positions and features, causal or not; the same bits every time; and what the assembler says of
// the kernels, where there is one.
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Pipelines/Register.h"
#include "runtime/Backends.h"
#include "test/unit/Assembler.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>

#include <cmath>
#include <random>

using namespace hjx;
using namespace mlir;
using testing::HasSubstr;
using testing::Not;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

enum class Kind { Bf16, F16, Tf32, F32 };
bool isF32(Kind kind) { return kind == Kind::Tf32 || kind == Kind::F32; }

struct Case {
  Kind kind;
  int64_t batch, queries, keys, heads, features;
  bool causal = false;

  int64_t numRows() const { return batch * queries * heads; }
  int64_t numColumns() const { return batch * keys * heads; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(features)); }
};

const char *elementOf(Kind kind) { return kind == Kind::Bf16 ? "bf16" : kind == Kind::F16 ? "f16" : "f32"; }
/// Half the distance from 1 to the next number of the factors.
double roundoffOf(Kind kind) { return kind == Kind::Bf16 ? 0x1p-9 : kind == Kind::F32 ? 0x1p-24 : 0x1p-11; }

std::string nameOf(const Case &c) {
  return llvm::formatv("{0}_{1}x{2}x{3}x{4}x{5}{6}", c.kind == Kind::Tf32 ? "tf32" : elementOf(c.kind),
                       c.batch, c.queries, c.keys, c.heads, c.features, c.causal ? "_causal" : "");
}

/// (q, k, v, outBar, logsumexp, shift) -> (out, logsumexp, queryBar, keyBar, valueBar), at the stage lo: heads that
/// are no whole vectors are padded after it.
std::string textOf(const Case &c) {
  auto rows = [&](int64_t positions, llvm::StringRef features, llvm::StringRef element) {
    return llvm::formatv("tensor<{0}x{1}x{2}x{3}{4}>", c.batch, positions, c.heads, features, element).str();
  };
  std::string features = std::to_string(c.features) + "x";
  std::string query = rows(c.queries, features, elementOf(c.kind)), key = rows(c.keys, features, elementOf(c.kind)),
              sum = rows(c.queries, "", "f32");
  std::string settings = llvm::formatv("scale = {0:E20}{1}", c.scale(), c.causal ? " causal" : "");
  return llvm::formatv(R"mlir(module attributes {{hjx.matmul_precision = "{4}"} {{
    func.func @main(%q: {0}, %k: {1}, %v: {1}, %ob: {0}, %l: {2}, %s: {2}) -> ({0}, {2}, {0}, {1}, {1}) {{
      %out, %lse = hjx.attention %q, %k, %v {3} : ({0}, {1}, {1}) -> ({0}, {2})
      %g:3 = hjx.attention_cotangent %q, %k, %v logsumexp = %l cotangents = %ob, %s {3}
             : ({0}, {1}, {1}, {2}, {0}, {2}) -> ({0}, {1}, {1})
      return %out, %lse, %g#0, %g#1, %g#2 : {0}, {2}, {0}, {1}, {1}
    }
  })mlir",
                       query, key, sum, settings, c.kind == Kind::F32 ? "f32" : "tf32");
}

const llvm::fltSemantics &semanticsOf(Kind kind) {
  return kind == Kind::Bf16 ? llvm::APFloat::BFloat()
         : kind == Kind::F16 ? llvm::APFloat::IEEEhalf()
                             : llvm::APFloat::IEEEsingle();
}
int64_t bytesOf(Kind kind) { return isF32(kind) ? 4 : 2; }

/// Random numbers as a program and as a double sees them.
struct Numbers {
  std::vector<char> bytes;
  std::vector<double> values;

  Numbers(Kind kind, int64_t count, std::mt19937 &generator) {
    std::uniform_real_distribution<double> real(-1.5, 1.5);
    for (int64_t i = 0; i < count; ++i) {
      llvm::APFloat number(real(generator));
      bool lost;
      number.convert(semanticsOf(kind), llvm::APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = number.bitcastToAPInt().getZExtValue();
      const char *begin = reinterpret_cast<const char *>(&bits); // Little-endian.
      bytes.insert(bytes.end(), begin, begin + bytesOf(kind));
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      values.push_back(number.convertToDouble());
    }
  }
};

std::vector<double> readAll(Kind kind, const std::vector<char> &bytes) {
  std::vector<double> values;
  for (size_t i = 0; i < bytes.size(); i += bytesOf(kind)) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i], bytesOf(kind));
    llvm::APFloat number(semanticsOf(kind), llvm::APInt(8 * bytesOf(kind), bits));
    bool lost;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    values.push_back(number.convertToDouble());
  }
  return values;
}

/// A result in double, and the sum of the sizes of what is added up for it: rounding is a part of these.
struct Sums {
  explicit Sums(int64_t count) : values(count), sizes(count) {}
  void add(int64_t at, double term, double size) { values[at] += term, sizes[at] += std::abs(size); }
  std::vector<double> values, sizes;
};

struct Reference {
  Sums out, logsumexp, queryBar, keyBar, valueBar;
  std::vector<float> shift;

  Reference(const Case &c, const Numbers &q, const Numbers &k, const Numbers &v, const Numbers &outBar)
      : out(q.values.size()), logsumexp(c.numRows()), queryBar(q.values.size()), keyBar(k.values.size()),
        valueBar(k.values.size()), shift(c.numRows()) {
    int64_t d = c.features;
    for (int64_t row = 0; row < c.numRows(); ++row) {
      int64_t head = row % c.heads, t = row / c.heads % c.queries, batch = row / c.heads / c.queries;
      int64_t seen = c.causal ? std::min(t + 1, c.keys) : c.keys;
      auto column = [&](int64_t s) { return (batch * c.keys + s) * c.heads + head; };
      auto dot = [&](const Numbers &x, const Numbers &y, int64_t s) {
        double sum = 0;
        for (int64_t i = 0; i < d; ++i)
          sum += x.values[row * d + i] * y.values[column(s) * d + i];
        return sum;
      };
      std::vector<double> weights(seen);
      double highest = -1e300, total = 0;
      for (int64_t s = 0; s < seen; ++s)
        highest = std::max(highest, weights[s] = c.scale() * dot(q, k, s));
      for (double weight : weights)
        total += std::exp(weight - highest);
      logsumexp.add(row, highest + std::log(total), 1);
      double sum = 0;
      for (int64_t s = 0; s < seen; ++s) {
        weights[s] = std::exp(weights[s] - logsumexp.values[row]);
        for (int64_t i = 0; i < d; ++i)
          out.add(row * d + i, weights[s] * v.values[column(s) * d + i], weights[s] * v.values[column(s) * d + i]);
      }
      for (int64_t i = 0; i < d; ++i)
        sum += out.values[row * d + i] * outBar.values[row * d + i];
      shift[row] = static_cast<float>(sum);
      for (int64_t s = 0; s < seen; ++s) {
        double bar = dot(outBar, v, s);
        double scoreBar = c.scale() * weights[s] * (bar - shift[row]);
        double size = c.scale() * weights[s] * (std::sqrt(static_cast<double>(d)) + std::abs(bar) + std::abs(sum));
        for (int64_t i = 0; i < d; ++i) {
          int64_t mine = row * d + i, other = column(s) * d + i;
          queryBar.add(mine, scoreBar * k.values[other], size * k.values[other]);
          keyBar.add(other, scoreBar * q.values[mine], size * q.values[mine]);
          valueBar.add(other, weights[s] * outBar.values[mine], weights[s] * outBar.values[mine]);
        }
      }
    }
  }
};

class GpuAttentionTest : public testing::TestWithParam<Case> {
protected:
  GpuAttentionTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::unique_ptr<GpuProgram> compile(const std::string &text, const char *chip, Stage stage = Stage::Tensor) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    auto program = GpuProgram::compile(*module, {.chip = chip, .startFrom = stage});
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok())
      return nullptr;
    EXPECT_GE((*program)->cost()->movedBytes, (*program)->cost()->minimumBytes);
    return *std::move(program);
  }

  static void expectClose(const char *what, const std::vector<double> &got, const Sums &expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.values.size());
    int wrong = 0;
    for (size_t i = 0; i < got.size(); ++i)
      if (!(std::abs(got[i] - expected.values[i]) <= tolerance * expected.sizes[i] + 1e-7) && ++wrong <= 3)
        ADD_FAILURE() << what << "[" << i << "]: expected " << expected.values[i] << ", got " << got[i]
                      << ", with terms of the size " << expected.sizes[i];
    EXPECT_EQ(wrong, 0) << what;
  }

  void expectAttention(const Case &c) {
    SCOPED_TRACE(nameOf(c));
    std::unique_ptr<GpuProgram> program = compile(textOf(c), "sm_80", Stage::Lo);
    ASSERT_TRUE(program) << textOf(c);
    bool onTensorCores = c.kind != Kind::F32 && (bytesOf(c.kind) == 2 || llvm::alignTo(c.features, 4) % 8 == 0);
    EXPECT_EQ(llvm::StringRef(program->ptx()).contains("mma.sync"), onTensorCores);
    auto loaded = program->load(**openDevice("cuda"));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    std::unique_ptr<Executable> executable = makeHostExecutable(*std::move(loaded));

    std::mt19937 generator(static_cast<unsigned>(c.queries * 31 + c.keys * 7 + c.features));
    int64_t d = c.features;
    Numbers q(c.kind, c.numRows() * d, generator), k(c.kind, c.numColumns() * d, generator),
        v(c.kind, c.numColumns() * d, generator), outBar(c.kind, c.numRows() * d, generator);
    Reference reference(c, q, k, v, outBar);
    std::vector<float> sums(reference.logsumexp.values.begin(), reference.logsumexp.values.end());

    std::array<std::vector<std::vector<char>>, 2> runs;
    for (auto &results : runs) {
      for (int64_t size : {c.numRows() * d * bytesOf(c.kind), c.numRows() * 4, c.numRows() * d * bytesOf(c.kind),
                           c.numColumns() * d * bytesOf(c.kind), c.numColumns() * d * bytesOf(c.kind)})
        results.emplace_back(size);
      std::vector<void *> outputs;
      for (std::vector<char> &result : results)
        outputs.push_back(result.data());
      absl::Status status = executable->run({q.bytes.data(), k.bytes.data(), v.bytes.data(), outBar.bytes.data(),
                                             sums.data(), reference.shift.data()},
                                            outputs);
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(runs[0], runs[1]) << "not the same bits";

    // Of factors and weights; and TF32 rounds what scores are made of, too. F32 rounds sums, and what it is given of
    // logsumexp and shift.
    double tolerance = (c.kind == Kind::F32 ? 32 : c.kind == Kind::Tf32 ? 12 : 4) * roundoffOf(c.kind);
    const auto &results = runs[0];
    expectClose("out", readAll(c.kind, results[0]), reference.out, tolerance);
    expectClose("logsumexp", readAll(Kind::F32, results[1]), reference.logsumexp,
                c.kind == Kind::Tf32 ? 3e-3 : c.kind == Kind::F32 ? 2e-6 : 1e-5);
    expectClose("queryBar", readAll(c.kind, results[2]), reference.queryBar, tolerance);
    expectClose("keyBar", readAll(c.kind, results[3]), reference.keyBar, tolerance);
    expectClose("valueBar", readAll(c.kind, results[4]), reference.valueBar, tolerance);
  }

  MLIRContext context;
};

using GpuAttentionAssemblyTest = GpuAttentionTest;

std::vector<Case> casesOfAllTypes() {
  std::vector<Case> cases;
  for (Kind kind : {Kind::Bf16, Kind::F16, Kind::Tf32, Kind::F32})
    for (bool causal : {false, true}) {
      cases.push_back({kind, 1, 64, 64, 1, 64, causal});  // One tile, nothing is ragged.
      cases.push_back({kind, 2, 67, 131, 2, 40, causal}); // Ragged positions, and features that fill no mma.
      cases.push_back({kind, 1, 130, 70, 1, 128, causal}); // More queries than keys.
    }
  cases.push_back({Kind::Bf16, 1, 1, 1, 1, 8, true});
  cases.push_back({Kind::Bf16, 3, 1, 100, 2, 16, false}); // One query: what generates text asks.
  cases.push_back({Kind::F32, 1, 1, 1, 1, 4, true});
  cases.push_back({Kind::F32, 3, 1, 100, 2, 12, false});
  cases.push_back({Kind::Tf32, 1, 33, 20, 1, 36, true}); // No mma makes 4 features.
  return cases;
}

std::vector<Case> configurations() {
  std::vector<Case> cases;
  for (Kind kind : {Kind::Bf16, Kind::Tf32, Kind::F32})
    for (int64_t features : {40, 64, 128})
      cases.push_back({kind, 2, 256, 256, 12, features, true});
  cases.push_back({Kind::F16, 16, 1024, 1024, 12, 64, true}); // A larger tile.
  cases.push_back({Kind::Bf16, 16, 1024, 1024, 12, 128, false});
  return cases;
}

auto printName = [](const auto &info) { return nameOf(info.param); };

} // namespace

TEST_P(GpuAttentionTest, AgreesWithDouble) { expectAttention(GetParam()); }

TEST_P(GpuAttentionAssemblyTest, HasNoSpills) {
  std::optional<std::string> ptxas = test::assembler();
  if (!ptxas)
    GTEST_SKIP() << "there is no ptxas";
  for (const char *chip : {"sm_80", "sm_90", "sm_90a"}) {
    std::unique_ptr<GpuProgram> program = compile(textOf(GetParam()), chip, Stage::Lo);
    ASSERT_TRUE(program);
    EXPECT_THAT(program->ptx(), Not(HasSubstr(".local"))) << "the kernels have local memory";
    test::expectNoSpills(*ptxas, program->ptx(), chip);
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, GpuAttentionTest, testing::ValuesIn(casesOfAllTypes()), printName);
INSTANTIATE_TEST_SUITE_P(Attention, GpuAttentionAssemblyTest, testing::ValuesIn(configurations()), printName);

/// The forward kernel of many blocks has 128 rows.
TEST_F(GpuAttentionTest, LargeTilesAgreeWithDouble) { expectAttention({Kind::Bf16, 16, 130, 40, 4, 16, true}); }

TEST_F(GpuAttentionTest, AnySizesAgreeWithDouble) {
  std::mt19937 generator(5);
  auto upTo = [&](int64_t most) { return static_cast<int64_t>(generator() % most) + 1; };
  for (int round = 0; round < 12; ++round) {
    Kind kind = static_cast<Kind>(generator() % 4);
    expectAttention({kind, upTo(2), upTo(90), upTo(90), upTo(2), upTo(128), generator() % 2 == 0});
  }
}

/// The three thirds of a projection are read where they are; features in the middle of a row are copied.
TEST_F(GpuAttentionTest, ReadsSlicesInPlace) {
  auto text = [](int64_t first) {
    return llvm::formatv(R"mlir(
    func.func @main(%qkv: tensor<2x5x104xbf16>, %c: tensor<2x5x2x16xbf16>) -> tensor<2x5x2x16xbf16> {{
      %s = tensor.extract_slice %qkv[0, 0, {0}] [2, 5, 32] [1, 1, 1] : tensor<2x5x104xbf16> to tensor<2x5x32xbf16>
      %q = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [2, 5, 2, 16] : tensor<2x5x32xbf16> into tensor<2x5x2x16xbf16>
      %o, %l = hjx.attention %q, %q, %c scale = 1.0 : (tensor<2x5x2x16xbf16>, tensor<2x5x2x16xbf16>, tensor<2x5x2x16xbf16>)
               -> (tensor<2x5x2x16xbf16>, tensor<2x5x2xf32>)
      return %o : tensor<2x5x2x16xbf16>
    })mlir",
                         first)
        .str();
  };
  auto kernels = [&](int64_t first) { return compile(text(first), "sm_80")->kernelNames().size(); };
  size_t inPlace = kernels(32);
  EXPECT_GT(kernels(36), inPlace);
}

/// What a loop carries may be what attention makes of it.
TEST_F(GpuAttentionTest, RunsInALoop) {
  constexpr llvm::StringLiteral kType = "tensor<2x70x2x16xbf16>";
  auto attention = [&](llvm::StringRef x, llvm::StringRef y) {
    return llvm::formatv("%{1}, %l{1} = hjx.attention %{0}, %{0}, %{0} scale = 0.5 causal : ({2}, {2}, {2}) -> ({2}, "
                         "tensor<2x70x2xf32>)\n",
                         x, y, kType)
        .str();
  };
  auto run = [&](const std::string &body) {
    std::string text = llvm::formatv("func.func @main(%x: {0}) -> {0} {{\n{1}\nreturn %r : {0}\n}", kType, body);
    std::vector<char> result(2 * 70 * 2 * 16 * 2);
    std::unique_ptr<GpuProgram> program = compile(text, "sm_80");
    if (!program)
      return result;
    auto loaded = program->load(**openDevice("cuda"));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    std::mt19937 generator(3);
    Numbers x(Kind::Bf16, 2 * 70 * 2 * 16, generator);
    absl::Status status = makeHostExecutable(*std::move(loaded))->run({x.bytes.data()}, {result.data()});
    EXPECT_TRUE(status.ok()) << status;
    return result;
  };
  std::string loop = llvm::formatv("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
                                   "%c3 = arith.constant 3 : index\n"
                                   "%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> {0} {{\n{1}scf.yield %n : {0}\n}",
                                   kType, attention("h", "n"));
  EXPECT_EQ(run(loop), run(attention("x", "a") + attention("a", "b") + attention("b", "r")));
}
