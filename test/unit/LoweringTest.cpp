// SPDX-License-Identifier: Apache-2.0
//
// Every op compiled for this machine, against the interpreter: all element types,
// ragged, empty and rank-0 shapes, and the numbers where definitions have corners
// (NaN, infinities, subnormals, extreme integers, division by zero).
//
// A test is a program; its arguments are made from their types. Many ops share one
// program (one compilation); a failure names the result.
#include "lib/Execution/CpuExecutable.h"
#include "lib/Interpreter/Check.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Register.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using hjx::HostArray;
using hjx::Tolerance;

namespace {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

enum class Values {
  Corners, ///< with the numbers whose treatment is a definition
  Plain,   ///< in [-2, 2], integers in [-9, 9]
  Indices, ///< integers around the bounds of small arrays
};

HostArray makeArgument(RankedTensorType type, Values values, unsigned seed) {
  HostArray array(type);
  std::mt19937_64 generator(seed);
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const double floats[] = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           inf,
                           -inf,
                           nan,
                           0.5,
                           2.5,
                           -2.5,
                           1e-40,
                           1e-7,
                           -1e-7,
                           3.0e38,
                           -127.5,
                           128.0,
                           255.9,
                           256.0,
                           -0.999,
                           32767.5,
                           65536.0,
                           2147483647.0,
                           4294967296.0,
                           -2147483649.0,
                           1 + 0x1p-8 + 0x1p-30,
                           -1 - 0x1p-11 - 0x1p-40,
                           9.3e18,
                           -9.3e18,
                           1.9e19,
                           88.0,
                           -88.0,
                           0.3,
                           1e30,
                           7.25};
  for (int64_t i = 0; i < array.numElements(); ++i) {
    bool special = values == Values::Corners && generator() % 3 != 0;
    if (isa<hjx::ir::KeyType>(array.elementType())) {
      array.setKey(i, {static_cast<uint32_t>(generator()), static_cast<uint32_t>(generator())});
    } else if (array.isFloat()) {
      double plain = std::uniform_real_distribution<double>(-2, 2)(generator);
      array.setFloat(i, special ? floats[generator() % std::size(floats)] : plain);
    } else {
      unsigned width = array.elementType().getIntOrFloatBitWidth();
      const APInt corners[] = {APInt::getZero(width), APInt(width, 1), APInt::getAllOnes(width),
                               APInt::getSignedMinValue(width), APInt::getSignedMaxValue(width),
                               APInt(64, width).trunc(width), APInt(64, width - 1).trunc(width),
                               // Just above the middle of two bf16, and of two f16.
                               APInt(64, (uint64_t(257) << 54) + 1).trunc(width),
                               APInt(64, (uint64_t(2049) << 4) + 1).trunc(width)};
      int64_t low = values == Values::Indices ? -2 : -9, high = values == Values::Indices ? 7 : 9;
      int64_t plain = std::uniform_int_distribution<int64_t>(low, high)(generator);
      array.setInteger(i, special ? corners[generator() % std::size(corners)]
                                  : APInt(64, plain, true).trunc(width));
    }
  }
  return array;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The text of @main, grown result by result.
class Program {
public:
  std::string argument(std::string type) {
    std::string name = llvm::formatv("%a{0}", argumentTypes.size());
    argumentTypes.push_back(std::move(type));
    return name;
  }
  /// An op with one result, which @main returns and must agree with the interpreter's.
  std::string result(std::string type, std::string op, Tolerance tolerance = Tolerance::exact()) {
    std::string name = value(std::move(op));
    returns(name, std::move(type), tolerance);
    return name;
  }
  std::string value(std::string op, unsigned numResults = 1) {
    std::string name = llvm::formatv("%v{0}", numValues++);
    body +=
        "  " + name + (numResults > 1 ? ":" + std::to_string(numResults) : "") + " = " + op + "\n";
    ops.push_back(std::move(op));
    return name;
  }
  void returns(std::string name, std::string type, Tolerance tolerance = Tolerance::exact()) {
    names.push_back(std::move(name));
    types.push_back(std::move(type));
    tolerances.push_back(tolerance);
    labels.push_back(ops.back());
  }
  void tolerate(Tolerance tolerance) { tolerances.assign(tolerances.size(), tolerance); }

  std::string text() const {
    std::string arguments;
    for (auto [i, type] : llvm::enumerate(argumentTypes))
      arguments += llvm::formatv("{0}%a{1}: {2}", i ? ", " : "", i, type).str();
    std::string list = llvm::join(types, ", ");
    return functions + "func.func @main(" + arguments + ") -> (" + list + ") {\n" + body +
           "  return " + llvm::join(names, ", ") + (names.empty() ? "\n}" : " : " + list + "\n}");
  }

  std::string functions; ///< before @main
  std::vector<std::string> labels;
  std::vector<Tolerance> tolerances;

private:
  std::vector<std::string> argumentTypes, names, types, ops;
  std::string body;
  unsigned numValues = 0;
};

Tolerance within(int64_t ulps) { return {.ulps = ulps}; }
/// Which zero the greater of two zeros is, is not defined.
Tolerance equalNumbers() { return within(0); }

class LoweringTest : public testing::Test {
protected:
  LoweringTest() {
    DialectRegistry registry;
    hjx::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.disableMultithreading();
  }

  /// @main of `module`, compiled; null and a failure of the test if it cannot be.
  std::unique_ptr<hjx::CpuExecutable> compile(ModuleOp module, bool fuse = true) {
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager pm(&context);
    hjx::buildToLoPipeline(pm);
    hjx::buildToTensorPipeline(pm, {fuse});
    if (failed(pm.run(*copy))) {
      ADD_FAILURE() << "does not lower";
      return nullptr;
    }
    auto executable = hjx::CpuExecutable::compile(*copy, {});
    if (executable.ok())
      return std::move(*executable);
    ADD_FAILURE() << executable.status();
    return nullptr;
  }

  static SmallVector<HostArray> run(const hjx::CpuExecutable &executable,
                                    ArrayRef<HostArray> arguments, TypeRange resultTypes) {
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    SmallVector<HostArray> results;
    static char none; // Arrays without elements have no storage.
    for (const HostArray &argument : arguments)
      inputs.push_back(argument.bytes().empty() ? &none : argument.bytes().data());
    for (Type type : resultTypes)
      results.emplace_back(cast<RankedTensorType>(type));
    for (HostArray &result : results)
      outputs.push_back(result.bytes().empty() ? &none : result.bytes().data());
    absl::Status status = executable.run(inputs, outputs);
    EXPECT_TRUE(status.ok()) << status;
    return results;
  }

  /// Compares the compiled program with the interpreter, on arguments of each kind.
  void check(const Program &program, ArrayRef<Values> kinds = Values::Plain, bool fuse = true) {
    std::string text = program.text();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    auto main = module->lookupSymbol<func::FuncOp>("main");
    std::unique_ptr<hjx::CpuExecutable> executable = compile(*module, fuse);
    ASSERT_TRUE(executable) << text;
    for (Values values : kinds) {
      SmallVector<HostArray> arguments;
      for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
        arguments.push_back(makeArgument(cast<RankedTensorType>(type), values, 17 * i + 5));
      FailureOr<SmallVector<HostArray>> expected = hjx::interpret(main, arguments);
      ASSERT_TRUE(succeeded(expected)) << text;
      SmallVector<HostArray> got = run(*executable, arguments, main.getResultTypes());
      for (size_t i = 0; i < got.size(); ++i)
        if (auto difference =
                hjx::describeDifference(got[i], (*expected)[i], program.tolerances[i]))
          ADD_FAILURE() << program.labels[i] << "\n" << *difference;
    }
  }

  MLIRContext context;
};

std::string arrayType(ArrayRef<int64_t> shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}

const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};
const std::vector<std::string> kIntegers = {"i8",  "i16",  "i32",  "i64",
                                            "ui8", "ui16", "ui32", "ui64"};
const std::vector<SmallVector<int64_t>> kShapes = {{}, {1}, {61}, {5, 37}, {0, 3}, {2, 3, 11}};

std::vector<std::string> allTypes() {
  std::vector<std::string> all = kFloats;
  llvm::append_range(all, kIntegers);
  all.push_back("i1");
  return all;
}
bool isFloat(StringRef element) { return llvm::is_contained(kFloats, element); }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void addComparisons(Program &p, StringRef type, StringRef bools, StringRef x, StringRef y) {
  for (StringRef direction : {"eq", "ne", "lt", "le", "gt", "ge"})
    p.result(bools.str(),
             llvm::formatv("hjx.compare {0}, {1}, {2} : {3} -> {4}", direction, x, y, type, bools));
}

TEST_F(LoweringTest, ElementwiseFloats) {
  for (const std::string &element : kFloats)
    for (ArrayRef<int64_t> shape : kShapes) {
      Program p;
      std::string type = arrayType(shape, element), bools = arrayType(shape, "i1"),
                  scalar = arrayType({}, element);
      std::string x = p.argument(type), y = p.argument(type), lo = p.argument(scalar),
                  which = p.argument(bools);
      auto unary = [&](StringRef op, Tolerance tolerance = Tolerance::exact()) {
        p.result(type, llvm::formatv("hjx.{0} {1} : {2}", op, x, type), tolerance);
      };
      auto binary = [&](StringRef op, Tolerance tolerance = Tolerance::exact()) {
        p.result(type, llvm::formatv("hjx.{0} {1}, {2} : {3}", op, x, y, type), tolerance);
      };
      for (StringRef op : {"neg", "abs", "sign", "floor", "ceil", "round to_nearest_even,",
                           "round away_from_zero,", "sqrt"})
        unary(op);
      // The errors of functions are measured in MathTest.
      for (StringRef op : {"rsqrt", "exp", "expm1", "log", "log1p", "tanh", "erf", "logistic"})
        unary(op, within(8));
      p.result(bools, llvm::formatv("hjx.is_finite {0} : {1} -> {2}", x, type, bools));
      for (StringRef op : {"add", "sub", "mul", "div", "rem"})
        binary(op);
      for (StringRef op : {"max", "min"})
        binary(op, equalNumbers());
      addComparisons(p, type, bools, x, y);
      p.result(type, llvm::formatv("hjx.select_n {0}, {1}, {2} : ({3}, {4}, {4}) -> {4}", which, x,
                                   y, bools, type));
      p.result(
          type,
          llvm::formatv("hjx.clamp {0}, {1}, {2} : ({3}, {4}, {4}) -> {4}", lo, x, y, scalar, type),
          equalNumbers());
      SCOPED_TRACE(type);
      check(p, Values::Corners);
    }
}

TEST_F(LoweringTest, FunctionsOfModerateNumbers) {
  for (const std::string &element : kFloats) {
    Program p;
    std::string type = arrayType({7, 29}, element);
    std::string x = p.argument(type), y = p.argument(type);
    std::string a = p.value(llvm::formatv("hjx.abs {0} : {1}", x, type));
    for (StringRef op : {"sin", "cos", "tan", "tanh", "erf", "exp", "expm1"})
      p.result(type, llvm::formatv("hjx.{0} {1} : {2}", op, x, type), within(8));
    std::string t = p.value(llvm::formatv("hjx.tanh {0} : {1}", x, type));
    p.result(type, llvm::formatv("hjx.pow {0}, {1} : {2}", a, y, type), within(8));
    p.result(type, llvm::formatv("hjx.erf_inv {0} : {1}", t, type),
             within(element == "f64" ? 64 : 8));
    SCOPED_TRACE(type);
    check(p);
  }
}

TEST_F(LoweringTest, ElementwiseIntegers) {
  for (const std::string &element : kIntegers)
    for (ArrayRef<int64_t> shape : kShapes) {
      Program p;
      std::string type = arrayType(shape, element), bools = arrayType(shape, "i1"),
                  scalar = arrayType({}, element);
      std::string which = arrayType(shape, "i32");
      std::string x = p.argument(type), y = p.argument(type), w = p.argument(which),
                  lo = p.argument(scalar);
      for (StringRef op : {"neg", "abs", "sign", "not"})
        p.result(type, llvm::formatv("hjx.{0} {1} : {2}", op, x, type));
      for (StringRef op : {"add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor",
                           "shift_left", "shift_right_logical", "shift_right_arithmetic"})
        p.result(type, llvm::formatv("hjx.{0} {1}, {2} : {3}", op, x, y, type));
      addComparisons(p, type, bools, x, y);
      p.result(type, llvm::formatv("hjx.select_n {0}, {1}, {2}, {1} : ({3}, {4}, {4}, {4}) -> {4}",
                                   w, x, y, which, type));
      p.result(type, llvm::formatv("hjx.clamp {0}, {1}, {2} : ({3}, {4}, {4}) -> {4}", lo, x, y,
                                   scalar, type));
      SCOPED_TRACE(type);
      check(p, Values::Corners);
    }
}

TEST_F(LoweringTest, ElementwiseBools) {
  Program p;
  std::string type = "tensor<3x7xi1>";
  std::string x = p.argument(type), y = p.argument(type), q = p.argument("tensor<i1>");
  p.result(type, llvm::formatv("hjx.not {0} : {1}", x, type));
  for (StringRef op : {"and", "or", "xor", "max", "min"})
    p.result(type, llvm::formatv("hjx.{0} {1}, {2} : {3}", op, x, y, type));
  addComparisons(p, type, type, x, y);
  p.result(type, llvm::formatv("hjx.select_n {0}, {1}, {2} : (tensor<i1>, {3}, {3}) -> {3}", q, x,
                               y, type));
  check(p, Values::Corners);
}

TEST_F(LoweringTest, Conversions) {
  for (const std::string &from : allTypes()) {
    Program p;
    std::string x = p.argument(arrayType({97}, from));
    for (const std::string &to : allTypes())
      p.result(arrayType({97}, to), llvm::formatv("hjx.convert {0} : {1} -> {2}", x,
                                                  arrayType({97}, from), arrayType({97}, to)));
    SCOPED_TRACE(from);
    check(p, Values::Corners);
  }
}

TEST_F(LoweringTest, Bitcasts) {
  auto width = [](StringRef type) { return std::stoi(type.drop_until(llvm::isDigit).str()); };
  std::vector<std::string> types = allTypes();
  types.pop_back(); // No bools.
  for (const std::string &from : types) {
    Program p;
    int fromWidth = width(from);
    for (const std::string &to : types) {
      SmallVector<int64_t> shape = {5, 3}, result = {5, 3};
      if (fromWidth > width(to))
        result.push_back(fromWidth / width(to));
      if (fromWidth < width(to))
        shape.push_back(width(to) / fromWidth);
      std::string x = p.argument(arrayType(shape, from));
      p.result(arrayType(result, to), llvm::formatv("hjx.bitcast {0} : {1} -> {2}", x,
                                                    arrayType(shape, from), arrayType(result, to)));
    }
    SCOPED_TRACE(from);
    check(p);
  }
}

//===----------------------------------------------------------------------===//
// Reductions and contractions
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, Reductions) {
  struct Shape {
    SmallVector<int64_t> shape, axes, result;
  };
  const Shape shapes[] = {{{61}, {0}, {}},
                          {{5, 37}, {1}, {5}},
                          {{5, 37}, {0}, {37}},
                          {{2, 3, 11}, {0, 2}, {3}},
                          {{2, 3, 11}, {1}, {2, 11}},
                          {{3, 0}, {1}, {3}},
                          {{0, 3}, {1}, {0}},
                          {{}, {}, {}},
                          {{4, 1}, {0, 1}, {}}};
  for (const std::string &element : allTypes()) {
    Program p;
    for (const Shape &shape : shapes) {
      std::string type = arrayType(shape.shape, element), result = arrayType(shape.result, element);
      std::string x = p.argument(type), axes;
      for (int64_t axis : shape.axes)
        axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
      auto reduce = [&](StringRef op, Tolerance tolerance = equalNumbers()) {
        p.result(result,
                 llvm::formatv("hjx.reduce_{0} {1} axes = [{2}] : {3} -> {4}", op, x, axes, type,
                               result),
                 tolerance);
      };
      if (element != "i1") {
        reduce("sum", within(64));
        reduce("prod", within(64));
        reduce("max");
        reduce("min");
      }
      if (!isFloat(element)) {
        reduce("and");
        reduce("or");
      }
    }
    SCOPED_TRACE(element);
    if (isFloat(element))
      check(p);
    else
      check(p, {Values::Plain, Values::Corners});
  }
}

TEST_F(LoweringTest, ExtremesPropagateNan) {
  for (const std::string &element : kFloats) {
    Program p;
    std::string type = arrayType({31, 5}, element);
    std::string x = p.argument(type);
    for (StringRef op : {"max", "min"}) {
      p.result(arrayType({31}, element),
               llvm::formatv("hjx.reduce_{0} {1} axes = [1] : {2} -> {3}", op, x, type,
                             arrayType({31}, element)),
               equalNumbers());
      p.result("tensor<31xi32>",
               llvm::formatv("hjx.arg{0} {1} axis = 1 : {2} -> tensor<31xi32>", op, x, type));
    }
    SCOPED_TRACE(type);
    check(p, Values::Corners);
  }
}

TEST_F(LoweringTest, ArgumentsOfExtremes) {
  for (const std::string &element : allTypes()) {
    Program p;
    std::string type = arrayType({5, 37, 2}, element);
    std::string x = p.argument(type);
    for (StringRef op : {"argmax", "argmin"})
      for (StringRef index : {"i32", "i64", "ui8"}) {
        p.result(arrayType({5, 2}, index), llvm::formatv("hjx.{0} {1} axis = 1 : {2} -> {3}", op, x,
                                                         type, arrayType({5, 2}, index)));
        p.result(arrayType({37, 2}, index), llvm::formatv("hjx.{0} {1} axis = 0 : {2} -> {3}", op,
                                                          x, type, arrayType({37, 2}, index)));
      }
    SCOPED_TRACE(type);
    check(p, {Values::Plain, Values::Corners});
  }
}

TEST_F(LoweringTest, RunningSums) {
  for (const std::string &element : allTypes()) {
    if (element == "i1")
      continue;
    Program p;
    std::string type = arrayType({3, 7, 5}, element), vector = arrayType({23}, element),
                empty = arrayType({0, 3}, element);
    std::string x = p.argument(type), v = p.argument(vector), e = p.argument(empty);
    for (StringRef direction : {"", "reverse "})
      for (int axis : {0, 1, 2})
        p.result(type,
                 llvm::formatv("hjx.cumsum {0} axis = {1} {2}: {3}", x, axis, direction, type));
    p.result(vector, llvm::formatv("hjx.cumsum {0} axis = 0 : {1}", v, vector));
    p.result(empty, llvm::formatv("hjx.cumsum {0} axis = 1 : {1}", e, empty));
    if (isFloat(element))
      p.tolerate({.rtol = element == "bf16"  ? 1e-2
                          : element == "f16" ? 1e-3
                                             : 1e-5,
                  .atol = element == "bf16" ? 1e-2 : 1e-3});
    SCOPED_TRACE(type);
    check(p);
  }
}

TEST_F(LoweringTest, Products) {
  struct Shape {
    SmallVector<int64_t> lhs, rhs;
    std::string dims;
    SmallVector<int64_t> result;
  };
  const Shape shapes[] = {
      {{5, 7}, {7, 3}, "contracting = [1] x [0]", {5, 3}},
      {{5, 7}, {3, 7}, "contracting = [1] x [1]", {5, 3}},
      {{7, 5}, {7, 3}, "contracting = [0] x [0]", {5, 3}},
      {{33, 65}, {65, 47}, "contracting = [1] x [0]", {33, 47}},
      {{7}, {7}, "contracting = [0] x [0]", {}},
      {{7}, {7, 3}, "contracting = [0] x [0]", {3}},
      {{5, 7}, {7}, "contracting = [1] x [0]", {5}},
      {{5}, {3}, "contracting = [] x []", {5, 3}},
      {{}, {3}, "contracting = [] x []", {3}},
      {{5, 2, 7, 3},
       {2, 5, 3, 4},
       "batching = [0, 1] x [1, 0] contracting = [3] x [2]",
       {5, 2, 7, 4}},
      {{2, 5, 7}, {2, 5, 7}, "batching = [1] x [1] contracting = [2] x [2]", {5, 2, 2}},
      {{2, 3, 5}, {5, 3, 4}, "contracting = [1, 2] x [1, 0]", {2, 4}},
      {{2, 5}, {2, 5}, "batching = [0, 1] x [0, 1] contracting = [] x []", {2, 5}},
      {{5, 0}, {0, 3}, "contracting = [1] x [0]", {5, 3}},
      {{0, 5}, {5, 3}, "contracting = [1] x [0]", {0, 3}},
      {{5, 1}, {1, 3}, "contracting = [1] x [0]", {5, 3}}};
  std::vector<std::string> types = allTypes();
  types.pop_back();
  for (const std::string &element : types) {
    Program p;
    for (const Shape &shape : shapes) {
      std::string lhs = arrayType(shape.lhs, element), rhs = arrayType(shape.rhs, element);
      std::string x = p.argument(lhs), y = p.argument(rhs);
      std::vector<std::string> accums = {""};
      if (element == "bf16" || element == "f16")
        accums.push_back("f32");
      if (element == "i8")
        accums.push_back("i32");
      if (element == "ui8")
        accums.push_back("ui32");
      for (const std::string &accum : accums) {
        std::string result = arrayType(shape.result, accum.empty() ? element : accum);
        p.result(result, llvm::formatv("hjx.dot_general {0}, {1} {2}{3} : ({4}, {5}) -> {6}", x, y,
                                       shape.dims, accum.empty() ? "" : " accum = " + accum, lhs,
                                       rhs, result));
      }
    }
    if (isFloat(element))
      p.tolerate({.rtol = element == "bf16" ? 1e-2 : element == "f16" ? 1e-3 : 1e-5, .atol = 1e-5});
    SCOPED_TRACE(element);
    check(p);
  }
}

TEST_F(LoweringTest, ProductsOfViews) {
  Program p;
  std::string x = p.argument("tensor<4x5x6xf32>"), y = p.argument("tensor<5x7x6xf32>"),
              v = p.argument("tensor<6xf32>");
  std::string xt =
      p.value("hjx.transpose %a0 permutation = [1, 2, 0] : tensor<4x5x6xf32> -> tensor<5x6x4xf32>");
  std::string z = p.value("hjx.dot_general %a1, " + xt +
                          " batching = [0] x [0] contracting = [2] x [1] : (tensor<5x7x6xf32>, "
                          "tensor<5x6x4xf32>) -> tensor<5x7x4xf32>");
  p.result("tensor<4x7x5xf32>",
           "hjx.transpose " + z +
               " permutation = [2, 1, 0] : tensor<5x7x4xf32> -> tensor<4x7x5xf32>");
  // A broadcast over the contracting dimension, and one over a free dimension.
  std::string ones = p.value("hjx.constant dense<0.5> : tensor<6x3xf32>");
  p.result(
      "tensor<4x5x3xf32>",
      "hjx.dot_general %a0, " + ones +
          " contracting = [2] x [0] : (tensor<4x5x6xf32>, tensor<6x3xf32>) -> tensor<4x5x3xf32>");
  std::string wide = p.value(
      "hjx.broadcast_in_dim %a2 shape = [6, 3] dims = [0] : tensor<6xf32> -> tensor<6x3xf32>");
  p.result(
      "tensor<4x5x3xf32>",
      "hjx.dot_general %a0, " + wide +
          " contracting = [2] x [0] : (tensor<4x5x6xf32>, tensor<6x3xf32>) -> tensor<4x5x3xf32>");
  std::string both = p.value("hjx.constant dense<2.0> : tensor<6xf32>");
  p.result("tensor<f32>",
           "hjx.dot_general " + both + ", " + both +
               " contracting = [0] x [0] : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>");
  p.tolerate({.rtol = 1e-5, .atol = 1e-5});
  check(p);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, Movement) {
  for (StringRef element : {"f32", "bf16", "ui8", "i64", "i1", "!hjx.key<threefry2x32>"}) {
    Program p;
    auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
    std::string x = p.argument(t({5, 3, 4})), s = p.argument(t({})), u = p.argument(t({2, 3, 4}));
    std::string i = p.argument("tensor<i32>"), j = p.argument("tensor<ui8>");
    auto move = [&](StringRef op, ArrayRef<int64_t> result, const Twine &rest) {
      p.result(t(result), llvm::formatv("hjx.{0} {1} {2} : {3} -> {4}", op, x, rest.str(),
                                        t({5, 3, 4}), t(result)));
    };
    move("broadcast_in_dim", {5, 2, 3, 4}, "shape = [5, 2, 3, 4] dims = [0, 2, 3]");
    p.result(t({2, 3}),
             llvm::formatv("hjx.broadcast_in_dim {0} shape = [2, 3] dims = [] : {1} -> {2}", s,
                           t({}), t({2, 3})));
    move("reshape", {60}, "shape = [60]");
    move("reshape", {15, 4}, "shape = [15, 4]");
    move("reshape", {5, 1, 3, 2, 2}, "shape = [5, 1, 3, 2, 2]");
    move("reshape", {3, 5, 4}, "shape = [3, 5, 4]");
    move("reshape", {1, 15, 2, 2, 1}, "shape = [1, 15, 2, 2, 1]");
    p.result(t({1, 1}),
             llvm::formatv("hjx.reshape {0} shape = [1, 1] : {1} -> {2}", s, t({}), t({1, 1})));
    move("transpose", {4, 5, 3}, "permutation = [2, 0, 1]");
    move("transpose", {3, 5, 4}, "permutation = [1, 0, 2]");
    p.result(t({5, 3, 4}), llvm::formatv("hjx.rev {0} dims = [0, 2] : {1}", x, t({5, 3, 4})));
    p.result(t({7, 3, 4}), llvm::formatv("hjx.concatenate {0}, {1} dim = 0 : ({2}, {3}) -> {4}", x,
                                         u, t({5, 3, 4}), t({2, 3, 4}), t({7, 3, 4})));
    move("slice", {2, 3, 2}, "start = [1, 0, 0] limit = [4, 3, 4] strides = [2, 1, 3]");
    move("slice", {0, 3, 4}, "start = [1, 0, 0] limit = [1, 3, 4] strides = [1, 1, 1]");
    struct Pad {
      std::string attributes;
      SmallVector<int64_t> result;
    };
    for (const Pad &pad :
         {Pad{"low = [1, 0, 2] high = [0, 2, 1] interior = [0, 0, 0]", {6, 5, 7}},
          Pad{"low = [0, 0, 0] high = [0, 0, 0] interior = [1, 2, 0]", {9, 7, 4}},
          Pad{"low = [-1, 1, -2] high = [2, -2, -1] interior = [0, 1, 2]", {6, 4, 7}},
          Pad{"low = [-3, 0, 0] high = [-2, 0, 0] interior = [0, 0, 0]", {0, 3, 4}},
          Pad{"low = [-8, 0, 0] high = [5, 0, 0] interior = [0, 0, 0]", {2, 3, 4}}})
      p.result(t(pad.result), llvm::formatv("hjx.pad {0}, {1} {2} : ({3}, {4}) -> {5}", x, s,
                                            pad.attributes, t({5, 3, 4}), t({}), t(pad.result)));
    p.result(t({2, 3, 1}), llvm::formatv("hjx.dynamic_slice {0} [{1}, {1}, {2}] sizes = [2, 3, 1] "
                                         ": ({3}, tensor<i32>, tensor<i32>, tensor<ui8>) -> {4}",
                                         x, i, j, t({5, 3, 4}), t({2, 3, 1})));
    p.result(t({5, 3, 4}), llvm::formatv("hjx.dynamic_update_slice {0}, {1} [{3}, {2}, {2}] : "
                                         "({4}, {5}, tensor<ui8>, tensor<i32>, tensor<i32>) -> {4}",
                                         x, u, i, j, t({5, 3, 4}), t({2, 3, 4})));
    SCOPED_TRACE(element.str());
    check(p, {Values::Indices, Values::Corners});
  }
}

TEST_F(LoweringTest, Creation) {
  Program p;
  std::vector<std::string> types = allTypes();
  types.pop_back();
  for (const std::string &element : types)
    for (int dim : {0, 1})
      p.result(arrayType({3, 300}, element),
               llvm::formatv("hjx.iota dim = {0} : {1}", dim, arrayType({3, 300}, element)));
  p.result("tensor<2x3xui8>", "hjx.constant dense<[[1, 2, 255], [4, 5, 6]]> : tensor<2x3xui8>");
  p.result("tensor<5xi1>", "hjx.constant dense<[true, false, true, true, false]> : tensor<5xi1>");
  p.result("tensor<9xi1>", "hjx.constant dense<true> : tensor<9xi1>");
  p.result("tensor<2xbf16>", "hjx.constant dense<[1.5, -2.0]> : tensor<2xbf16>");
  p.result("tensor<ui64>", "hjx.constant dense<18446744073709551615> : tensor<ui64>");
  p.result("tensor<0x3xf32>", "hjx.constant dense<> : tensor<0x3xf32>");
  std::string iota = p.value("hjx.iota dim = 0 : tensor<5xi32>");
  std::string reversed = p.value("hjx.rev " + iota + " dims = [0] : tensor<5xi32>");
  p.result("tensor<5xi32>", "hjx.add " + reversed + ", " + iota + " : tensor<5xi32>");
  std::string wide = p.value("hjx.broadcast_in_dim " + iota +
                             " shape = [5, 2] dims = [0] : tensor<5xi32> -> tensor<5x2xi32>");
  p.result("tensor<2xi32>",
           "hjx.reduce_sum " + wide + " axes = [0] : tensor<5x2xi32> -> tensor<2xi32>");
  check(p);
}

TEST_F(LoweringTest, Gather) {
  for (StringRef element : {"f32", "bf16", "ui8", "i16", "i1", "!hjx.key<threefry2x32>"})
    for (StringRef index : {"i32", "ui8", "i64"})
      for (StringRef mode : {"clip", "fill_or_drop", "promise_in_bounds"}) {
        Program p;
        auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
        std::string x = p.argument(t({5, 3})), many = p.argument(arrayType({4, 1}, index)),
                    pairs = p.argument(arrayType({2, 3, 2}, index));
        std::string batched = p.argument(t({2, 5, 3})), one = p.argument(arrayType({1}, index)),
                    rows = p.argument(arrayType({2, 7, 1}, index));
        auto gather = [&](StringRef operand, ArrayRef<int64_t> shape, StringRef indices,
                          ArrayRef<int64_t> indicesShape, StringRef attributes,
                          ArrayRef<int64_t> result) {
          p.result(t(result),
                   llvm::formatv("hjx.gather {0}, {1} {{{2}, mode = {3} : i32} : ({4}, {5}) -> {6}",
                                 operand, indices, attributes,
                                 mode == "clip"           ? 0
                                 : mode == "fill_or_drop" ? 1
                                                          : 2,
                                 t(shape), arrayType(indicesShape, index), t(result)));
        };
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 1, 3>",
               {4, 3});
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 0>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 1, 3>",
               {3, 4});
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 0, 2>, collapsed_slice_dims = array<i64>, start_index_map "
               "= array<i64: 1>, slice_sizes = array<i64: 3, 2>",
               {3, 4, 2});
        gather(x, {5, 3}, pairs, {2, 3, 2},
               "offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, start_index_map "
               "= array<i64: 1, 0>, slice_sizes = array<i64: 1, 1>",
               {2, 3});
        gather(x, {5, 3}, one, {1},
               "offset_dims = array<i64: 0, 1>, collapsed_slice_dims = array<i64>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 2, 3>",
               {2, 3});
        gather(batched, {2, 5, 3}, rows, {2, 7, 1},
               "offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, "
               "operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: "
               "0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>",
               {2, 7, 3});
        SCOPED_TRACE(llvm::formatv("{0} {1} {2}", element, index, mode).str());
        check(p, {Values::Indices, Values::Corners});
      }
}

TEST_F(LoweringTest, Scatter) {
  for (StringRef element : {"f32", "bf16", "ui8", "i16", "i1", "!hjx.key<threefry2x32>"})
    for (StringRef kind : {"set", "add"})
      for (int mode : {0, 1, 2}) {
        if (kind == "add" && (element.contains("key") || element == "i1"))
          continue;
        Program p;
        auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
        auto scatter = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> indices,
                           ArrayRef<int64_t> updates, StringRef attributes) {
          std::string x = p.argument(t(shape)), i = p.argument(arrayType(indices, "i32")),
                      u = p.argument(t(updates));
          p.result(t(shape), llvm::formatv("hjx.scatter {0}, {1}, {2}, {3} {{{4}, mode = {5} : "
                                           "i32} : ({6}, {7}, {8}) -> {6}",
                                           kind, x, i, u, attributes, mode, t(shape),
                                           arrayType(indices, "i32"), t(updates)));
        };
        scatter({5, 3}, {9, 1}, {9, 3},
                "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {3, 9},
                "update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {9, 2, 3},
                "update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {2, 9, 3},
                "update_window_dims = array<i64: 0, 2>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {2, 4, 2}, {2, 4},
                "update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, "
                "scatter_dims_to_operand_dims = array<i64: 1, 0>");
        scatter({2, 5, 3}, {2, 7, 1}, {2, 7, 3},
                "update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, "
                "operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: "
                "0>, scatter_dims_to_operand_dims = array<i64: 1>");
        scatter({5, 3}, {1}, {2, 3},
                "update_window_dims = array<i64: 0, 1>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({0, 3}, {0, 1}, {0, 3},
                "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        SCOPED_TRACE(llvm::formatv("{0} {1} {2}", element, kind, mode).str());
        check(p, Values::Indices);
      }
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, Random) {
  Program p;
  const std::string key = "!hjx.key<threefry2x32>";
  std::string k = p.argument(arrayType({}, key)), ks = p.argument(arrayType({3}, key)),
              data = p.argument("tensor<3xui32>");
  std::string mask = p.argument("tensor<3xi1>"), words = p.argument("tensor<3x2xui32>");
  for (int width : {8, 16, 32, 64}) {
    std::string element = "ui" + std::to_string(width);
    for (const SmallVector<int64_t> &shape :
         {SmallVector<int64_t>{}, SmallVector<int64_t>{7, 5}, SmallVector<int64_t>{0},
          SmallVector<int64_t>{1, 1}}) {
      std::string list;
      for (int64_t size : shape)
        list += (list.empty() ? "" : ", ") + std::to_string(size);
      p.result(arrayType(shape, element),
               llvm::formatv("hjx.random_bits {0} width = {1} shape = [{2}] : {3} -> {4}", k, width,
                             list, arrayType({}, key), arrayType(shape, element)));
    }
    p.result(arrayType({3, 2, 5}, element),
             llvm::formatv("hjx.random_bits {0} width = {1} shape = [2, 5] : {2} -> {3}", ks, width,
                           arrayType({3}, key), arrayType({3, 2, 5}, element)));
  }
  p.result(arrayType({3, 4}, key), llvm::formatv("hjx.random_split {0} shape = [4] : {1} -> {2}",
                                                 ks, arrayType({3}, key), arrayType({3, 4}, key)));
  std::string folded =
      p.result(arrayType({3}, key),
               llvm::formatv("hjx.random_fold_in {0}, {1} : ({2}, tensor<3xui32>) -> {2}", ks, data,
                             arrayType({3}, key)));
  p.result(arrayType({3}, key),
           llvm::formatv("hjx.select_n {0}, {1}, {2} : (tensor<3xi1>, {3}, {3}) -> {3}", mask, ks,
                         folded, arrayType({3}, key)));
  p.result(arrayType({3}, key), llvm::formatv("hjx.random_wrap {0} : tensor<3x2xui32> -> {1}",
                                              words, arrayType({3}, key)));
  p.result("tensor<3x2xui32>", llvm::formatv("hjx.random_unwrap {0} : {1} -> tensor<3x2xui32>", ks,
                                             arrayType({3}, key)));
  for (const std::string &element : kIntegers) {
    std::string seed = p.argument(arrayType({5}, element));
    p.result(arrayType({5}, key), llvm::formatv("hjx.random_seed {0} : {1} -> {2}", seed,
                                                arrayType({5}, element), arrayType({5}, key)));
  }
  check(p, Values::Corners);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, Scan) {
  for (StringRef direction : {"", "reverse "})
    for (int length : {0, 1, 5}) {
      Program p;
      p.argument("tensor<3xf32>");
      p.argument("tensor<f32>");
      p.argument(arrayType({length, 3}, "f32"));
      p.argument(arrayType({length}, "ui8"));
      p.argument("tensor<!hjx.key<threefry2x32>>");
      std::string ys = arrayType({length, 3}, "f32"), zs = arrayType({length, 2}, "ui8");
      p.value(llvm::formatv(
                  "hjx.scan consts(%a0) inits(%a1, %a4, %a0) xs(%a2, %a3) length = {0} {1}: "
                  "(tensor<3xf32>, tensor<f32>, "
                  "tensor<!hjx.key<threefry2x32>>, tensor<3xf32>, {2}, {3}) -> (tensor<f32>, "
                  "tensor<!hjx.key<threefry2x32>>, tensor<3xf32>, {2}, {4}) {{\n"
                  "^bb0(%w: tensor<3xf32>, %c: tensor<f32>, %k: tensor<!hjx.key<threefry2x32>>, "
                  "%h: tensor<3xf32>, %x: tensor<3xf32>, %u: tensor<ui8>):\n"
                  "  %f = hjx.convert %u : tensor<ui8> -> tensor<ui32>\n"
                  "  %k2 = hjx.random_fold_in %k, %f : (tensor<!hjx.key<threefry2x32>>, "
                  "tensor<ui32>) -> tensor<!hjx.key<threefry2x32>>\n"
                  "  %cw = hjx.broadcast_in_dim %c shape = [3] dims = [] : tensor<f32> -> "
                  "tensor<3xf32>\n"
                  "  %m = hjx.mul %w, %x : tensor<3xf32>\n"
                  "  %y = hjx.add %m, %cw : tensor<3xf32>\n"
                  "  %s = hjx.reduce_max %y axes = [0] : tensor<3xf32> -> tensor<f32>\n"
                  "  %uu = hjx.broadcast_in_dim %u shape = [2] dims = [] : tensor<ui8> -> "
                  "tensor<2xui8>\n"
                  "  hjx.yield %s, %k2, %x, %h, %uu : tensor<f32>, tensor<!hjx.key<threefry2x32>>, "
                  "tensor<3xf32>, tensor<3xf32>, tensor<2xui8>\n}",
                  length, direction, ys, arrayType({length}, "ui8"), zs),
              5);
      p.returns("%v0#0", "tensor<f32>");
      p.returns("%v0#1", "tensor<!hjx.key<threefry2x32>>");
      p.returns("%v0#2", "tensor<3xf32>");
      p.returns("%v0#3", ys);
      p.returns("%v0#4", zs);
      SCOPED_TRACE(length);
      check(p);
    }
}

// The carry goes through an inner loop; the old value is needed beside it, or not.
TEST_F(LoweringTest, NestedScans) {
  for (StringRef yielded : {"%h2", "%both"}) {
    Program p;
    p.argument("tensor<4xf32>");
    p.argument("tensor<3x4xf32>");
    p.value(
        llvm::formatv("hjx.scan consts(%a1) inits(%a0) xs() length = 2 : (tensor<3x4xf32>, "
                      "tensor<4xf32>) -> tensor<4xf32> {{\n"
                      "^bb0(%xs: tensor<3x4xf32>, %h: tensor<4xf32>):\n"
                      "  %h2, %ys = hjx.scan consts() inits(%h) xs(%xs) length = 3 : "
                      "(tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {{\n"
                      "  ^bb0(%c: tensor<4xf32>, %x: tensor<4xf32>):\n"
                      "    %s = hjx.add %c, %x : tensor<4xf32>\n"
                      "    hjx.yield %s, %c : tensor<4xf32>, tensor<4xf32>\n  }\n"
                      "  %i = hjx.constant dense<1> : tensor<i32>\n"
                      "  %part = hjx.dynamic_slice %h [%i] sizes = [2] : (tensor<4xf32>, "
                      "tensor<i32>) -> tensor<2xf32>\n"
                      "  %both = hjx.dynamic_update_slice %h2, %part [%i] : (tensor<4xf32>, "
                      "tensor<2xf32>, tensor<i32>) -> tensor<4xf32>\n"
                      "  hjx.yield {0} : tensor<4xf32>\n}",
                      yielded));
    p.returns("%v0", "tensor<4xf32>");
    SCOPED_TRACE(yielded.str());
    check(p);
  }
}

TEST_F(LoweringTest, While) {
  for (StringRef limit : {"", "max_trip = 3 ", "max_trip = 0 "}) {
    Program p;
    p.argument("tensor<i32>");
    p.argument("tensor<4xf32>");
    p.value(
        llvm::formatv(
            "hjx.while cond_consts(%a0) body_consts(%a1) inits(%a0, %a1, %a1) {0}: (tensor<i32>, "
            "tensor<4xf32>, tensor<i32>, "
            "tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) cond {{\n"
            "^bb0(%l: tensor<i32>, %i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>):\n"
            "  %five = hjx.constant dense<5> : tensor<i32>\n"
            "  %end = hjx.add %l, %five : tensor<i32>\n"
            "  %p = hjx.compare lt, %i, %end : tensor<i32> -> tensor<i1>\n"
            "  hjx.yield %p : tensor<i1>\n} body {{\n"
            "^bb0(%w: tensor<4xf32>, %i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>):\n"
            "  %one = hjx.constant dense<1> : tensor<i32>\n"
            "  %next = hjx.add %i, %one : tensor<i32>\n"
            "  %s = hjx.sub %x, %w : tensor<4xf32>\n"
            "  hjx.yield %next, %y, %s : tensor<i32>, tensor<4xf32>, tensor<4xf32>\n}",
            limit),
        3);
    p.returns("%v0#0", "tensor<i32>");
    p.returns("%v0#1", "tensor<4xf32>");
    p.returns("%v0#2", "tensor<4xf32>");
    SCOPED_TRACE(limit.str());
    check(p);
  }
}

TEST_F(LoweringTest, Cond) {
  struct Choice {
    std::string index;
    int branches;
  };
  for (const Choice &choice :
       {Choice{"i1", 2}, Choice{"i32", 1}, Choice{"i32", 2}, Choice{"i32", 4}})
    for (int seed = 0; seed < 3; ++seed) {
      Program p;
      for (int i = 0; i < seed; ++i)
        p.argument("tensor<f32>"); // Other arguments, other values.
      std::string index = p.argument("tensor<" + choice.index + ">"),
                  x = p.argument("tensor<3xf32>"), k = p.argument("tensor<2xui8>");
      std::string text =
          llvm::formatv("hjx.cond {0}, inputs({1}, {2}) : (tensor<{3}>, tensor<3xf32>, "
                        "tensor<2xui8>) -> (tensor<3xf32>, tensor<2xui8>) ",
                        index, x, k, choice.index);
      for (int branch = 0; branch < choice.branches; ++branch)
        text += llvm::formatv("{0}{{\n^bb0(%x: tensor<3xf32>, %k: tensor<2xui8>):\n"
                              "  %c = hjx.constant dense<{1}.5> : tensor<3xf32>\n"
                              "  %y = hjx.mul %x, %c : tensor<3xf32>\n"
                              "  hjx.yield {2}, %k : tensor<3xf32>, tensor<2xui8>\n}",
                              branch ? ", " : "", branch, branch % 2 ? "%x" : "%y");
      p.value(text, 2);
      std::string name = "%v0";
      p.returns(name + "#0", "tensor<3xf32>");
      p.returns(name + "#1", "tensor<2xui8>");
      SCOPED_TRACE(text);
      check(p, {Values::Plain, Values::Corners});
    }
}

TEST_F(LoweringTest, Barriers) {
  Program p;
  p.argument("tensor<4xf32>");
  p.argument("tensor<2x4xui8>");
  p.value("hjx.exp %a0 : tensor<4xf32>");
  p.value("hjx.opt_barrier %a0, %a1 : tensor<4xf32>, tensor<2x4xui8>", 2);
  p.value("hjx.exp %v1#0 : tensor<4xf32>");
  p.value("hjx.scan consts() inits(%v0) xs(%v1#1) length = 2 : (tensor<4xf32>, tensor<2x4xui8>) -> "
          "tensor<4xf32> {\n"
          "^bb0(%c: tensor<4xf32>, %x: tensor<4xui8>):\n"
          "  %cb, %xb = hjx.opt_barrier %c, %x : tensor<4xf32>, tensor<4xui8>\n"
          "  %f = hjx.convert %xb : tensor<4xui8> -> tensor<4xf32>\n"
          "  %s = hjx.add %f, %cb : tensor<4xf32>\n"
          "  %sb = hjx.opt_barrier %s : tensor<4xf32>\n"
          "  hjx.yield %sb : tensor<4xf32>\n}");
  p.returns("%v2", "tensor<4xf32>", within(8));
  p.returns("%v3", "tensor<4xf32>", within(8));
  p.returns("%v1#1", "tensor<2x4xui8>");
  check(p);
}

TEST_F(LoweringTest, CallsAreInlined) {
  Program p;
  p.functions = "func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                "  %y = hjx.mul %x, %x : tensor<3xf32>\n  return %y : tensor<3xf32>\n}\n"
                "func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                "  %y = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
                "  %z = func.call @square(%y) : (tensor<3xf32>) -> tensor<3xf32>\n  return %z : "
                "tensor<3xf32>\n}\n";
  p.argument("tensor<5x3xf32>");
  p.argument("tensor<3xf32>");
  p.value("hjx.scan consts() inits(%a1) xs(%a0) length = 5 : (tensor<3xf32>, tensor<5x3xf32>) -> "
          "tensor<3xf32> {\n"
          "^bb0(%c: tensor<3xf32>, %x: tensor<3xf32>):\n"
          "  %y = func.call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
          "  %s = hjx.add %c, %y : tensor<3xf32>\n"
          "  hjx.yield %s : tensor<3xf32>\n}");
  p.returns("%v0", "tensor<3xf32>");
  check(p);
}

//===----------------------------------------------------------------------===//
// The programs of test/run, whose check ops hold JAX's values
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, ProgramsWithChecks) {
  for (StringRef file : {"higher_order", "jax_elementwise", "jax_movement", "jax_random",
                         "jax_reduction", "rounding"}) {
    std::string path = (HJX_TEST_DIR "/run/evaluate/" + file + ".mlir").str();
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
    ASSERT_TRUE(module) << path;
    // One @main that computes what all functions compute, and returns the checks' operands.
    OpBuilder b(&context);
    b.setInsertionPointToEnd(module->getBody());
    auto main = func::FuncOp::create(b, module->getLoc(), "main", b.getFunctionType({}, {}));
    b.setInsertionPointToStart(main.addEntryBlock());
    SmallVector<Value> returned;
    SmallVector<Operation *> checks;
    for (auto func : llvm::make_early_inc_range(module->getOps<func::FuncOp>())) {
      if (func == main || func.isPrivate())
        continue;
      ASSERT_EQ(func.getNumArguments(), 0u) << func.getName().str();
      IRMapping mapping;
      for (Operation &op : func.front().without_terminator()) {
        if (!isa<hjx::check::CheckDialect>(op.getDialect())) {
          b.clone(op, mapping);
          continue;
        }
        checks.push_back(&op);
        for (Value operand : op.getOperands())
          returned.push_back(mapping.lookup(operand));
      }
    }
    ASSERT_FALSE(checks.empty());
    func::ReturnOp::create(b, module->getLoc(), returned);
    main.setType(b.getFunctionType({}, ValueRange(returned).getTypes()));
    SmallVector<Type> types(main.getResultTypes());
    OwningOpRef<ModuleOp> alone = ModuleOp::create(module->getLoc());
    for (auto func : module->getOps<func::FuncOp>())
      if (func == main || func.isPrivate())
        alone->push_back(func.clone());
    std::unique_ptr<hjx::CpuExecutable> executable = compile(*alone);
    ASSERT_TRUE(executable) << path;
    SmallVector<HostArray> got = run(*executable, {}, types);
    ArrayRef<HostArray> rest = got;
    for (Operation *check : checks) {
      EXPECT_TRUE(
          succeeded(hjx::compareCheckOperands(check, rest.take_front(check->getNumOperands()))));
      rest = rest.drop_front(check->getNumOperands());
    }
  }
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, FusedAndApartAgree) {
  Program p;
  std::string type = "tensor<6x16xf32>";
  p.argument(type);
  p.argument("tensor<16xf32>");
  // Softmax of a masked product with dropout-like bits.
  p.value("hjx.iota dim = 0 : tensor<6x16xi32>");
  p.value("hjx.iota dim = 1 : tensor<6x16xi32>");
  p.value("hjx.compare ge, %v0, %v1 : tensor<6x16xi32> -> tensor<6x16xi1>");
  p.value("hjx.constant dense<-1.0e9> : tensor<6x16xf32>");
  p.value("hjx.select_n %v2, %v3, %a0 : (tensor<6x16xi1>, tensor<6x16xf32>, tensor<6x16xf32>) -> "
          "tensor<6x16xf32>");
  p.value("hjx.reduce_max %v4 axes = [1] : tensor<6x16xf32> -> tensor<6xf32>");
  p.value(
      "hjx.broadcast_in_dim %v5 shape = [6, 16] dims = [0] : tensor<6xf32> -> tensor<6x16xf32>");
  p.value("hjx.sub %v4, %v6 : tensor<6x16xf32>");
  p.value("hjx.exp %v7 : tensor<6x16xf32>");
  p.value("hjx.reduce_sum %v8 axes = [1] : tensor<6x16xf32> -> tensor<6xf32>");
  p.value("hjx.reshape %v9 shape = [6, 1] : tensor<6xf32> -> tensor<6x1xf32>");
  p.value("hjx.broadcast_in_dim %v10 shape = [6, 16] dims = [0, 1] : tensor<6x1xf32> -> "
          "tensor<6x16xf32>");
  p.value("hjx.div %v8, %v11 : tensor<6x16xf32>");
  p.value(
      "hjx.broadcast_in_dim %a1 shape = [6, 16] dims = [1] : tensor<16xf32> -> tensor<6x16xf32>");
  p.value("hjx.mul %v12, %v13 : tensor<6x16xf32>");
  p.returns("%v14", type, within(8));
  check(p, Values::Plain, /*fuse=*/true);
  check(p, Values::Plain, /*fuse=*/false);
}

TEST_F(LoweringTest, SumsOfPads) {
  for (StringRef element : {"f32", "ui8"}) {
    Program p;
    std::string whole = arrayType({3, 10}, element), scalar = arrayType({}, element);
    std::string zero = p.value(
        llvm::formatv("hjx.constant dense<{0}> : {1}", isFloat(element) ? "0.0" : "0", scalar));
    std::vector<std::string> parts;
    for (auto [low, size] : {std::pair(4, 2), std::pair(0, 3), std::pair(3, 1)}) {
      std::string part = arrayType({3, size}, element);
      std::string x = p.argument(part);
      parts.push_back(p.value(llvm::formatv(
          "hjx.pad {0}, {1} low = [0, {2}] high = [0, {3}] interior = [0, 0] : ({4}, {5}) -> {6}",
          x, zero, low, 10 - low - size, part, scalar, whole)));
    }
    std::string sum = p.value(llvm::formatv("hjx.add {0}, {1} : {2}", parts[0], parts[1], whole));
    p.result(whole, llvm::formatv("hjx.add {0}, {1} : {2}", sum, parts[2], whole));
    SCOPED_TRACE(element.str());
    check(p, Values::Corners);
  }
}

} // namespace
