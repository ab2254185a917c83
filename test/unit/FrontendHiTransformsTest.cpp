// SPDX-License-Identifier: Apache-2.0
//
// Derivatives and vmap of hi-types from C++, with the numbers of the three worked examples.
#include "test/unit/BareType.h"
#include "test/unit/FrontendTesting.h"

#include "examples/hi_types/q8.h"
#include "examples/hi_types/rank1.h"
#include "examples/hi_types/tup.h"

using namespace hjx;
using hjx::testing::Bare, hjx::testing::BareArray;
using quantized::dequantize, quantized::matmul_q, quantized::QArray, quantized::quantize;
using tuples::get_element, tuples::make_tup, tuples::Tup;

namespace {

struct Unwrap {
  static constexpr const char *name = "unwrap";
  static Type infer(const Type &x) { return Type(float32, x.as<Bare>().shape); }
  static Array expand(const BareArray &x) { return lower(x)[0].as<Array>(); }
};
HJX_REGISTER_PRIMITIVE(Unwrap)

/// y = x^n with rules of every kind, n static.
struct Power {
  int64_t n = 1;
  static constexpr const char *name = "power";
  HJX_PARAMS(n)
  Type infer(const Type &x) const {
    if (n < 1)
      throw Error("expected an exponent of at least 1, got " + std::to_string(n), "use ones for 0", {});
    return x;
  }
  Array expand(const Array &x) const { return power(x, static_cast<int>(n)); }
  static Array apply(int64_t n, const Array &x, Where where = Where::current()) { return call_primitive(Power{n}, where, x); }
  Array slope(const Array &x) const { return n == 1 ? ones_like(x) : static_cast<float>(n) * apply(n - 1, x); }
  std::pair<Array, Array> jvp(const Array &x, const Array &dot) const { return {apply(n, x), slope(x) * dot}; }
  std::pair<Array, Array> vjp_forward(const Array &x) const { return {apply(n, x), x}; }
  Array vjp_backward(const Array &x, const Array &bar) const { return slope(x) * bar; }
};
HJX_REGISTER_PRIMITIVE(Power)

Array exampleX() { return array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}}); }
Array exampleW() { return arange(12, float32).reshape({3, 4}) / 12; }
Array dequantizedX() { return array({{0.992126, 2.007874, 3.0}, {4.015748, -5.007874, 6.0}}); }

// How mapping moves hi values about, it must be able to say of their tangents, too.
TEST(FrontendHiTransforms, DerivativesOfSharedValuesThatAreRepeated) {
  auto f = [](Array x) {
    QArray q = quantize(x);
    auto [rows, ys] = vmap([&](Array y) { return std::pair(q, y); }, 0, {"leading", 0})(ones({2}));
    return sum(square(dequantize(rows)));
  };
  EXPECT_CLOSE(jit(grad(f))(exampleX()), 2 * 2 * dequantizedX(), 1e-5);
}

TEST(FrontendHiTransforms, DerivativesOfTuplesOfWhichOneElementIsMapped) {
  // The tuple's spec is (none, "leading"), that of its tangent (none, 0).
  auto f = [](Array shared, Array x) {
    Tup t = vmap([&](Array row) { return make_tup({shared, quantize(row)}); }, 0, AxisSpec{none, "leading"})(x);
    return sum(square(get_element(t, 0).as<Array>())) + sum(square(dequantize(get_element(t, 1).as<QArray>())));
  };
  auto [sharedBar, xBar] = jit(grad(f, argnums<0, 1>))(array({3.0, 5.0}), exampleX());
  EXPECT_CLOSE(sharedBar, array({6.0, 10.0}));
  EXPECT_CLOSE(xBar, 2 * dequantizedX(), 1e-5);
}

TEST(FrontendHiTransforms, DerivativesOfTuplesOfWhichOneElementIsRepeated) {
  // Mapped at both elements, of which one is shared inside: its cotangent is summed.
  auto f = [](Array shared, Array x) {
    Tup t = vmap([&](Array row) { return make_tup({row, shared}); }, 0, AxisSpec{0, 0})(x);
    Array weights = array({1.0, 2.0});
    return sum(sin(get_element(t, 0).as<Array>())) + sum(square(get_element(t, 1).as<Array>()) * expand_dims(weights, 1));
  };
  Array shared = array({3.0, 5.0}), x = exampleX();
  auto [sharedBar, xBar] = jit(grad(f, argnums<0, 1>))(shared, x);
  EXPECT_CLOSE(sharedBar, 6 * shared); // 2 (1 + 2)
  EXPECT_CLOSE(xBar, cos(x));
  auto [sharedBars, xBars] = jit(vmap(grad(f, argnums<0, 1>)))(stack({shared, 2 * shared}), stack({x, x}));
  EXPECT_CLOSE(sharedBars, stack({6 * shared, 12 * shared}));
  EXPECT_CLOSE(xBars, stack({cos(x), cos(x)}));
  EXPECT_CLOSE(grad([&](Array s) { return sum(grad(f)(s, x)); })(shared), full({2}, 6.0)); // And the repetition of sums.
}

TEST(FrontendHiTransforms, DerivativesOfMappedLoopsAndBranchesOverValues) {
  auto both = [](auto wrap, auto unwrap) {
    return [=](Array xs, Array w) {
      auto element = [=](Array x, Array p) {
        auto step = [=](auto c, Array y) { return std::pair(wrap(sin(unwrap(c)) * y), wrap(unwrap(c) * w)); };
        auto [last, ys] = scan(step, wrap(x[0]), x);
        auto chosen = cond(p, [=](auto c) { return wrap(cos(unwrap(c))); }, [](auto c) { return c; }, last);
        return std::pair(chosen, ys);
      };
      return std::pair(element, xs);
    };
  };
  auto one = [](Array x) { return make_tup({x}); };
  auto first = [](Tup t) { return get_element(t, 0).as<Array>(); };
  auto same = [](Array x) { return x; };
  Array xs = array({{0.3, -0.7, 1.1}, {0.9, 0.2, -0.4}}), w = array(0.8f), p = array({true, false});
  auto tuples = [=](Array xs, Array w) {
    auto [chosen, ys] = vmap(both(one, first)(xs, w).first, 0, {AxisSpec{0}, AxisSpec{0}})(xs, p);
    return sum(first(chosen)) + sum(square(first(ys)));
  };
  auto arrays = [=](Array xs, Array w) {
    auto [chosen, ys] = vmap(both(same, same)(xs, w).first)(xs, p);
    return sum(chosen) + sum(square(ys));
  };
  auto [xsBar, wBar] = grad(tuples, argnums<0, 1>)(xs, w);
  auto [xsExpected, wExpected] = grad(arrays, argnums<0, 1>)(xs, w);
  EXPECT_CLOSE(xsBar, xsExpected, 1e-5);
  EXPECT_CLOSE(wBar, wExpected, 1e-5);
  EXPECT_CLOSE(jvp(tuples, std::tuple(xs, w), std::tuple(ones_like(xs), w)).second,
               jvp(arrays, std::tuple(xs, w), std::tuple(ones_like(xs), w)).second, 1e-5);
}

TEST(FrontendHiTransforms, GradientsAreOfTheTangentType) {
  Array ones = grad([](Array x) { return sum(dequantize(quantize(x))); })(exampleX());
  EXPECT_CLOSE(ones, hjx::ones({2, 3}));
  QArray q = quantize(exampleX());
  Array bar = grad([](QArray q) { return sum(square(dequantize(q))); })(q);
  EXPECT_CLOSE(bar, 2 * dequantizedX(), 1e-5);
  auto [xBar, wBar] = grad([](Array x, QArray w) { return sum(square(matmul_q(x, w))); }, argnums<0, 1>)(exampleX(), quantize(exampleW()));
  EXPECT_CLOSE(xBar, array({{3.832006, 12.960833, 22.009264}, {3.298428, 11.173088, 18.978281}}), 1e-5);
  EXPECT_EQ(wBar.shape(), Shape({3, 4}));
}

TEST(FrontendHiTransforms, VmapTakesSpecs) {
  Array x = arange(24, float32).reshape({4, 2, 3});
  QArray q = vmap([](Array x) { return quantize(x); }, 0, "leading")(x);
  EXPECT_EQ(lower(q)[1].as<Array>().shape(), Shape({4, 2}));
  Array back = vmap([](QArray q) { return dequantize(q); }, {"leading"}, 0, AxisSize{4})(q);
  EXPECT_CLOSE(back, dequantize(q));
  EXPECT_HJX_ERROR(vmap([](QArray q) { return dequantize(q); })(q),
                   "vmap: expected hjx::none or a mapping spec in in_axes, got the axis 0 for the non-array type q8[4,2,3]\n"
                   "  help: give the spec that the author of the type defines, such as a string; hjx::AxisSpec(0) if it is a number");
  EXPECT_HJX_ERROR(vmap([](QArray q) { return dequantize(q); }, {"leading"})(q),
                   "vmap: expected axis_size, since none of the mapped arguments is an array\n  help: pass it after out_axes: vmap(f, in_axes, out_axes, hjx::AxisSize{n})");
}

TEST(FrontendHiTransforms, TuplesAreMappedByElement) {
  auto swap = [](Tup t) { return make_tup({get_element(t, 1), get_element(t, 0)}); };
  Tup t = make_tup({arange(3, float32), array(5.0f)});
  Tup swapped = vmap(swap, AxisTree({{0, none}}), {none, 0}, AxisSize{3})(t);
  EXPECT_EQ(to_string(swapped.type()), "tup{f32,f32[3]}");
  EXPECT_CLOSE(get_element(swapped, 1).as<Array>(), arange(3, float32));
}

TEST(FrontendHiTransforms, TuplesAreTheirOwnTangents) {
  Tup t = make_tup({array({1.0, 2.0}), array(3.0f)});
  auto f = [](Tup t) { return sum(get_element(t, 0).as<Array>() * get_element(t, 1).as<Array>()); };
  Tup bar = grad(f)(t);
  EXPECT_CLOSE(get_element(bar, 0).as<Array>(), array({3.0, 3.0}));
  EXPECT_CLOSE(get_element(bar, 1).as<Array>(), array(3.0f));
  auto [y, dot] = jvp(f, std::tuple(t), std::tuple(make_tup({array({1.0, 0.0}), array(1.0f)})));
  EXPECT_CLOSE(dot, array(6.0f));
}

TEST(FrontendHiTransforms, RankOneMatricesHaveDenseGradients) {
  Array column = arange(6, float32) + 1, row = arange(5, float32) - 2, x = arange(18, float32).reshape({3, 6}) / 10;
  rank1::Rank1 matrix = rank1::outer(column, row);
  Array dense = matmul(expand_dims(column, 1), expand_dims(row, 0));
  Array bar = grad([&](rank1::Rank1 m) { return sum(square(rank1::matmul_r1(x, m))); })(matrix);
  EXPECT_CLOSE(bar, matmul(x.T(), 2 * matmul(x, dense)), 1e-4);
  auto [columnBar, rowBar] = grad([&](Array c, Array r) { return sum(square(rank1::matmul_r1(x, rank1::outer(c, r)))); },
                                  argnums<0, 1>)(column, row);
  EXPECT_CLOSE(columnBar, matmul(bar, row), 1e-4);
  EXPECT_CLOSE(rowBar, matmul(column, bar), 1e-4);
}

TEST(FrontendHiTransforms, PrimitivesOnArraysHaveStaticParameters) {
  auto cube = [](Array x) { return Power::apply(3, x); };
  EXPECT_CLOSE(cube(array(2.0f)), array(8.0f));
  EXPECT_CLOSE(jit(cube)(array(2.0f)), array(8.0f));
  EXPECT_CLOSE(grad(cube)(array(2.0f)), array(12.0f));
  EXPECT_CLOSE(grad(grad(cube))(array(2.0f)), array(12.0f));
  auto [y, dot] = jvp(cube, array(2.0f), array(1.0f));
  EXPECT_CLOSE(y, array(8.0f));
  EXPECT_CLOSE(dot, array(12.0f));
  // Without a batching rule it is mapped as it is, derivatives included.
  EXPECT_CLOSE(vmap(cube)(arange(3, float32)), array({0.0, 1.0, 8.0}));
  EXPECT_CLOSE(vmap(grad(cube))(arange(3, float32)), array({0.0, 3.0, 12.0}));
  EXPECT_CLOSE(grad([&](Array x) { return sum(vmap(cube)(x)); })(arange(3, float32)), array({0.0, 3.0, 12.0}));
  EXPECT_CLOSE(grad(checkpoint(cube))(array(2.0f)), array(12.0f));
  EXPECT_HJX_ERROR(Power::apply(0, array(2.0f)), "power: expected an exponent of at least 1, got 0\n  help: use ones for 0");
}

TEST(FrontendHiTransforms, MissingMethodsAreNamedByWhatNeedsThem) {
  BareArray x = raise<BareArray>(Bare{{2, 3}}, {exampleX()});
  auto unwrap = [](BareArray x) { return call_primitive<Unwrap>(x); };
  EXPECT_CLOSE(jit(unwrap)(x), exampleX());
  EXPECT_HJX_ERROR(vmap(unwrap, {"leading"}, 0, AxisSize{2})(x),
                   "vmap: mapping (vmap, scan) requires bare to implement the dec_rank method\n"
                   "  help: write it in the class of the type");
  EXPECT_HJX_ERROR(scan([&](Array c, BareArray x) { return std::pair(c, unwrap(x)); }, array(0.0f), x, {.length = 2}),
                   "scan: mapping at the leading axis (scan, vmap) requires bare to implement the leading_axis_spec method\n  help: write it in the class of the type");
  EXPECT_HJX_ERROR(grad([&](BareArray x) { return sum(unwrap(x)); })(x),
                   "grad: differentiation requires bare to implement the tangent_type method, for argument 0\n"
                   "  help: write it in the class of the type, or choose other arguments with hjx::argnums");
}

} // namespace
