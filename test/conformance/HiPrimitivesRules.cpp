// SPDX-License-Identifier: Apache-2.0
//
// The further kinds of rules of a primitive: accumulators, derivatives in halves, refs as operands,
// and parts of refs of hi-types. After the tests of JAX's hijax.
#include "test/conformance/Conformance.h"

using namespace hjx;
using namespace conformance;
using tuples::Tup;

namespace {

/// x to the power of a static exponent, whose backward rule adds to an accumulator.
struct Accumulated {
  int64_t exponent = 1;

  static constexpr const char *name = "conformance_accumulated";
  HJX_PARAMS(exponent)

  static Type infer(const Type &x) { return x; }
  Array expand(const Array &x) const { return power(x, static_cast<int>(exponent)); }
  std::pair<Array, Array> jvp(const Array &x, const Array &dot) const { return {call_primitive(*this, x), slope(x) * dot}; }
  std::pair<Array, Array> vjp_forward(const Array &x) const { return {call_primitive(*this, x), x}; }
  void vjp_backward_into(const Array &x, const Array &bar, Accum<> x_bar) const { x_bar.add(slope(x) * bar); }

private:
  Array slope(const Array &x) const { return static_cast<float>(exponent) * call_primitive(Accumulated{exponent - 1}, x); }
};
HJX_REGISTER_PRIMITIVE(Accumulated)
Array accumulated(const Array &x) { return call_primitive(Accumulated{3}, x); }

/// The same with a derivative in halves.
struct Halved {
  int64_t exponent = 1;

  static constexpr const char *name = "conformance_halved";
  HJX_PARAMS(exponent)

  static Type infer(const Type &x) { return x; }
  Array expand(const Array &x) const { return power(x, static_cast<int>(exponent)); }
  std::pair<Array, Array> linearize(const Array &x) const {
    return {call_primitive(*this, x), static_cast<float>(exponent) * call_primitive(Halved{exponent - 1}, x)};
  }
  static Array linearized(const Array &slope, const Array &dot) { return slope * dot; }
};
HJX_REGISTER_PRIMITIVE(Halved)
Array halved(const Array &x) { return call_primitive(Halved{3}, x); }

/// x * y, which notes who is told to accumulate.
struct NotedProduct {
  static inline std::vector<bool> wanted;

  static constexpr const char *name = "conformance_noted_product";
  static Type infer(const Type &x, const Type &) { return x; }
  static Array expand(const Array &x, const Array &y) { return x * y; }
  static std::pair<Array, std::pair<Array, Array>> vjp_forward(const Array &x, const Array &y) {
    return {call_primitive<NotedProduct>(x, y), {x, y}};
  }
  static void vjp_backward_into(const std::pair<Array, Array> &saved, const Array &bar, Accum<> x_bar, Accum<> y_bar) {
    wanted = {bool(x_bar), bool(y_bar)};
    if (x_bar)
      x_bar.add(saved.second * bar);
    if (y_bar)
      y_bar.add(saved.first * bar);
  }
};
HJX_REGISTER_PRIMITIVE(NotedProduct)
Array notedProduct(const Array &x, const Array &y) { return call_primitive<NotedProduct>(x, y); }

/// Writes twice x into a cell; the first operand is only read.
struct WriteTwice {
  static constexpr const char *name = "conformance_write_twice";
  static Type infer(const Type &x, const Type &) { return x; }
  static Array expand(const Array &x, const Ref &cell) {
    Array old = cell.get();
    cell.set(2 * x);
    return old;
  }
};
HJX_REGISTER_PRIMITIVE(WriteTwice)
Array writeTwice(const Array &x, const Ref &cell) { return call_primitive<WriteTwice>(x, cell); }

/// Numbers that are kept negated: refs of them are indexed as an array is.
struct Negated {
  Shape shape;

  static constexpr const char *name = "conformance_negated";
  HJX_PARAMS(shape)

  std::vector<Type> lo_types() const { return {Type(float32, shape)}; }
  Shape index_shape() const { return shape; }
  Type part_type(const Shape &part) const { return Type(float32, part); }
  static Array get_part(const HiValue<Negated> &whole, const std::vector<Index> &index) {
    return -Indexed(lower(whole)[0].as<Array>(), index).get();
  }
  static HiValue<Negated> set_part(const HiValue<Negated> &whole, const std::vector<Index> &index, const Array &part) {
    return raise<HiValue<Negated>>(whole.hi_type(), {Indexed(lower(whole)[0].as<Array>(), index).set(-part)});
  }
};
HJX_REGISTER_TYPE(Negated)

const Array two = array(2.0f), one = array(1.0f);

} // namespace

TEST(HiPrimitivesConformance, PowerByAccumulators) {
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, accumulated)(two), array(8.0f));
    EXPECT_CLOSE(run(compiled, vmap(accumulated))(arange(3, float32)), array({0.0, 1.0, 8.0}));
    EXPECT_CLOSE(run(compiled, grad(accumulated))(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, grad(grad(accumulated)))(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, vmap(grad(accumulated)))(arange(3, float32)), array({0.0, 3.0, 12.0}));
    EXPECT_CLOSE(run(compiled, grad([](Array x) { return sum(vmap(accumulated)(x)); }))(arange(3, float32)), array({0.0, 3.0, 12.0}));
    auto [y, dot] = run(compiled, [](Array x, Array dot) { return jvp(accumulated, x, dot); })(two, one);
    EXPECT_CLOSE(y, array(8.0f));
    EXPECT_CLOSE(dot, array(12.0f));
    Ref bar = new_ref(array(100.0f));
    run(compiled, [](Array x, Ref bar) { vjp(accumulated, x).second.with_refs(bar)(array(1.0f)); })(two, bar);
    EXPECT_CLOSE(bar.get(), array(112.0f));
  }
}

TEST(HiPrimitivesConformance, AccumulatorsSayWhoIsDifferentiated) {
  Array x = array(3.0f), y = array(5.0f);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, grad(notedProduct, argnums<0>))(x, y), y);
    EXPECT_EQ(NotedProduct::wanted, (std::vector<bool>{true, false}));
    EXPECT_CLOSE(run(compiled, grad(notedProduct, argnums<1>))(x, y), x);
    EXPECT_EQ(NotedProduct::wanted, (std::vector<bool>{false, true}));
    auto first = [](Array x, Array y) { return std::get<0>(vjp(notedProduct, x, y).second.with_refs(grad_value, dont_want)(array(1.0f))); };
    EXPECT_CLOSE(run(compiled, first)(x, y), y);
    EXPECT_EQ(NotedProduct::wanted, (std::vector<bool>{true, false}));
  }
}

TEST(HiPrimitivesConformance, LinearizeTakesTheHalves) {
  for (bool compiled : {false, true}) {
    auto [y, dot] = run(compiled, [](Array x, Array dot) {
      auto [y, push] = linearize(halved, x);
      return std::pair(y, push(dot));
    })(two, one);
    EXPECT_CLOSE(y, array(8.0f));
    EXPECT_CLOSE(dot, array(12.0f));
  }
}

TEST(HiPrimitivesConformance, LinearizeTakesTheRuleForTangentsOfTwo) {
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, [](Array x, Array dot) { return linearize(cube, x).second(dot); })(two, one), array(12.0f));
    EXPECT_CLOSE(run(compiled, [](Array x, Array dot) { return linearize(accumulated, x).second(dot); })(two, one), array(12.0f));
    EXPECT_CLOSE(run(compiled, [](Array x, Array dot) { return linearize(jit(cube), x).second(dot); })(two, one), array(12.0f));
  }
}

TEST(HiPrimitivesConformance, EveryDerivativeFromTheHalves) {
  for (bool compiled : {false, true}) {
    auto [y, dot] = run(compiled, [](Array x, Array dot) { return jvp(halved, x, dot); })(two, one);
    EXPECT_CLOSE(y, array(8.0f));
    EXPECT_CLOSE(dot, array(12.0f));
    EXPECT_CLOSE(run(compiled, grad(halved))(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, grad(grad(halved)))(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, [](Array x) { return jvp(grad(halved), x, array(1.0f)).second; })(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, grad([](Array x) { return jvp(halved, x, array(1.0f)).second; }))(two), array(12.0f));
  }
}

TEST(HiTypesConformance, OutAxesInferAcceptsAHiResultThatIsNotMapped) {
  Tup t = pairOf(arange(3), arange(2));
  for (bool compiled : {false, true}) {
    auto [same, doubled] = run(compiled, vmap([](Tup t, Array x) { return std::pair(t, 2 * x); }, {none, 0}, infer))(t, arange(3));
    expectSame(same, t);
    EXPECT_CLOSE(doubled, 2 * arange(3));
    Tup mapped = run(compiled, vmap([](Array x) { return pairOf(x, 2 * x); }, 0, infer))(arange(3));
    expectSame(mapped, pairOf(arange(3), 2 * arange(3)));
  }
}

TEST(HiPrimitivesConformance, APrimitiveWritesARefOperand) {
  for (bool compiled : {false, true}) {
    Ref first = new_ref(array({1.0, 2.0})), second = new_ref(array({5.0, 6.0}));
    auto f = [](Ref first, Array x, Ref second) { return writeTwice(x + first.get(), second); };
    EXPECT_CLOSE(run(compiled, f)(first, array({10.0, 20.0}), second), array({5.0, 6.0}));
    EXPECT_CLOSE(first.get(), array({1.0, 2.0}));
    EXPECT_CLOSE(second.get(), array({22.0, 44.0}));
  }
}

TEST(HiTypesConformance, PartsOfARefByHooksOfItsType) {
  Array x = arange(6, float32).reshape({2, 3});
  for (bool compiled : {false, true}) {
    Ref cell = new_ref(raise<HiValue<Negated>>(Negated{{2, 3}}, {-x}));
    auto read = [](Ref cell, Array i) { return std::tuple(cell.get({1, 2}), cell.get({0}), cell.get({every, i})); };
    auto [number, row, column] = run(compiled, read)(cell, array(1));
    EXPECT_CLOSE(number, array(5.0f));
    EXPECT_CLOSE(row, x[0]);
    EXPECT_CLOSE(column, x[{every, 1}]);
    auto write = [](Ref cell) {
      cell.set({0, Slice(1, 3)}, array({10.0, 20.0}));
      cell.add({1}, array({1.0, 1.0, 1.0}));
      return cell.swap({0, 0}, array(7.0f));
    };
    EXPECT_CLOSE(run(compiled, write)(cell), array(0.0f));
    EXPECT_CLOSE(lower(cell.get_as<HiValue<Negated>>())[0].as<Array>(), -array({{7.0, 10.0, 20.0}, {4.0, 5.0, 6.0}}));
    EXPECT_HJX_ERROR(cell.get({5}), "get: index 5 is out of range for axis 0 of ref{conformance_negated[2,3]}\n"
                                    "  help: use an index in [-2, 2)");
  }
}
