// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's data and its API: layout and rounding of host arrays,
// comparison, and the errors of interpret(). What ops mean is in test/run.
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Pipelines/Register.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;
using hjx::HostArray;
using hjx::Tolerance;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() {
    DialectRegistry registry;
    hjx::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  RankedTensorType type(StringRef text) {
    return cast<RankedTensorType>(parseType(text, &context));
  }

  HostArray array(StringRef elements, StringRef typeText) {
    auto attribute =
        parseAttribute((Twine("dense<") + elements + "> : " + typeText).str(), &context);
    return *HostArray::fromElements(cast<ElementsAttr>(attribute));
  }

  /// Interprets `@f` of `text`; a failure's diagnostics are in `messages`.
  FailureOr<SmallVector<HostArray>> run(StringRef text, ArrayRef<HostArray> arguments) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(messages) << diagnostic << "\n";
      return success();
    });
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return hjx::interpret(module->lookupSymbol<func::FuncOp>("f"), arguments);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

TEST_F(InterpreterTest, StoresElementsAsTheRuntimeDoes) {
  HostArray bools = array("[true, false, true]", "tensor<3xi1>");
  EXPECT_THAT(bools.bytes(), ElementsAre(1, 0, 1));
  HostArray halves = array("[1.0, -2.0]", "tensor<2xbf16>");
  EXPECT_THAT(halves.bytes(), ElementsAre(char(0x80), 0x3f, 0x00, char(0xc0)));
  HostArray keys(type("tensor<2x!hjx.key<threefry2x32>>"));
  EXPECT_EQ(keys.bytes().size(), 16u);
  keys.setKey(1, {7, 8});
  EXPECT_EQ(keys.bytes()[8], 7);
  EXPECT_EQ(keys.bytes()[12], 8);
  EXPECT_EQ(HostArray::of<float>(type("tensor<2xf32>"), {1.5f, 2.5f}).getFloat(1), 2.5);
  EXPECT_EQ(HostArray(type("tensor<2x0xf32>")).bytes().size(), 0u);
  EXPECT_EQ(array("7", "tensor<2x3xi32>").getIndex(5), 7) << "a splat fills the array";
}

TEST_F(InterpreterTest, RoundsOnceToTheElementType) {
  HostArray x(type("tensor<1xbf16>"));
  // 1 + 2^-8 + 2^-30 is just above the middle of two bf16 neighbours; through
  // f32 it would become the middle and go down to 1.
  x.setFloat(0, 1 + 0x1p-8 + 0x1p-30);
  EXPECT_EQ(x.getFloat(0), 1 + 0x1p-7);
  HostArray y(type("tensor<1xf16>"));
  y.setFloat(0, 65520.0);
  EXPECT_TRUE(std::isinf(y.getFloat(0)));
  HostArray z(type("tensor<1xui8>"));
  z.setInteger(0, APInt(32, 300));
  EXPECT_EQ(z.getIndex(0), 44);
  EXPECT_TRUE(z.getInteger(0).isUnsigned());
  EXPECT_EQ(array("18446744073709551615", "tensor<1xui64>").getIndex(0),
            std::numeric_limits<int64_t>::max());
}

TEST_F(InterpreterTest, ComparesWithinTolerances) {
  HostArray a = array("[1.0, 2.0, 3.0]", "tensor<3xf32>"),
            b = array("[1.0, 2.000001, 3.5]", "tensor<3xf32>");
  auto difference = findDifference(a, b, Tolerance::exact());
  ASSERT_TRUE(difference);
  EXPECT_THAT(difference->first, ElementsAre(1, 2));
  EXPECT_EQ(findDifference(a, b, {.rtol = 1e-5})->numDifferent, 1);
  EXPECT_EQ(findDifference(a, b, {.ulps = 4})->numDifferent, 1);
  EXPECT_FALSE(findDifference(a, b, {.atol = 0.5}));
  EXPECT_EQ(ulpDistance(a, b, 1), 4);
  EXPECT_EQ(
      ulpDistance(array("[-1.0e-45]", "tensor<1xf32>"), array("[1.0e-45]", "tensor<1xf32>"), 0), 2);
  EXPECT_THAT(*describeDifference(a, b, {.rtol = 1e-5}),
              HasSubstr("1 of 3 elements of tensor<3xf32> differ\n  at [2]: expected 3.5, got 3"));
  EXPECT_THAT(*describeDifference(a, array("1.0", "tensor<f32>"), {}),
              HasSubstr("expected tensor<f32>, got tensor<3xf32>"));
}

TEST_F(InterpreterTest, NaNEqualsNaNAndInfinitiesThemselves) {
  HostArray special = array("[0x7FC00000, 0x7F800000, -0.0]", "tensor<3xf32>");
  EXPECT_FALSE(findDifference(special, special, Tolerance::exact()));
  EXPECT_FALSE(findDifference(array("[0x7FC00001]", "tensor<1xf32>"),
                              array("[0xFFC00000]", "tensor<1xf32>"), Tolerance::exact()));
  HostArray other = array("[0.0, 0xFF800000, 0.0]", "tensor<3xf32>");
  EXPECT_THAT(findDifference(other, special, Tolerance::exact())->first, ElementsAre(0, 1, 2));
  EXPECT_THAT(findDifference(other, special, {.rtol = 1, .atol = 1e30})->first, ElementsAre(0, 1));
}

TEST_F(InterpreterTest, PrintsNestedLists) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, array("[[1.5, 0.1], [2.0, -3.0]]", "tensor<2x2xf32>"));
  print(os, array("[true, false]", "tensor<2xi1>"));
  print(os, array("-3", "tensor<i8>"));
  print(os, HostArray(type("tensor<1x!hjx.key<threefry2x32>>")));
  EXPECT_EQ(text, "[[1.5, 0.1], [2, -3]][true, false]-3[(0, 0)]");
}

TEST_F(InterpreterTest, RunsAFunction) {
  auto results =
      run(R"(func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %z = hjx.sub %x, %y : tensor<2xf32>
    return %z, %x : tensor<2xf32>, tensor<2xf32>
  })",
          {array("[3.0, 4.0]", "tensor<2xf32>"), array("[1.0, 1.5]", "tensor<2xf32>")});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].getFloat(1), 2.5);
  EXPECT_EQ((*results)[1].getFloat(0), 3.0);
}

TEST_F(InterpreterTest, RefusesWrongArguments) {
  StringRef text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
  EXPECT_TRUE(failed(run(text, {})));
  EXPECT_THAT(messages, HasSubstr("expected 1 arguments, got 0"));
  EXPECT_TRUE(failed(run(text, {array("1.0", "tensor<3xf32>")})));
  EXPECT_THAT(messages,
              HasSubstr("expected argument 0 of type 'tensor<2xf32>', got 'tensor<3xf32>'"));
  EXPECT_TRUE(failed(run("func.func private @f()", {})));
  EXPECT_THAT(messages, HasSubstr("the interpreter runs functions of one block, got 0"));
}

} // namespace
