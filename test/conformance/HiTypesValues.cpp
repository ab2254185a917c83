// SPDX-License-Identifier: Apache-2.0
//
// Values of hi-types in eager calls, jit, loops and refs. After the tests of JAX's hijax.
#include "test/conformance/Conformance.h"

using namespace hjx;
using namespace conformance;
using quantized::dequantize, quantized::Q8, quantized::QArray, quantized::quantize;
using tuples::make_tup, tuples::Tup, tuples::TupType;

namespace {

/// A quantised matrix whose scales are along an axis that the type says.
struct AlongAxis {
  Shape shape;
  int64_t axis = 0;
  static constexpr const char *name = "along_axis";
  HJX_PARAMS(shape, axis)
  std::vector<Type> lo_types() const { return {Type(int8, shape), Type(float32, {shape[1 - static_cast<int>(axis)]})}; }
};
HJX_REGISTER_TYPE(AlongAxis)
using AxisArray = HiValue<AlongAxis>;

} // namespace

TEST(HiTypesConformance, IdentityThroughACallInsideJit) {
  auto inner = jit([](QArray q) { return q; });
  auto f = [&](QArray q) { return inner(q); };
  expectSame(jit(f)(onesQ()), onesQ());
  EXPECT_THAT(make_ir(f)(onesQ()), ::testing::HasSubstr("(!hjx.q8<2x3>) -> !hjx.q8<2x3>"));
}

TEST(HiTypesConformance, HiValuesInsideACallOfArrays) {
  auto inner = jit([](Array x) { return dequantize(quantize(x)); });
  Array x = array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}});
  EXPECT_CLOSE(jit([&](Array x) { return inner(x); })(x), x, 0.05);
  EXPECT_CLOSE(jit([&](Array x) { return inner(x); })(x), dequantize(quantize(x)));
}

TEST(HiTypesConformance, EmptyRefThenFreezeHasTheComponentTypes) {
  for (bool compiled : {false, true}) {
    QArray q = run(compiled, [] { return freeze_as<QArray>(empty_ref(Type(Q8{{2, 3}}))); })();
    EXPECT_EQ(q.type(), Type(Q8{{2, 3}}));
    auto [values, scales] = lower<Array, Array>(q);
    EXPECT_EQ(AnyValue(values).type(), Type(int8, {2, 3}));
    EXPECT_EQ(AnyValue(scales).type(), Type(float32, {2}));
  }
}

TEST(HiTypesConformance, PutOnADeviceMovesTheComponents) {
  set_num_devices("cpu", 2);
  QArray q = device_put(onesQ(), device("cpu:1"));
  auto [values, scales] = lower<Array, Array>(q);
  EXPECT_EQ(values.device().name(), "cpu:1");
  EXPECT_TRUE(scales.committed());
  EXPECT_EQ(jit([](QArray q) { return dequantize(q); })(q).device().name(), "cpu:1");
  expectSame(device_get(q), onesQ());
}

TEST(HiTypesConformance, StaticFieldsSurviveJit) {
  AxisArray x = raise<AxisArray>(AlongAxis{{2, 3}, 1}, {ones({2, 3}, int8), array({1.5, 2.5})});
  AxisArray same = jit([](AxisArray x) { return x; })(x);
  EXPECT_EQ(same.hi_type().axis, 1);
  expectSame(same, x);
  EXPECT_FALSE(Type(AlongAxis{{2, 3}, 1}) == Type(AlongAxis{{2, 3}, 0}));
}

TEST(HiTypesConformance, OwnScalarTypeThroughJitJvpAndVjp) {
  auto squared = [](Boxed x) { return multiply_boxed(x, x); };
  Boxed one = box(array(1.0f)), three = box(array(3.0f));
  EXPECT_CLOSE(contents(jit(squared)(three)), array(9.0f));
  auto [y, dot] = jvp(squared, three, one);
  EXPECT_CLOSE(contents(y), array(9.0f));
  EXPECT_CLOSE(contents(dot), array(6.0f));
  for (bool compiled : {false, true}) {
    auto pulled = run(compiled, [&](Boxed x, Boxed bar) { return std::get<0>(vjp(squared, x).second(bar)); });
    EXPECT_CLOSE(contents(pulled(one, one)), array(2.0f));
    EXPECT_CLOSE(contents(pulled(three, one)), array(6.0f));
  }
}

TEST(HiTypesConformance, FanOutAddsWithTheTypesOwnAdd) {
  auto squared = [](Boxed x) { return multiply_boxed(x, x); };
  Boxed one = box(array(1.0f));
  std::string ir = make_expanded_ir([&](Boxed x, Boxed bar) { return std::get<0>(vjp(squared, x).second(bar)); })(one, one);
  EXPECT_THAT(ir, ::testing::HasSubstr("\"add_boxed\""));
  EXPECT_THAT(ir, ::testing::HasSubstr("!hjx.boxed"));
}

TEST(HiTypesConformance, SecondCallWithAPrimitiveInsideIsNotRecordedAgain) {
  int recorded = 0;
  auto f = jit([&](QArray q) {
    ++recorded;
    return dequantize(q);
  });
  (void)f(onesQ());
  (void)f(quantize(ones({2, 3})));
  EXPECT_EQ(recorded, 1);
  EXPECT_EQ(f.stats().compilations.size(), 1u);
  (void)f(quantize(ones({3, 2})));
  EXPECT_EQ(recorded, 2);
}

TEST(HiTypesConformance, CarryOfScan) {
  for (bool compiled : {false, true}) {
    auto f = run(compiled, [](QArray q, Array x) {
      return scan([&](QArray c, Nothing) { return std::pair(quantize(dequantize(c) + x), Nothing()); }, q, Nothing(), {.length = 3}).first;
    });
    EXPECT_CLOSE(dequantize(f(quantize(zeros({2, 3})), ones({2, 3}))), full({2, 3}, 3.0), 1e-5);
  }
}

TEST(HiTypesConformance, ProgramsWithHiArgumentsArePrintedCompiledAndCalled) {
  auto f = [](QArray q) { return quantize(2 * dequantize(q)); };
  Module module;
  module.add("f", f, arg("weights", abstract_value<QArray>(Q8{{2, 3}})));
  // One argument, one name; each of its components inherits it.
  EXPECT_THAT(module.text(), ::testing::HasSubstr("%arg0: !hjx.q8<2x3> {hjx.name = \"weights\"}"));
  auto compiled = jit(f);
  EXPECT_CLOSE(dequantize(compiled(onesQ())), 2 * dequantize(onesQ()), 1e-5);
}

TEST(HiTypesConformance, WhileCarriesHiValuesAndTakesACapturedConstant) {
  QArray other = constant(quantize(full({2, 3}, 5.0)));
  for (bool compiled : {false, true}) {
    auto f = run(compiled, [&](QArray a, QArray b) {
      auto state = while_loop([](const std::tuple<QArray, QArray, Array> &s) { return std::get<2>(s) < 2; },
                              [&](const std::tuple<QArray, QArray, Array> &s) {
                                return std::tuple(other, std::get<1>(s), std::get<2>(s) + 1);
                              },
                              std::tuple(a, b, array(0)));
      return std::pair(std::get<0>(state), std::get<1>(state));
    });
    auto [a, b] = f(onesQ(), onesQ());
    expectSame(a, other);
    expectSame(b, onesQ());
  }
}

TEST(HiTypesConformance, TuplesHoldElements) {
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, [](Array x, Array y) { return element(pairOf(x, y), 1); })(array(1), array(2)), array(2));
}

TEST(HiTypesConformance, RefsOfTuples) {
  for (bool compiled : {false, true}) {
    Array y = run(compiled, [](Array x, Array y) {
      Ref ref = new_ref(pairOf(x, y));
      return element(ref.get_as<Tup>(), 1);
    })(array(1.0f), array(2.0f));
    EXPECT_CLOSE(y, array(2.0f));
    // As an argument: two cells of arrays, updated where they lie.
    Ref cell = new_ref(pairOf(array(1.0f), array({2.0, 3.0})));
    run(compiled, [](Ref r) {
      Tup t = r.get_as<Tup>();
      r.set(pairOf(element(t, 0) + 1, 2 * element(t, 1)));
      return element(t, 0);
    })(cell);
    expectSame(cell.get_as<Tup>(), pairOf(array(2.0f), array({4.0, 6.0})));
  }
}

TEST(HiTypesConformance, RefsOfATupleAndOfAScalarTogether) {
  for (bool compiled : {false, true}) {
    Array last = run(compiled, [](Array x, Array y) {
      Ref tuple = new_ref(pairOf(x, y)), scalar = new_ref(zeros_like(x));
      scalar.set(element(tuple.get_as<Tup>(), 1));
      return freeze(scalar);
    })(array(1.0f), array(2.0f));
    EXPECT_CLOSE(last, array(2.0f));
  }
}

TEST(HiTypesConformance, PartsOfARefOfAHiTypeAreRefused) {
  Ref ref = new_ref(onesQ());
  const char *text = "get: expected an access of all of the ref of q8[2,3], got an index\n  help: leave the index out, or write "
                     "index_shape, part_type, get_part and set_part in the class of the type";
  EXPECT_HJX_ERROR(ref.get(0), text);
  EXPECT_HJX_ERROR(jit([](Ref r) { return r.get({every, Slice(0, 2)}); })(ref), text);
}
