// SPDX-License-Identifier: Apache-2.0
//
// Refs as cells: arguments, captured, made inside, indexed, uninitialised.
#include "test/conformance/RefsTesting.h"

using namespace hjx;
using hjx::testing::countOf;
using hjx::testing::eagerAndJit;
using ::testing::HasSubstr;

TEST(RefsCells, ProgramsNameTheRefsThatTheyReadAndWrite) {
  std::string ir = make_ir([](Ref r, Ref s) { r[0] += s.get(1); })(new_ref(zeros({3})), new_ref(zeros({2})));
  EXPECT_THAT(ir, HasSubstr("%arg0: !hjx.ref<tensor<3xf32>>, %arg1: !hjx.ref<tensor<2xf32>>"));
  EXPECT_EQ(countOf(ir, "hjx.ref_get %arg1[1]"), 1u);
  EXPECT_EQ(countOf(ir, "hjx.ref_add %arg0[0]"), 1u);
}

TEST(RefsCells, RefsAmongArraysAndSeveralResults) {
  auto f = [](Ref x, Array y, Ref z, Array w) {
    x.set(x.get() + 1);
    x[0] += 1;
    x.set(1, x.get(1) + 5);
    z[2] += 7;
    return std::tuple(y + w, x.get(1) + z.get(2), w);
  };
  eagerAndJit(f, [](const auto &f) {
    Ref x = new_ref(zeros({3})), z = new_ref(zeros({3}));
    auto [sum, cells, w] = f(x, array(1.0f), z, array({1.0, 2.0}));
    EXPECT_CLOSE(sum, array({2.0, 3.0}));
    EXPECT_CLOSE(cells, array(13.0f));
    EXPECT_CLOSE(w, array({1.0, 2.0}));
    EXPECT_CLOSE(x.get(), array({2.0, 6.0, 1.0}));
    EXPECT_CLOSE(z.get(), array({0.0, 0.0, 7.0}));
  });
}

TEST(RefsCells, CapturedByANestedJitBesideAnArgument) {
  Ref x = new_ref(zeros({3}));
  auto f = jit([x](Ref y, Array z) {
    return jit([x, y](Array z) {
      x.set(x.get() + 1);
      x[0] += 1;
      x[1] += 5;
      y[2] += 7;
      return z + 9;
    })(z);
  });
  Ref y = new_ref(zeros({3}));
  Array w = f(y, f(y, array(1.0f)));
  EXPECT_CLOSE(w, array(19.0f));
  EXPECT_CLOSE(x.get(), array({4.0, 12.0, 2.0}));
  EXPECT_CLOSE(y.get(), array({0.0, 0.0, 14.0}));
}

TEST(RefsCells, ExportedProgramsTakeRefsAsArguments) {
  // Captured ones come last.
  Ref captured = new_ref(ones({2}));
  Module module;
  module.add("f", [=](Array x, Ref r) {
    r[0] += x;
    captured.add(r.get());
    return x;
  }, abstract({}), new_ref(zeros({2})));
  EXPECT_THAT(module.text(), ::testing::ContainsRegex(
                                 "@f\\(%arg0: tensor<f32> [^%]*%arg1: !hjx.ref<tensor<2xf32>> [^%]*%arg2: !hjx.ref<tensor<2xf32>>"));
  EXPECT_CLOSE(captured.get(), ones({2}));
}

TEST(RefsCells, LengthAndKindAreKnownWhileTracing) {
  Ref r = new_ref(zeros({3, 2}, bfloat16));
  EXPECT_FALSE(r.is_traced());
  jit([](Ref r) {
    EXPECT_TRUE(r.is_traced());
    EXPECT_EQ(r.shape(0), 3);
    EXPECT_EQ(r.ndim(), 2);
    EXPECT_EQ(r.size(), 6);
    EXPECT_EQ(r.dtype(), bfloat16);
  })(r);
}

TEST(RefsCells, TheInitialArrayOutlivesUpdatesInPlace) {
  Array x = arange(3, float32);
  auto add = jit([](Ref r) { r.add(ones({3})); });
  Ref r = new_ref(x), s = new_ref(x);
  add(r);
  add(r);
  add(s);
  EXPECT_CLOSE(x, array({0.0, 1.0, 2.0}));
  EXPECT_CLOSE(r.get(), array({2.0, 3.0, 4.0}));
  EXPECT_CLOSE(s.get(), array({1.0, 2.0, 3.0}));
}

TEST(RefsCells, NumbersThatAreSwappedInTakeTheElementType) {
  eagerAndJit([](Ref r) { return r.swap(1, 2.5); }, [](const auto &f) {
    Ref r = new_ref(ones({2}, bfloat16));
    EXPECT_CLOSE(f(r), array(1.0f, bfloat16));
    EXPECT_CLOSE(r.get(), array({1.0, 2.5}, bfloat16));
  });
  EXPECT_HJX_ERROR(new_ref(array({1, 2})).swap(1, 2.5), "swap: expected a value of type i32, that of the part, got f32\n"
                                                        "  help: convert it: x.astype(hjx::int32)");
}

TEST(RefsCells, AnArrayOfKeys) {
  eagerAndJit([](Ref keys) {
    keys[0] = random::fold_in(keys.get(1), 7);
    return random::key_data(keys.get(0));
  }, [](const auto &f) {
    Array keys = random::split(random::key(3));
    Ref cell = new_ref(keys);
    Array expected = random::key_data(random::fold_in(keys[1], 7));
    EXPECT_CLOSE(f(cell), expected);
    EXPECT_CLOSE(random::key_data(cell.get()), stack({expected, random::key_data(keys[1])}));
  });
}

TEST(RefsCells, AGeneratorIsAKeyAndACounter) {
  // What a stateful generator of random numbers needs: a draw folds the counter in and advances it.
  auto draw = [](Ref key, Ref count) {
    Array x = random::uniform(random::fold_in(key.get(), count.get()), {2});
    count.add(1);
    return x;
  };
  Array seed = random::key(0);
  auto drawn = [&](int i) { return random::uniform(random::fold_in(seed, i), {2}); };
  eagerAndJit(draw, [&](const auto &draw) {
    Ref key = new_ref(seed), count = new_ref(array(0));
    EXPECT_CLOSE(draw(key, count), drawn(0));
    EXPECT_CLOSE(draw(key, count), drawn(1));
    EXPECT_CLOSE(count.get(), array(2));
  });
  // A loop draws what as many calls do; mapped keys and counters draw each for itself.
  Ref key = new_ref(seed), count = new_ref(array(5));
  EXPECT_CLOSE(foreach([&](Array) { return draw(key, count); }, arange(2)), stack({drawn(5), drawn(6)}));
  Array seeds = random::split(seed);
  Ref keys = new_ref(seeds), counts = new_ref(array({0, 3}));
  EXPECT_CLOSE(vmap(draw)(keys, counts), stack({random::uniform(random::fold_in(seeds[0], 0), {2}),
                                                random::uniform(random::fold_in(seeds[1], 3), {2})}));
  EXPECT_CLOSE(counts.get(), array({1, 4}));
  EXPECT_THROW(vmap([&](Array) { return draw(key, count); })(arange(2)), Error);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

TEST(RefsCells, PartsAreThoseOfNumpy) {
  Array start = arange(60, float32).reshape({3, 4, 5});
  Array ids = array({2, 0}), ids2 = array({1, 3}), column = array({{0}, {2}});
  const std::vector<std::vector<Index>> patterns = {
      {1},
      {-1},
      {ellipsis},
      {every, 2},
      {ellipsis, -2},
      {1, ellipsis, 3},
      {0, 1, 2},
      {Slice(1)},
      {Slice(0, -1), Slice(1, 4, 2)},
      {Slice(2, 2)},
      {ids},
      {every, ids},
      {column},
      {ids, ids2},          // together: in place
      {every, ids, ids2},
      {ids, every, ids2},   // apart: their axes come first
      {ids, 1, ids2},
      {column, ids2},       // broadcast against each other
      {ids, Slice(0, 3)},
      {array(1), every, ids},
  };
  for (const std::vector<Index> &pattern : patterns) {
    SCOPED_TRACE(&pattern - patterns.data());
    Where here = Where::current();
    Indexed part(start, pattern);
    Array old = part.get();
    Array value = arange(old.size(), float32).reshape(old.shape()) * 100;
    Ref r = new_ref(start);
    EXPECT_CLOSE(RefPart(r, pattern, here).get(), old);
    RefPart(r, pattern, here) = value;
    EXPECT_CLOSE(r.get(), part.set(value));
    r.set(start);
    RefPart(r, pattern, here) += value;
    EXPECT_CLOSE(r.get(), part.add(value));
  }
}

TEST(RefsCells, PartsAtTracedPlacesAreThoseOfNumpy) {
  auto f = [](Ref r, Array i, Array rows, Array columns) {
    Array row = r.get({every, i});
    r[{rows, every, columns}] += ones({2, 4});
    r[{i, rows}] = zeros({2, 5});
    return std::pair(row, r.get({ellipsis, columns}));
  };
  Array start = arange(60, float32).reshape({3, 4, 5}), i = array(1), rows = array({2, 0}), columns = array({1, 3});
  Array end = start.at({rows, every, columns}).add(ones({2, 4})).at({i, rows}).set(zeros({2, 5}));
  eagerAndJit(f, [&](const auto &f) {
    Ref r = new_ref(start);
    auto [row, last] = f(r, i, rows, columns);
    EXPECT_CLOSE(row, start[{every, 1}]);
    EXPECT_CLOSE(last, end[{ellipsis, columns}]);
    EXPECT_CLOSE(r.get(), end);
  });
}

TEST(RefsCells, EqualIndicesAllAdd) {
  eagerAndJit([](Ref r, Array ids) { r[ids] += array({1.0, 10.0, 100.0}); }, [](const auto &f) {
    Ref r = new_ref(zeros({3}));
    f(r, array({2, 0, 2}));
    EXPECT_CLOSE(r.get(), array({10.0, 0.0, 101.0}));
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST(RefsCells, MadeInAScan) {
  eagerAndJit([](Array xs) {
    return foreach([](Array x) {
      Ref r = new_ref(x);
      r.set(r.get() + 2);
      return freeze(r);
    }, xs);
  }, [](const auto &f) { EXPECT_CLOSE(f(arange(5)), arange(5) + 2); });
}

TEST(RefsCells, CapturedByAScan) {
  eagerAndJit([](Ref r) {
    return scan([&](Nothing, Nothing) {
      r.set(r.get() + 2);
      return std::pair(Nothing(), r.get());
    }, Nothing(), Nothing(), {.length = 5}).second;
  }, [](const auto &f) {
    Ref r = new_ref(array(0));
    EXPECT_CLOSE(f(r), array({2, 4, 6, 8, 10}));
    EXPECT_CLOSE(r.get(), array(10));
  });
}

TEST(RefsCells, SlicedByAScan) {
  eagerAndJit([](Ref r) { foreach([](Ref x) { x.set(x.get() + 2); }, r); }, [](const auto &f) {
    Ref r = new_ref(arange(5));
    f(r);
    EXPECT_CLOSE(r.get(), arange(5) + 2);
  });
}

//===----------------------------------------------------------------------===//
// Uninitialised cells
//===----------------------------------------------------------------------===//

TEST(RefsCells, EmptyRefsAndTheirDerivatives) {
  auto f = [](Array x) {
    Ref r = empty_ref(Shape());
    r.set(x);
    r.set(r.get() * 2);
    return freeze(r);
  };
  eagerAndJit(f, [&](const auto &f) {
    EXPECT_CLOSE(f(array(3.0f)), array(6.0f));
    EXPECT_CLOSE(jvp(f, array(3.0f), array(1.0f)).second, array(2.0f));
    EXPECT_CLOSE(grad(f)(array(3.0f)), array(2.0f));
  });
}

TEST(RefsCells, RefsThatAreNeverFrozenEndWithTheirFunction) {
  auto f = [](Array x) {
    Ref r = new_ref(x);
    r.set(r.get() * 2);
    return r.get();
  };
  eagerAndJit(f, [&](const auto &f) {
    EXPECT_CLOSE(f(array(3.0f)), array(6.0f));
    EXPECT_CLOSE(jvp(f, array(3.0f), array(1.0f)).second, array(2.0f));
    EXPECT_CLOSE(grad(f)(array(3.0f)), array(2.0f));
  });
}
