// SPDX-License-Identifier: Apache-2.0
//
// Hi-types as arguments, captured values and intermediate values of derivatives, loops,
// checkpoints and rules of the user. After the tests of JAX's hijax.
#include "test/conformance/Conformance.h"

using namespace hjx;
using namespace conformance;
using tuples::Tup;

namespace {

Array first(Tup t) { return element(t, 0); }
Tup example() { return pairOf(array(2.0f), array(3.0f)); }

/// The square of a number by a primitive, with rules of the user around it.
auto squareWithVjp() {
  return custom_vjp([](Array x) { return conformance::square(x); }, [](Array x) { return std::pair(conformance::square(x), x); },
                    [](Array x, Array bar) { return 2 * x * bar; });
}
auto squareWithJvp() {
  return custom_jvp([](Array x) { return conformance::square(x); }, [](const std::tuple<Array> &x, const std::tuple<Array> &dot) {
    return std::pair(conformance::square(std::get<0>(x)), 2 * std::get<0>(x) * std::get<0>(dot));
  });
}

} // namespace

TEST(HiTypesConformance, TheGradientOfAHiArgumentIsAHiValue) {
  for (bool compiled : {false, true}) {
    Tup bar = run(compiled, grad([](Tup t) { return hjx::square(first(t)); }))(example());
    expectSame(bar, pairOf(array(4.0f), array(0.0f)));
  }
}

TEST(HiTypesConformance, HiArgumentsThatAreNotDifferentiated) {
  auto loss = [](Array x, Tup t) { return hjx::square(x) + element(t, 1); };
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, grad(loss))(array(3.0f), example()), array(6.0f));
}

TEST(HiTypesConformance, CapturedHiValuesAreConstantsOfDerivatives) {
  Tup t = constant(example());
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, grad([&](Array x) { return hjx::square(x) + element(t, 1); }))(array(4.0f)), array(8.0f));
}

TEST(HiTypesConformance, TuplesAsCarryOfScan) {
  for (bool compiled : {false, true}) {
    Tup last = run(compiled, [](Tup t) {
      return scan([](Tup t, Nothing) { return std::pair(pairOf(element(t, 0) + 1, element(t, 1) + 2), Nothing()); }, t, Nothing(),
                  {.length = 5}).first;
    })(pairOf(array(1.0f), array(2.0f)));
    expectSame(last, pairOf(array(6.0f), array(12.0f)));
  }
}

TEST(HiTypesConformance, CapturedTuplesAndTuplesAsYsOfScan) {
  Tup t = constant(pairOf(array(3.0f), array(4.0f)));
  Array xs = arange(5, float32);
  for (bool compiled : {false, true}) {
    auto [last, ys] = run(compiled, [&](Array start, Array xs) {
      return scan([&](Array c, Array x) {
        Array a = element(t, 0), b = element(t, 1);
        return std::pair(a * c + b, tuples::make_tup({a * x + b}));
      }, start, xs);
    })(array(1.0f), xs);
    EXPECT_CLOSE(last, array(727.0f));
    expectSame(ys, tuples::make_tup({3 * xs + 4}));
  }
}

TEST(HiTypesConformance, DerivativesThroughLoopsOverTuples) {
  auto loss = [](Array start, Tup xs) {
    auto body = [](Tup c, Tup x) {
      return std::pair(pairOf(sin(element(c, 0)) + element(x, 0), element(c, 1) * element(x, 1)), element(c, 0));
    };
    auto [last, ys] = scan(body, pairOf(start, start), xs, {.length = 3});
    return element(last, 0) * element(last, 1) + sum(ys);
  };
  auto arrays = [](Array start, std::pair<Array, Array> xs) {
    auto body = [](const std::pair<Array, Array> &c, const std::pair<Array, Array> &x) {
      return std::pair(std::pair(sin(c.first) + x.first, c.second * x.second), c.first);
    };
    auto [last, ys] = scan(body, std::pair(start, start), xs);
    return last.first * last.second + sum(ys);
  };
  Array start = array(0.5f), x = array({0.3, -0.7, 1.1}), y = array({1.5, 0.8, -1.2});
  auto [startBar, xsBar] = grad(arrays, argnums<0, 1>)(start, std::pair(x, y));
  for (bool compiled : {false, true}) {
    auto [startGot, tupleBar] = run(compiled, grad(loss, argnums<0, 1>))(start, pairOf(x, y));
    EXPECT_CLOSE(startGot, startBar, 1e-5);
    expectSame(tupleBar, pairOf(xsBar.first, xsBar.second), 1e-5);
  }
}

TEST(HiTypesConformance, CheckpointsKeepTuples) {
  auto f = [](Array x, Array y) {
    return checkpoint([](Tup t) { return sin(element(t, 0)) * element(t, 1); })(pairOf(x, y));
  };
  Array x = array(0.7f), y = array(3.0f);
  for (bool compiled : {false, true}) {
    auto [xBar, yBar] = run(compiled, grad(f, argnums<0, 1>))(x, y);
    EXPECT_CLOSE(xBar, cos(x) * y);
    EXPECT_CLOSE(yBar, sin(x));
  }
}

TEST(HiTypesConformance, CheckpointedRulesOfTheUserAroundAPrimitive) {
  auto f = checkpoint(squareWithVjp());
  EXPECT_CLOSE(jit(grad(f))(array(3.0f)), array(6.0f));
}

TEST(HiTypesConformance, RulesOfTheUserAroundAPrimitiveAreGoneWhenExpanded) {
  Array x = array(3.0f);
  auto check = [&](auto f) {
    EXPECT_THAT(make_ir(f)(x), ::testing::HasSubstr("\"conformance_square\""));
    EXPECT_THAT(make_ir(f)(x), ::testing::HasSubstr("hjx.custom_"));
    EXPECT_THAT(make_expanded_ir(f)(x), ::testing::Not(::testing::HasSubstr("hjx.custom_")));
    for (bool compiled : {false, true}) {
      EXPECT_CLOSE(run(compiled, f)(x), array(9.0f));
      EXPECT_CLOSE(run(compiled, grad(f))(x), array(6.0f));
    }
  };
  check([f = squareWithVjp()](Array x) { return f(x); });
  check([f = squareWithJvp()](Array x) { return f(x); });
}

TEST(HiTypesConformance, RulesOfTheUserOnHiValues) {
  // A cotangent of the tuple's own type, twice the real one.
  auto f = custom_vjp([](Tup t) { return element(t, 0) * element(t, 1); }, [](Tup t) { return std::pair(element(t, 0) * element(t, 1), t); },
                      [](Tup t, Array bar) { return pairOf(2 * bar * element(t, 1), 2 * bar * element(t, 0)); });
  for (bool compiled : {false, true})
    expectSame(run(compiled, grad([&](Tup t) { return f(t); }))(example()), pairOf(array(6.0f), array(4.0f)));
}
