// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops and conversions, compiled and interpreted.
#include "test/unit/LoweringTest.h"

namespace {

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

} // namespace
