// SPDX-License-Identifier: Apache-2.0
//
// Hi-types under vmap and as xs and ys of scan: mapping specs of the type's author.
// After the tests of JAX's hijax.
#include "test/conformance/Conformance.h"
#include "test/unit/BareType.h"

using namespace hjx;
using namespace conformance;
using hjx::testing::Bare, hjx::testing::BareArray;
using tuples::make_tup, tuples::Tup, tuples::TupType;

namespace {

/// An entry of in_axes for one tuple.
AxisTree spec(AxisSpec first, AxisSpec second) { return AxisTree(AxisSpec{first, second}); }
/// In_axes of a function of one tuple.
AxisTree only(AxisSpec first, AxisSpec second) { return AxisTree({spec(first, second)}); }

Tup identity(Tup t) { return t; }

} // namespace

TEST(HiTypesConformance, MappedIdentityWithASpecForEachComponent) {
  Tup t = pairOf(arange(3), arange(3));
  for (bool compiled : {false, true})
    expectSame(run(compiled, vmap(identity, only(0, 0), spec(0, 0), AxisSize{3}))(t), t);
}

TEST(HiTypesConformance, MappedIdentityThroughJit) {
  Tup t = pairOf(arange(3), arange(3));
  expectSame(vmap(jit(identity), only(0, 0), spec(0, 0), AxisSize{3})(t), t);
}

TEST(HiTypesConformance, AnIntegerAxisForAHiValueIsRefused) {
  Tup t = pairOf(arange(3), arange(3));
  EXPECT_HJX_ERROR(vmap(identity)(t),
                   "vmap: expected hjx::none or a mapping spec in in_axes, got the axis 0 for the non-array type tup{i32[3],i32[3]}\n"
                   "  help: give the spec that the author of the type defines, such as a string; hjx::AxisSpec(0) if it is a number");
}

TEST(HiTypesConformance, AMissingMethodIsNamedWithItsTypeAndWhatNeedsIt) {
  BareArray x = raise<BareArray>(Bare{{2, 3}}, {ones({2, 3})});
  EXPECT_HJX_ERROR(vmap([](BareArray x) { return x; }, {"rows"}, "rows", AxisSize{2})(x),
                   "vmap: mapping (vmap, scan) requires bare to implement the dec_rank method\n"
                   "  help: write it in the class of the type");
}

TEST(HiTypesConformance, HiValuesMadeAndUsedInsideAMappedFunctionOfArrays) {
  auto f = [](Array x) { return element(pairOf(x, 2 * x), 1); };
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, vmap(f))(arange(3)), 2 * arange(3));
}

TEST(HiTypesConformance, MappedCustomVjpOfATupleRunsItsPrimal) {
  // Rules that would give something else if they ran.
  auto f = custom_vjp([](Tup t) { return element(t, 0) + 1; }, [](Tup t) { return std::pair(element(t, 0) + 100, Nothing()); },
                      [](Nothing, Array bar) { return pairOf(100 * bar, 100 * bar); });
  Tup t = pairOf(arange(3, float32), arange(3, float32));
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, vmap([&](Tup t) { return f(t); }, only(0, 0), 0, AxisSize{3}))(t), arange(3, float32) + 1);
}

TEST(HiTypesConformance, AHiResultThatIsNotMappedIsReturnedOnce) {
  Tup shared = vmap([](Array, Tup t) { return t; }, {0, none}, none)(arange(3), pairOf(array(1), array(2)));
  expectSame(shared, pairOf(array(1), array(2)));
}

TEST(HiTypesConformance, NestedMapsOverDifferentAxes) {
  // The inner map takes axis 0 of the first component and axis 1 of the second, of what the outer leaves.
  auto inner = vmap(identity, only(0, 1), spec(0, 1), AxisSize{2});
  auto outer = vmap([&](Tup t) { return inner(t); }, only(0, 2), spec(0, 2), AxisSize{3});
  Tup t = pairOf(arange(6).reshape({3, 2}), arange(12).reshape({2, 2, 3}));
  for (bool compiled : {false, true})
    expectSame(run(compiled, outer)(t), t);
}

TEST(HiTypesConformance, MixedSpecsFollowTheElements) {
  auto swap = [](Tup t) { return pairOf(element(t, 1), element(t, 0)); };
  Tup t = pairOf(arange(3), array(4));
  for (bool compiled : {false, true}) {
    Tup swapped = run(compiled, vmap(swap, only(0, none), spec(none, 0), AxisSize{3}))(t);
    EXPECT_EQ(to_string(swapped.type()), "tup{i32,i32[3]}");
    expectSame(swapped, pairOf(array(4), arange(3)));
  }
}

TEST(HiTypesConformance, AHiResultThatIsNotMappedIsRepeatedForASpec) {
  Tup repeated = vmap([](Array, Tup t) { return t; }, {0, none}, spec(0, none))(arange(3), pairOf(array(1), array(2)));
  expectSame(repeated, pairOf(array({1, 1, 1}), array(2)));
}

TEST(HiTypesConformance, ArrayXsSayTheLengthForHiXs) {
  for (bool compiled : {false, true}) {
    Array total = run(compiled, [](Tup t, Array xs) {
      return scan([](Array c, const std::pair<Tup, Array> &x) { return std::pair(c + element(x.first, 0) + x.second, Nothing()); }, array(0),
                  std::pair(t, xs)).first;
    })(pairOf(arange(3), ones({3}, int32)), ones({3}, int32));
    EXPECT_CLOSE(total, array(6));
  }
}

TEST(HiTypesConformance, HiXsAloneNeedALength) {
  Tup t = pairOf(arange(3), arange(3));
  auto body = [](Array c, Tup x) { return std::pair(c + element(x, 0), Nothing()); };
  EXPECT_HJX_ERROR(scan(body, array(0), t),
                   "scan: must provide `length`: none of the xs is an array, whose leading axis would say it, xs is tup{i32[3],i32[3]}\n"
                   "  help: pass it after the xs: scan(f, init, xs, {.length = n})");
  EXPECT_CLOSE(scan(body, array(0), t, {.length = 3}).first, array(3));
}

TEST(HiTypesConformance, TheBodyOfScanSeesElementsAndYsAreStacked) {
  std::vector<std::string> seen;
  auto body = [&](Nothing, Tup x) {
    seen.push_back(to_string(x.type()));
    return std::pair(Nothing(), pairOf(element(x, 1), 2 * element(x, 0)));
  };
  Tup t = pairOf(arange(3), arange(6).reshape({3, 2}));
  for (bool compiled : {false, true}) {
    Tup ys = run(compiled, [&](Tup t) { return scan(body, Nothing(), t, {.length = 3}).second; })(t);
    expectSame(ys, pairOf(arange(6).reshape({3, 2}), 2 * arange(3)));
  }
  for (const std::string &type : seen)
    EXPECT_EQ(type, "tup{i32,i32[2]}");
  EXPECT_FALSE(seen.empty());
}
