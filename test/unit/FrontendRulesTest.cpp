// SPDX-License-Identifier: Apache-2.0
//
// The kinds of rules that primitives have (test/HiTypes/rules.h), by numbers, eagerly and compiled;
// and what is said of rules that do not do what they say.
#include "test/unit/FrontendTesting.h"

#include "test/HiTypes/rules.h"

using namespace hjx;

namespace {

/// f, or f compiled.
template <typename F>
auto run(bool compiled, F f) {
  return [compiled, f](const auto &...args) { return compiled ? jit(f)(args...) : f(args...); };
}

const Array x3 = array({0.5, -1.0, 2.0});
Array exampleX() { return arange(6, float32).reshape({2, 3}) / 6; }
Array exampleW() { return arange(12, float32).reshape({3, 4}) / 12 - 0.5; }

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

TEST(FrontendRules, BackwardRulesAddToAccumulators) {
  auto loss = [](Array x, Array w) { return sum(square(rules::dot(x, w))); };
  auto expected = [](Array x, Array w) { return sum(square(matmul(x, w))); };
  Array x = exampleX(), w = exampleW();
  auto [xBar, wBar] = grad(expected, argnums<0, 1>)(x, w);
  for (bool compiled : {false, true}) {
    auto [x2, w2] = run(compiled, grad(loss, argnums<0, 1>))(x, w);
    EXPECT_CLOSE(x2, xBar, 1e-5);
    EXPECT_CLOSE(w2, wBar, 1e-5);
    EXPECT_CLOSE(run(compiled, grad(loss, argnums<0>))(x, w), xBar, 1e-5);
    EXPECT_CLOSE(run(compiled, grad(loss, argnums<1>))(x, w), wBar, 1e-5);
    // One operand twice: both contributions count.
    auto twice = [](Array s) { return sum(rules::dot(s, s)); };
    auto plain = [](Array s) { return sum(matmul(s, s)); };
    Array s = array({{1.0, 2.0}, {3.0, 5.0}});
    EXPECT_CLOSE(run(compiled, grad(twice))(s), grad(plain)(s), 1e-5);
    EXPECT_CLOSE(run(compiled, grad([&](Array s) { return sum(grad(twice)(s) * s); }))(s), 2 * grad(plain)(s), 1e-5);
  }
}

TEST(FrontendRules, AccumulatorsAreCellsThatAreBound) {
  Array x = exampleX(), w = exampleW(), bar = ones({2, 4});
  auto [y, pull] = vjp([](Array x, Array w) { return matmul(x, w); }, x, w);
  auto [xBar, wBar] = pull(bar);
  for (bool compiled : {false, true}) {
    Ref cell = new_ref(ones({3, 4}));
    auto step = [&](Array x, Array w, Ref cell) {
      auto [y, pull] = vjp([](Array x, Array w) { return rules::dot(x, w); }, x, w);
      auto [x2, none] = pull.with_refs(GradValue(), cell)(ones({2, 4}));
      return x2;
    };
    EXPECT_CLOSE(run(compiled, step)(x, w, cell), xBar, 1e-5);
    EXPECT_CLOSE(cell.get(), wBar + 1, 1e-5);
  }
}

TEST(FrontendRules, AccumulatorsTakeParts) {
  Array table = arange(15, float32).reshape({5, 3});
  // Rows that are read twice get both cotangents, as a value and in a cell.
  auto f = [](Array table, Array rows) {
    auto body = [&](Array total, Array row) { return std::pair(total + sum(square(rules::take_row(table, row))), Nothing()); };
    return scan(body, array(0.0f), rows).first;
  };
  Array rows = array({1, 3, 1}), expected = zeros({5, 3});
  expected = expected.at(1).set(4 * table[1]).at(3).set(2 * table[3]);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, grad(f))(table, rows), expected);
    Ref cell = new_ref(ones({5, 3}));
    auto into = [&](Array table, Array rows, Ref cell) {
      vjp([&](Array table) { return f(table, rows); }, table).second.with_refs(cell)(array(1.0f));
      return array(0.0f);
    };
    run(compiled, into)(table, rows, cell);
    EXPECT_CLOSE(cell.get(), expected + 1);
    EXPECT_CLOSE(run(compiled, vmap(grad([](Array table, Array row) { return sum(square(rules::take_row(table, row))); }), {none, 0}))(table, rows)[0],
                 zeros({5, 3}).at(1).set(2 * table[1]));
    EXPECT_CLOSE(run(compiled, grad([](Array table, Array rows) { return sum(vmap(rules::take_row, {none, 0})(table, rows)); }))(table, rows),
                 zeros({5, 3}).at(1).set(array({2.0, 2.0, 2.0})).at(3).set(array({1.0, 1.0, 1.0})));
  }
}

/// Adds a cotangent of another shape.
struct WrongAdd {
  static constexpr const char *name = "wrong_add";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, std::tuple<>> vjp_forward(const Array &x) { return {call_primitive<WrongAdd>(x), {}}; }
  static void vjp_backward_into(std::tuple<>, const Array &bar, Accum<> x_bar) { x_bar.add(sum(bar), Where()); }
};
HJX_REGISTER_PRIMITIVE(WrongAdd)

TEST(FrontendRules, AccumulatorsCheckTypes) {
  EXPECT_THAT([] { grad([](Array x) { return sum(call_primitive<WrongAdd>(x)); })(x3); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("expected a value of type f32[3], that of the part, got f32")));
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

TEST(FrontendRules, HalvesServeEveryMode) {
  for (bool compiled : {false, true}) {
    auto [y, dot] = run(compiled, [](Array x, Array dot) { return jvp(rules::sine, x, dot); })(x3, ones({3}));
    EXPECT_CLOSE(y, sin(x3));
    EXPECT_CLOSE(dot, cos(x3));
    EXPECT_CLOSE(run(compiled, [](Array x, Array dot) { return linearize(rules::sine, x).second(dot); })(x3, 2 * ones({3})), 2 * cos(x3));
    auto total = [](Array x) { return sum(rules::sine(x)); };
    EXPECT_CLOSE(run(compiled, grad(total))(x3), cos(x3));
    EXPECT_CLOSE(run(compiled, grad([&](Array x) { return sum(grad(total)(x)); }))(x3), -sin(x3));
    EXPECT_CLOSE(run(compiled, vmap(grad(rules::sine)))(x3), cos(x3));
    EXPECT_CLOSE(run(compiled, grad([](Array x) { return sum(vmap(rules::sine)(x)); }))(x3), cos(x3));
    EXPECT_CLOSE(run(compiled, [](Array x, Array dot) { return jvp(vmap(rules::sine), x, dot).second; })(x3, ones({3})), cos(x3));
    EXPECT_CLOSE(run(compiled, grad(checkpoint(total)))(x3), cos(x3));
  }
}

TEST(FrontendRules, EachUseOfALinearMapTakesItsRule) {
  for (bool compiled : {false, true}) {
    auto both = [](Array x, Array dot) {
      auto [y, map] = linearize([](Array x) { return sin(rules::square(x)); }, x);
      return std::pair(y, map(dot));
    };
    auto [y, dot] = run(compiled, both)(x3, ones({3}));
    EXPECT_CLOSE(y, sin(x3 * x3));
    EXPECT_CLOSE(dot, cos(x3 * x3) * 2 * x3);
    auto inLoop = [](Array x, Array dot) {
      auto f = [](Array x) { return scan([](Array c, Nothing) { return std::pair(rules::square(c), Nothing()); }, x, Nothing(), {.length = 2}).first; };
      return linearize(f, x).second(dot);
    };
    EXPECT_CLOSE(run(compiled, inLoop)(x3, ones({3})), 4 * x3 * x3 * x3);
  }
}

//===----------------------------------------------------------------------===//
// Mapped
//===----------------------------------------------------------------------===//

TEST(FrontendRules, AMappedPrimitiveStaysItselfWithResultsWhereItsAuthorSays) {
  Array x = arange(24, float32).reshape({4, 2, 3});
  std::string text = make_ir(vmap(rules::turn, 0, 2))(x);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, vmap(rules::turn))(x), x.transpose({0, 2, 1}));
    EXPECT_CLOSE(run(compiled, vmap(rules::turn, 0, 2))(x), x.transpose({2, 1, 0}));
    EXPECT_CLOSE(run(compiled, vmap(rules::turn, 1, 0))(x), x.transpose({1, 2, 0}));
    EXPECT_CLOSE(run(compiled, grad([](Array x) { return sum(vmap(rules::turn)(x) * vmap(rules::turn)(x)); }))(x), 2 * x);
    Array nested = arange(48, float32).reshape({2, 4, 2, 3});
    EXPECT_CLOSE(run(compiled, vmap(vmap(rules::turn)))(nested), nested.transpose({0, 1, 3, 2}));
  }
}

TEST(FrontendRules, ResultsMayBeShared) {
  Array x = arange(3, float32), w = array({1.0, 2.0});
  for (bool compiled : {false, true}) {
    auto [y, s] = run(compiled, vmap(rules::mixed, {0, none}, {0, none}))(x, w);
    EXPECT_CLOSE(y, x + 1);
    EXPECT_CLOSE(s, array(3.0f));
  }
  EXPECT_THAT([&] { vmap(rules::mixed, {0, 0}, {0, none})(array({1.0, 2.0}), ones({2, 2})); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                  "the primitive mixed at rules.h")));
}

TEST(FrontendRules, OutAxesMayBeInferred) {
  Array x = arange(6, float32).reshape({2, 3}), c = array({5.0, 7.0});
  auto f = [](Array x, Array c) { return std::tuple(sum(x), c, c * 2 + x[0]); };
  for (bool compiled : {false, true}) {
    auto [s, same, both] = run(compiled, vmap(f, {0, none}, infer))(x, c);
    EXPECT_CLOSE(s, array({3.0, 12.0}));
    EXPECT_CLOSE(same, c);
    EXPECT_EQ(both.shape(), Shape({2, 2}));
    auto throughCells = [](Array x) {
      Ref cell = new_ref(array(1.0f));
      cell.add(sum(x));
      return std::pair(freeze(cell), array(2.0f));
    };
    auto [cell, shared] = run(compiled, vmap(throughCells, 0, infer))(x);
    EXPECT_CLOSE(cell, array({4.0, 13.0}));
    EXPECT_CLOSE(shared, array(2.0f));
  }
  EXPECT_HJX_ERROR(vmap(f, {infer, none})(x, c),
                   "vmap: expected an axis, a mapping spec or hjx::none in in_axes, got infer\n  help: infer is for out_axes");
}

//===----------------------------------------------------------------------===//
// Savings
//===----------------------------------------------------------------------===//

TEST(FrontendRules, UnusedResultsAreDropped) {
  Array x = array({0.25, 0.5});
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, [](Array x) { return rules::sincos(x).second; })(x), cos(x));
    EXPECT_CLOSE(run(compiled, [](Array x) { return rules::twins(x).first; })(x), sin(x));
    EXPECT_CLOSE(run(compiled, [](Array x) { return vmap(rules::sincos)(x).second; })(x), cos(x));
    auto [s, c] = run(compiled, rules::sincos)(x);
    EXPECT_CLOSE(s, sin(x));
    EXPECT_CLOSE(c, cos(x));
  }
}

TEST(FrontendRules, ACheckpointKeepsWhatTheAuthorSays) {
  auto plain = [](Array x) { return sum(sin(x / sqrt(sum(x * x)))); };
  auto f = [](Array x) { return sum(sin(rules::normalize(x))); };
  Array stacked = arange(6, float32).reshape({2, 3}) + 1;
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, checkpoint(f))(x3), plain(x3));
    EXPECT_CLOSE(run(compiled, grad(f))(x3), grad(plain)(x3), 1e-5);
    EXPECT_CLOSE(run(compiled, grad(checkpoint(f)))(x3), grad(plain)(x3), 1e-5);
    EXPECT_CLOSE(run(compiled, vmap(grad(checkpoint(f))))(stacked), vmap(grad(plain))(stacked), 1e-5);
    auto mapped = [&](Array xs) { return sum(sin(vmap(rules::normalize)(xs))); };
    EXPECT_CLOSE(run(compiled, grad(checkpoint(mapped)))(stacked), vmap(grad(plain))(stacked), 1e-5);
  }
}

//===----------------------------------------------------------------------===//
// Refs
//===----------------------------------------------------------------------===//

TEST(FrontendRules, APrimitiveWritesARefThatItTakes) {
  for (bool compiled : {false, true}) {
    Ref total = new_ref(array({1.0, 2.0}));
    auto step = [](Ref total, Array x) { return rules::tally(total, x) * 2; };
    EXPECT_CLOSE(run(compiled, step)(total, array({10.0, 20.0})), array({22.0, 44.0}));
    EXPECT_CLOSE(run(compiled, step)(total, array({1.0, 1.0})), array({24.0, 46.0}));
    EXPECT_CLOSE(total.get(), array({12.0, 23.0}));
    // In a loop, in a branch, and made inside a function that is differentiated or mapped.
    auto inside = [](Array x) {
      Ref cell = new_ref(array(0.0f));
      foreach ([&](Array v) { rules::tally(cell, v * v); }, x);
      return freeze(cell);
    };
    EXPECT_CLOSE(run(compiled, inside)(x3), array(5.25f));
    EXPECT_CLOSE(run(compiled, grad(inside))(x3), 2 * x3);
    EXPECT_CLOSE(run(compiled, vmap(inside))(stack({x3, 2 * x3})), array({5.25, 21.0}));
  }
  Array value = array({1.0, 2.0});
  Ref narrow = new_ref(array(1.0f));
  EXPECT_HJX_ERROR(rules::tally(narrow, value), "tally: expected a total of type f32[2], got f32\n  help: make a ref of the type of x");
}

TEST(FrontendRules, RefsOfHiTypesAreAccessedInPartsWhereTheTypeSaysHow) {
  Array values = arange(15, float32).reshape({5, 3}), weights = arange(5, float32);
  for (bool compiled : {false, true}) {
    Ref cell = new_ref(rules::make_rows(values, weights));
    auto f = [](Ref cell, Array which) {
      rules::Rows one = cell.get_as<rules::Rows>(1), two = cell.get_as<rules::Rows>({Slice(2, 4)}), some = cell.get_as<rules::Rows>({which});
      cell.set(0, one);
      return std::tuple(one, two, some);
    };
    auto [one, two, some] = run(compiled, f)(cell, array({4, 0}));
    auto check = [&](const rules::Rows &rows, const Array &expected, const Array &w) {
      auto [v, ws] = lower<Array, Array>(rows);
      EXPECT_CLOSE(v, expected);
      EXPECT_CLOSE(ws, w);
    };
    check(one, values[{Slice(1, 2)}], array({1.0}));
    check(two, values[{Slice(2, 4)}], array({2.0, 3.0}));
    check(some, values[array({4, 0})], array({4.0, 0.0}));
    check(cell.get_as<rules::Rows>(0), values[{Slice(1, 2)}], array({1.0}));
    check(cell.get_as<rules::Rows>(4), values[{Slice(4, 5)}], array({4.0}));
  }
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

TEST(FrontendRules, TypesAreCutUpBySpecs) {
  Mesh mesh{{{"i", 4}, {"j", 2}}};
  Type x(float32, {8, 6});
  EXPECT_EQ(shard(x, mesh, {"i", "j"}), Type(float32, {2, 3}));
  EXPECT_EQ(shard(x, mesh, AxisSpec{AxisSpec{"i", "j"}, none}), Type(float32, {1, 6}));
  EXPECT_EQ(unshard(Type(float32, {2, 3}), mesh, {"i", "j"}), x);
  EXPECT_EQ(no_spec(x, mesh), (AxisSpec{none, none}));
  EXPECT_EQ(lo_partitions(x, {"i", none}), (std::vector<AxisSpec>{AxisSpec{"i", none}}));
  EXPECT_EQ(tangent_partition(x, {"i", none}), (AxisSpec{"i", none}));
  Type rows = rules::RowsType{8, 3};
  EXPECT_EQ(shard(rows, mesh, "i"), Type(rules::RowsType{2, 3}));
  EXPECT_EQ(unshard(Type(rules::RowsType{2, 3}), mesh, "i"), rows);
  EXPECT_EQ(shard(rows, mesh, no_spec(rows, mesh)), rows);
  EXPECT_EQ(lo_partitions(rows, "i"), (std::vector<AxisSpec>{AxisSpec{"i", none}, AxisSpec(std::vector<AxisSpec>{"i"})}));
  EXPECT_EQ(tangent_partition(rows, "i"), (AxisSpec{"i", none}));

  EXPECT_HJX_ERROR(shard(x, mesh, {"k", none}), "shard: expected an axis of the mesh, got \"k\"\n  help: its axes are: i, j");
  EXPECT_HJX_ERROR(shard(x, mesh, {"i", "i"}), "shard: mesh axis \"i\" cuts two dimensions\n  help: use each axis once");
  EXPECT_HJX_ERROR(shard(x, mesh, {none, "i"}),
                   "shard: dimension 1 of f32[8,6] does not divide into 4 parts\n  help: pad it, or leave it whole");
}

/// Says one thing of itself and another of its components.
struct Liar {
  int64_t rows = 0;
  static constexpr const char *name = "liar";
  HJX_PARAMS(rows)
  std::vector<Type> lo_types() const { return {Type(float32, {rows})}; }
  Type shard(const Mesh &, const AxisSpec &) const { return Liar{rows}; }
  std::vector<AxisSpec> lo_partitions(const AxisSpec &spec) const { return {AxisSpec(std::vector<AxisSpec>{spec})}; }
};
HJX_REGISTER_TYPE(Liar)

TEST(FrontendRules, ComponentsArePartsOfComponents) {
  Mesh mesh{{{"i", 4}}};
  EXPECT_THAT([&] { shard(Type(Liar{8}), mesh, "i"); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                  "cut up by their specs: shard, lo_types and lo_partitions disagree")));
  EXPECT_THAT([&] { unshard(Type(Liar{8}), mesh, "i"); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("sharding requires liar to implement the unshard method")));
}

//===----------------------------------------------------------------------===//
// Rules that return something else
//===----------------------------------------------------------------------===//

/// Each rule returns what its name says, and not what it should.
struct Careless {
  std::string mistake;
  static constexpr const char *name = "careless";
  HJX_PARAMS(mistake)
  static Type infer(const Type &x) { return x; }
  Array expand(const Array &x) const { return mistake == "expand" ? sum(x) : x; }
  std::pair<Array, Array> jvp(const Array &x, const Array &dot) const {
    return {mistake == "result" ? sum(x) : x, mistake == "tangent" ? sum(dot) : dot};
  }
  std::pair<Array, AxisSpec> batch(const Mapped &mapped, const Array &x) const {
    if (mistake == "batch")
      return {sum(x, mapped.specs[0].axis()), 0};
    return {x, mapped.specs[0]};
  }
};
HJX_REGISTER_PRIMITIVE(Careless)

TEST(FrontendRules, WhatRulesReturnIsChecked) {
  auto f = [](const char *mistake) { return [mistake](Array x) { return call_primitive(Careless{mistake}, Where::current(), x); }; };
  auto says = [](const char *text) { return ::testing::ThrowsMessage<Error>(::testing::HasSubstr(text)); };
  EXPECT_THAT([&] { f("expand")(x3); }, says("expand: expected result 0 of type f32[3], got f32"));
  EXPECT_THAT([&] { jvp(f("result"), x3, x3); }, says("jvp: expected result 0 of type f32[3], got f32"));
  EXPECT_THAT([&] { jvp(f("tangent"), x3, x3); }, says("jvp: expected tangent 0 of type f32[3], got f32"));
  EXPECT_THAT([&] { vmap(f("batch"))(ones({2, 3})); }, says("batch: expected result 0 of type f32[2,3], got f32[3]"));
  // The primitive and the line of its call, with and without a place given.
  EXPECT_THAT([&] { jvp(f("tangent"), x3, x3); }, says("the primitive careless at FrontendRulesTest.cpp:"));
  auto bare = [](Array x) { return call_primitive(Careless{"tangent"}, x); };
  EXPECT_THAT([&] { jvp(bare, x3, x3); }, says("the primitive careless at FrontendRulesTest.cpp:"));
}

//===----------------------------------------------------------------------===//
// Rules made of transforms
//===----------------------------------------------------------------------===//

/// sin x, with rules that ask grad, vjp, vmap and refs of their own.
struct Indirect {
  static constexpr const char *name = "indirect";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return vmap([](Array x) { return sin(x); })(x); }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) {
    Ref total = new_ref(zeros_like(dot));
    total.add(dot * grad([](Array x) { return sum(sin(x)); })(x));
    return {call_primitive<Indirect>(x), total.get()};
  }
};
HJX_REGISTER_PRIMITIVE(Indirect)

/// The same in reverse.
struct IndirectBack {
  static constexpr const char *name = "indirect_back";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return checkpoint([](Array x) { return sin(x); })(x); }
  static std::pair<Array, Array> vjp_forward(const Array &x) { return {call_primitive<IndirectBack>(x), x}; }
  static void vjp_backward_into(const Array &x, const Array &bar, Accum<> x_bar) {
    x_bar.add(std::get<0>(hjx::vjp([](Array x) { return sin(x); }, x).second(bar)));
  }
};
HJX_REGISTER_PRIMITIVE(IndirectBack)

TEST(FrontendRules, RulesMayUseTransforms) {
  auto check = [](auto f) {
    auto loss = [=](Array x) { return sum(f(x)); };
    auto plain = [](Array x) { return sum(sin(x)); };
    const Array rows = stack({x3, 2 * x3});
    for (bool compiled : {false, true}) {
      EXPECT_CLOSE(run(compiled, f)(x3), sin(x3));
      EXPECT_CLOSE(run(compiled, grad(loss))(x3), cos(x3));
      EXPECT_CLOSE(run(compiled, vmap(grad(loss)))(rows), cos(rows));
      EXPECT_CLOSE(run(compiled, grad([=](Array x) { return sum(vmap(f)(x)); }))(rows), cos(rows));
      EXPECT_CLOSE(run(compiled, grad([=](Array x) { return sum(grad(loss)(x) * x); }))(x3), grad([=](Array x) { return sum(grad(plain)(x) * x); })(x3));
    }
  };
  check([](Array x) { return call_primitive<Indirect>(x); });
  check([](Array x) { return call_primitive<IndirectBack>(x); });
  auto [value, dot] = jvp([](Array x) { return call_primitive<Indirect>(x); }, x3, x3);
  EXPECT_CLOSE(dot, cos(x3) * x3);
  // Into a cell, which is the caller's.
  Ref bars = new_ref(ones({3}));
  vjp([](Array x) { return call_primitive<IndirectBack>(x); }, x3).second.with_refs(bars)(ones({3}));
  EXPECT_CLOSE(bars.get(), 1 + cos(x3));
}

/// 2 dot or 3 dot, by the sign of x: mapped, the branches are run and picked from.
struct Branching {
  static constexpr const char *name = "branching";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) {
    auto twice = [](Array dot) { return 2 * dot; };
    auto thrice = [](Array dot) { return 3 * dot; };
    return {call_primitive<Branching>(x), cond(sum(x) > 0, twice, thrice, dot)};
  }
};
HJX_REGISTER_PRIMITIVE(Branching)

TEST(FrontendRules, ARuleThatBranchesIsMappedAndTransposed) {
  auto f = [](Array x) { return sum(vmap([](Array x) { return call_primitive<Branching>(x); })(x)); };
  EXPECT_CLOSE(grad(f)(array({{1.0}, {-1.0}})), array({{2.0}, {3.0}}));
}

TEST(FrontendRules, AMapAtAPointIsCapturedByJit) {
  auto [value, push] = linearize([](Array x) { return sin(x); }, x3);
  auto [same, pull] = vjp([](Array x) { return sin(x); }, x3);
  EXPECT_CLOSE(jit([&](Array dot) { return push(dot); })(ones({3})), cos(x3));
  EXPECT_CLOSE(jit([&](Array bar) { return std::get<0>(pull(bar)); })(ones({3})), cos(x3));
  EXPECT_CLOSE(jit(vmap([&](Array dot) { return push(dot); }))(ones({2, 3}))[1], cos(x3));
}

//===----------------------------------------------------------------------===//
// Rules that go wrong
//===----------------------------------------------------------------------===//

struct Wrong {
  std::string mistake;
  static constexpr const char *name = "wrong";
  HJX_PARAMS(mistake)

  std::vector<Type> infer(const std::vector<Type> &types) const {
    if (mistake == "infer")
      throw std::out_of_range("no such key");
    if (mistake == "infer throws a number")
      throw 42;
    if (mistake == "infer says less")
      return {types[0]};
    return {types[0], types[0]};
  }
  std::pair<Array, Array> expand(const Array &x) const {
    if (mistake == "expand throws a number")
      throw 42;
    if (mistake == "expand calls itself")
      return call_primitive(*this, x);
    return {x, x};
  }
  std::pair<std::optional<Array>, std::optional<Array>> dce(const Active &used, const Array &x) const {
    if (mistake == "dce")
      throw Error("expected better days, got none", "wait", {});
    return {used[0] ? std::optional(x) : std::nullopt, used[1] ? std::optional(x) : std::nullopt};
  }
};
HJX_REGISTER_PRIMITIVE(Wrong)

/// Halves that disagree about what is kept.
struct KeepsMore {
  static constexpr const char *name = "keeps_more";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, std::pair<Array, Array>> vjp_forward(const Array &x) { return {x, {x, x}}; }
  static Array vjp_backward(const Array &saved, const Array &bar) { return saved * bar; }
};
HJX_REGISTER_PRIMITIVE(KeepsMore)
struct KeepsLess {
  static constexpr const char *name = "keeps_less";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, Array> vjp_forward(const Array &x) { return {x, x}; }
  static Array vjp_backward(const std::pair<Array, Array> &saved, const Array &bar) { return saved.second * bar; }
};
HJX_REGISTER_PRIMITIVE(KeepsLess)

TEST(FrontendRules, RulesThatGoWrongAreErrorsAtTheCall) {
  auto f = [](const char *mistake) {
    return [mistake](Array x) {
      auto [y, z] = call_primitive(Wrong{mistake}, Where::current(), x);
      return std::string_view(mistake) == "dce" ? y : y + z;
    };
  };
  auto says = [](const char *text) {
    return ::testing::ThrowsMessage<Error>(::testing::AllOf(::testing::HasSubstr("FrontendRulesTest.cpp:"), ::testing::HasSubstr(text)));
  };
  EXPECT_THAT([&] { f("infer")(x3); }, says("wrong: infer: no such key"));
  EXPECT_THAT([&] { f("infer throws a number")(x3); }, says("wrong: infer: expected an hjx::Error, got an exception that is no"));
  EXPECT_THAT([&] { jit(f("infer says less"))(x3); }, says("wrong: infer: expected a type for each result of expand, got f32[3]"));
  EXPECT_THAT([&] { jit(f("expand throws a number"))(x3); }, says("expected an hjx::Error, got an exception that is no"));
  EXPECT_THAT([&] { jit(f("expand calls itself"))(x3); }, says("which never ends"));
  EXPECT_THAT([&] { jit(f("dce"))(x3); }, says("expected better days, got none"));
  EXPECT_THAT([&] { grad([](Array x) { return sum(call_primitive<KeepsMore>(Where::current(), x)); })(x3); }, says("expected 1 value, got 2"));
  EXPECT_THAT([&] { grad([](Array x) { return sum(call_primitive<KeepsLess>(Where::current(), x)); })(x3); },
              says("expected at least 2 values, got 1"));
}

/// A type that has itself as a component.
struct Endless {
  int64_t depth = 0;
  static constexpr const char *name = "endless";
  HJX_PARAMS(depth)
  std::vector<Type> lo_types() const { return {Type(Endless{depth + 1})}; }
};
HJX_REGISTER_TYPE(Endless)

TEST(FrontendRules, ATypeIsMadeOfArraysInTheEnd) {
  EXPECT_THAT([] { empty_ref(Type(Endless{})); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr("has components with components without end")));
}

} // namespace
