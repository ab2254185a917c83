// SPDX-License-Identifier: Apache-2.0
//
// Refs under vmap, in rules of the user, and under checkpoint.
#include "test/conformance/RefsTesting.h"

#include <hjx/hi_type.h>

using namespace hjx;
using hjx::testing::eagerAndJit;

namespace {

/// The identity, whose backward pass writes the cotangent that passes by into a ref.
Array stash(const Array &x, const Ref &kept) {
  return custom_vjp([](Array x, Ref) { return x; }, [](Array x, Ref kept) { return std::pair(x, kept); },
                    [](Ref kept, Array g) {
                      kept.set(g);
                      return std::pair(g, Array());
                    })(x, kept);
}

/// A primitive whose expansion is written with a ref: x + [0, 1, 2, ..].
struct AddPositions {
  static constexpr const char *name = "conformance_add_positions";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) {
    Ref r = new_ref(x);
    foreach([&](Array i) { r[i] += i; }, arange(x.shape(0)));
    return freeze(r);
  }
};
HJX_REGISTER_PRIMITIVE(AddPositions)

const float sin1 = std::sin(1.0f), cosSin1 = std::cos(sin1), slope = cosSin1 * std::cos(1.0f); // of sin(sin(x)) at 1

} // namespace

//===----------------------------------------------------------------------===//
// vmap
//===----------------------------------------------------------------------===//

TEST(RefsVmap, MappedRefsIndicesAndValuesInAllCombinations) {
  auto f = [](Ref r, Array i, Array v) {
    Array old = r.swap(i, v);
    r[i] += v;
    r[{Slice(1, 3)}] += v * ones({2});
    return std::pair(old, r.get(i));
  };
  const Array cells = arange(12, float32).reshape({3, 4});
  for (int refAxis : {0, 1})
    for (bool mapsIndex : {false, true})
      for (bool mapsValue : {false, true}) {
        SCOPED_TRACE(::testing::Message() << refAxis << mapsIndex << mapsValue);
        Array i = mapsIndex ? array({1, 3, 0}) : array(2), v = mapsValue ? array({10.0, 20.0, 30.0}) : array(7.0f);
        // The same, element by element.
        std::vector<Array> olds, reads, ends;
        for (int b = 0; b < 3; ++b) {
          Ref r = new_ref(cells[b]);
          auto [old, read] = f(r, mapsIndex ? i[b] : i, mapsValue ? v[b] : v);
          olds.push_back(old);
          reads.push_back(read);
          ends.push_back(r.get());
        }
        AxisTree indexAxis = mapsIndex ? AxisTree(0) : AxisTree(none), valueAxis = mapsValue ? AxisTree(0) : AxisTree(none);
        eagerAndJit(vmap(f, {refAxis, indexAxis, valueAxis}), [&](const auto &mapped) {
          Ref r = new_ref(refAxis == 0 ? cells : cells.T());
          auto [old, read] = mapped(r, i, v);
          EXPECT_CLOSE(old, stack(olds));
          EXPECT_CLOSE(read, stack(reads));
          EXPECT_CLOSE(r.get(), stack(ends, refAxis));
        });
      }
}

TEST(RefsVmap, SharedRefsAreReadAtMappedPlaces) {
  Ref table = new_ref(arange(6, float32).reshape({3, 2}));
  auto f = vmap([=](Array i) { return table.get(i) + table.get({0, 1}); });
  eagerAndJit(f, [](const auto &f) { EXPECT_CLOSE(f(array({2, 0})), array({{5.0, 6.0}, {1.0, 2.0}})); });
}

TEST(RefsVmap, SeveralRefsAtDifferentAxes) {
  auto f = vmap([](Ref a, Array x, Ref b) {
    a.add(x);
    b.set(b.get() * a.get(0));
    return sum(b.get());
  }, {1, 0, 0}, 0);
  eagerAndJit(f, [](const auto &f) {
    Ref a = new_ref(zeros({2, 3})), b = new_ref(ones({3, 4}));
    EXPECT_CLOSE(f(a, array({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}), b), array({4.0, 12.0, 20.0}));
    EXPECT_CLOSE(a.get(), array({{1.0, 3.0, 5.0}, {2.0, 4.0, 6.0}}));
    EXPECT_CLOSE(b.get(), broadcast_to(array({{1.0}, {3.0}, {5.0}}), {3, 4}));
  });
}

TEST(RefsVmap, RefsOfSharedValuesHaveOneCellForEachElement) {
  auto f = vmap([](Array x) {
    Ref r = new_ref(array(0));
    r.set(x);
    return freeze(r);
  });
  eagerAndJit(f, [](const auto &f) { EXPECT_CLOSE(f(array({1, 2, 3, 4})), array({1, 2, 3, 4})); });
  // The same of one that nothing was put into.
  auto g = vmap([](Array x) {
    Ref r = empty_ref({}, int32);
    r.set(x);
    return freeze(r);
  });
  eagerAndJit(g, [](const auto &g) { EXPECT_CLOSE(g(array({1, 2, 3, 4})), array({1, 2, 3, 4})); });
}

TEST(RefsVmap, SharedValuesAreWrittenToAllCells) {
  auto f = vmap([](Ref r) { r.set(0, 2.0); });
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(arange(6, float32).reshape({3, 2}));
    f(r);
    EXPECT_CLOSE(r.get(), array({{2.0, 1.0}, {2.0, 3.0}, {2.0, 5.0}}));
  });
}

TEST(RefsVmap, GradientsIntoMappedRefs) {
  auto f = vmap([](Array x, Ref bar) { vjp([](Array x) { return sin(x); }, x).second.with_refs(bar)(array(1.0f)); });
  eagerAndJit(f, [](const auto &f) {
    Array x = array({0.5, 1.0, 2.0});
    Ref bar = new_ref(array({100.0, 0.0, 0.0}));
    f(x, bar);
    EXPECT_CLOSE(bar.get(), cos(x) + array({100.0, 0.0, 0.0}));
  });
}

TEST(RefsVmap, MappedBranchesWriteWhereTheyAreTaken) {
  // A mapped predicate: each element's cells are written by its own branch alone.
  auto f = vmap([](Ref r, Array p) { cond(p, [&] { r[0] += 1; }, [&] { r.set(1, 9); }); });
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(zeros({3, 2}));
    f(r, array({true, false, true}));
    EXPECT_CLOSE(r.get(), array({{1.0, 0.0}, {0.0, 9.0}, {1.0, 0.0}}));
  });
}

TEST(RefsVmap, MappedLoopsStopWritingWhereTheyHaveEnded) {
  auto f = vmap([](Ref r, Array n) {
    return while_loop([=](Array i) { return i < n; }, [&](Array i) {
      r.add(1);
      return i + 1;
    }, array(0));
  });
  eagerAndJit(f, [](const auto &f) {
    Ref r = new_ref(zeros({3}));
    EXPECT_CLOSE(f(r, array({0, 4, 2})), array({0, 4, 2}));
    EXPECT_CLOSE(r.get(), array({0.0, 4.0, 2.0}));
  });
}

//===----------------------------------------------------------------------===//
// Rules of the user
//===----------------------------------------------------------------------===//

TEST(RefsCustomRules, AHistoryOfGradientsWrittenByTheBackwardPass) {
  auto watched = custom_vjp([](Array x, Ref) { return x; }, [](Array x, Ref history) { return std::pair(x, history); },
                            [](Ref history, Array g) {
                              history.set(roll(history.get(), 1, 0).at(0).set(max(abs(g))));
                              return std::pair(g, Array());
                            });
  auto loss = [&](Array x, Array scale, Ref history) { return scale * sum(watched(sin(x), history)); };
  eagerAndJit(grad(loss), [](const auto &gradient) {
    Array x = array({0.5, 1.0});
    Ref history = new_ref(zeros({4}));
    for (float scale : {1.0f, -2.0f, 3.0f})
      EXPECT_CLOSE(gradient(x, array(scale), history), scale * cos(x));
    EXPECT_CLOSE(history.get(), array({3.0, 2.0, 1.0, 0.0}));
  });
}

TEST(RefsCustomRules, TheStashNearestTheInputComesLast) {
  auto f = [](Array x, Ref kept) { return stash(sin(stash(sin(x), kept)), kept); };
  eagerAndJit(grad(f), [](const auto &gradient) {
    Ref kept = new_ref(array(0.0f));
    EXPECT_CLOSE(gradient(array(1.0f), kept), array(slope));
    EXPECT_CLOSE(kept.get(), array(cosSin1));
  });
}

TEST(RefsCustomRules, StashesInLoopsWithAndWithoutCheckpoint) {
  auto loop = [](auto step) {
    return [=](Array x, Ref kept) {
      return scan([&](Array c, Nothing) { return std::pair(step(c, kept), Nothing()); }, x, Nothing(), {.length = 2}).first;
    };
  };
  auto step = [](Array c, Ref kept) { return sin(stash(c, kept)); };
  auto check = [](const auto &gradient) {
    Ref kept = new_ref(array(0.0f));
    EXPECT_CLOSE(gradient(array(1.0f), kept), array(slope));
    EXPECT_CLOSE(kept.get(), array(slope));
  };
  eagerAndJit(grad(loop(step)), check);
  eagerAndJit(grad(loop(checkpoint(step))), check);
  eagerAndJit(grad(checkpoint(loop(step))), check);
}

TEST(RefsCustomRules, StashesBesideAuxiliaryResultsAndAccumulators) {
  auto f = [](Array x, Ref kept) {
    Array y = sin(x);
    return std::pair(sin(stash(y, kept)), y);
  };
  eagerAndJit(grad(f, has_aux), [](const auto &gradient) {
    Ref kept = new_ref(array(0.0f));
    auto [bar, y] = gradient(array(1.0f), kept);
    EXPECT_CLOSE(bar, array(slope));
    EXPECT_CLOSE(y, array(sin1));
    EXPECT_CLOSE(kept.get(), array(cosSin1));
  });
  auto accumulate = [](Array x, Ref kept, Ref bar) {
    vjp([&](Array x) { return sin(stash(sin(x), kept)); }, x).second.with_refs(bar)(array(1.0f));
  };
  Ref kept = new_ref(array(0.0f)), bar = new_ref(array(10.0f));
  jit(accumulate)(array(1.0f), kept, bar);
  EXPECT_CLOSE(kept.get(), array(cosSin1));
  EXPECT_CLOSE(bar.get(), array(10 + slope));
}

TEST(RefsCustomRules, PullBacksOutsideOfJitWriteCapturedRefs) {
  // Passed on, captured by bwd, and under checkpoint; each call of the pull-back writes, the forward pass does not.
  Ref kept = new_ref(array(0.0f)), count = new_ref(array(0));
  auto captured = custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair(x, Nothing()); },
                             [=](Nothing, Array g) {
                               kept.set(g);
                               return g;
                             });
  auto passed = [=](Array x) { return stash(x, kept); };
  auto check = [&](const auto &identity) {
    kept.set(0);
    count.set(0);
    auto [y, pullBack] = vjp([&](Array x) {
      count.add(1);
      return sin(identity(sin(x)));
    }, array(1.0f));
    EXPECT_CLOSE(y, array(std::sin(sin1)));
    EXPECT_CLOSE(kept.get(), array(0.0f));
    EXPECT_CLOSE(std::get<0>(pullBack(array(1.0f))), array(slope));
    EXPECT_CLOSE(kept.get(), array(cosSin1));
    EXPECT_CLOSE(std::get<0>(pullBack(array(-2.0f))), array(-2 * slope));
    EXPECT_CLOSE(kept.get(), array(-2 * cosSin1));
    EXPECT_EQ(count.get().item<int>(), 1) << "the forward pass runs once";
  };
  check(captured);
  check(passed);
  check(checkpoint(passed));
}

TEST(RefsCustomRules, PrimalsMayMakeRefs) {
  auto f = custom_vjp([](Array x) {
    Ref r = new_ref(x);
    r.set(sin(r.get()));
    return freeze(r);
  }, [](Array x) {
    Ref r = new_ref(x);
    r.set(sin(r.get()));
    return std::pair(freeze(r), x);
  }, [](Array x, Array g) {
    Ref r = new_ref(g);
    r.set(3 * r.get() * cos(x)); // Not the true derivative: it is this rule that is used.
    return freeze(r);
  });
  eagerAndJit([=](Array x) { return f(x); }, [](const auto &f) {
    EXPECT_CLOSE(f(array(1.0f)), array(sin1));
    EXPECT_CLOSE(grad(f)(array(1.0f)), array(3 * std::cos(1.0f)));
  });
}

TEST(RefsCustomRules, DifferentiatedRefsAsArguments) {
  auto read = custom_vjp([](Ref r) { return r.get(); }, [](Ref r) { return std::pair(r.get(), r.get()); },
                         [](Array x, Array g) { return 5 * x * g; });
  auto f = [=](Array x) {
    Ref r = new_ref(sin(x));
    return read(r);
  };
  eagerAndJit(f, [](const auto &f) {
    EXPECT_CLOSE(f(array(1.0f)), array(sin1));
    EXPECT_CLOSE(grad(f)(array(1.0f)), array(5 * sin1 * std::cos(1.0f)));
  });
}

TEST(RefsCustomRules, ExpansionsOfPrimitivesMayMakeRefs) {
  eagerAndJit([](Array x) { return call_primitive<AddPositions>(x); },
              [](const auto &f) { EXPECT_CLOSE(f(array({10, 20, 30})), array({10, 21, 32})); });
}

//===----------------------------------------------------------------------===//
// checkpoint
//===----------------------------------------------------------------------===//

TEST(RefsCheckpoint, RefsThatAreMadeInsideAreComputedAgain) {
  auto f = checkpoint([](Array x) {
    Ref r = new_ref(x);
    r.set(sin(r.get()));
    r.set(sin(r.get()));
    return freeze(r);
  });
  eagerAndJit(grad(f), [](const auto &gradient) { EXPECT_CLOSE(gradient(array(1.0f)), array(slope)); });
}

TEST(RefsCheckpoint, WritesToArgumentsHappenOnce) {
  auto f = checkpoint([](Array x, Ref r) {
    Array y = x * x;
    r.add(stop_gradient(y));
    return y;
  });
  eagerAndJit(grad(f), [](const auto &gradient) {
    Ref r = new_ref(array(1.0f));
    EXPECT_CLOSE(gradient(array(2.0f), r), array(4.0f));
    EXPECT_CLOSE(r.get(), array(5.0f));
  });
}

TEST(RefsCheckpoint, ReadsOfCapturedRefsAreKept) {
  // What was read before the increment is used in the backward pass.
  Ref r = new_ref(array(1.0f));
  auto f = checkpoint([=](Array x) {
    Array before = r.get();
    r.add(1);
    return x * before;
  });
  eagerAndJit(grad(f), [=](const auto &gradient) {
    r.set(1);
    EXPECT_CLOSE(gradient(array(3.0f)), array(1.0f));
    EXPECT_CLOSE(r.get(), array(2.0f));
  });
}

TEST(RefsCheckpoint, NestedThreeDeepRunsEffectsOnce) {
  Ref r = new_ref(array(1.0f));
  auto f = checkpoint([=](Array x) {
    return sin(checkpoint([=](Array x) {
      return sin(checkpoint([=](Array x) {
        Array before = r.get();
        r.add(1);
        return x * before;
      })(x));
    })(x));
  });
  eagerAndJit(grad(f), [=](const auto &gradient) {
    r.set(1);
    EXPECT_CLOSE(gradient(array(1.0f)), array(slope));
    EXPECT_CLOSE(r.get(), array(2.0f));
  });
}

TEST(RefsCheckpoint, BackwardPassesThatWriteRefsDoSoOnce) {
  auto f = checkpoint([](Array x, Ref sum) {
    auto watched = custom_vjp([](Array x, Ref) { return x; }, [](Array x, Ref sum) { return std::pair(x, sum); },
                              [](Ref sum, Array g) {
                                sum.add(g);
                                return std::pair(g, Array());
                              });
    return sin(watched(sin(x), sum));
  });
  eagerAndJit(grad(f), [](const auto &gradient) {
    Ref sum = new_ref(array(0.0f));
    EXPECT_CLOSE(gradient(array(1.0f), sum), array(slope));
    EXPECT_CLOSE(sum.get(), array(cosSin1));
  });
}

TEST(RefsCheckpoint, BoundedLoopsOverRefs) {
  auto f = checkpoint([](Array x) {
    Ref r = new_ref(x);
    while_loop([](Array i) { return i < 2; }, [&](Array i) {
      r.set(sin(r.get()));
      return i + 1;
    }, array(0), 4);
    return freeze(r);
  });
  eagerAndJit(grad(f), [](const auto &gradient) { EXPECT_CLOSE(gradient(array(1.0f)), array(slope)); });
}
