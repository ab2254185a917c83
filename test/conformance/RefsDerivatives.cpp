// SPDX-License-Identifier: Apache-2.0
//
// Derivatives through refs, and gradients that are added to refs.
#include "test/conformance/RefsTesting.h"

using namespace hjx;
using hjx::testing::countOf;
using hjx::testing::eagerAndJit;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// (f(x + e) - f(x - e)) / 2e along a direction.
template <typename F>
double slopeOf(const F &f, const Array &x, const Array &direction) {
  const double e = 1e-5;
  return (f(x + e * direction).template item<double>() - f(x - e * direction).template item<double>()) / (2 * e);
}

/// First and second derivatives of f at x against differences.
template <typename F>
void checkGradients(const F &f, const Array &x) {
  Array direction = linspace(0.5, -1.0, x.size(), float64).reshape(x.shape());
  auto along = [&](const Array &g) { return sum(g * direction).template item<double>(); };
  EXPECT_NEAR(along(grad(f)(x)), slopeOf(f, x, direction), 1e-6);
  auto g = [f](Array x) { return sum(grad(f)(x) * linspace(1.0, 2.0, x.size(), float64).reshape(x.shape())); };
  EXPECT_NEAR(along(grad(g)(x)), slopeOf(g, x, direction), 1e-6);
}

} // namespace

//===----------------------------------------------------------------------===//
// Through refs
//===----------------------------------------------------------------------===//

TEST(RefsGrad, JitMayStandAnywhere) {
  auto update = [](Ref r) { r.set(sin(r.get())); };
  auto whole = [](auto update) {
    return [=](Array x) {
      Ref r = new_ref(x);
      update(r);
      r.set(r.get() * 2);
      return freeze(r);
    };
  };
  Array x = array(2.0, float64), expected = 2 * cos(x);
  eagerAndJit(grad(whole(update)), [&](const auto &g) { EXPECT_CLOSE(g(x), expected, 1e-12); });
  eagerAndJit(grad(whole(jit(update))), [&](const auto &g) { EXPECT_CLOSE(g(x), expected, 1e-12); });
  eagerAndJit(grad(jit(whole(update))), [&](const auto &g) { EXPECT_CLOSE(g(x), expected, 1e-12); });
  eagerAndJit(grad(jit(whole(jit(update)))), [&](const auto &g) { EXPECT_CLOSE(g(x), expected, 1e-12); });
}

TEST(RefsGrad, LoopsOverRefs) {
  auto doubled = [](Array xs) { // Each slice: x, then 2x, and half of it.
    return sum(foreach([](Array x) {
      Ref r = new_ref(x);
      r.add(r.get());
      return freeze(r) / 2;
    }, xs));
  };
  auto copied = [](Array xs) {
    Ref from = new_ref(xs), to = new_ref(zeros_like(xs));
    foreach([](Ref a, Ref b) { b.set(a.get()); }, from, to);
    return sum(freeze(to));
  };
  auto counted = [](Array xs) {
    Ref total = new_ref(array(0.0f));
    foreach([&](Array i) { total.add(xs[i]); }, arange(3));
    return freeze(total);
  };
  eagerAndJit(grad(doubled), [](const auto &g) { EXPECT_CLOSE(g(arange(3, float32)), ones({3})); });
  eagerAndJit(grad(copied), [](const auto &g) { EXPECT_CLOSE(g(arange(3, float32)), ones({3})); });
  eagerAndJit(grad(counted), [](const auto &g) { EXPECT_CLOSE(g(arange(3, float32)), ones({3})); });
}

TEST(RefsGrad, ReadOnlyRefsAmongConstants) {
  // Refs from outside and values as constants of a call and of a loop, in mixed order.
  Array x = linspace(0.2, 0.8, 3, float64);
  Ref scale = new_ref(array(0.5, float64)), table = new_ref(array({1.0, -2.0, 0.7}, float64));
  auto call = [=](Array x) {
    auto f = jit([](Ref scale, Array x, Ref table, Array y) { return sum(sin(x * scale.get()) * table.get() * y * y); });
    return f(scale, x, table, cos(x));
  };
  auto loop = [=](Array x) {
    return scan([=](Array c, std::pair<Array, Array> s) {
      Array next = sin(c * scale.get() + s.second * table.get(s.first));
      return std::pair(next, Nothing());
    }, x[0], std::pair(arange(3), x)).first;
  };
  checkGradients(call, x);
  checkGradients(jit(call), x);
  checkGradients(loop, x);
  checkGradients(jit(loop), x);
  EXPECT_CLOSE(scale.get(), array(0.5, float64));
  EXPECT_CLOSE(table.get(), array({1.0, -2.0, 0.7}, float64));
}

TEST(RefsGrad, CountersStayInNestedLoops) {
  Ref count = new_ref(array(0));
  auto f = [=](Array x) {
    auto inner = [=](Array c, Nothing) {
      count.add(1);
      return std::pair(sin(c), Nothing());
    };
    return scan([=](Array c, Nothing) { return scan(inner, c, Nothing(), {.length = 4}); }, x, Nothing(), {.length = 3}).first;
  };
  eagerAndJit(grad(f), [=](const auto &g) {
    count.set(0);
    g(array(1.0f));
    EXPECT_CLOSE(count.get(), array(12));
  });
}

TEST(RefsGrad, ReadsWhoseResultDoesNotMatter) {
  auto unused = [](Array x) {
    Ref r = new_ref(x);
    Array y = sin(r.get());
    (void)y;
    return x * 3;
  };
  auto detached = [](Array x) {
    Ref r = new_ref(x);
    return stop_gradient(r.get(0)) * 2;
  };
  eagerAndJit(grad(unused), [](const auto &g) { EXPECT_CLOSE(g(array(1.0f)), array(3.0f)); });
  eagerAndJit(grad(detached), [](const auto &g) { EXPECT_CLOSE(g(ones({2})), zeros({2})); });
}

TEST(RefsGrad, PartsOfRefs) {
  auto f = [](Array x) {
    Ref r = new_ref(x);
    return sum(r.get({Slice(0, 2), 1}) * array({1.0, 10.0})) + r.get({-1, 0});
  };
  eagerAndJit(grad(f), [](const auto &g) {
    EXPECT_CLOSE(g(ones({3, 2})), array({{0.0, 1.0}, {0.0, 10.0}, {1.0, 0.0}}));
  });
}

TEST(RefsGrad, ConstantsThatOverwriteCutTheDerivative) {
  auto whole = [](Array x) {
    Ref r = new_ref(x);
    r.set(array(5.0f));
    return freeze(r) + 0 * x;
  };
  auto first = [](Array x) {
    Ref r = new_ref(x);
    r.set(0, 9);
    return sum(freeze(r));
  };
  auto product = [](Array x) { // 2 x: the second factor is the constant 2.
    Ref r = new_ref(stack({x, x}));
    r.set(1, 2);
    return prod(freeze(r));
  };
  auto traced = [](Array x, Array i) {
    Ref r = new_ref(x);
    r[i] = array(0.0f);
    return sum(r.get() * x);
  };
  eagerAndJit(grad(whole), [](const auto &g) { EXPECT_CLOSE(g(array(1.0f)), array(0.0f)); });
  eagerAndJit(grad(first), [](const auto &g) { EXPECT_CLOSE(g(ones({3})), array({0.0, 1.0, 1.0})); });
  eagerAndJit(grad(product), [](const auto &g) { EXPECT_CLOSE(g(array(3.0f)), array(2.0f)); });
  eagerAndJit(grad(traced), [](const auto &g) { EXPECT_CLOSE(g(ones({3}), array(1)), array({2.0, 0.0, 2.0})); });
}

TEST(RefsJvp, ReadsSwapsAndAdditionsActOnBothCells) {
  auto f = [](Ref r, Array v) {
    Array old = r.swap(0, v);
    r[1] += old * v;
    return old * r.get(1);
  };
  auto check = [&](const auto &f) {
    Ref r = new_ref(array({2.0, 3.0})), dot = new_ref(array({1.0, 10.0}));
    auto [y, yDot] = jvp(f, std::tuple(r, array(5.0f)), std::tuple(dot, array(0.1f)));
    EXPECT_CLOSE(r.get(), array({5.0, 13.0}));        // 3 + 2 * 5
    EXPECT_CLOSE(dot.get(), array({0.1, 15.2}));      // 10 + 1 * 5 + 2 * 0.1
    EXPECT_CLOSE(y, array(26.0f));                    // 2 * 13
    EXPECT_CLOSE(yDot, array(43.4f));                 // 1 * 13 + 2 * 15.2
  };
  eagerAndJit(f, check);
}

//===----------------------------------------------------------------------===//
// Into refs
//===----------------------------------------------------------------------===//

TEST(RefsVjp, TheGradientOfARefArgument) {
  auto f = [](Ref x, Ref bar) { vjp([](Ref x) { return square(x.get()); }, x).second.with_refs(bar)(array(1.0f)); };
  eagerAndJit(f, [](const auto &f) {
    Ref x = new_ref(array(2.0f)), bar = new_ref(array(0.0f));
    f(x, bar);
    EXPECT_CLOSE(bar.get(), array(4.0f));
    bar.set(100);
    f(x, bar);
    EXPECT_CLOSE(bar.get(), array(104.0f));
  });
}

namespace {
/// Where the gradient of one argument goes, chosen at run time: calls next(entry).
template <typename Next>
void withKind(int kind, const Ref &bar, const Next &next) {
  switch (kind) {
  case 0:
    return next(grad_value);
  case 1:
    return next(bar);
  default:
    return next(dont_want);
  }
}
} // namespace

TEST(RefsVjp, ValuesRefsAndUnwantedGradientsOfALoopInAllCombinations) {
  for (bool reverse : {false, true})
    for (int kinds = 0; kinds < 27; ++kinds) {
      SCOPED_TRACE(::testing::Message() << (reverse ? "reverse " : "") << kinds);
      auto f = [=](Array w, Array init, Array xs) {
        auto [last, ys] = scan([=](Array c, Array x) {
          Array next = sin(c * w) + x;
          return std::pair(next, next * w);
        }, init, xs, {.reverse = reverse});
        return last + sum(ys);
      };
      const int kind[3] = {kinds % 3, kinds / 3 % 3, kinds / 9};
      // The values of those that are returned: the others' are zeros.
      auto pull = [=](Array w, Array init, Array xs, Ref wBar, Ref initBar, Ref xsBar) {
        std::tuple<Array, Array, Array> result;
        auto pullBack = vjp(f, w, init, xs).second;
        withKind(kind[0], wBar, [&](auto a) {
          withKind(kind[1], initBar, [&](auto b) {
            withKind(kind[2], xsBar, [&](auto c) { result = pullBack.with_refs(a, b, c)(array(1.0, float64)); });
          });
        });
        auto or0 = [](const Array &a, const Array &like) { return a.has_value() ? a : zeros_like(like); };
        return std::tuple(or0(std::get<0>(result), w), or0(std::get<1>(result), init), or0(std::get<2>(result), xs));
      };
      Array w = array(0.7, float64), init = array(-0.4, float64), xs = linspace(0.1, 0.5, 3, float64);
      auto expected = vjp(f, w, init, xs).second(array(1.0, float64));
      eagerAndJit(pull, [&](const auto &pull) {
        Ref wBar = new_ref(array(0.0, float64)), initBar = new_ref(array(0.0, float64)), xsBar = new_ref(zeros_like(xs));
        auto got = pull(w, init, xs, wBar, initBar, xsBar);
        auto check = [&](int kind, Array value, Ref ref, Array expected) {
          EXPECT_CLOSE(value, kind == 0 ? expected : zeros_like(expected), 1e-12);
          EXPECT_CLOSE(ref.get(), kind == 1 ? expected : zeros_like(expected), 1e-12);
        };
        check(kind[0], std::get<0>(got), wBar, std::get<0>(expected));
        check(kind[1], std::get<1>(got), initBar, std::get<1>(expected));
        check(kind[2], std::get<2>(got), xsBar, std::get<2>(expected));
      });
    }
}

TEST(RefsVjp, ReadPartsAreAddedToInPlace) {
  auto f = [](Ref bar, Array x, Array i) {
    vjp([&](Array x) { return x[i] + x[5] + sum(x[{Slice(1, 8, 3)}]) * 10; }, x).second.with_refs(bar)(array(1.0f));
  };
  std::string ir = make_expanded_ir(f)(new_ref(zeros({8})), zeros({8}), array(3));
  EXPECT_EQ(countOf(ir, "hjx.ref_add"), 3u) << ir;
  EXPECT_THAT(ir, HasSubstr("hjx.ref_add %arg0[1:8:3]"));
  EXPECT_THAT(ir, Not(HasSubstr("dense<0.000000e+00> : tensor<8xf32>")));
  eagerAndJit(f, [](const auto &f) {
    Ref bar = new_ref(zeros({8}));
    f(bar, zeros({8}), array(3));
    EXPECT_CLOSE(bar.get(), array({0.0, 10.0, 0.0, 1.0, 10.0, 1.0, 0.0, 10.0}));
  });
}

TEST(RefsVjp, GatheredElementsOfSeveralAxesAddWithoutAScatter) {
  auto f = [](Ref bar, Array x, Array i, Array j) {
    vjp([&](Array x) { return sum(x[{i, j}] * array({1.0, 10.0, 100.0})) + sum(x[{every, j}]); }, x).second.with_refs(bar)(array(1.0f));
  };
  Array x = zeros({2, 3}), i = array({1, 0, 1}), j = array({2, 0, 2});
  std::string ir = make_expanded_ir(f)(new_ref(x), x, i, j);
  EXPECT_EQ(countOf(ir, "hjx.ref_add"), 2u) << ir;
  EXPECT_EQ(countOf(ir, "scatter"), 0u) << ir;
  eagerAndJit(f, [&](const auto &f) {
    Ref bar = new_ref(zeros({2, 3}));
    f(bar, x, i, j);
    EXPECT_CLOSE(bar.get(), array({{11.0, 0.0, 2.0}, {1.0, 0.0, 103.0}}));
  });
}

TEST(RefsVjp, UnwantedGradientsAreNotComputed) {
  auto both = [](Array x, Array w) { return vjp([](Array x, Array w) { return matmul(x, w); }, x, w).second(ones({2, 4})); };
  auto one = [](Array x, Array w) {
    auto pullBack = vjp([](Array x, Array w) { return matmul(x, w); }, x, w).second;
    return std::get<1>(pullBack.with_refs(dont_want, grad_value)(ones({2, 4})));
  };
  Array x = ones({2, 3}), w = ones({3, 4});
  EXPECT_EQ(countOf(make_expanded_ir(both)(x, w), "hjx.dot_general"), 2u);
  EXPECT_EQ(countOf(make_expanded_ir(one)(x, w), "hjx.dot_general"), 1u);
  eagerAndJit(one, [&](const auto &one) { EXPECT_CLOSE(one(x, w), full({3, 4}, 2.0)); });
}

TEST(RefsVjp, GradientsThroughCheckpointIntoRefs) {
  auto f = [](Array x, Ref bar) {
    auto g = checkpoint([](Array x) { return sin(sin(x)); });
    vjp(g, x).second.with_refs(bar)(array(1.0, float64));
    vjp(g, x).second.with_refs(bar)(array(1.0, float64));
  };
  eagerAndJit(f, [](const auto &f) {
    Array x = array(1.0, float64);
    Ref bar = new_ref(array(0.0, float64));
    f(x, bar);
    EXPECT_CLOSE(bar.get(), 2 * cos(sin(x)) * cos(x), 1e-12);
  });
}
