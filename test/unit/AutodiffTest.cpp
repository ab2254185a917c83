// SPDX-License-Identifier: Apache-2.0
//
// Whole programs, with control flow and custom rules, differentiated to third
// order and compared on the interpreter. Each public function of
// AutodiffPrograms.mlir is one test. From f its levels are made,
//
//   f.0 = f,   f.1 = (args, cotangents) -> vjp of f.0,   f.2 = the same of f.1,
//
// and at each level L, with random arguments, directions v and cotangents ct:
//
//   jvp(f.L) v is the central difference of f.L       (so f.2 needs third derivatives)
//   linearize(f.L) v = jvp(f.L) v
//   <ct, jvp v> = <vjp ct, v>
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Register.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>

using namespace mlir;
using namespace hjx;

namespace {

constexpr int kLevels = 3;
using Arrays = SmallVector<HostArray>;

bool isFloat(Type type) { return ir::isDifferentiable(type); }

/// The float types among `types`.
SmallVector<Type> floatsOf(TypeRange types) { return llvm::to_vector(llvm::make_filter_range(types, isFloat)); }

SmallVector<Type> concat(TypeRange a, TypeRange b) {
  SmallVector<Type> all(a);
  llvm::append_range(all, b);
  return all;
}

class AutodiffProgram : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceFile<ModuleOp>(HJX_TEST_SOURCE_DIR "/AutodiffPrograms.mlir", &context);
    ASSERT_TRUE(module);
    // Other programs would only be expanded for nothing; symbol-dce drops what they named.
    for (func::FuncOp function : llvm::to_vector(module->getOps<func::FuncOp>()))
      if (function.isPublic() && function.getName() != GetParam())
        function.erase();
    hasForward = !at(0)->hasAttr("test.reverse_only");
    for (int level = 0; level < kLevels; ++level)
      addRequests(level);
    PassManager pipeline(&context);
    buildToPurePipeline(pipeline);
    ASSERT_TRUE(succeeded(pipeline.run(*module)));
  }

  std::string name(int level) { return level == 0 ? GetParam() : GetParam() + "." + std::to_string(level); }
  func::FuncOp at(int level) { return module->lookupSymbol<func::FuncOp>(name(level)); }

  using Emit = llvm::function_ref<ValueRange(ImplicitLocOpBuilder &, ValueRange)>;
  void addFunction(const Twine &name, TypeRange arguments, Emit emit) {
    ImplicitLocOpBuilder b(module->getLoc(), &context);
    b.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(b, name.str(), b.getFunctionType(arguments, {}));
    b.setInsertionPointToEnd(function.addEntryBlock());
    ValueRange results = emit(b, function.getArguments());
    func::ReturnOp::create(b, results);
    function.setType(b.getFunctionType(arguments, results.getTypes()));
  }

  /// Adds f.L's jvp, lin and vjp; the last is f.(L+1).
  void addRequests(int level) {
    func::FuncOp f = at(level);
    FunctionType type = f.getFunctionType();
    unsigned n = type.getNumInputs(), numResults = type.getNumResults();
    SmallVector<Type> dots = floatsOf(type.getInputs()), bars = floatsOf(type.getResults());
    SmallVector<bool> active = llvm::map_to_vector(type.getInputs(), isFloat);
    std::string callee = name(level);
    if (hasForward || level > 0) {
      addFunction(callee + ".jvp", concat(type.getInputs(), dots), [&](ImplicitLocOpBuilder &b, ValueRange v) {
        return ir::JvpOp::create(b, concat(type.getResults(), bars), callee, v.take_front(n), v.drop_front(n), active)
            .getResults()
            .drop_front(numResults);
      });
      addFunction(callee + ".lin", concat(type.getInputs(), dots), [&](ImplicitLocOpBuilder &b, ValueRange v) {
        Type map = ir::LinearType::get(&context, b.getFunctionType(dots, bars));
        Value linear = ir::LinearizeOp::create(b, concat(type.getResults(), map), callee, v.take_front(n), active)
                           .getResults()
                           .back();
        return ir::ApplyLinearOp::create(b, bars, linear, v.drop_front(n)).getResults();
      });
    }
    addFunction(name(level + 1), concat(type.getInputs(), bars), [&](ImplicitLocOpBuilder &b, ValueRange v) {
      return ir::VjpOp::create(b, concat(type.getResults(), dots), callee, v.take_front(n), v.drop_front(n), active)
          .getResults()
          .drop_front(numResults);
    });
  }

  Arrays run(const std::string &name, ArrayRef<HostArray> arguments) {
    auto results = interpret(module->lookupSymbol<func::FuncOp>(name), arguments);
    EXPECT_TRUE(succeeded(results)) << name;
    return succeeded(results) ? *results : Arrays();
  }

  /// Random arrays: floats in (0.2, 1), where every program is smooth; integers 0 to 2.
  Arrays draw(TypeRange types) {
    Arrays arrays;
    for (Type type : types) {
      HostArray array(cast<RankedTensorType>(type));
      for (int64_t i = 0; i < array.numElements(); ++i) {
        if (array.isFloat())
          array.setFloat(i, std::uniform_real_distribution(0.2, 1.0)(random));
        else
          array.setInteger(i, APInt(64, random() % 3));
      }
      arrays.push_back(array);
    }
    return arrays;
  }

  /// x + step * direction, in the float arrays of x.
  static Arrays moved(ArrayRef<HostArray> x, double step, ArrayRef<HostArray> direction) {
    Arrays result(x);
    for (HostArray &array : result) {
      if (!array.isFloat())
        continue;
      for (int64_t i = 0; i < array.numElements(); ++i)
        array.setFloat(i, array.getFloat(i) + step * direction.front().getFloat(i));
      direction = direction.drop_front();
    }
    return result;
  }

  static double inner(ArrayRef<HostArray> x, ArrayRef<HostArray> y) {
    double sum = 0;
    for (auto [a, b] : llvm::zip_equal(x, y))
      for (int64_t i = 0; i < a.numElements(); ++i)
        sum += a.getFloat(i) * b.getFloat(i);
    return sum;
  }

  static Arrays floatsIn(ArrayRef<HostArray> arrays) {
    return llvm::to_vector(llvm::make_filter_range(arrays, [](const HostArray &a) { return a.isFloat(); }));
  }

  static void expectClose(ArrayRef<HostArray> got, ArrayRef<HostArray> expected, double tolerance, const char *what) {
    double largest = 1;
    for (const HostArray &array : expected)
      for (int64_t i = 0; i < array.numElements(); ++i)
        largest = std::max(largest, std::abs(array.getFloat(i)));
    ASSERT_EQ(got.size(), expected.size()) << what;
    for (auto [a, b] : llvm::zip_equal(got, expected))
      for (int64_t i = 0; i < a.numElements(); ++i)
        ASSERT_NEAR(a.getFloat(i), b.getFloat(i), tolerance * largest) << what << ", element " << i;
  }

  void check(int level) {
    FunctionType type = at(level).getFunctionType();
    Arrays x = draw(type.getInputs()), v = draw(floatsOf(type.getInputs())), ct = draw(floatsOf(type.getResults()));
    Arrays withV = x, withCt = x;
    llvm::append_range(withV, v);
    llvm::append_range(withCt, ct);

    constexpr double step = 1e-4;
    Arrays above = floatsIn(run(name(level), moved(x, step, v))), below = floatsIn(run(name(level), moved(x, -step, v)));
    Arrays difference = above;
    for (auto [d, b] : llvm::zip_equal(difference, below))
      for (int64_t i = 0; i < d.numElements(); ++i)
        d.setFloat(i, (d.getFloat(i) - b.getFloat(i)) / (2 * step));
    Arrays xBar = run(name(level + 1), withCt);
    ASSERT_EQ(xBar.size(), v.size());
    if (hasForward || level > 0) {
      Arrays jvp = run(name(level) + ".jvp", withV);
      expectClose(jvp, difference, 2e-6, "jvp and central difference");
      expectClose(run(name(level) + ".lin", withV), jvp, 1e-12, "linearize and jvp");
      double forward = inner(ct, jvp);
      EXPECT_NEAR(inner(xBar, v), forward, 1e-11 * std::max(1.0, std::abs(forward))) << "vjp and jvp";
    } else {
      double forward = inner(ct, difference);
      EXPECT_NEAR(inner(xBar, v), forward, 2e-6 * std::max(1.0, std::abs(forward))) << "vjp and central difference";
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  bool hasForward = true;
  std::mt19937_64 random{17};
};

TEST_P(AutodiffProgram, First) { check(0); }
TEST_P(AutodiffProgram, Second) { check(1); }
TEST_P(AutodiffProgram, Third) { check(2); }

/// The public functions of the file.
std::vector<std::string> programNames() {
  std::vector<std::string> names;
  std::ifstream file(HJX_TEST_SOURCE_DIR "/AutodiffPrograms.mlir");
  std::regex definition(R"(^func\.func @(\w+)\(.*)");
  std::smatch match;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, match, definition))
      names.push_back(match[1]);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, AutodiffProgram, testing::ValuesIn(programNames()),
                         [](const auto &info) { return info.param; });

} // namespace
