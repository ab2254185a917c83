// SPDX-License-Identifier: Apache-2.0
//
// Primitives of a user's on arrays: every transform from the rules that a class has, and what is
// said where it lacks one. After the tests of JAX's hijax.
#include "test/conformance/Conformance.h"

using namespace hjx;
using namespace conformance;
using quantized::dequantize, quantized::quantize;

namespace {

/// x * y with a rule for tangents only. Tangents that are zero arrive as nothing.
struct Product {
  static inline std::vector<std::pair<bool, bool>> seen; // Which tangents the rule was given.

  static constexpr const char *name = "conformance_product";
  static Type infer(const Type &x, const Type &) { return x; }
  static Array expand(const Array &x, const Array &y) { return x * y; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &y, const std::optional<Array> &x_dot, const std::optional<Array> &y_dot) {
    seen.push_back({x_dot.has_value(), y_dot.has_value()});
    Array dot = x_dot && y_dot ? *x_dot * y + x * *y_dot : x_dot ? *x_dot * y : x * *y_dot;
    return {call_primitive<Product>(x, y), dot};
  }
};
HJX_REGISTER_PRIMITIVE(Product)
Array product(const Array &x, const Array &y) { return call_primitive<Product>(x, y); }

/// x * y with rules for cotangents, which are told who wants what.
struct ActiveProduct {
  static inline std::vector<bool> forward, backward;

  static constexpr const char *name = "conformance_active_product";
  static Type infer(const Type &x, const Type &) { return x; }
  static Array expand(const Array &x, const Array &y) { return x * y; }
  static std::pair<Array, std::pair<Array, Array>> vjp_forward(const Active &active, const Array &x, const Array &y) {
    forward = active;
    return {call_primitive<ActiveProduct>(x, y), {x, y}};
  }
  static std::pair<std::optional<Array>, std::optional<Array>> vjp_backward(const Active &wanted, const std::pair<Array, Array> &saved,
                                                                            const Array &bar) {
    backward = wanted;
    return {wanted[0] ? std::optional(saved.second * bar) : std::nullopt, wanted[1] ? std::optional(saved.first * bar) : std::nullopt};
  }
};
HJX_REGISTER_PRIMITIVE(ActiveProduct)
Array activeProduct(const Array &x, const Array &y) { return call_primitive<ActiveProduct>(x, y); }

/// A function chosen by a static name, with a rule for tangents only.
struct Wave {
  std::string function = "sin";

  static constexpr const char *name = "conformance_wave";
  HJX_PARAMS(function)

  static Type infer(const Type &x) { return x; }
  Array expand(const Array &x) const { return function == "sin" ? sin(x) : cos(x); }
  std::pair<Array, Array> jvp(const Array &x, const Array &dot) const {
    Array slope = function == "sin" ? call_primitive(Wave{"cos"}, x) : -call_primitive(Wave{"sin"}, x);
    return {call_primitive(*this, x), slope * dot};
  }
};
HJX_REGISTER_PRIMITIVE(Wave)
Array wave(const std::string &function, const Array &x) { return call_primitive(Wave{function}, x); }

/// The integer part: a result without tangents.
struct Floor {
  static constexpr const char *name = "conformance_floor";
  static Type infer(const Type &x) { return Type(int32, x.shape()); }
  static Array expand(const Array &x) { return floor(x).astype(int32); }
  static std::pair<Array, Array> jvp(const Array &x, const Array &) { return {call_primitive<Floor>(x), Array()}; }
};
HJX_REGISTER_PRIMITIVE(Floor)

/// Without any rule but what it computes.
struct Plain {
  static constexpr const char *name = "conformance_plain";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x + 1; }
};
HJX_REGISTER_PRIMITIVE(Plain)

const Array two = array(2.0f), one = array(1.0f);

/// Jacobians, forwards and backwards.
template <typename F>
Array jacobianForward(const F &f, const Array &x) {
  return vmap([&](Array dot) { return jvp(f, x, dot).second; }, 0, -1)(eye(x.shape(0)));
}
template <typename F>
Array jacobianBackward(const F &f, const Array &x) {
  return vmap([&](Array bar) { return std::get<0>(vjp(f, x).second(bar)); })(eye(x.shape(0)));
}

} // namespace

TEST(HiPrimitivesConformance, PowerOfAStaticExponent) {
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, cube)(two), array(8.0f));
    EXPECT_CLOSE(run(compiled, vmap(cube))(arange(3, float32)), array({0.0, 1.0, 8.0}));
    EXPECT_CLOSE(run(compiled, grad(cube))(two), array(12.0f));
    auto [y, dot] = run(compiled, [](Array x, Array dot) { return jvp(cube, x, dot); })(two, one);
    EXPECT_CLOSE(y, array(8.0f));
    EXPECT_CLOSE(dot, array(12.0f));
    // The gradient is added to a cell in place.
    Ref bar = new_ref(array(100.0f));
    run(compiled, [](Array x, Ref bar) { vjp(cube, x).second.with_refs(bar)(array(1.0f)); })(two, bar);
    EXPECT_CLOSE(bar.get(), array(112.0f));
  }
  // Exponents are parts of programs: another is another program.
  EXPECT_CLOSE(jit([](Array x) { return call_primitive(Raise{2}, x) + cube(x); })(two), array(12.0f));
}

TEST(HiPrimitivesConformance, MappedWithoutABatchingRule) {
  Array x = arange(3, float32) + 1, y = arange(3, float32) * 10;
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, vmap(product))(x, y), x * y);
    EXPECT_CLOSE(run(compiled, vmap(product, {0, none}))(x, two), x * 2);
    EXPECT_CLOSE(run(compiled, vmap(product, {none, 0}))(two, y), 2 * y);
    EXPECT_CLOSE(run(compiled, vmap([](Array z, Array a, Array b) { return z + product(a, b); }, {0, none, none}))(x, two, two), x + 4);
  }
  Array a = arange(24, float32).reshape({2, 3, 4}), b = arange(12, float32).reshape({3, 4});
  auto nested = vmap(vmap(product, {0, 0}, 0), {0, none}, 2);
  for (bool compiled : {false, true})
    EXPECT_CLOSE(run(compiled, nested)(a, b), moveaxis(a * b, 0, 2));
}

TEST(HiPrimitivesConformance, ZeroTangentsStayNothingUnderVmap) {
  Product::seen.clear();
  Array x = arange(3, float32) + 1;
  auto f = vmap([](Array x, Array y) { return jvp([&](Array x) { return product(x, y); }, x, array(1.0f)).second; });
  EXPECT_CLOSE(f(x, 2 * x), 2 * x);
  auto g = [](Array x, Array y) { return jvp([&](Array x) { return vmap(product)(x, y); }, x, ones({3})).second; };
  EXPECT_CLOSE(g(x, 2 * x), 2 * x);
  EXPECT_THAT(Product::seen, ::testing::Each(std::pair(true, false)));
  EXPECT_FALSE(Product::seen.empty());
}

TEST(HiPrimitivesConformance, EagerGradientThroughQuantisation) {
  Array x = array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}});
  EXPECT_CLOSE(grad([](Array x) { return sum(dequantize(quantize(x))); })(x), ones({2, 3}));
}

TEST(HiPrimitivesConformance, RulesAreToldWhatIsDifferentiated) {
  auto check = [](std::vector<bool> mask) {
    EXPECT_EQ(ActiveProduct::forward, mask);
    EXPECT_EQ(ActiveProduct::backward, mask);
  };
  Array x = array(3.0f), y = array(5.0f);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, grad(activeProduct, argnums<0>))(x, y), y);
    check({true, false});
    EXPECT_CLOSE(run(compiled, grad(activeProduct, argnums<1>))(x, y), x);
    check({false, true});
    auto [xBar, yBar] = run(compiled, grad(activeProduct, argnums<0, 1>))(x, y);
    EXPECT_CLOSE(xBar, y);
    EXPECT_CLOSE(yBar, x);
    check({true, true});
  }
}

TEST(HiPrimitivesConformance, UnderCheckpoint) {
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, checkpoint(conformance::square))(two), array(4.0f));
    EXPECT_CLOSE(run(compiled, grad(checkpoint(conformance::square)))(two), array(4.0f));
    EXPECT_CLOSE(run(compiled, grad(grad(checkpoint(conformance::square))))(two), array(2.0f));
  }
}

TEST(HiPrimitivesConformance, Linearize) {
  for (bool compiled : {false, true}) {
    auto [y, dot] = run(compiled, [](Array x, Array dot) {
      auto [y, push] = linearize([](Array x) { return product(product(x, x), x); }, x);
      return std::pair(y, push(dot));
    })(two, one);
    EXPECT_CLOSE(y, array(8.0f));
    EXPECT_CLOSE(dot, array(12.0f));
  }
}

TEST(HiPrimitivesConformance, EveryDerivativeFromTheJvpRuleAlone) {
  auto f = [](Array x) { return wave("sin", x); };
  Array x = array({0.3, -0.7, 1.1}), at = array(0.3f);
  for (bool compiled : {false, true}) {
    auto [y, dot] = run(compiled, [&](Array x, Array dot) { return jvp(f, x, dot); })(at, two);
    EXPECT_CLOSE(y, sin(at));
    EXPECT_CLOSE(dot, 2 * cos(at));
    EXPECT_CLOSE(run(compiled, [&](Array x) { return linearize(f, x).second(array(1.0f)); })(at), cos(at));
    EXPECT_CLOSE(run(compiled, grad(f))(at), cos(at));
    EXPECT_CLOSE(run(compiled, grad(grad(f)))(at), -sin(at));
    EXPECT_CLOSE(run(compiled, vmap(grad(f)))(x), cos(x));
    auto total = [&](Array x) { return sum(f(x) * x); };
    Array hessian = 2 * cos(x) - x * sin(x);
    EXPECT_CLOSE(run(compiled, [&](Array x) { return jacobianForward(grad(total), x); })(x), eye(3) * hessian, 1e-5);
    EXPECT_CLOSE(run(compiled, [&](Array x) { return jacobianBackward(grad(total), x); })(x), eye(3) * hessian, 1e-5);
    EXPECT_CLOSE(run(compiled, [&](Array x) { return jacobianForward(f, x); })(x), eye(3) * cos(x));
    EXPECT_CLOSE(run(compiled, [&](Array x) { return jacobianBackward(f, x); })(x), eye(3) * cos(x));
  }
}

TEST(HiPrimitivesConformance, ConstantsHaveNoTangentInTheJvpRule) {
  Array x = array(3.0f), y = array(5.0f);
  for (bool compiled : {false, true}) {
    Product::seen.clear();
    EXPECT_CLOSE(run(compiled, grad(product, argnums<0>))(x, y), y);
    EXPECT_THAT(Product::seen, ::testing::Each(std::pair(true, false)));
    Product::seen.clear();
    EXPECT_CLOSE(run(compiled, grad(product, argnums<1>))(x, y), x);
    EXPECT_THAT(Product::seen, ::testing::Each(std::pair(false, true)));
    Product::seen.clear();
    EXPECT_CLOSE(run(compiled, grad([](Array x) { return product(x, x); }))(x), 2 * x);
    EXPECT_THAT(Product::seen, ::testing::Each(std::pair(true, true)));
    EXPECT_FALSE(Product::seen.empty());
  }
}

TEST(HiPrimitivesConformance, DerivativesKeepStaticParameters) {
  Array x = array(0.3f);
  for (bool compiled : {false, true})
    for (std::string name : {"sin", "cos"}) {
      auto f = [=](Array x) { return wave(name, x); };
      Array slope = name == "sin" ? cos(x) : -sin(x), second = name == "sin" ? -sin(x) : -cos(x);
      EXPECT_CLOSE(run(compiled, f)(x), name == "sin" ? sin(x) : cos(x));
      EXPECT_CLOSE(run(compiled, grad(f))(x), slope);
      EXPECT_CLOSE(run(compiled, grad(grad(f)))(x), second);
      EXPECT_CLOSE(run(compiled, [&](Array x) { return jvp(f, x, array(1.0f)).second; })(x), slope);
    }
}

TEST(HiPrimitivesConformance, SecondDerivativesOfCubes) {
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, grad(grad(cube)))(two), array(12.0f));
    EXPECT_CLOSE(run(compiled, [](Array x) { return jvp(grad(cube), x, array(1.0f)).second; })(two), array(12.0f));
  }
}

TEST(HiPrimitivesConformance, AMissingRuleIsNamed) {
  auto f = [](Array x) { return call_primitive<Plain>(x); };
  EXPECT_CLOSE(f(two), array(3.0f));
  EXPECT_CLOSE(vmap(f)(array({1.0, 2.0})), array({2.0, 3.0}));
  auto says = ::testing::ThrowsMessage<Error>(::testing::AllOf(
      ::testing::HasSubstr("the primitive conformance_plain at HiPrimitives.cpp:"),
      ::testing::HasSubstr(" has no derivative\n  help: give it a jvp rule, or vjp_forward and vjp_backward")));
  EXPECT_THAT([&] { grad(f)(two); }, says);
  EXPECT_THAT([&] { jvp(f, two, one); }, says);
  EXPECT_THAT([&] { linearize(f, two).second(one); }, says);
}

TEST(HiPrimitivesConformance, AResultWithoutTangentsHasAZeroDerivative) {
  auto whole = [](Array x) { return call_primitive<Floor>(x); };
  Array x = array(2.5f);
  for (bool compiled : {false, true}) {
    EXPECT_CLOSE(run(compiled, [&](Array x) { return x * whole(x).astype(float32); })(x), array(5.0f));
    EXPECT_CLOSE(run(compiled, grad([&](Array x) { return x * whole(x).astype(float32); }))(x), array(2.0f));
  }
  auto [y, push] = linearize(whole, x);
  EXPECT_CLOSE(y, array(2));
  EXPECT_FALSE(push(one).has_value());
}
