// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the lowering share: every op, compiled for this machine, is
// compared with the interpreter, on all element types, ragged, empty and rank-0
// shapes, and the numbers where definitions have corners (NaN, infinities,
// subnormals, extreme integers, division by zero).
//
// A test is a program, grown result by result; its arguments are made from their
// types. Many ops share one program (one compilation); a failure names the result.
#pragma once

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

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

enum class Values {
  Corners, ///< with the numbers whose treatment is a definition
  Plain,   ///< in [-2, 2], integers in [-9, 9]
  Indices, ///< integers around the bounds of small arrays
};

inline HostArray makeArgument(RankedTensorType type, Values values, unsigned seed) {
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

inline Tolerance within(int64_t ulps) { return {.ulps = ulps}; }
/// Which zero the greater of two zeros is, is not defined.
inline Tolerance equalNumbers() { return within(0); }

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

inline std::string arrayType(ArrayRef<int64_t> shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}

inline const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};
inline const std::vector<std::string> kIntegers = {"i8",  "i16",  "i32",  "i64",
                                                   "ui8", "ui16", "ui32", "ui64"};
inline const std::vector<SmallVector<int64_t>> kShapes = {{},      {1},    {61},
                                                          {5, 37}, {0, 3}, {2, 3, 11}};

inline std::vector<std::string> allTypes() {
  std::vector<std::string> all = kFloats;
  llvm::append_range(all, kIntegers);
  all.push_back("i1");
  return all;
}
inline bool isFloat(StringRef element) { return llvm::is_contained(kFloats, element); }
