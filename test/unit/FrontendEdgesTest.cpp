// SPDX-License-Identifier: Apache-2.0
//
// Values where formulas break: overflow, ties, zero divisors, wide integers, empty
// arrays. Expected numbers are JAX's, or NumPy's where JAX says less.
#include "FrontendTesting.h"

using namespace hjx;

TEST(FrontendEdges, HyperbolicFunctionsOverflowAsTheirValues) {
  Array x = array({-100.0, -10.0, -1e-4, 10.0, 100.0});
  EXPECT_CLOSE(sinh(x), array({-INFINITY, -11013.2329, -1e-4, 11013.2329, INFINITY}));
  EXPECT_CLOSE(cosh(x), array({INFINITY, 11013.2329, 1.0, 11013.2329, INFINITY}));
  EXPECT_CLOSE(vmap(grad([](Array x) { return sinh(x); }))(x), array({INFINITY, 11013.2329, 1.0, 11013.2329, INFINITY}));
  EXPECT_CLOSE(cosh(array({true, false})), array({1.5430806, 1.0}));
}

TEST(FrontendEdges, IntegerPowersWrap) {
  // Exponents of seven bits and more; 3^64 and 3^70 modulo 2^32.
  EXPECT_CLOSE(power(array({0, 2, 1, -1, 3, 3}), array({64, 64, 100, 101, 64, 70})), array({0, 0, 1, -1, 2038349057, -102221863}));
  EXPECT_CLOSE(power(array({2, 1, -1, -1, 0, 3}), array({-1, -2, -2, -3, -1, 0})), array({0, 1, 1, -1, 0, 1}));
  EXPECT_CLOSE(power(3, array(std::vector<int64_t>{40})), array(std::vector<int64_t>{-6289078614652622815}));
  EXPECT_CLOSE(power(array({true, false}), 2), array({1, 0}));
}

TEST(FrontendEdges, ZeroDivisors) {
  Array i = array({7, -7, 0});
  EXPECT_CLOSE(i % array({0, 0, 0}), array({0, 0, 0}));
  EXPECT_CLOSE(fmod(i, 0), array({0, 0, 0}));
  EXPECT_CLOSE(floor_divide(array({1.0, -1.0, 0.0}), 0), array({INFINITY, -INFINITY, NAN}));
  EXPECT_CLOSE(var(array({1.0, 2.0}), {}, false, 3), array(NAN, float32));
}

TEST(FrontendEdges, LogaddexpIsSmoothWhereOperandsAreEqual) {
  auto softplus1 = [](Array x) { return softplus(x); };
  EXPECT_CLOSE(grad(softplus1)(array(0.0f)), array(0.5f));
  EXPECT_CLOSE(grad(grad(softplus1))(array(0.0f)), array(0.25f));
  auto [x_bar, y_bar] = grad([](Array x, Array y) { return sum(logaddexp(x, y)); }, argnums<0, 1>)(
      array({2.0, INFINITY, 1.0}), array({2.0, 1.0, -INFINITY}));
  EXPECT_CLOSE(x_bar, array({0.5, 1.0, 1.0}));
  EXPECT_CLOSE(y_bar, array({0.5, 0.0, 0.0}));
  EXPECT_CLOSE(logaddexp(array({INFINITY, -INFINITY, NAN}), array({INFINITY, -INFINITY, 0.0})), array({INFINITY, -INFINITY, NAN}));
}

TEST(FrontendEdges, GeluOfSmallIntegersIsComputedInFloats) {
  EXPECT_CLOSE(gelu(array(std::vector<int16_t>{32, 63})), array({32.0, 63.0}));
}

TEST(FrontendEdges, WideIndicesSaturate) {
  Array x = arange(5), far = array(int64_t(1) << 32), huge = array(uint32_t(4000000000));
  EXPECT_CLOSE(dynamic_slice(x, {far}, {2}), array({3, 4}));
  EXPECT_CLOSE(dynamic_slice(x, {huge}, {2}), array({3, 4}));
  EXPECT_CLOSE(dynamic_slice(x, {array(-(int64_t(1) << 40))}, {2}), array({0, 1}));
  EXPECT_CLOSE(jit([](Array x, Array i) { return x[i]; })(x, far), array(4));
  auto branches = std::tuple{[](Array x) { return x; }, [](Array x) { return -x; }};
  EXPECT_CLOSE(switch_(far, branches, x), -x);
  EXPECT_CLOSE(switch_(huge, branches, x), -x);
  auto count = [](Array i, Array) { return i; };
  EXPECT_CLOSE(fori_loop(int64_t(3), size_t(7), count, array(0)), array(6));
  EXPECT_HJX_ERROR(fori_loop(int64_t(3000000000), int64_t(3000000003), count, array(0)),
                   "fori_loop: expected bounds that int32 can hold\n"
                   "  help: count from 0 and add the offset inside the function");
  EXPECT_EQ(to_string(Array(int64_t(3000000000))), "3000000000");
}

TEST(FrontendEdges, SmallRandomIntegersAreDrawnWide) {
  Array key = random::key(42);
  EXPECT_CLOSE(random::randint(key, {6}, 0, 100, int8), array({44, 14, 71, 69, 9, 19}, int8));
  EXPECT_CLOSE(random::randint(key, {6}, 0, 100, uint16), array({44, 14, 71, 69, 9, 19}, uint16));
  EXPECT_CLOSE(random::randint(key, {4}, -300, 300, int8), array({68, -110, 55, 65}, int8));
  // All numbers of a type.
  EXPECT_CLOSE(random::randint(key, {4}, 0, 256, uint8), array({196, 18, 183, 193}, uint8));
}

TEST(FrontendEdges, NegativeStartsCountFromTheEnd) {
  Array x = arange(5);
  EXPECT_CLOSE(dynamic_slice(x, {-3}, {2}), array({2, 3}));
  EXPECT_CLOSE(dynamic_slice(x, {array(-1)}, {2}), array({3, 4}));
  EXPECT_CLOSE(dynamic_update_slice(x, array({8, 9}), {array(-3)}), array({0, 1, 8, 9, 4}));
}

TEST(FrontendEdges, NothingIsPickedFromAnArray) {
  Array nothing = array(std::vector<int>{});
  EXPECT_CLOSE(ones({3})[nothing], zeros({0}));
  EXPECT_CLOSE(take(ones({3, 2}), nothing, 0), zeros({0, 2}));
  EXPECT_CLOSE(ones({3, 2}).at(nothing).set(7), ones({3, 2}));
  EXPECT_CLOSE(grad([&](Array x) { return sum(x[nothing]) + sum(x); })(ones({3})), ones({3}));
}

TEST(FrontendEdges, EndlessRecursionIsAnError) {
  std::function<Array(Array)> self;
  auto f = jit([&](Array x) { return self(x); });
  self = [&](Array x) { return f(x); };
  EXPECT_THAT([&] { f(ones({})); }, ::testing::ThrowsMessage<Error>(::testing::HasSubstr("expected at most 200 traced functions inside each other")));
}

TEST(FrontendEdges, AttributesHavePrefixes) {
  Module module;
  module.set_attribute("tool.version", 1);
  EXPECT_HJX_ERROR((module.set_attribute("version", 1), 0),
                   "set_attribute: expected an attribute's name with a prefix, got \"version\"\n"
                   "  help: name it after the tool that reads it: \"tool.version\"");
}

TEST(FrontendEdges, GradientsOfPartsKeepTheirZeros) {
  // The zeros around the part are written before the part, although both are rows of one buffer.
  auto f = [](Array x) { return sum(square(repeat(x[Slice(0, 6)], 3, 0))); };
  Array x = arange(8, float32);
  EXPECT_CLOSE(grad(f)(x), array({0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 0.0, 0.0}));
}
