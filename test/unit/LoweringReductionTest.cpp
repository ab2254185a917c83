// SPDX-License-Identifier: Apache-2.0
//
// Reductions and products, compiled and interpreted.
#include "test/unit/LoweringTest.h"

namespace {

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

} // namespace
