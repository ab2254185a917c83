// SPDX-License-Identifier: Apache-2.0
//
// Tuples and optionals, of arrays and of each other, through every transform.
#include "test/unit/FrontendTesting.h"

#include <hjx/types.h>

using namespace hjx;

namespace {

Array noise(const Shape &shape, int seed = 0) { return random::normal(random::key(seed), shape); }

/// f, or f compiled.
template <typename F>
auto run(bool compiled, F f) {
  return [compiled, f](const auto &...args) { return compiled ? jit(f)(args...) : f(args...); };
}

} // namespace

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

TEST(TypesTuple, HoldsValuesOfAnyType) {
  Array x = noise({2, 3});
  Quantized q = quantize(x);
  Tuple t = tuple({x, tuple({q, array(7)}), tuple({})});
  EXPECT_EQ(to_string(t.type()), "tuple{f32[2,3],tuple{quantized{\"int8\",[2,3],[2,1]},i32},tuple{}}");
  auto f = [](Tuple t) { return get(t, 0) + dequantize(get<Quantized>(get<Tuple>(t, 1), 0)) * get(get<Tuple>(t, 1), 1); };
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, f)(t), x + 7 * dequantize(q));
}

TEST(TypesTuple, TangentsAreTuples) {
  Array x = noise({3}), w = noise({2, 3}, 1);
  // An integer has no tangent, a quantized array a dense one.
  Tuple t = tuple({x, array(3), quantize(w)});
  auto f = [](Tuple t) { return sum(square(get(t, 0)) * get(t, 1)) + sum(sin(matmul(get<Quantized>(t, 2), get(t, 0)))); };
  auto plain = [](Array x, Array w) { return sum(square(x) * 3) + sum(sin(matmul(w, x))); };
  auto [xBar, wBar] = grad(plain, argnums<0, 1>)(x, dequantize(quantize(w)));
  for (bool compiled : {false, true}) {
    Tuple bar = run(compiled, grad(f))(t);
    EXPECT_EQ(to_string(bar.type()), "tuple{f32[3],tuple{},f32[2,3]}");
    EXPECT_CLOSE(get(bar, 0), xBar, 1e-5);
    EXPECT_CLOSE(get(bar, 2), wBar, 1e-5);
  }
  Tuple dot = tuple({noise({3}, 2), tuple({}), noise({2, 3}, 3)});
  EXPECT_CLOSE(jvp(f, std::tuple(t), std::tuple(dot)).second, sum(xBar * get(dot, 0)) + sum(wBar * get(dot, 2)), 1e-4);
  // Twice, and an element that nobody uses.
  auto slope = [&](Array x) { return sum(get(grad([](Tuple t) { return sum(power(get(t, 0), 3)); })(tuple({x, x})), 0)); };
  EXPECT_CLOSE(grad(slope)(x), 6 * x, 1e-5);
}

TEST(TypesTuple, MappedElementByElement) {
  auto swap = [](Tuple t) { return tuple({get(t, 1), get(t, 0)}); };
  Tuple t = tuple({arange(3), array(4)});
  for (bool compiled : {false, true}) {
    Tuple swapped = run(compiled, vmap(swap, AxisTree({AxisSpec{0, none}}), AxisTree(AxisSpec{none, 0}), AxisSize{3}))(t);
    EXPECT_EQ(to_string(swapped.type()), "tuple{i32,i32[3]}");
    EXPECT_CLOSE(get(swapped, 1), arange(3));
  }
  // One axis for all.
  Array x = noise({3, 2}), y = noise({3}, 1);
  auto f = [](Tuple t) { return sum(get(t, 0)) * get(t, 1); };
  EXPECT_CLOSE(vmap(f, {AxisSpec(0)}, 0, AxisSize{3})(tuple({x, y})), sum(x, -1) * y);
  Tuple bars = vmap(grad(f), {AxisSpec(0)}, AxisSpec(0), AxisSize{3})(tuple({x, y}));
  EXPECT_CLOSE(get(bars, 1), sum(x, -1));
}

TEST(TypesTuple, CarriedScannedChosenAndRecomputed) {
  Array x = noise({4, 3});
  auto f = [](Tuple start, Tuple xs) {
    auto body = checkpoint([](Tuple c, Tuple x) {
      Tuple next = tuple({sin(get(c, 0)) + get(x, 0), get(c, 1) * dequantize(get<Quantized>(x, 1))});
      return std::pair(next, next);
    });
    auto [last, all] = scan(body, start, xs, {.length = 4});
    Tuple either = cond(sum(get(last, 0)) > 100, [](Tuple a, Tuple) { return a; }, [](Tuple, Tuple b) { return b; }, start, last);
    return sum(get(either, 0) * get(either, 1)) + sum(get(all, 0));
  };
  auto plain = [](Array a, Array b, Array xs, Array qs) {
    Array total = array(0.0f);
    for (int i = 0; i < 4; ++i) {
      a = sin(a) + xs[i], b = b * qs[i];
      total = total + sum(a);
    }
    return sum(a * b) + total;
  };
  Quantized q = quantize(x + 1);
  Array ones3 = ones({3});
  Array expected = plain(ones3, ones3, x, dequantize(q));
  auto [aBar, bBar, xBar, qBar] = grad(plain, argnums<0, 1, 2, 3>)(ones3, ones3, x, dequantize(q));
  for (bool compiled : {false, true}) {
    Tuple start = tuple({ones3, ones3}), xs = tuple({x, q});
    EXPECT_CLOSE(run(compiled, f)(start, xs), expected, 1e-5);
    auto [startBar, xsBar] = run(compiled, grad(f, argnums<0, 1>))(start, xs);
    EXPECT_CLOSE(get(startBar, 0), aBar, 1e-5);
    EXPECT_CLOSE(get(startBar, 1), bBar, 1e-5);
    EXPECT_CLOSE(get(xsBar, 0), xBar, 1e-5);
    EXPECT_CLOSE(get(xsBar, 1), qBar, 1e-4);
  }
}

TEST(TypesTuple, ErrorsSayExpectedGotAndARemedy) {
  Tuple t = tuple({arange(3), array(4)});
  EXPECT_HJX_ERROR(element(t, 2), "element: expected an index of tuple{i32[3],i32}, got 2\n  help: count elements from 0");
  EXPECT_HJX_ERROR(get<Quantized>(t, 0), "as: expected a value of the hi-type quantized, got i32[3]\n  help: look at value.type() first");
  EXPECT_HJX_ERROR(vmap([](Tuple t) { return get(t, 0); }, {AxisSpec{0}}, 0, AxisSize{3})(t),
                   "vmap: expected an axis or a list with a mapping spec for each of 2 components of tuple{i32[3],i32}, got (0)\n"
                   "  help: write hjx::none for a component that is shared");
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

TEST(TypesOptional, AValueOrNoneAtRunTime) {
  auto mean = [](Array x, Array n) { return value_or(optional(n > 0, sum(x) / n), array(-1.0f)); };
  Array x = array({1.0, 2.0, 4.5});
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, mean)(x, array(3.0f)), array(2.5f));
    EXPECT_CLOSE(run(compiled, mean)(x, array(0.0f)), array(-1.0f));
  }
  EXPECT_EQ(to_string(some(x).type()), "optional{bool,f32[3]}");
  EXPECT_TRUE(has_value(some(x)).item<bool>());
  EXPECT_FALSE(has_value(none_of(Type(float32, {3}))).item<bool>());
  EXPECT_CLOSE(value_or(some(x), zeros({3})), x);
  EXPECT_CLOSE(value_or(none_of(Type(float32, {3})), zeros({3})), zeros({3}));
}

TEST(TypesOptional, MapRunsOnlyForAValue) {
  auto f = [](Optional o) { return value_or(map(o, [](Array x) { return 1 / x; }), array(7.0f)); };
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, f)(some(array(4.0f))), array(0.25f));
    EXPECT_CLOSE(run(compiled, f)(none_of(Type(float32))), array(7.0f));
    // Where it does not run its derivative is zero, not 1 / 0.
    EXPECT_CLOSE(run(compiled, grad(f))(some(array(4.0f))).as<Array>(), array(-0.0625f));
    EXPECT_CLOSE(run(compiled, grad(f))(none_of(Type(float32))).as<Array>(), array(0.0f));
  }
}

TEST(TypesOptional, DerivativesGoWhereTheValueComesFrom) {
  auto f = [](Array x, Array y, Array present) { return sum(square(value_or(optional(present, sin(x)), y))); };
  Array x = noise({3}), y = noise({3}, 1), dot = noise({3}, 2);
  for (bool present : {false, true}) {
    auto [xBar, yBar] = jit(grad(f, argnums<0, 1>))(x, y, array(present));
    EXPECT_CLOSE(xBar, present ? 2 * sin(x) * cos(x) : zeros({3}), 1e-5);
    EXPECT_CLOSE(yBar, present ? zeros({3}) : 2 * y, 1e-5);
    auto along = [&](Array x, Array y) { return f(x, y, array(present)); };
    EXPECT_CLOSE(jvp(along, std::tuple(x, y), std::tuple(dot, dot)).second, sum(dot * (xBar + yBar)), 1e-4);
  }
}

TEST(TypesOptional, DerivativesWhereThereIsNoneAreZeroInMap) {
  auto f = [](Array total, Array n) {
    Optional mean = map(optional(n > 0, n), [&](Array n) { return total / n; });
    return value_or(mean, array(0.0f));
  };
  Array totals = constant(array({3.0, 3.0})), counts = array({0.0, 2.0});
  auto both = grad(f, argnums<0, 1>);
  for (bool compiled : {false, true}) {
    auto [totalBar, nBar] = run(compiled, both)(array(3.0f), array(0.0f));
    EXPECT_CLOSE(totalBar, array(0.0f));
    EXPECT_CLOSE(nBar, array(0.0f));
    auto [totalBars, nBars] = run(compiled, vmap(both))(totals, counts);
    EXPECT_CLOSE(totalBars, array({0.0, 0.5}));
    EXPECT_CLOSE(nBars, array({0.0, -0.75}));
    EXPECT_CLOSE(run(compiled, grad([&](Array counts) { return sum(vmap(f)(totals, counts)); }))(counts), array({0.0, -0.75}));
    EXPECT_CLOSE(jvp(f, std::tuple(array(3.0f), array(0.0f)), std::tuple(array(1.0f), array(1.0f))).second, array(0.0f));
  }
}

TEST(TypesOptional, OfOtherTypes) {
  Array w = noise({2, 3});
  Quantized q = quantize(w), other = quantize(2 * w);
  Tuple t = tuple({q, array(3)});
  auto f = [](Array present, Tuple t, Tuple other) { return value_or(optional(present, t), other); };
  for (bool present : {false, true}) {
    Tuple got = jit(f)(array(present), t, tuple({other, array(4)}));
    EXPECT_CLOSE(dequantize(get<Quantized>(got, 0)), dequantize(present ? q : other), 0);
    EXPECT_CLOSE(get(got, 1), array(present ? 3 : 4));
  }
  // The tangent of an optional tuple is that of the tuple.
  Optional o = some(t);
  EXPECT_EQ(to_string(tangent_type(o.type()).value()), "tuple{f32[2,3],tuple{}}");
  auto loss = [&](Optional o) { return sum(square(dequantize(get<Quantized>(value_or(o, t), 0)))); };
  EXPECT_CLOSE(get(grad(loss)(o).as<Tuple>(), 0), 2 * dequantize(q));
  // None of a type with every kind of component, and optionals in a tuple and in each other.
  Optional none = none_of(tuple({some(o), low_rank(noise({4, 2}), noise({2, 3}))}).type());
  EXPECT_EQ(to_string(none.type()),
            "optional{bool,tuple{optional{bool,optional{bool,tuple{quantized{\"int8\",[2,3],[2,1]},i32}}},low_rank{[4,3],[2]}}}");
  EXPECT_FALSE(has_value(none).item<bool>());
}

TEST(TypesOptional, MappedIsALoop) {
  Array x = noise({4, 3}), flags = array({true, false, true, false});
  auto f = [](Array flag, Array x) { return map(optional(flag, x), [](Array x) { return sum(x); }); };
  auto sums = [&](Array flag, Array x) { return value_or(f(flag, x), array(-1.0f)); };
  Array expected = where(flags, sum(x, -1), -1.0f);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, vmap(sums))(flags, x), expected, 1e-6);
    Optional many = run(compiled, vmap(f, 0, AxisSpec(0)))(flags, x);
    EXPECT_EQ(to_string(many.type()), "optional{bool[4],f32[4]}");
    EXPECT_CLOSE(vmap([](Optional o) { return value_or(o, array(-1.0f)); }, {AxisSpec(0)}, 0, AxisSize{4})(many), expected, 1e-6);
  }
  // One flag for all, and a scan over optionals.
  auto orZero = [](Optional o) { return value_or(o, zeros({3})); };
  EXPECT_CLOSE(vmap(orZero, AxisTree({AxisSpec{none, 0}}), 0, AxisSize{4})(some(x)), x);
  Optional many = vmap([](Array flag, Array x) { return optional(flag, x); }, 0, AxisSpec(0))(flags, x);
  auto total = [&](Optional many) {
    return scan([&](Array c, Optional o) { return std::pair(c + orZero(o), Nothing()); }, zeros({3}), many, {.length = 4}).first;
  };
  EXPECT_CLOSE(jit(total)(many), x[0] + x[2], 1e-6);
  Array bar = jit(grad([&](Optional many) { return sum(total(many)); }))(many).as<Array>();
  EXPECT_CLOSE(bar, where(expand_dims(flags, 1), ones({4, 3}), 0.0f));
}

TEST(TypesOptional, ErrorsSayExpectedGotAndARemedy) {
  EXPECT_HJX_ERROR(optional(array(1), array(2.0f)), "hjx.optional: expected a bool scalar as the flag, got i32\n  help: map over many with hjx::vmap");
  EXPECT_HJX_ERROR(value_or(some(array(1.0f)), arange(3)),
                   "hjx.select: expected a bool scalar and two values of one type, got bool, f32 and i32[3]\n"
                   "  help: map over more with hjx::vmap; convert one of the values");
  EXPECT_HJX_ERROR(vmap([](Optional o) { return has_value(o); }, {AxisSpec("rows")}, 0, AxisSize{3})(some(arange(3))),
                   "vmap: expected an axis or a list of two mapping specs, for flag and value of optional{bool,i32[3]}, got \"rows\"\n"
                   "  help: write hjx::none for a part that is shared");
}
