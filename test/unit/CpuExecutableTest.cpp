// SPDX-License-Identifier: Apache-2.0
//
// Programs at the tensor stage, compiled and run; values are computed again in
// plain C++ here.
#include "lib/Execution/CpuExecutable.h"

#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

#include <cmath>
#include <random>

using namespace hjx;
using namespace mlir;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class CpuExecutableTest : public testing::Test {
protected:
  CpuExecutableTest() {
    DialectRegistry registry;
    registerCpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  absl::StatusOr<std::unique_ptr<CpuExecutable>> tryCompile(llvm::StringRef text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return absl::InvalidArgumentError("the test's module does not parse");
    return CpuExecutable::compile(*module);
  }

  std::unique_ptr<CpuExecutable> compile(llvm::StringRef text) {
    absl::StatusOr<std::unique_ptr<CpuExecutable>> executable = tryCompile(text);
    if (!executable.ok()) {
      ADD_FAILURE() << executable.status();
      std::abort();
    }
    return *std::move(executable);
  }

  MLIRContext context;
};

template <typename T> std::vector<T> randomValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-2, 2);
  std::vector<T> values(count);
  for (T &value : values)
    value = static_cast<T>(distribution(generator));
  return values;
}

} // namespace

TEST_F(CpuExecutableTest, Elementwise) {
  auto executable = compile(R"mlir(
    #id = affine_map<(i, j) -> (i, j)>
    #row = affine_map<(i, j) -> (j)>
    func.func @main(%x: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
      %e = tensor.empty() : tensor<3x5xf32>
      %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%x, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%e : tensor<3x5xf32>) {
        ^bb0(%a: f32, %c: f32, %o: f32):
          %s = arith.addf %a, %c : f32
          linalg.yield %s : f32
      } -> tensor<3x5xf32>
      return %r : tensor<3x5xf32>
    })mlir");
  EXPECT_EQ(executable->memoryPlan().sizeBytes, 0);
  std::vector<float> x = randomValues<float>(15, 1), b = randomValues<float>(5, 2), y(15);
  ASSERT_TRUE(executable->run({x.data(), b.data()}, {y.data()}).ok());
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(y[i], x[i] + b[i % 5]);
}

TEST_F(CpuExecutableTest, ScanWithStackedOutputs) {
  auto executable = compile(R"mlir(
    func.func @main(%init: tensor<4xf32>, %xs: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %ys0 = tensor.empty() : tensor<3x4xf32>
      %h, %ys = scf.for %i = %c0 to %c3 step %c1 iter_args(%carry = %init, %acc = %ys0) -> (tensor<4xf32>, tensor<3x4xf32>) {
        %x = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
        %e = tensor.empty() : tensor<4xf32>
        %new = linalg.add ins(%carry, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        %acc2 = tensor.insert_slice %new into %acc[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
        scf.yield %new, %acc2 : tensor<4xf32>, tensor<3x4xf32>
      }
      return %h, %ys : tensor<4xf32>, tensor<3x4xf32>
    })mlir");
  std::vector<float> init = randomValues<float>(4, 1), xs = randomValues<float>(12, 2), h(4), ys(12);
  ASSERT_TRUE(executable->run({init.data(), xs.data()}, {h.data(), ys.data()}).ok());
  std::vector<float> carry = init;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      carry[j] += xs[4 * i + j];
      EXPECT_EQ(ys[4 * i + j], carry[j]);
    }
  EXPECT_EQ(h, carry);
}

TEST_F(CpuExecutableTest, DonatedStateIsUpdatedInPlace) {
  auto executable = compile(R"mlir(
    #id = affine_map<(i) -> (i)>
    #scalar = affine_map<(i) -> ()>
    func.func @main(%p: tensor<8xf32> {hjx.alias = 1 : i64}, %g: tensor<8xf32>, %lr: tensor<f32>)
        -> (tensor<f32>, tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %new = linalg.generic {indexing_maps = [#id, #id, #scalar, #id], iterator_types = ["parallel"]}
          ins(%p, %g, %lr : tensor<8xf32>, tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
          %s = arith.mulf %b, %c : f32
          %d = arith.subf %a, %s : f32
          linalg.yield %d : f32
      } -> tensor<8xf32>
      return %lr, %new : tensor<f32>, tensor<8xf32>
    })mlir");
  EXPECT_EQ(executable->memoryPlan().sizeBytes, 0) << "the update needs no buffer of its own";
  EXPECT_EQ(executable->outputs()[1].alias, 0);
  EXPECT_EQ(executable->inputs()[0].alias, 1);
  std::vector<float> p = randomValues<float>(8, 1), old = p, g = randomValues<float>(8, 2);
  float lr = 0.5f, lrOut = 0;
  ASSERT_TRUE(executable->run({p.data(), g.data(), &lr}, {&lrOut, nullptr}).ok());
  EXPECT_EQ(lrOut, 0.5f);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(p[i], old[i] - g[i] * 0.5f);
}

TEST_F(CpuExecutableTest, SwappedStateNeedsAThirdBuffer) {
  auto executable = compile(R"mlir(
    func.func @main(%a: tensor<3xi32> {hjx.alias = 0 : i64}, %b: tensor<3xi32> {hjx.alias = 1 : i64})
        -> (tensor<3xi32>, tensor<3xi32>) {
      return %b, %a : tensor<3xi32>, tensor<3xi32>
    })mlir");
  std::vector<int32_t> a = {1, 2, 3}, b = {4, 5, 6};
  ASSERT_TRUE(executable->run({a.data(), b.data()}, {nullptr, nullptr}).ok());
  EXPECT_THAT(a, ElementsAre(4, 5, 6));
  EXPECT_THAT(b, ElementsAre(1, 2, 3));
}

TEST_F(CpuExecutableTest, BooleansAreBytes) {
  auto executable = compile(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @main(%x: tensor<5xi1>, %y: tensor<5xf32>) -> tensor<5xi1> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<5xi1>
      %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%x, %y : tensor<5xi1>, tensor<5xf32>) outs(%e : tensor<5xi1>) {
        ^bb0(%a: i1, %b: f32, %o: i1):
          %p = arith.cmpf ogt, %b, %zero : f32
          %s = arith.xori %a, %p : i1
          linalg.yield %s : i1
      } -> tensor<5xi1>
      return %r : tensor<5xi1>
    })mlir");
  EXPECT_EQ(executable->inputs()[0].sizeBytes, 5);
  std::vector<uint8_t> x = {0, 1, 1, 0, 1}, r(5);
  std::vector<float> y = {1, 1, -1, NAN, -0.0f};
  ASSERT_TRUE(executable->run({x.data(), y.data()}, {r.data()}).ok());
  EXPECT_THAT(r, ElementsAre(1, 0, 1, 0, 1));
}

TEST_F(CpuExecutableTest, ReportsWhatItCannotCompile) {
  auto status = tryCompile("func.func @main(%x: tensor<?xf32>) { return }").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected tensors of static shape"));
  status = tryCompile("func.func private @other()").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected a module with a function @main"));
}

TEST_F(CpuExecutableTest, ChecksPointersAtTheCall) {
  auto executable = compile(R"mlir(
    func.func @main(%a: tensor<3xi32> {hjx.alias = 0 : i64}) -> tensor<3xi32> {
      return %a : tensor<3xi32>
    })mlir");
  std::vector<int32_t> a(3), other(3);
  EXPECT_THAT(std::string(executable->run({}, {nullptr}).message()),
              HasSubstr("expected 1 inputs and 1 outputs, got 0 and 1"));
  EXPECT_THAT(std::string(executable->run({nullptr}, {nullptr}).message()),
              HasSubstr("input 0 is null"));
  EXPECT_THAT(std::string(executable->run({a.data()}, {other.data()}).message()),
              HasSubstr("output 0 is stored in input 0"));
  EXPECT_TRUE(executable->run({a.data()}, {a.data()}).ok());
}
