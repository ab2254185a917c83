// SPDX-License-Identifier: Apache-2.0
//
// Control flow, fusion and whole programs, compiled and interpreted; and the programs of
// test/run, whose check ops hold JAX's values, compiled.
#include "test/unit/LoweringTest.h"

namespace {

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
