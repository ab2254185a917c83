// SPDX-License-Identifier: Apache-2.0
//
// Generated matrix products against a loop in double precision: ragged shapes, all
// layouts and strides, all types, every vector unit this machine has; with matrices
// that end at a guard page, so that any access out of bounds ends the program.
#include "bench/gemm/Kernel.h"
#include "runtime/ThreadPool.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/TargetParser/Host.h"
#include <gmock/gmock.h>
#include <random>
#include <sys/mman.h>

namespace hjx {
namespace {

mlir::MLIRContext &context() {
  static mlir::MLIRContext instance;
  return instance;
}

// ---- element types as bits and doubles ----
enum class Element { F16, BF16, F32, F64, I8, I16, I32, I64 };
int64_t sizeBytes(Element e) {
  constexpr int64_t sizes[] = {2, 2, 4, 8, 1, 2, 4, 8};
  return sizes[static_cast<int>(e)];
}
mlir::Type typeOf(Element e) {
  mlir::Builder b(&context());
  switch (e) {
  case Element::F16:
    return b.getF16Type();
  case Element::BF16:
    return b.getBF16Type();
  case Element::F32:
    return b.getF32Type();
  case Element::F64:
    return b.getF64Type();
  default:
    return b.getIntegerType(sizeBytes(e) * 8);
  }
}
bool isFloat(Element e) { return e <= Element::F64; }
double get(Element e, const char *p) {
  auto as = [&](auto zero) { return memcpy(&zero, p, sizeof zero), static_cast<double>(zero); };
  auto half = [&](const llvm::fltSemantics &semantics) {
    uint16_t bits;
    memcpy(&bits, p, 2);
    return llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
  };
  switch (e) {
  case Element::F16:
    return half(llvm::APFloat::IEEEhalf());
  case Element::BF16:
    return half(llvm::APFloat::BFloat());
  case Element::F32:
    return as(0.0f);
  case Element::F64:
    return as(0.0);
  case Element::I8:
    return as(int8_t(0));
  case Element::I16:
    return as(int16_t(0));
  case Element::I32:
    return as(int32_t(0));
  case Element::I64:
    return as(int64_t(0));
  }
}
void set(Element e, char *p, double value) {
  auto as = [&](auto converted) { memcpy(p, &converted, sizeof converted); };
  auto half = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat rounded(value);
    bool lost;
    rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    as(static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue()));
  };
  switch (e) {
  case Element::F16:
    return half(llvm::APFloat::IEEEhalf());
  case Element::BF16:
    return half(llvm::APFloat::BFloat());
  case Element::F32:
    return as(static_cast<float>(value));
  case Element::F64:
    return as(value);
  case Element::I8:
    return as(static_cast<int8_t>(static_cast<int64_t>(value)));
  case Element::I16:
    return as(static_cast<int16_t>(static_cast<int64_t>(value)));
  case Element::I32:
    return as(static_cast<int32_t>(static_cast<int64_t>(value)));
  case Element::I64:
    return as(static_cast<int64_t>(value));
  }
}
double epsilon(Element e) {
  constexpr double values[] = {0x1p-11, 0x1p-8, 0x1p-24, 0x1p-53};
  return isFloat(e) ? values[static_cast<int>(e)] : 0;
}

/// Memory whose last byte lies before a page that must not be touched.
class Guarded {
public:
  explicit Guarded(int64_t bytes) : bytes(bytes) {
    mapped = (bytes + 4095) / 4096 * 4096 + 4096;
    base = static_cast<char *>(
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + mapped - 4096, 4096, PROT_NONE);
  }
  Guarded(const Guarded &) = delete;
  ~Guarded() { munmap(base, mapped); }
  char *data() { return base + mapped - 4096 - bytes; }

private:
  char *base;
  int64_t bytes, mapped;
};

enum class Layout { Rows, Cols, Strided };
/// A matrix with room between its elements as `layout` says, filled from `seed`.
struct TestMatrix {
  Element element;
  int64_t rows, cols, rowStride, colStride, batchStride, count, batch;
  Guarded memory;

  static int64_t extent(int64_t r, int64_t c, Layout layout) {
    switch (layout) {
    case Layout::Rows:
      return (r - 1) * (c + 3) + c;
    case Layout::Cols:
      return (c - 1) * (r + 5) + r;
    case Layout::Strided:
      return (r - 1) * 2 * (c * 3 + 1) + (c - 1) * 3 + 1;
    }
  }
  TestMatrix(Element element, int64_t r, int64_t c, Layout layout, int64_t batch, unsigned seed)
      : element(element), rows(r), cols(c), rowStride(layout == Layout::Rows   ? c + 3
                                                      : layout == Layout::Cols ? 1
                                                                               : 2 * (c * 3 + 1)),
        colStride(layout == Layout::Rows   ? 1
                  : layout == Layout::Cols ? r + 5
                                           : 3),
        batchStride(std::max<int64_t>(0, extent(r, c, layout))),
        count(r && c ? batchStride * batch : 0), batch(batch), memory(count * sizeBytes(element)) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    std::uniform_int_distribution<int> integer(-100, 100);
    for (int64_t i = 0; i < count; ++i)
      set(element, memory.data() + i * sizeBytes(element),
          isFloat(element) ? real(random) : integer(random));
  }
  char *at(int64_t b, int64_t i, int64_t j) {
    return memory.data() + (b * batchStride + i * rowStride + j * colStride) * sizeBytes(element);
  }
  double value(int64_t b, int64_t i, int64_t j) { return get(element, at(b, i, j)); }
  GemmMatrix matrix(int64_t batch1) {
    return {memory.data(), batch1 * batchStride, batchStride, rowStride, colStride};
  }
  std::string bytes() { return std::string(memory.data(), count * sizeBytes(element)); }
};

/// A vector unit with the target that has it.
struct Unit {
  const char *name;
  VectorUnit unit;
  JitOptions options;
};
void PrintTo(const Unit &unit, std::ostream *os) { *os << unit.name; }
std::vector<Unit> availableUnits() {
  std::vector<Unit> units;
#if defined(__x86_64__)
  auto features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    units.push_back({"avx512", {64, 32, true}, {}});
  if (features.lookup("avx2") && features.lookup("fma"))
    units.push_back({"avx2", {32, 16, true}, {"haswell"}});
  units.push_back({"sse", {16, 16, false}, {"x86-64"}});
#else
  units.push_back({"host", VectorUnit::host(), {}});
#endif
  return units;
}

struct Types {
  Element operand, accumulator, result;
  Packing lhs = Packing::None, rhs = Packing::None;
};
/// What a stored element stands for.
double unpacked(Packing packing, double stored) {
  auto byte = static_cast<int>(stored);
  switch (packing) {
  case Packing::None:
  case Packing::Byte:
    return stored;
  case Packing::LowNibble:
    return ((byte & 15) ^ 8) - 8;
  case Packing::HighNibble:
    return byte >> 4;
  }
}
GemmConfig configOf(Types types, const Unit &unit) {
  GemmConfig config{{typeOf(types.operand), typeOf(types.accumulator), typeOf(types.result)}};
  config.lhsPacking = types.lhs;
  config.rhsPacking = types.rhs;
  config.vectorUnit = unit.unit;
  return config;
}

struct Problem {
  int64_t m, n, k;
  Layout a = Layout::Rows, b = Layout::Rows, c = Layout::Rows;
  bool accumulate = false;
  int64_t batch0 = 1, batch1 = 1;
  int64_t parts = 1;
};

/// Runs `kernel` on random matrices and compares with the loop. Returns the bytes of C.
std::string check(GemmKernel &kernel, Types types, const Problem &p) {
  int64_t batch = p.batch0 * p.batch1;
  TestMatrix a(types.lhs == Packing::None ? types.operand : Element::I8, p.m, p.k, p.a, batch, 1);
  TestMatrix b(types.rhs == Packing::None ? types.operand : Element::I8, p.k, p.n, p.b, batch, 2);
  TestMatrix c(types.result, p.m, p.n, p.c, batch, 3);
  TestMatrix old(types.result, p.m, p.n, p.c, batch, 3);
  kernel(a.matrix(p.batch1), b.matrix(p.batch1), c.matrix(p.batch1),
         {p.batch0, p.batch1, p.m, p.n, p.k}, p.accumulate, p.parts);

  int mismatches = 0;
  for (int64_t t = 0; t < batch; ++t)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double before = p.accumulate ? old.value(t, i, j) : 0;
        double sum = before, magnitude = std::abs(before);
        for (int64_t kk = 0; kk < p.k; ++kk) {
          double product = unpacked(types.lhs, a.value(t, i, kk)) * unpacked(types.rhs, b.value(t, kk, j));
          sum += product;
          magnitude += std::abs(product);
        }
        double got = c.value(t, i, j), want = sum;
        if (!isFloat(types.result)) { // integers wrap
          char wrapped[8];
          set(types.result, wrapped, sum);
          want = get(types.result, wrapped);
        }
        double bound = magnitude * epsilon(types.accumulator) * (4 + std::sqrt(p.k)) +
                       2 * epsilon(types.result) * (std::abs(want) + std::abs(before));
        if (!(std::abs(got - want) <= bound) && mismatches++ < 3)
          ADD_FAILURE() << "C[" << t << "," << i << "," << j << "]: expected " << want << ", got "
                        << got << " for m=" << p.m << " n=" << p.n << " k=" << p.k << " layouts "
                        << int(p.a) << int(p.b) << int(p.c);
        // What lies between the elements of C must not change.
        memcpy(old.at(t, i, j), c.at(t, i, j), sizeBytes(types.result));
      }
  EXPECT_EQ(mismatches, 0);
  EXPECT_EQ(c.bytes(), old.bytes()) << "wrote between the elements of C";
  return c.bytes();
}

class GemmTest : public testing::TestWithParam<Unit> {
protected:
  GemmKernel kernel(Types types) {
    return GemmKernel(configOf(types, GetParam()), GetParam().options);
  }
  const Types f32{Element::F32, Element::F32, Element::F32};
};

TEST_P(GemmTest, RaggedShapes) {
  GemmKernel gemm = kernel(f32);
  for (int64_t m : {1, 2, 5, 14, 15, 64})
    for (int64_t n : {1, 3, 16, 31, 32, 33, 100})
      for (int64_t k : {1, 3, 4, 17, 64, 257})
        for (bool accumulate : {false, true})
          check(gemm, f32, {m, n, k, Layout::Rows, Layout::Rows, Layout::Rows, accumulate});
}

TEST_P(GemmTest, EveryLayout) {
  GemmKernel gemm = kernel(f32);
  Layout layouts[] = {Layout::Rows, Layout::Cols, Layout::Strided};
  for (Layout a : layouts)
    for (Layout b : layouts)
      for (Layout c : layouts)
        for (bool accumulate : {false, true}) {
          check(gemm, f32, {37, 71, 39, a, b, c, accumulate});
          check(gemm, f32, {1, 71, 39, a, b, c, accumulate});
          check(gemm, f32, {37, 1, 39, a, b, c, accumulate});
        }
}

TEST_P(GemmTest, MoreThanOneBlockAndChunk) {
  GemmKernel gemm = kernel(f32);
  check(gemm, f32, {200, 40, 300});
  check(gemm, f32, {20, 3100, 33});
  check(gemm, f32, {15, 34, 1800, Layout::Cols, Layout::Cols, Layout::Rows, true});
  check(gemm, f32, {3100, 17, 20, Layout::Rows, Layout::Cols, Layout::Cols});
}

TEST_P(GemmTest, EmptyDimensions) {
  GemmKernel gemm = kernel(f32);
  for (bool accumulate : {false, true}) {
    check(gemm, f32, {5, 40, 0, Layout::Rows, Layout::Rows, Layout::Rows, accumulate});
    check(gemm, f32, {0, 40, 7, Layout::Rows, Layout::Rows, Layout::Rows, accumulate});
    check(gemm, f32, {5, 0, 7, Layout::Rows, Layout::Rows, Layout::Rows, accumulate});
    check(gemm, f32, {5, 4, 7, Layout::Rows, Layout::Rows, Layout::Rows, accumulate, 0, 3});
  }
}

TEST_P(GemmTest, Batches) {
  GemmKernel gemm = kernel(f32);
  check(gemm, f32, {30, 33, 20, Layout::Rows, Layout::Cols, Layout::Rows, false, 3, 4, 5});
  check(gemm, f32, {7, 3000, 100, Layout::Rows, Layout::Rows, Layout::Rows, true, 1, 3, 2});
}

TEST_P(GemmTest, Types) {
  using enum Element;
  for (Types types : {Types{F64, F64, F64},
                      {F32, F32, F64},
                      {F32, F64, F32},
                      {BF16, F32, F32},
                      {BF16, F32, BF16},
                      {I8, I32, I32},
                      {I8, I8, I8},
                      {I16, I16, I16},
                      {I32, I32, I32},
                      {I64, I64, I64},
                      {I8, I32, I64}}) {
    GemmKernel gemm = kernel(types);
    for (Layout layout : {Layout::Rows, Layout::Cols, Layout::Strided})
      for (bool accumulate : {false, true})
        check(gemm, types, {29, 45, 300, layout, layout, Layout::Rows, accumulate});
    check(gemm, types, {30, 45, 3, Layout::Rows, Layout::Cols, Layout::Strided, false, 2, 2, 3});
  }
}

TEST_P(GemmTest, FactorsInBytes) {
  using enum Packing;
  Layout layouts[] = {Layout::Rows, Layout::Cols, Layout::Strided};
  for (auto [lhs, rhs] : {std::pair(None, Byte), {Byte, None}, {None, LowNibble}, {HighNibble, None}, {Byte, HighNibble}}) {
    Types types{Element::F32, Element::F32, Element::F32, lhs, rhs};
    GemmKernel gemm = kernel(types);
    for (Layout a : layouts)
      for (Layout b : layouts)
        for (int64_t m : {1, 5, 37}) // few rows are read in place
          check(gemm, types, {m, 71, 39, a, b, Layout::Rows, m == 5});
    check(gemm, types, {300, 47, 70, Layout::Rows, Layout::Rows, Layout::Cols});
    check(gemm, types, {20, 1100, 800, Layout::Rows, Layout::Cols, Layout::Rows, false, 1, 1, 3});
    check(gemm, types, {30, 45, 20, Layout::Rows, Layout::Cols, Layout::Rows, false, 2, 3, 4});
    EXPECT_EQ(check(gemm, types, {90, 200, 100}), check(gemm, types, {90, 200, 100, Layout::Rows, Layout::Rows, Layout::Rows, false, 1, 1, 5}));
  }
}

TEST_P(GemmTest, HalfPrecision) {
  if (GetParam().unit.bytes == 16)
    GTEST_SKIP() << "f16 conversion needs the F16C instructions";
  using enum Element;
  for (Types types : {Types{F16, F32, F32}, Types{F16, F32, F16}}) {
    GemmKernel gemm = kernel(types);
    for (Layout layout : {Layout::Rows, Layout::Cols})
      check(gemm, types, {29, 45, 300, layout, layout, Layout::Rows, true});
  }
}

// Summing in blocks keeps long sums well below the error of one running sum.
TEST_P(GemmTest, LongSumsStayAccurate) {
  GemmKernel gemm = kernel(f32);
  int64_t k = 50257;
  TestMatrix a(Element::F32, 3, k, Layout::Rows, 1, 1), b(Element::F32, k, 5, Layout::Rows, 1, 2),
      c(Element::F32, 3, 5, Layout::Rows, 1, 3);
  gemm(a.matrix(1), b.matrix(1), c.matrix(1), {1, 1, 3, 5, k}, false, 1);
  double error = 0, runningError = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      double sum = 0;
      float running = 0;
      for (int64_t kk = 0; kk < k; ++kk) {
        sum += a.value(0, i, kk) * b.value(0, kk, j);
        running = std::fma(a.value(0, i, kk), b.value(0, kk, j), running);
      }
      error = std::max(error, std::abs(c.value(0, i, j) - sum));
      runningError = std::max(runningError, std::abs(running - sum));
    }
  EXPECT_LT(error, runningError / 3);
}

TEST_P(GemmTest, SameBitsForEverySplit) {
  GemmConfig config = configOf(f32, GetParam());
  config.parallelFor = "hjx_rt_parallel_parts";
  GemmKernel gemm(config, GetParam().options);
  ThreadPool::global().resize(3);
  for (Problem p : {Problem{150, 170, 700}, Problem{20, 3300, 40}, Problem{3, 500, 1700},
                    Problem{90, 70, 90, Layout::Cols, Layout::Cols, Layout::Cols, true, 2, 3}}) {
    std::string whole = check(gemm, f32, p);
    for (int64_t parts : {2, 3, 4, 7, 12}) {
      p.parts = parts;
      EXPECT_EQ(check(gemm, f32, p), whole) << parts << " parts";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, GemmTest, testing::ValuesIn(availableUnits()),
                         [](auto &info) { return info.param.name; });

TEST(GemmConfigTest, RejectsTypesThatDoNotGoTogether) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context(),
                                        [&](mlir::Diagnostic &d) { message = d.str(); });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context()));
  GemmConfig config{{typeOf(Element::F32), typeOf(Element::I32), typeOf(Element::F32)}};
  EXPECT_TRUE(failed(getOrCreateGemmKernel(*module, config)));
  EXPECT_THAT(message, testing::HasSubstr("got operands 'f32', accumulator 'i32', result 'f32'"));
}

TEST(GemmConfigTest, OneKernelPerConfiguration) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context()));
  GemmConfig config{{typeOf(Element::F32), typeOf(Element::F32), typeOf(Element::F32)}};
  auto first = getOrCreateGemmKernel(*module, config),
       again = getOrCreateGemmKernel(*module, config);
  ASSERT_TRUE(succeeded(first) && succeeded(again));
  EXPECT_EQ(first->getOperation(), again->getOperation());
  EXPECT_TRUE(succeeded(module->verify()));
}

} // namespace
} // namespace hjx
