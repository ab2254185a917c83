// SPDX-License-Identifier: Apache-2.0
//
// Refs through the C++ API: eager, and inside every transform. ctest runs these
// once compiled and once on the interpreter, which knows refs as memory.
#include "FrontendTesting.h"

using namespace hjx;

namespace {

const Array x3 = array({0.3, -0.7, 1.1}, float64);

/// Adds 1 everywhere, 1 at [0] and 5 at [1]: [2, 6, 1] from zeros.
void bump(Ref r) {
  r.add(full(r.shape(), 1.0, r.dtype()));
  r[0] += 1;
  r.set(1, r.get(1) + 5);
}

Array sumOf(Ref r) { return sum(r.get()); }

} // namespace

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

TEST(FrontendRefs, EagerAndJit) {
  Ref eager = new_ref(zeros({3})), jitted = new_ref(zeros({3}));
  bump(eager);
  EXPECT_CLOSE(eager.get(), array({2.0, 6.0, 1.0}));
  auto f = jit(bump);
  f(jitted);
  EXPECT_CLOSE(jitted.get(), array({2.0, 6.0, 1.0}));
  f(jitted);
  EXPECT_CLOSE(jitted.get(), array({4.0, 12.0, 2.0}));
  EXPECT_EQ(f.stats().compilations.size(), 1u);
}

TEST(FrontendRefs, CellsHoldCopies) {
  Array x = array({1.0, 2.0});
  Ref r = new_ref(x), same = r;
  Array before = r.get();
  r.set(0, 7);
  EXPECT_CLOSE(x, array({1.0, 2.0}));
  EXPECT_CLOSE(before, array({1.0, 2.0}));
  EXPECT_CLOSE(same.get(), array({7.0, 2.0}));
  EXPECT_EQ(r.shape(), Shape({2}));
  EXPECT_EQ(r.dtype(), float32);
  EXPECT_CLOSE(freeze(r), array({7.0, 2.0}));
  EXPECT_CLOSE(r.swap(1, 3), array(2.0f));
  EXPECT_CLOSE(r.get(), array({7.0, 3.0}));
}

TEST(FrontendRefs, Indices) {
  Array start = reshape(arange(24).astype(float32), {2, 3, 4});
  auto write = [](Ref r, Array i, Array ids) {
    r.set(ellipsis, r.get() * 2);
    r[{1, every, Slice(0, 4, 2)}] += ones({3, 2});
    r[{i, 0}] = zeros({4});
    r[{every, every, ids}] += ones({2, 3, 3});
    r[{0, every, ids}] = r.get({1, every, ids});
    r.set({-1, -1, -1}, 100);
    return r.get({ellipsis, -1});
  };
  auto model = [](Array x, Array i, Array ids) {
    x = x * 2;
    x = x.at({1, every, Slice(0, 4, 2)}).add(ones({3, 2}));
    x = x.at({i, 0}).set(zeros({4}));
    x = x.at({every, every, ids}).add(ones({2, 3, 3}));
    x = x.at({0, every, ids}).set(x[{1, every, ids}]);
    return x.at({-1, -1, -1}).set(100);
  };
  Array i = array(1, int32), ids = array({2, 0, 2});
  Array expected = model(start, i, ids);
  Ref eager = new_ref(start), jitted = new_ref(start);
  EXPECT_CLOSE(write(eager, i, ids), expected[{ellipsis, -1}]);
  EXPECT_CLOSE(eager.get(), expected);
  EXPECT_CLOSE(jit(write)(jitted, i, ids), expected[{ellipsis, -1}]);
  EXPECT_CLOSE(jitted.get(), expected);
}

TEST(FrontendRefs, NumbersTakeTheElementType) {
  Ref r = new_ref(zeros({2}, bfloat16)), n = new_ref(array({1, 2}));
  r.add(1.0);
  n.add(3);
  EXPECT_EQ(r.get().dtype(), bfloat16);
  EXPECT_CLOSE(n.get(), array({4, 5}));
  EXPECT_HJX_ERROR(n.add(1.5), "add: expected a value of type i32[2], that of the part, got f32\n"
                               "  help: reshape or broadcast it to the part's shape");
}

TEST(FrontendRefs, KeysInARef) {
  Ref key = new_ref(random::key(0));
  auto draw = jit([](Ref key) {
    Array keys = random::split(key.get());
    key.set(keys[0]);
    return random::uniform(keys[1], {2});
  });
  Array a = draw(key), b = draw(key);
  EXPECT_FALSE(hjx::testing::isClose(a, b));
}

//===----------------------------------------------------------------------===//
// Where refs may be
//===----------------------------------------------------------------------===//

TEST(FrontendRefs, CapturedByJit) {
  Ref x = new_ref(zeros({3}));
  auto f = jit([x](Ref y, Array z) {
    bump(x);
    y[2] += 7;
    return z + 9;
  });
  Ref y = new_ref(zeros({3}));
  EXPECT_CLOSE(f(y, array(1.0f)), array(10.0f));
  EXPECT_CLOSE(f(y, array(1.0f)), array(10.0f));
  EXPECT_CLOSE(x.get(), array({4.0, 12.0, 2.0}));
  EXPECT_CLOSE(y.get(), array({0.0, 0.0, 14.0}));
}

TEST(FrontendRefs, MadeInside) {
  auto f = [](Array x) {
    Ref r = new_ref(x);
    bump(r);
    return freeze(r);
  };
  EXPECT_CLOSE(jit(jit(f))(zeros({3})), array({2.0, 6.0, 1.0}));
  EXPECT_CLOSE(f(zeros({3})), array({2.0, 6.0, 1.0}));
  auto empty = jit([] {
    Ref r = empty_ref({2});
    r.set(array({1.0, 2.0}));
    return freeze(r);
  });
  EXPECT_CLOSE(empty(), array({1.0, 2.0}));
  Ref scalar = empty_ref({}), exact = empty_ref({}, float64);
  scalar.set(3);
  EXPECT_CLOSE(scalar.get(), array(3.0f));
  EXPECT_EQ(exact.dtype(), float64);
}

TEST(FrontendRefs, ScanConstsAndXs) {
  for (bool reverse : {false, true}) {
    Ref sum = new_ref(array(0)), cells = new_ref(arange(5));
    auto [none, ys] = scan(
        [&](Nothing, const std::pair<Array, Ref> &x) {
          sum.add(x.first);
          x.second.add(sum.get());
          return std::pair(Nothing(), x.second.get());
        },
        Nothing(), std::pair(arange(5), cells), {.reverse = reverse});
    EXPECT_CLOSE(sum.get(), array(10));
    Array sums = reverse ? array({10, 10, 9, 7, 4}) : array({0, 1, 3, 6, 10});
    EXPECT_CLOSE(cells.get(), sums + arange(5));
    EXPECT_CLOSE(ys, cells.get());
  }
}

TEST(FrontendRefs, Foreach) {
  Ref total = new_ref(array(0));
  Array doubled = foreach([&](Array i) {
    total.add(i);
    return 2 * i;
  }, arange(10));
  EXPECT_CLOSE(total.get(), array(45));
  EXPECT_CLOSE(doubled, 2 * arange(10));
  Ref table = new_ref(zeros({4}));
  foreach([&](Array i, Array x) { table[i] += x; }, array({1, 3, 1}), array({1.0, 2.0, 4.0}));
  EXPECT_CLOSE(table.get(), array({0.0, 5.0, 0.0, 2.0}));
  // Many xs, each with its length checked at the caller's line.
  total.set(0);
  const Array i3 = arange(3);
  foreach([&](Array a, Array b, Array c, Array d, Array e) { total.add(a + b + c + d + e); }, i3, i3, i3, i3, i3);
  EXPECT_CLOSE(total.get(), array(15));
  EXPECT_HJX_ERROR(foreach([&](Array a, Array, Array, Array, Array) { total.add(a); }, i3, i3, i3, i3, arange(2)),
                   "foreach: expected one leading size in all xs, got 3 in xs[0] and 2 in xs[4]\n  help: slice or pad them to one length");
  EXPECT_HJX_ERROR(foreach([&](Array a, Array, Array, Array) { total.add(a); }, i3, i3, i3, i3, {.length = 2}),
                   "foreach: expected xs of the given length 2, got 3\n  help: leave the length out: it follows from xs");
}

TEST(FrontendRefs, WhileReadsInConditionWhatTheBodyWrites) {
  Ref r = new_ref(array(1.0f));
  Array n = while_loop([&](Array) { return r.get() < 9; }, [&](Array i) {
    r.set(r.get() * 2);
    return i + 1;
  }, array(0));
  EXPECT_CLOSE(n, array(4));
  EXPECT_CLOSE(r.get(), array(16.0f));
}

TEST(FrontendRefs, BothBranchesOfCond) {
  Ref r = new_ref(array(0.0f));
  auto f = [&](Array p) { cond(p, [&] { r.set(1); }, [&] { r.set(2); }); };
  f(array(true));
  EXPECT_CLOSE(r.get(), array(1.0f));
  jit(f)(array(false));
  EXPECT_CLOSE(r.get(), array(2.0f));
  cond(true, [](Ref a, Array x) { a.add(x); }, [](Ref, Array) {}, r, array(3.0f));
  EXPECT_CLOSE(r.get(), array(5.0f));
}

TEST(FrontendRefs, Vmap) {
  // Mapped at another axis than 0, and read where shared.
  Ref r = new_ref(reshape(arange(6).astype(float32), {2, 3})), scale = new_ref(array({1.0, 10.0}));
  Array ys = vmap([&](Ref r, Array x) {
    r[0] += x * scale.get(1);
    return r.get(1);
  }, {1, 0})(r, array({1.0, 2.0, 3.0}));
  EXPECT_CLOSE(ys, array({3.0, 4.0, 5.0}));
  EXPECT_CLOSE(r.get(), array({{10.0, 21.0, 32.0}, {3.0, 4.0, 5.0}}));
  // A ref of a shared value has one cell for each element.
  Array zs = vmap([](Array x) {
    Ref r = new_ref(0.0);
    r.add(x);
    return freeze(r);
  })(array({1.0, 2.0}));
  EXPECT_CLOSE(zs, array({1.0, 2.0}));
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

TEST(FrontendRefs, GradOfInternalRefs) {
  auto doubled = [](Array x) {
    Ref r = new_ref(x);
    r.set(r.get() + r.get());
    return freeze(r);
  };
  EXPECT_CLOSE(grad(doubled)(array(1.0, float64)), array(2.0, float64));
  EXPECT_CLOSE(grad(jit(doubled))(array(1.0, float64)), array(2.0, float64));
  EXPECT_CLOSE(jit(grad(doubled))(array(1.0, float64)), array(2.0, float64));

  auto overwritten = [](Array x) {
    Ref r = new_ref(x);
    r.set(0, 9);
    return sum(freeze(r));
  };
  EXPECT_CLOSE(grad(overwritten)(x3), array({0.0, 1.0, 1.0}, float64));

  // A loop over cells, against the same with a carry.
  auto cells = [](Array xs) {
    Ref state = new_ref(array(0.5, float64)), seen = new_ref(zeros_like(xs));
    foreach([&](Array i, Array x) {
      state.set(sin(state.get() * x) + x);
      seen[i] += state.get();
    }, arange(3), xs);
    return freeze(state) + sum(square(freeze(seen)));
  };
  auto carried = [](Array xs) {
    auto [last, seen] = scan([](Array c, Array x) {
      Array next = sin(c * x) + x;
      return std::pair(next, next);
    }, array(0.5, float64), xs);
    return last + sum(square(seen));
  };
  EXPECT_CLOSE(cells(x3), carried(x3), 1e-12);
  EXPECT_CLOSE(grad(cells)(x3), grad(carried)(x3), 1e-12);
  EXPECT_CLOSE(jvp(cells, x3, ones_like(x3)).second, jvp(carried, x3, ones_like(x3)).second, 1e-12);
  Array batch = stack({x3, 2 * x3, -x3});
  EXPECT_CLOSE(vmap(grad(cells))(batch), vmap(grad(carried))(batch), 1e-12);
  EXPECT_CLOSE(grad([&](Array x) { return sum(vmap(cells)(x)); })(batch), vmap(grad(carried))(batch), 1e-12);
  EXPECT_CLOSE(grad([&](Array x) { return sum(grad(cells)(x)); })(x3), grad([&](Array x) { return sum(grad(carried)(x)); })(x3), 1e-12);
  EXPECT_CLOSE(grad(checkpoint(cells))(x3), grad(carried)(x3), 1e-12);
}

TEST(FrontendRefs, PlumbingRunsOnceInOrder) {
  Ref count = new_ref(array(0.0, float64));
  auto f = [&](Array x) {
    auto [y, none] = scan([&](Array c, Nothing) {
      count.add(1);
      return std::pair(c * x * count.get(), Nothing());
    }, array(1.0, float64), Nothing(), {.length = 3});
    return y;
  };
  EXPECT_CLOSE(grad(f)(array(2.0, float64)), array(72.0, float64)); // d/dx 6 x^3
  EXPECT_CLOSE(count.get(), array(3.0, float64));
  count.set(0);
  EXPECT_CLOSE(jit(grad(checkpoint(f)))(array(2.0, float64)), array(72.0, float64));
  EXPECT_CLOSE(count.get(), array(3.0, float64));
  EXPECT_CLOSE(jvp(f, array(2.0, float64), array(1.0, float64)).second, array(4.0 * 5 * 6 * 12, float64));
  EXPECT_CLOSE(count.get(), array(6.0, float64));
}

TEST(FrontendRefs, StashOfGradients) {
  // custom_vjp whose backward pass writes the cotangent that passes by.
  auto stash = custom_vjp([](Array x, Ref) { return x; }, [](Array x, Ref r) { return std::pair(x, r); },
                          [](Ref r, Array g) {
                            r.set(g);
                            return std::pair(g, Array());
                          });
  Ref kept = new_ref(array(0.0, float64));
  auto f = [&](Array x) { return sin(stash(sin(x), kept)); };
  EXPECT_CLOSE(grad(f)(array(1.0, float64)), cos(sin(array(1.0, float64))) * cos(array(1.0, float64)), 1e-12);
  EXPECT_CLOSE(kept.get(), cos(sin(array(1.0, float64))), 1e-12);
  kept.set(0);
  jit(grad(checkpoint(f)))(array(1.0, float64));
  EXPECT_CLOSE(kept.get(), cos(sin(array(1.0, float64))), 1e-12);
  // In a loop the cotangent nearest the input comes last.
  Array slope = grad([&](Array x) {
    return scan([&](Array c, Nothing) { return std::pair(sin(stash(c, kept)), Nothing()); }, x, Nothing(), {.length = 3}).first;
  })(array(1.0, float64));
  EXPECT_CLOSE(kept.get(), slope, 1e-12);
}

TEST(FrontendRefs, JvpOfRefs) {
  Ref x = new_ref(array(2.0, float64)), dot = new_ref(array(1.0, float64));
  auto [y, yDot] = jvp([](Ref r) {
    r.set(sin(r.get()));
    return square(r.get());
  }, x, dot);
  Array s = sin(array(2.0, float64)), c = cos(array(2.0, float64));
  EXPECT_CLOSE(y, s * s, 1e-12);
  EXPECT_CLOSE(yDot, 2 * s * c, 1e-12);
  EXPECT_CLOSE(x.get(), s, 1e-12);
  EXPECT_CLOSE(dot.get(), c, 1e-12);
}

TEST(FrontendRefs, PartsStandInExpressions) {
  Ref r = new_ref(array({1.0, 2.0, 3.0}));
  EXPECT_CLOSE(ones({}) + r[1], array(3.0f));
  EXPECT_CLOSE(r[0] * 2, array(2.0f));
  EXPECT_CLOSE(-r[{Slice(0, 2)}], array({-1.0, -2.0}));
  EXPECT_CLOSE(sin(r[2]), sin(array(3.0f)));
  r[1] *= 4;
  r[2] /= r[1];
  r[0] = r[1] + r[0];
  r[1] -= r[0];
  EXPECT_CLOSE(r.get(), array({9.0, -1.0, 0.375}));
  EXPECT_EQ(to_string(new_ref(array({1, 2}))), "Ref([1 2])");
  jit([](Ref r) { EXPECT_EQ(to_string(r), "Traced<ref{f32[3]}>"); })(r);
  EXPECT_EQ(to_string(Ref()), "Ref()");
}

//===----------------------------------------------------------------------===//
// with_refs
//===----------------------------------------------------------------------===//

TEST(FrontendRefs, GradientOfARefArgument) {
  auto f = [](Ref r) {
    r.set(sin(r.get()));
    return square(r.get());
  };
  auto run = [&](Ref x, Ref bar) {
    auto [y, pullBack] = vjp(f, x);
    pullBack.with_refs(bar)(1.0);
    return y;
  };
  Array expected = 2 * sin(array(2.0, float64)) * cos(array(2.0, float64));
  Ref x = new_ref(array(2.0, float64)), bar = new_ref(array(100.0, float64));
  run(x, bar);
  EXPECT_CLOSE(bar.get(), 100 + expected, 1e-12);
  EXPECT_CLOSE(x.get(), sin(array(2.0, float64)), 1e-12);
  Ref x2 = new_ref(array(2.0, float64)), bar2 = new_ref(array(0.0, float64));
  jit(run)(x2, bar2);
  EXPECT_CLOSE(bar2.get(), expected, 1e-12);
  EXPECT_CLOSE(x2.get(), sin(array(2.0, float64)), 1e-12);
}

TEST(FrontendRefs, SparseGradients) {
  auto f = [](Array x) { return x[3] + x[5] + x[3]; };
  Ref bar = new_ref(zeros({8}));
  vjp(f, arange(8).astype(float32)).second.with_refs(bar)(array(1.0f));
  EXPECT_CLOSE(bar.get(), array({0.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0}));
  Ref rows = new_ref(zeros({4, 2}));
  jit([](Array table, Array ids, Ref bar) {
    vjp([&](Array t) { return sum(t[ids] * array({1.0, 10.0})); }, table).second.with_refs(bar)(array(1.0f));
  })(ones({4, 2}), array({2, 0, 2}), rows);
  EXPECT_CLOSE(rows.get(), array({{1.0, 10.0}, {0.0, 0.0}, {2.0, 20.0}, {0.0, 0.0}}));
}

TEST(FrontendRefs, MicroBatches) {
  // The gradient of each micro-batch is added to one ref by an outer loop.
  Array w = ones({20}), batches = ones({5, 4, 20});
  auto loss = [](Array w, Array x) { return sum(matmul(x, w)); };
  auto accumulate = [&](Array w, Array batches) {
    Ref bar = new_ref(zeros_like(w));
    foreach([&](Array x) { vjp(loss, w, x).second.with_refs(bar, dont_want)(array(1.0f)); }, batches);
    return freeze(bar);
  };
  EXPECT_CLOSE(jit(accumulate)(w, batches), full({20}, 20.0));
  EXPECT_CLOSE(accumulate(w, batches), full({20}, 20.0));
}

TEST(FrontendRefs, KindsOfGradientsThroughScan) {
  for (bool reverse : {false, true}) {
    auto f = [&](Array w, Array v, Array xs, Array ys) {
      return scan([&](Array c, const std::pair<Array, Array> &s) {
        return std::pair(sin(c * w + s.first * v) + s.second, Nothing());
      }, array(0.5, float64), std::pair(xs, ys), {.reverse = reverse}).first;
    };
    Array w = array(0.7, float64), v = array(-0.4, float64), ys = 2 * x3;
    auto expected = vjp([&](Array w, Array v, Array xs) { return f(w, v, xs, ys); }, w, v, x3).second(array(1.0, float64));
    auto run = [&](Ref wBar, Ref xsBar) {
      auto pullBack = vjp([&](Array w, Array v, Array xs) { return f(w, v, xs, ys); }, w, v, x3).second;
      return std::get<1>(pullBack.with_refs(wBar, grad_value, xsBar)(array(1.0, float64)));
    };
    Ref wBar = new_ref(array(0.0, float64)), xsBar = new_ref(zeros_like(x3));
    EXPECT_CLOSE(run(wBar, xsBar), std::get<1>(expected), 1e-12);
    EXPECT_CLOSE(wBar.get(), std::get<0>(expected), 1e-12);
    EXPECT_CLOSE(xsBar.get(), std::get<2>(expected), 1e-12);
  }
}

TEST(FrontendRefs, UnwantedGradients) {
  auto [y, pullBack] = vjp([](Array x, Array w) { return sum(matmul(x, w)); }, ones({2, 3}), ones({3}));
  auto [xBar, wBar] = pullBack.with_refs(dont_want, grad_value)(array(1.0f));
  EXPECT_FALSE(xBar.has_value());
  EXPECT_CLOSE(wBar, array({2.0, 2.0, 2.0}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(FrontendRefs, ReturnedRefs) {
  Ref r = new_ref(array({1.0, 2.0}));
  const char *help = "\n  help: return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already";
  EXPECT_HJX_ERROR(jit([](Ref r) { return r; })(r),
                   std::string("jit: expected a function that returns values, got the ref ref{f32[2]}, which was passed in as args[0]") + help);
  EXPECT_HJX_ERROR(jit([](Array x) { return new_ref(x); })(array(1.0f)),
                   std::string("jit: expected a function that returns values, got the ref ref{f32}, made at " HERE) + help);
  EXPECT_HJX_ERROR(cond(true, [] { return new_ref(1.0); }, [] { return new_ref(2.0); }),
                   std::string("cond: expected a function that returns values, got the ref ref{f32}, made at " HERE) + help);
  EXPECT_HJX_ERROR(scan([](Array c, Array x) { return std::pair(c, new_ref(x)); }, array(0.0f), ones({3})),
                   std::string("scan: expected a function that returns values, got the ref ref{f32}, made at " HERE) + help);
  EXPECT_HJX_ERROR(scan([](Ref c, Array x) { return std::pair(c, x); }, r, ones({3})),
                   "scan: expected values as carry, got the ref ref{f32[2]} in carry\n"
                   "  help: capture it in the body, or pass it among the xs to see one slice in each iteration");
}

TEST(FrontendRefs, AliasedRefs) {
  Ref r = new_ref(array({1.0, 2.0}));
  auto two = [](Ref x, Ref y) { return x.get() + y.get(); };
  auto twice = [](const char *op, const char *first, const char *second) {
    return std::string(op) + ": expected each ref to be passed once, got the ref ref{f32[2]} as both " + first + " and " + second +
           "\n  help: pass it once, or make a copy: hjx::new_ref(ref.get())";
  };
  EXPECT_HJX_ERROR(jit(two)(r, r), twice("jit", "args[0]", "args[1]"));
  EXPECT_HJX_ERROR(vmap(two)(r, r), twice("vmap", "args[0]", "args[1]"));
  EXPECT_HJX_ERROR(cond(true, two, two, r, r), twice("cond", "operands[0]", "operands[1]"));
  EXPECT_HJX_ERROR(checkpoint(two)(r, r), twice("checkpoint", "args[0]", "args[1]"));
  auto f = jit(two);
  f(r, new_ref(array({1.0, 2.0})));
  EXPECT_HJX_ERROR(f(r, r), twice("jit", "args[0]", "args[1]"));
  EXPECT_HJX_ERROR(jit([r](Ref y) { return r.get() + y.get(); })(r),
                   "jit: expected each ref to have one name in a function, got the ref ref{f32[2]} both captured and passed as args[0]\n"
                   "  help: use the argument inside the function, or do not pass it");
}

TEST(FrontendRefs, MisusedRefs) {
  Ref r = new_ref(array({1.0, 2.0}));
  EXPECT_HJX_ERROR(r.set(array({1, 2, 3})), "set: expected a value of type f32[2], that of the part, got i32[3]\n"
                                            "  help: reshape or broadcast it to the part's shape");
  EXPECT_HJX_ERROR(r.get(2), "get: index 2 is out of range for axis 0 of ref{f32[2]}\n  help: use an index in [-2, 2)");
  EXPECT_HJX_ERROR(grad([](Ref r) { return sum(r.get()); })(r),
                   "grad: cannot differentiate with respect to the ref ref{f32[2]} in argument 0\n"
                   "  help: use hjx::vjp(f, ref).second.with_refs(gradient), or differentiate what it holds");
  EXPECT_HJX_ERROR(jit([](Array x) {
    Ref r = new_ref(x);
    Array y = freeze(r);
    return y + r.get();
  })(array(1.0f)), "get: the ref ref{f32} was frozen at " HERE " and holds nothing any more\n  help: read it before, or freeze it later");
  EXPECT_HJX_ERROR(vjp(sumOf, r).second(array(1.0f)),
                   "vjp: expected a ref for the gradient of the ref in argument 0, got none\n"
                   "  help: bind one, or hjx::dont_want, with .with_refs(...), one entry for each argument");
  EXPECT_HJX_ERROR(while_loop([&](Array) {
    r.add(1);
    return r.get(0) < 3;
  }, [](Array i) { return i; }, array(0)),
                   "while_loop: expected a condition that only reads refs, but it writes the ref ref{f32[2]}\n"
                   "  help: write it in the body");
}

TEST(FrontendRefs, RefsInRules) {
  Ref r = new_ref(array(0.0f)), other = new_ref(array(1.0f));
  auto primal = custom_vjp([](Ref r, Array x) { return std::pair(r, x); }, [](Ref r, Array x) { return std::pair(std::pair(r, x), x); },
                           [](Array x, std::pair<Ref, Array>) { return std::pair(Ref(), x); });
  EXPECT_HJX_ERROR(primal(r, array(1.0f)),
                   "custom_vjp: expected a function that returns values, got the ref ref{f32}, which was passed in as argument 0\n"
                   "  help: return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already");
  auto forward = custom_vjp([](Array x) { return x; }, [&](Array x) { return std::pair(x, other); }, [](Ref, Array g) { return g; });
  EXPECT_HJX_ERROR(grad([&](Array x) { return forward(x); })(array(1.0f)),
                   "custom_vjp: expected fwd to return values and refs that are its arguments as residuals, got the ref ref{f32}\n"
                   "  help: use a captured ref in bwd directly; of other refs return what they hold");
  // A captured ref is there for bwd.
  auto logging = custom_vjp([](Array x) { return 2 * x; }, [](Array x) { return std::pair(2 * x, Nothing()); },
                            [&](Nothing, Array g) {
                              other.set(g);
                              return 2 * g;
                            });
  EXPECT_CLOSE(grad([&](Array x) { return 3 * logging(x); })(array(1.0f)), array(6.0f));
  EXPECT_CLOSE(other.get(), array(3.0f));
}

TEST(FrontendRefs, WritesThatCannotBe) {
  Ref r = new_ref(array(0.0f));
  EXPECT_HJX_ERROR(vmap([&](Array x) {
    r.add(1);
    return x;
  })(array({1.0, 2.0})),
                   "vmap: the add at " HERE " writes a ref that all elements of the batch share, in a function that is mapped\n"
                   "  help: move the ref to be an argument that is mapped, or write it outside");
  EXPECT_HJX_ERROR(grad([&](Array x) {
    r.set(x);
    return x;
  })(array(1.0f)),
                   "grad: the set at " HERE " writes a value that has a tangent into a ref that has none: expected a ref made "
                   "inside the differentiated function, or one that is differentiated itself\n"
                   "  help: to write the value alone, apply hjx.stop_gradient to it");
}

TEST(FrontendRefs, TreesOfRefs) {
  // A structure of parameters and a vector of one ref for each of its leaves.
  auto params = std::pair(ones({2, 3}), std::vector<Array>{ones({3}), zeros({3})});
  auto loss = [](const std::pair<Array, std::vector<Array>> &p, Array x) {
    return sum(sin(matmul(x, p.first) * p.second[0] + p.second[1]));
  };
  std::vector<Ref> bars = new_refs(tree_map([](const Array &p) { return zeros_like(p); }, params));
  Array x = array({0.5, -0.25});
  auto pullBack = vjp(loss, params, x).second;
  pullBack.with_refs(bars, dont_want)(array(1.0f));
  pullBack.with_refs(bars, dont_want)(array(1.0f));
  auto expected = grad(loss)(params, x);
  auto got = freeze_tree(params, bars);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_CLOSE(tree_leaves(got)[i], 2 * tree_leaves(expected)[i]);
  EXPECT_HJX_ERROR(pullBack.with_refs(std::vector<Ref>{bars[0]}, dont_want)(array(1.0f)),
                   "with_refs: expected 3 refs for argument 0, one for each leaf, got 1\n"
                   "  help: pass hjx::grad_value or hjx::dont_want for an argument without refs");
  EXPECT_HJX_ERROR(pullBack.with_refs(std::vector<Ref>{bars[0], bars[1], bars[1]}, dont_want)(array(1.0f)),
                   "vjp: expected each ref to be passed once, got the ref ref{f32[3]} as both the gradient of argument 0[1][0] and the "
                   "gradient of argument 0[1][1]\n"
                   "  help: pass it once, or make a copy: hjx::new_ref(ref.get())");
  EXPECT_HJX_ERROR(pullBack.with_refs(std::vector<Ref>{bars[1], bars[0], bars[2]}, dont_want)(array(1.0f)),
                   "vjp: expected a ref{f32[2,3]} for the gradient of argument 0[0], got ref{f32[3]}\n"
                   "  help: make one for with_refs: hjx::new_ref(hjx::zeros_like(x))");
}

TEST(FrontendRefs, ErrorsSayWhatToDo) {
  EXPECT_HJX_ERROR(Ref().get(), "get: expected a ref, got one without value (default-constructed)\n  help: make one: hjx::new_ref(x)");
  EXPECT_HJX_ERROR(Ref().type(), "type: expected a ref, got one without value (default-constructed)\n  help: make one: hjx::new_ref(x)");
  Ref leak;
  jit([&](Array x) {
    leak = new_ref(x);
    return x;
  })(ones({3}));
  try {
    leak.add(1);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("help: return what it holds, ref.get(), from that function"));
  }
}
