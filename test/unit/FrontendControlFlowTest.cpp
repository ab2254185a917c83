// SPDX-License-Identifier: Apache-2.0
//
// Loops and branches: values, closures, and what may not change.
#include "FrontendTesting.h"

using namespace hjx;

TEST(FrontendControlFlow, ScanCarriesAndStacks) {
  auto running = [](Array carry, Array x) { return std::pair(carry + x, carry * x); };
  auto [last, ys] = scan(running, Array(0.0), array({1.0, 2.0, 3.0}));
  EXPECT_CLOSE(last, array(6.0f));
  EXPECT_CLOSE(ys, array({0.0, 2.0, 9.0}));
  auto [first, reversed] = scan(running, Array(0.0), array({1.0, 2.0, 3.0}), {.reverse = true});
  EXPECT_CLOSE(reversed, array({5.0, 6.0, 0.0}));
  auto [power, none] = scan([](Array c, Nothing) { return std::pair(2 * c, Nothing()); }, Array(1), Nothing(), {.length = 5});
  EXPECT_EQ(power.item<int>(), 32);
  EXPECT_CLOSE(map([](Array x) { return x * x; }, array({1.0, 2.0})), array({1.0, 4.0}));
}

TEST(FrontendControlFlow, BodiesMayUseWhatIsAround) {
  Array w = array({2.0, 3.0});
  auto f = [&](Array x) {
    Array outside = sin(x);
    return scan([&](Array c, Array row) { return std::pair(c + row * w * outside, sum(c * outside)); }, zeros_like(x),
                stack({x, 2 * x}));
  };
  auto [c, ys] = jit([&](Array x, Array w) {
    Array outside = sin(x);
    return scan([&](Array c, Array row) { return std::pair(c + row * w * outside, sum(c * outside)); }, zeros_like(x),
                stack({x, 2 * x}));
  })(array({0.5, 1.0}), w);
  auto [c2, ys2] = f(array({0.5, 1.0}));
  EXPECT_CLOSE(c, c2);
  EXPECT_CLOSE(ys, ys2);
  EXPECT_CLOSE(c, array({1.43827662, 7.57323886}));
}

TEST(FrontendControlFlow, WeakCarriesTakeTheBodysType) {
  auto [c, ys] = scan([](Array c, Array x) { return std::pair(c + x, c); }, Array(0), array({0.5, 1.5}));
  EXPECT_CLOSE(c, array(2.0f));
  EXPECT_CLOSE(ys, array({0.0, 0.5}));
}

TEST(FrontendControlFlow, LoopsCount) {
  EXPECT_EQ(fori_loop(2, 5, [](Array i, Array c) { return c * i; }, Array(1)).item<int>(), 24);
  EXPECT_EQ(fori_loop(5, 2, [](Array i, Array c) { return c * i; }, Array(1)).item<int>(), 1);
  EXPECT_EQ(fori_loop(array(2), array(5), [](Array i, Array c) { return c * i; }, Array(1)).item<int>(), 24);
  Array collatz = while_loop([](std::pair<Array, Array> s) { return s.first != 1; },
                             [](std::pair<Array, Array> s) {
                               auto [n, steps] = s;
                               return std::pair<Array, Array>(where(n % 2 == 0, floor_divide(n, 2), 3 * n + 1), steps + 1);
                             },
                             std::pair<Array, Array>(27, 0))
                      .second;
  EXPECT_EQ(collatz.item<int>(), 111);
  EXPECT_EQ(while_loop([](Array n) { return n < 100; }, [](Array n) { return n + 1; }, Array(0), 7).item<int>(), 7);
}

TEST(FrontendControlFlow, LoopsThatCompareWithTheirLastValue) {
  // The body does not read what the condition compares with; with a bound, it is differentiated.
  using State = std::tuple<Array, Array>;
  auto root = [](std::optional<int64_t> bound) {
    return [=](Array a) {
      return std::get<0>(while_loop([](State s) { return max(abs(std::get<0>(s) - std::get<1>(s))) > 1e-6; },
                                    [&](State s) { return State(0.5 * (std::get<0>(s) + a / std::get<0>(s)), std::get<0>(s)); },
                                    State(a, a + 1), bound));
    };
  };
  Array a = array({2.0, 9.0});
  EXPECT_CLOSE(root(std::nullopt)(a), sqrt(a));
  EXPECT_CLOSE(root(40)(a), sqrt(a));
  EXPECT_CLOSE(grad([&](Array a) { return sum(root(40)(a)); })(a), 0.5 / sqrt(a));
  EXPECT_CLOSE(vmap(grad(root(40)))(a), 0.5 / sqrt(a));
}

TEST(FrontendControlFlow, BranchesChoose) {
  Array bias = array({10.0, 20.0});
  auto f = [&](Array x) {
    return cond(sum(x) > 0, [&](Array x) { return x + bias; }, [&](Array x) { return x * 2; }, x);
  };
  EXPECT_CLOSE(f(array({1.0, 2.0})), array({11.0, 22.0}));
  EXPECT_CLOSE(f(array({-1.0, -2.0})), array({-2.0, -4.0}));
  auto g = [](Array i) {
    return switch_(i, std::tuple{[](Array x) { return x; }, [](Array x) { return 2 * x; }, [](Array x) { return 3 * x; }}, Array(5));
  };
  EXPECT_EQ(g(array(1)).item<int>(), 10);
  EXPECT_EQ(g(array(-3)).item<int>(), 5);
  EXPECT_EQ(g(array(7)).item<int>(), 15);
  EXPECT_CLOSE(cond(array(true), [] { return Array(1.0); }, [] { return array(2.0f); }), array(1.0f)) << "weak meets fixed";
}

TEST(FrontendControlFlow, ErrorsNameTheLeaf) {
  using State = std::map<std::string, Array>;
  EXPECT_HJX_ERROR(scan([](State s, Array x) { return std::pair(State{{"h", concatenate({s["h"], s["h"]})}}, x); },
                        State{{"h", zeros({2})}}, zeros({3})),
                   "scan: the body changes carry.h: expected f32[2] as it came in, got f32[4]\n"
                   "  help: give the carry one shape and element type, for example with astype on the initial value");
  EXPECT_HJX_ERROR(scan([](State s, Array x) { return std::pair(State{{"h", s["h"]}, {"c", x}}, x); }, State{{"h", zeros({2})}},
                        zeros({3})),
                   "scan: expected one structure of the carry before and after the body, they differ at carry: a map of 1 "
                   "against a map of 2\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(while_loop([](Array x) { return x < 3; }, [](Array x) { return x + 0.5; }, array(1)),
                   "while_loop: the body changes carry: expected i32 as it came in, got f32\n"
                   "  help: give the carry one shape and element type, for example with astype on the initial value");
  EXPECT_HJX_ERROR(while_loop([](Array x) { return x < 3; }, [](Array x) { return x; }, zeros({2})),
                   "while_loop: expected a condition that returns a bool scalar, got bool[2]\n"
                   "  help: reduce it with hjx::all or hjx::any");
  EXPECT_HJX_ERROR(scan([](Array c, std::pair<Array, Array> x) { return std::pair(c, c); }, Array(0.0),
                        std::pair(zeros({3}), zeros({4}))),
                   "scan: expected one leading size in all xs, got 3 in xs[0] and 4 in xs[1]\n"
                   "  help: slice or pad them to one length");
  EXPECT_HJX_ERROR(cond(array({true, false}), [](Array x) { return x; }, [](Array x) { return -x; }, Array(1)),
                   "cond: expected a bool scalar as predicate, got bool[2]\n"
                   "  help: reduce it with hjx::all or hjx::any; to choose element by element use hjx::where");
  EXPECT_HJX_ERROR(cond(array(true), [](Array x) { return std::pair(x, x); }, [](Array x) { return std::pair(x, zeros({3})); },
                        array(1.0f)),
                   "cond: expected branches with results of one type, got f32 from on_true and f32[3] from on_false in result[1]\n"
                   "  help: convert or reshape the result of one branch");
}
