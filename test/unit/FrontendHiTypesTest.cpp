// SPDX-License-Identifier: Apache-2.0
//
// Hi-types and primitives from C++: the three worked examples (examples/hi_types) in eager calls,
// jit and control flow, and what is said when something is wrong.
#include "test/unit/FrontendTesting.h"

#include "examples/hi_types/q8.h"
#include "examples/hi_types/rank1.h"
#include "examples/hi_types/tup.h"

using namespace hjx;
using quantized::dequantize, quantized::matmul_q, quantized::Q8, quantized::QArray, quantized::quantize;
using tuples::get_element, tuples::make_tup, tuples::Tup, tuples::TupType;

namespace {

Array exampleX() { return array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}}); }
Array exampleW() { return arange(12, float32).reshape({3, 4}) / 12; }
Array dequantizedX() { return array({{0.992126, 2.007874, 3.0}, {4.015748, -5.007874, 6.0}}); }

TEST(FrontendHiTypes, ValuesAreMadeAndTakenApartEagerly) {
  QArray q = quantize(exampleX());
  EXPECT_EQ(to_string(q.type()), "q8[2,3]");
  EXPECT_EQ(q.hi_type().shape, Shape({2, 3}));
  auto [values, scales] = lower<Array, Array>(q);
  EXPECT_CLOSE(values, array({{42, 85, 127}, {85, -106, 127}}, int8));
  EXPECT_CLOSE(scales, array({0.023622, 0.047244}), 1e-5);
  EXPECT_CLOSE(dequantize(q), dequantizedX(), 1e-5);
}

TEST(FrontendHiTypes, MatmulNeverMakesTheMatrixDense) {
  QArray w = quantize(exampleW());
  EXPECT_CLOSE(matmul_q(exampleX(), w),
               array({{2.66273, 3.170604, 3.658793, 4.166667}, {2.307743, 2.744751, 3.146326, 3.583333}}), 1e-5);
}

TEST(FrontendHiTypes, TracedProgramsHaveOneValueAndOneOperation) {
  std::string ir = make_ir([](Array x) { return dequantize(quantize(x)); })(exampleX());
  EXPECT_THAT(ir, ::testing::HasSubstr("hjx.call_primitive \"quantize\"(%arg0) : (tensor<2x3xf32>) -> !hjx.q8<2x3>"));
  EXPECT_THAT(ir, ::testing::HasSubstr("hjx.call_primitive \"dequantize\"(%0) : (!hjx.q8<2x3>) -> tensor<2x3xf32>"));
}

TEST(FrontendHiTypes, JitTakesAndGivesHiValues) {
  auto twice = jit([](QArray q, Array x) { return std::pair(quantize(dequantize(q) * 2), matmul_q(x, q)); });
  QArray w = quantize(exampleW());
  auto [doubled, product] = twice(w, exampleX());
  EXPECT_EQ(to_string(doubled.type()), "q8[3,4]");
  EXPECT_CLOSE(dequantize(doubled), dequantize(w) * 2, 1e-5);
  EXPECT_CLOSE(product, matmul_q(exampleX(), w), 1e-5);
  (void)twice(w, exampleX());
  EXPECT_EQ(twice.stats().compilations.size(), 1u);
  (void)twice(quantize(exampleW().T()), array({{1.0, 1.0, 1.0, 1.0}}));
  EXPECT_EQ(twice.stats().compilations.size(), 2u);
  EXPECT_THAT(twice.stats().compilations[1].reason, ::testing::HasSubstr("args[0] is q8[4,3], was q8[3,4]"));
}

TEST(FrontendHiTypes, IdentityUnderJitKeepsTheValue) {
  QArray q = quantize(exampleX()), same = jit([](QArray q) { return q; })(q);
  EXPECT_CLOSE(dequantize(same), dequantizedX(), 1e-5);
}

TEST(FrontendHiTypes, CapturedValuesAreConstants) {
  QArray w = quantize(exampleW());
  EXPECT_HJX_ERROR(jit([&](Array x) { return matmul_q(x, w); })(exampleX()),
                   "matmul_q: the concrete q8[3,4] is not an argument of the function that jit compiles; its value of now would be compiled "
                   "in and later changes would go unseen\n  help: pass it as an argument, or freeze it: hjx::constant(x)");
  QArray frozen = constant(w);
  EXPECT_CLOSE(jit([&](Array x) { return matmul_q(x, frozen); })(exampleX()), matmul_q(exampleX(), w));
  auto [last, ys] = scan([&](Array x, Nothing) { return std::pair(x, matmul_q(x, w)); }, exampleX(), Nothing(), {.length = 2});
  EXPECT_CLOSE(ys[1], matmul_q(exampleX(), w));
}

TEST(FrontendHiTypes, DonatedValuesAreConsumed) {
  auto negate = jit([](QArray q) { return quantize(-dequantize(q)); }, {.donate = {0}});
  QArray q = quantize(exampleX()), negated = negate(q);
  EXPECT_CLOSE(dequantize(negated), -dequantizedX(), 1e-5);
  EXPECT_THROW(dequantize(q), Error);
}

TEST(FrontendHiTypes, ArrayFunctionsRefuseHiValues) {
  QArray q = quantize(exampleX());
  Array leaf = tree_leaves(q)[0];
  EXPECT_HJX_ERROR(leaf + 1, "add: expected an array, got a value of the hi-type q8[2,3]\n"
                             "  help: call one of the type's primitives that gives an array");
  EXPECT_HJX_ERROR(leaf.shape(), "shape: expected an array, got a value of the hi-type q8[2,3]\n"
                                 "  help: call one of the type's primitives that gives an array");
}

TEST(FrontendHiTypes, InferSaysWhatIsWrong) {
  EXPECT_HJX_ERROR(quantize(arange(3)), "quantize: expected a float32 array, got i32[3]\n  help: convert it: x.astype(hjx::float32)");
  QArray w = quantize(exampleW());
  EXPECT_HJX_ERROR(matmul_q(exampleX().T(), w),
                   "matmul_q: expected f32[m,k] and q8[k,n], got f32[3,2] and q8[3,4]\n  help: transpose or quantise an operand");
  EXPECT_HJX_ERROR(raise<QArray>(Q8{{2, 3}}, {exampleX(), exampleX()}),
                   "raise: expected i8[2,3] as component 0 of q8[2,3], got f32[2,3]\n"
                   "  help: the class of the type says its components in lo_types");
}

TEST(FrontendHiTypes, ControlFlowCarriesHiValues) {
  auto f = [](Array x) {
    QArray start = quantize(x);
    auto [last, ys] = scan([](QArray q, Nothing) { return std::pair(quantize(dequantize(q) * 2), sum(dequantize(q))); }, start, Nothing(),
                           {.length = 3});
    QArray chosen = cond(sum(x) > 0, [](QArray q) { return q; }, [](QArray q) { return quantize(-dequantize(q)); }, last);
    QArray looped = while_loop([](QArray q) { return sum(dequantize(q)) < 200; },
                               [](QArray q) { return quantize(dequantize(q) * 2); }, chosen);
    return std::pair(dequantize(looped), ys);
  };
  auto [y, sums] = f(exampleX());
  EXPECT_CLOSE(y, dequantizedX() * 32, 1e-4);
  EXPECT_CLOSE(sums, array({11.007874, 22.015748, 44.031496}), 1e-4);
  auto [jitted, jittedSums] = jit(f)(exampleX());
  EXPECT_CLOSE(jitted, y);
}

TEST(FrontendHiTypes, ScanSlicesAndStacksThem) {
  Array x = arange(24, float32).reshape({4, 2, 3});
  QArray stacked = quantize(x);
  auto body = [](Array total, QArray q) { return std::pair(total + sum(dequantize(q)), quantize(dequantize(q) + 1)); };
  auto [total, ys] = scan(body, array(0.0f), stacked, {.length = 4});
  EXPECT_CLOSE(total, array(275.9685f), 1e-4);
  EXPECT_EQ(to_string(ys.type()), "q8[4,2,3]");
  EXPECT_HJX_ERROR(scan(body, array(0.0f), stacked),
                   "scan: must provide `length`: none of the xs is an array, whose leading axis would say it, xs is q8[4,2,3]\n"
                   "  help: pass it after the xs: scan(f, init, xs, {.length = n})");
}

TEST(FrontendHiTypes, ZeroScalesQuantizeToZero) {
  auto body = [](QArray q, Array x) {
    QArray next = quantize(dequantize(q) + x);
    return std::pair(next, next);
  };
  // The start is 0 / 0 as int8, with the scale 0.
  auto [last, ys] = scan(body, quantize(zeros({2, 3})), arange(24, float32).reshape({4, 2, 3}));
  EXPECT_EQ(to_string(last.type()), "q8[2,3]");
  EXPECT_EQ(to_string(ys.type()), "q8[4,2,3]");
  auto [values, scales] = lower<Array, Array>(last);
  EXPECT_CLOSE(values, array({{104, 115, 127}, {109, 118, 127}}, int8));
  EXPECT_CLOSE(scales, array({0.346457, 0.440945}), 1e-5);
}

TEST(FrontendHiTypes, TuplesDelegateToTheirElements) {
  auto f = [](Array x, Array y) {
    Tup inner = make_tup({x, y}), outer = make_tup({inner, quantize(x)});
    return std::pair(get_element(get_element(outer, 0).as<Tup>(), 1).as<Array>(), outer);
  };
  Array x = arange(3, float32), y = array(5.0f);
  auto [element, outer] = f(x, y);
  EXPECT_CLOSE(element, array(5.0f));
  EXPECT_EQ(to_string(outer.type()), "tup{tup{f32[3],f32},q8[3]}");
  auto [jitted, jittedOuter] = jit(f)(x, y);
  EXPECT_CLOSE(jitted, array(5.0f));
  EXPECT_EQ(jittedOuter.type(), outer.type());
  EXPECT_CLOSE(dequantize(get_element(jittedOuter, 1).as<QArray>()), x, 1e-2);
}

TEST(FrontendHiTypes, RankOneMatricesAreNeverDense) {
  Array column = arange(6, float32) + 1, row = arange(5, float32) - 2, x = arange(18, float32).reshape({3, 6}) / 10;
  rank1::Rank1 matrix = rank1::outer(column, row);
  EXPECT_EQ(to_string(matrix.type()), "r1[6,5]");
  EXPECT_CLOSE(rank1::matmul_r1(x, matrix), matmul(x, matmul(expand_dims(column, 1), expand_dims(row, 0))), 1e-5);
  auto [c, r] = jit([](rank1::Rank1 m) { return rank1::factors(m); })(matrix);
  EXPECT_CLOSE(c, column);
  EXPECT_CLOSE(r, row);
}

namespace first {
struct Twin {
  static constexpr const char *name = "twin";
  void hjxVisitParams(auto &&) {}
  std::vector<Type> lo_types() const { return {Type(float32, {})}; }
};
struct Double {
  static constexpr const char *name = "double";
  static Type infer(Type x) { return x; }
  static Array expand(Array x) { return 2 * x; }
};
} // namespace first
namespace second {
struct Twin : first::Twin {};
struct Double {
  static constexpr const char *name = "double";
  static Type infer(Type x) { return x; }
  static Array expand(Array x) { return x + x; }
};
} // namespace second

TEST(FrontendHiTypes, TwoClassesOfOneNameAreRefusedWhereTheyAreUsed) {
  using namespace hjx::detail;
  for (int time = 0; time < 2; ++time) // A program and its plugin may include one header.
    EXPECT_TRUE(registerTypeClass<first::Twin>() && registerPrimitiveClass<first::Double>());
  (void)hjx::raise<HiValue<first::Twin>>(first::Twin(), {array(1.0f)});
  EXPECT_CLOSE(call_primitive<first::Double>(array(1.5)), array(3.0));
  EXPECT_FALSE(registerTypeClass<second::Twin>());
  EXPECT_FALSE(registerPrimitiveClass<second::Double>());
  EXPECT_HJX_ERROR(hjx::raise<HiValue<first::Twin>>(first::Twin(), {array(1.0f)}),
                   "twin: expected one class of the hi-type, got two: (anonymous namespace)::first::Twin and (anonymous "
                   "namespace)::second::Twin\n  help: give one of them another `name`");
  EXPECT_HJX_ERROR(call_primitive<second::Double>(Where::current(), array(1.5)),
                   "double: expected one class of the primitive, got two: (anonymous namespace)::first::Double and (anonymous "
                   "namespace)::second::Double\n  help: give one of them another `name`");
}

} // namespace
