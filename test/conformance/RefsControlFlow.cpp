// SPDX-License-Identifier: Apache-2.0
//
// Refs in branches and loops, compared with the same in C++ where it is easier to see.
#include "test/conformance/RefsTesting.h"

using namespace hjx;
using hjx::testing::eagerAndJit;

TEST(RefsControlFlow, BranchesThatUseARefTwice) {
  // As an operand and, in the branch, in calls; before and after.
  auto f = [](Ref r, Array p) {
    r.add(1);
    auto twice = jit([](Ref r) { r.set(r.get() * 2); });
    Array seen = cond(p, [=](Ref r) {
      twice(r);
      twice(r);
      return r.get();
    }, [](Ref r) { return r.swap(0); }, r);
    r.add(1);
    return seen;
  };
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(array(2));
    EXPECT_CLOSE(f(r, array(true)), array(12));
    EXPECT_CLOSE(r.get(), array(13));
    EXPECT_CLOSE(f(r, array(false)), array(14));
    EXPECT_CLOSE(r.get(), array(1));
  });
}

TEST(RefsControlFlow, NestedBranchesWithArraysBetweenRefs) {
  auto f = [](Array p, Array q, Array x, Ref a, Array y, Ref b) {
    return cond(p, [=](Array x, Ref a, Array y, Ref b) {
      a.set(x);
      return cond(q, [=](Ref b) { b.set(y); return a.get(); }, [=](Ref b) { a.add(b.get()); return y; }, b);
    }, [](Array x, Ref, Array y, Ref b) { b.add(x * y); return x; }, x, a, y, b);
  };
  for (int pq = 0; pq < 4; ++pq) {
    const bool p = pq & 1, q = pq & 2;
    // x = 2, y = 3, a = 10, b = 20
    double a = 10, b = 20, result = 2;
    if (p) {
      a = 2;
      result = q ? a : 3;
      q ? b = 3 : a += b;
    } else {
      b += 6;
    }
    eagerAndJit(f, [&](const auto &f) {
      Ref cellA = new_ref(array(10.0)), cellB = new_ref(array(20.0));
      EXPECT_CLOSE(f(array(p), array(q), array(2.0), cellA, array(3.0), cellB), array(result));
      EXPECT_CLOSE(cellA.get(), array(a));
      EXPECT_CLOSE(cellB.get(), array(b));
    });
  }
}

TEST(RefsControlFlow, SwitchWritesOneOfSeveralCells) {
  auto f = [](Ref r, Array i) {
    auto write = [=](int place) { return [=] { r[place] += 1; }; };
    switch_(i, std::tuple{write(0), write(2), write(1)});
  };
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(zeros({3}));
    for (int i : {0, 1, 1, 2, 9, -4}) // Out of range: the nearest branch.
      f(r, array(i));
    EXPECT_CLOSE(r.get(), array({2.0, 2.0, 2.0}));
  });
}

TEST(RefsControlFlow, WhileBodiesWriteCellsThatTheirConditionReads) {
  auto f = [](Ref sum, Ref last) {
    return while_loop([=](Array i) { return (i < 10) & (sum.get() < 10); }, [=](Array i) {
      sum.add(i);
      last.set(i + 3);
      return i + 1;
    }, array(0));
  };
  eagerAndJit(f, [](const auto &f) {
    Ref sum = new_ref(array(0)), last = new_ref(array(-1));
    EXPECT_CLOSE(f(sum, last), array(5));
    EXPECT_CLOSE(sum.get(), array(10));
    EXPECT_CLOSE(last.get(), array(7));
    // No iteration, no write.
    EXPECT_CLOSE(f(sum, last), array(0));
    EXPECT_CLOSE(last.get(), array(7));
  });
}

TEST(RefsControlFlow, NestedScansOverOneCell) {
  auto f = [](Ref r, Ref rows) {
    return foreach([=](Array x, Ref row) {
      foreach([=](Array y, Ref cell) {
        r.set(r.get() * x + y);
        cell.set(r.get());
      }, arange(2), row);
      return r.get();
    }, arange(1, 4), rows);
  };
  std::vector<int> seen, cells;
  int value = 1;
  for (int x = 1; x < 4; ++x) {
    for (int y = 0; y < 2; ++y)
      cells.push_back(value = value * x + y);
    seen.push_back(value);
  }
  eagerAndJit(f, [&](const auto &f) {
    Ref r = new_ref(array(1)), rows = new_ref(zeros({3, 2}, int32));
    EXPECT_CLOSE(f(r, rows), array(seen));
    EXPECT_CLOSE(r.get(), array(value));
    EXPECT_CLOSE(rows.get(), array(cells, {3, 2}));
  });
}

TEST(RefsControlFlow, ForiLoopsReadAndWriteByCounter) {
  // A prefix sum in place.
  auto f = [](Ref r) { fori_loop(1, 5, [=](Array i, Nothing) { r[i] += r.get(i - 1); return Nothing(); }, Nothing()); };
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(array({1, 2, 3, 4, 5}));
    f(r);
    EXPECT_CLOSE(r.get(), array({1, 3, 6, 10, 15}));
  });
}

TEST(RefsControlFlow, CellsStandForTheStateOfAFunctionOfValues) {
  // What a pass over state is: values in, cells inside, values out; it nests, maps and differentiates.
  auto step = [](Array x, Array y) {
    Ref a = new_ref(x), b = new_ref(y), unset = empty_ref(Shape(), float64);
    unset.set(a.get() * 2);
    b[0] += unset.get();
    a.set(sin(a.get()) + b.get(1));
    return std::pair(freeze(a), freeze(b));
  };
  auto values = [](Array x, Array y) { return std::pair(sin(x) + y[1], y.at(0).add(2 * x)); };
  Array x = array(0.3, float64), y = array({0.5, -1.0}, float64);
  eagerAndJit(step, [&](const auto &f) {
    EXPECT_CLOSE(f(x, y).first, values(x, y).first, 1e-12);
    EXPECT_CLOSE(f(x, y).second, values(x, y).second, 1e-12);
    // With and without a tangent of an argument.
    for (double yDot : {0.0, 1.0}) {
      auto dots = std::tuple(array(1.0, float64), yDot * ones_like(y));
      auto got = jvp(f, std::tuple(x, y), dots).second, expected = jvp(values, std::tuple(x, y), dots).second;
      EXPECT_CLOSE(got.first, expected.first, 1e-12);
      EXPECT_CLOSE(got.second, expected.second, 1e-12);
    }
    auto mapped = vmap(f, {0, none})(stack({x, 2 * x}), y);
    EXPECT_CLOSE(mapped.first[1], values(2 * x, y).first, 1e-12);
  });
}
