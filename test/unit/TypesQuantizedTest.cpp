// SPDX-License-Identifier: Apache-2.0
//
// Quantised arrays by numbers: rounding against NumPy's, products against plain floats,
// every layout of scales, and each transform against doing it by hand.
#include "test/unit/FrontendTesting.h"

#include <hjx/types.h>

#include <cmath>
#include <limits>

using namespace hjx;

namespace {

Array noise(const Shape &shape, int seed = 0) { return random::normal(random::key(seed), shape); }
std::pair<Array, Array> parts(const Quantized &q) {
  auto [numbers, scales] = lower<Array, Array>(q);
  return {numbers, scales};
}

/// Every layout of scales for a 6 x 8 matrix.
std::vector<QuantizeOptions> layouts() {
  std::vector<QuantizeOptions> all;
  for (const char *format : {"int8", "int4"}) {
    all.push_back({.format = format, .axis = std::nullopt});
    for (int axis : {0, 1})
      for (int64_t group : {0, 1, 2})
        all.push_back({.format = format, .axis = axis, .group = group});
    all.push_back({.format = format, .axis = 0, .group = 3});
  }
  return all;
}

} // namespace

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

TEST(TypesQuantized, RoundsAsNumPyDoes) {
  // numpy: s = abs(x).max(-1, keepdims=True) / float32(127); rint(x / s), float32 throughout.
  Quantized q = quantize(array({{1.0, 2.0, 3.0}, {4.0, -5.0, 6.0}}));
  EXPECT_EQ(to_string(q.type()), "quantized{\"int8\",[2,3],[2,1]}");
  EXPECT_CLOSE(parts(q).first, array({{42, 85, 127}, {85, -106, 127}}, int8), 0);
  EXPECT_CLOSE(parts(q).second, array({{0.02362204723060131}, {0.04724409446120262}}), 0);
  EXPECT_CLOSE(dequantize(q), array({{0.992125988, 2.007874012, 3.0}, {4.015748024, -5.007874012, 6.0}}));
}

TEST(TypesQuantized, TiesGoToEven) {
  // The scale is 1: 127 / 127.
  Array x = array({0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, 127.0});
  EXPECT_CLOSE(parts(quantize(x)).first, array({0, 2, 2, 0, -2, -2, 126, 127}, int8), 0);
  Array y = array({0.5, 1.5, -2.5, 3.5, -5.5, 7.0});
  EXPECT_CLOSE(dequantize(quantize(y, {.format = "int4"})), array({0.0, 2.0, -2.0, 4.0, -6.0, 7.0}), 0);
}

TEST(TypesQuantized, NansZerosAndInfinities) {
  double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Array x = array({{nan, 2.0, -1.0}, {0.0, -0.0, 0.0}, {nan, nan, nan}, {infinity, -infinity, 1e30}, {1e-45, -2e-45, 0.0}});
  for (bool compiled : {false, true}) {
    auto make = [](Array x) { return quantize(x); };
    Quantized q = compiled ? jit(make)(x) : make(x);
    auto [numbers, scales] = parts(q);
    EXPECT_CLOSE(numbers, array({{0, 127, -64}, {0, 0, 0}, {0, 0, 0}, {127, -127, 0}, {0, 0, 0}}, int8), 0);
    EXPECT_CLOSE(scales[array({0, 1, 2, 4})], array({{2.0 / 127}, {0.0}, {0.0}, {0.0}}), 1e-7);
    EXPECT_TRUE(all(isfinite(dequantize(q))[array({0, 1, 2, 4})]).item<bool>());
    EXPECT_NEAR((dequantize(q)[{3, 0}].item<float>()) / 3.4e38, 1.0, 1e-6);
  }
}

TEST(TypesQuantized, NumbersOfInt4LieTwoToAByte) {
  Quantized q = quantize(array({{7.0, -7.0, 1.0}, {-1.0, 2.0, 7.0}}), {.format = "int4"});
  EXPECT_CLOSE(parts(q).first, array({{-112 + 7, 1}, {32 + 15, 7}}, int8), 0); // (-7 << 4) + 7, ..
  EXPECT_CLOSE(dequantize(q), array({{7.0, -7.0, 1.0}, {-1.0, 2.0, 7.0}}), 0);
}

TEST(TypesQuantized, AnyRankAndSize) {
  for (Shape shape : {Shape{}, Shape{5}, Shape{1}, Shape{0}, Shape{3, 0}, Shape{0, 3}, Shape{2, 3, 5}, Shape{2, 1, 3, 7}})
    for (const char *format : {"int8", "int4"})
      for (std::optional<int> axis : {std::optional<int>(-1), std::optional<int>(0), std::optional<int>()}) {
        if (shape.ndim() == 0 && (axis || format == std::string("int4")))
          continue;
        Array x = noise(shape);
        Quantized q = quantize(x, {.format = format, .axis = axis});
        Array error = abs(dequantize(q) - x);
        EXPECT_EQ(error.shape(), shape);
        if (x.size() > 0)
          EXPECT_LE(max(error).item<float>(), max(abs(x)).item<float>() / (format == std::string("int8") ? 253 : 13)) << shape << format;
      }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST(TypesQuantized, ProductsAreThoseOfTheNumbersItStandsFor) {
  Array w = noise({6, 8});
  for (const QuantizeOptions &options : layouts()) {
    Quantized q = quantize(w, options);
    Array d = dequantize(q);
    Array x = noise({2, 5, 6}, 1), y = noise({8}, 2), m = noise({8, 3}, 3);
    EXPECT_CLOSE(matmul(x, q), matmul(x, d), 1e-5) << q.type();
    EXPECT_CLOSE(matmul_transposed(y, q), matmul(d, y), 1e-5) << q.type();
    auto all = [](Array x, Array y, Array m, Quantized q) { return std::tuple(matmul(x, q), matmul_transposed(y, q), matmul(q, y), matmul(q, m)); };
    auto [xq, yq, qy, qm] = jit(all)(x, y, m, q);
    EXPECT_CLOSE(xq, matmul(x, d), 1e-5) << q.type();
    EXPECT_CLOSE(yq, matmul(d, y), 1e-5) << q.type();
    EXPECT_CLOSE(qy, matmul(d, y), 1e-5) << q.type();
    EXPECT_CLOSE(qm, matmul(d, m), 1e-5) << q.type();
  }
}

TEST(TypesQuantized, ProductsOfOddSizes) {
  Array w = noise({7, 9}), x = noise({4, 7}, 1), y = noise({4, 9}, 2);
  for (std::optional<int> axis : {std::optional<int>(0), std::optional<int>(1), std::optional<int>()})
    for (int64_t group : {0, 1, 3}) {
      if (group > 0 && axis != 1)
        continue;
      Quantized q = quantize(w, {.format = "int4", .axis = axis, .group = group});
      EXPECT_CLOSE(matmul(x, q), matmul(x, dequantize(q)), 1e-5) << q.type();
      EXPECT_CLOSE(matmul_transposed(y, q), matmul(y, dequantize(q).T()), 1e-5) << q.type();
    }
}

/// Rows, columns and groups of any size, of both formats, against sums in double; scales of one axis, of the other or of
/// both. One name for the processor, the interpreter and the GPUs.
TEST(TypesQuantized, ProductsOfGroupsAgreeWithDouble) {
  struct Case {
    const char *format;
    int64_t rows, k, n, kGroups, nGroups;
  };
  for (Case c : {Case{"int4", 5, 96, 70, 3, 70}, {"int8", 33, 35, 12, 5, 4}, {"int4", 9, 12, 21, 4, 3}, {"int4", 3, 14, 9, 7, 9},
                 {"int4", 1, 64, 40, 2, 40}, {"int8", 2, 6, 1, 3, 1}, {"int8", 0, 6, 4, 3, 4}, {"int8", 7, 800, 36, 25, 36}}) {
    QuantizedType type{c.format, {c.k, c.n}, {c.kGroups, c.nGroups}};
    SCOPED_TRACE(to_string(Type(type)) + " by " + std::to_string(c.rows) + " rows");
    Shape bytes = type.lo_types()[0].shape();
    Array stored = (arange(bytes[0] * bytes[1]) * 37 % 256 - 128).astype(int8).reshape(bytes);
    if (type.format == std::string("int4") && c.n % 2 != 0) // The last byte of an odd axis ends in zero bits.
      stored = where(arange(bytes[1]) == bytes[1] - 1, bitwise_and(stored, array<int8_t>(15)), stored);
    Array scales = abs(noise({c.kGroups, c.nGroups}, 1)) + 0.1f;
    Quantized q = raise<Quantized>(type, {stored, scales});
    Array x = noise({c.rows, c.k}, 2), y = noise({c.rows, c.n}, 3);
    auto products = jit([](Array x, Array y, Quantized q) {
      Array xBar = grad([](Array x, Array y, Quantized q) { return sum(square(matmul(x, q)) * y); })(x, y, q);
      return std::tuple(matmul(x, q), matmul_transposed(y, q), matmul(q, y.T()), xBar);
    });
    auto [xq, yq, qy, xBar] = products(x, y, q);
    Array d = dequantize(q);
    // Each factor is rounded once, and each sum as often as it has terms.
    auto expect = [&](const Array &got, const Array &lhs, const Array &rhs, int64_t terms) {
      std::vector<float> values = got.to_vector<float>(), a = lhs.to_vector<float>(), b = rhs.to_vector<float>();
      int64_t columns = rhs.shape(1), depth = rhs.shape(0);
      for (int64_t i = 0; i < got.size(); ++i) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < depth; ++j) {
          double product = double(a[i / columns * depth + j]) * b[j * columns + i % columns];
          sum += product, size += std::abs(product);
        }
        ASSERT_NEAR(values[i], sum, size * double(terms + 2) * 0x1p-24) << "element " << i;
      }
    };
    expect(xq, x, d, c.k);
    expect(yq, y, d.T(), c.n);
    expect(qy, d, y.T(), c.n);
    expect(xBar, 2 * xq * y, d.T(), c.n + 2);
    auto [xAgain, yAgain, qAgain, barAgain] = products(x, y, q);
    EXPECT_CLOSE(xAgain, xq, 0);
    EXPECT_CLOSE(yAgain, yq, 0);
    EXPECT_CLOSE(barAgain, xBar, 0);
  }
}

/// Edges of tiles read some scale, which must not matter.
TEST(TypesQuantized, ProductsOfGroupsKeepInfinitiesApart) {
  QuantizedType type{"int8", {35, 13}, {5, 13}};
  Array scales = where((arange(13) == 0) & (arange(5) == 0).reshape({5, 1}), std::numeric_limits<float>::infinity(), ones({5, 13}));
  Quantized q = raise<Quantized>(type, {ones({35, 13}).astype(int8), scales});
  Array y = jit([](Array x, Quantized q) { return matmul(x, q); })(ones({6, 35}), q);
  EXPECT_CLOSE(y, broadcast_to(where(arange(13) == 0, std::numeric_limits<float>::infinity(), 35.0f), {6, 13}), 0);
}

TEST(TypesQuantized, LargeProducts) {
  // Enough rows and columns for the generated kernels.
  Array w = noise({130, 300}), x = noise({40, 130}, 1), y = noise({40, 300}, 2);
  for (QuantizeOptions options : {QuantizeOptions{.axis = 0}, {.format = "int4"}, {.format = "int4", .group = 20}}) {
    Quantized q = quantize(w, options);
    auto [xq, yq, qy] = jit([](Array x, Array y, Quantized q) {
      return std::tuple(matmul(x, q), matmul_transposed(y, q), matmul(q, y.T()));
    })(x, y, q);
    EXPECT_CLOSE(xq, matmul(x, dequantize(q)), 1e-4);
    EXPECT_CLOSE(yq, matmul(y, dequantize(q).T()), 1e-4);
    EXPECT_CLOSE(qy, matmul(dequantize(q), y.T()), 1e-4);
  }
}

TEST(TypesQuantized, TakesRows) {
  Array ids = array({{4, 0}, {5, 5}});
  for (const QuantizeOptions &options : layouts()) {
    Quantized q = quantize(noise({6, 8}), options);
    EXPECT_CLOSE(take(q, ids), take(dequantize(q), ids), 0) << q.type();
    EXPECT_CLOSE(take(q, 3), take(dequantize(q), 3), 0);
  }
  Quantized vector = quantize(noise({5}), {.format = "int4"});
  EXPECT_CLOSE(take(vector, array({1, 4})), take(dequantize(vector), array({1, 4})), 0);
  Quantized cube = quantize(noise({3, 4, 5}));
  EXPECT_CLOSE(take(cube, array({2, 0})), take(dequantize(cube), array({2, 0})), 0);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

TEST(TypesQuantized, DerivativesAreThoseOfTheNumbersItStandsFor) {
  Array w = noise({6, 8}), x = noise({3, 6}, 1);
  auto loss = [](Array x, Quantized w) { return sum(sin(matmul(x, w))) + sum(square(matmul_transposed(matmul(x, w), w))); };
  auto dense = [](Array x, Array w) { return sum(sin(matmul(x, w))) + sum(square(matmul(matmul(x, w), w.T()))); };
  for (const QuantizeOptions &options : layouts()) {
    Quantized q = quantize(w, options);
    Array d = dequantize(q);
    auto [xBar, wBar] = grad(dense, argnums<0, 1>)(x, d);
    auto [xJit, wJit] = jit(grad(loss, argnums<0, 1>))(x, q);
    EXPECT_CLOSE(xJit, xBar, 1e-4);
    EXPECT_CLOSE(wJit, wBar, 1e-4);
    // <bar, dot> is the same either way.
    Array xDot = noise({3, 6}, 2), wDot = noise({6, 8}, 3);
    auto [value, dot] = jvp(loss, std::tuple(x, q), std::tuple(xDot, wDot));
    EXPECT_CLOSE(dot, sum(xBar * xDot) + sum(wBar * wDot), 1e-3);
  }
}

TEST(TypesQuantized, QuantizeIsStraightThrough) {
  Array x = noise({3, 4});
  auto f = [](Array x) { return sum(dequantize(quantize(x)) * arange(4, float32)); };
  EXPECT_CLOSE(grad(f)(x), broadcast_to(arange(4, float32), {3, 4}));
  // Twice: the second derivative of a square of it.
  auto g = [](Array x) { return sum(square(dequantize(quantize(x)))); };
  auto slope = [&](Array x) { return sum(grad(g)(x)); };
  EXPECT_CLOSE(grad(slope)(x), full({3, 4}, 2.0f));
}

TEST(TypesQuantized, TheGradientOfTakenRowsIsDense) {
  Quantized q = quantize(noise({4, 3}));
  auto f = [](Quantized q) { return sum(take(q, array({1, 1, 3})) * arange(1, 4, 1, float32)); };
  Array row = arange(1, 4, 1, float32);
  EXPECT_CLOSE(grad(f)(q), stack({0 * row, 2 * row, 0 * row, row}));
}

//===----------------------------------------------------------------------===//
// Mapping and loops
//===----------------------------------------------------------------------===//

TEST(TypesQuantized, MappedIsALoop) {
  Array ws = noise({3, 6, 8}), x = noise({5, 6}, 1), xs = noise({3, 5, 6}, 2);
  for (const QuantizeOptions &options : layouts()) {
    auto make = [&](Array w) { return quantize(w, options); };
    Quantized many = vmap(make, 0, AxisSpec(0))(ws);
    std::vector<Array> shared, own;
    for (int i = 0; i < 3; ++i) {
      Quantized one = make(ws[i]);
      EXPECT_CLOSE(dequantize(many)[i], dequantize(one), 0) << many.type();
      shared.push_back(matmul(x, one));
      own.push_back(matmul(xs[i], one));
    }
    auto product = [](Array x, Quantized q) { return matmul(x, q); };
    EXPECT_CLOSE(vmap(product, {none, AxisSpec(0)}, 0, AxisSize{3})(x, many), stack(shared), 1e-5);
    EXPECT_CLOSE(jit(vmap(product, {0, AxisSpec(0)}))(xs, many), stack(own), 1e-5);
    Array each = vmap(grad([&](Array x, Quantized q) { return sum(square(matmul(x, q))); }), {0, AxisSpec(0)})(xs, many);
    for (int i = 0; i < 3; ++i)
      EXPECT_CLOSE(each[i], grad([&](Array x) { return sum(square(matmul(x, make(ws[i])))); })(xs[i]), 1e-4);
  }
}

TEST(TypesQuantized, MappedAtAnotherAxis) {
  Array w = noise({4, 3, 5});
  Quantized q = quantize(w);
  auto row = [](Quantized q) { return sum(square(dequantize(q)), -1); };
  EXPECT_CLOSE(vmap(row, {AxisSpec(1)}, 0, AxisSize{3})(q), sum(square(dequantize(q)), -1).T());
  EXPECT_CLOSE(dequantize(vmap([](Array x) { return quantize(x); }, 1, AxisSpec(1))(w)), dequantize(q), 0);
  Quantized int4 = quantize(w, {.format = "int4"});
  EXPECT_CLOSE(vmap(row, {AxisSpec(1)}, 0, AxisSize{3})(int4), sum(square(dequantize(int4)), -1).T());
}

TEST(TypesQuantized, LayersOfAScan) {
  // The weights of all layers are one value.
  Array ws = noise({4, 6, 6}) / 3, x = noise({2, 6}, 1);
  for (const char *format : {"int8", "int4"}) {
    Quantized layers = quantize(ws, {.format = format, .axis = -2});
    auto run = [](Array x, Quantized layers) {
      auto body = checkpoint([](Array h, Quantized w) { return std::pair(sin(matmul(h, w)), Nothing()); });
      return scan(body, x, layers, {.length = 4}).first;
    };
    Array d = dequantize(layers);
    auto plain = [](Array h, Array ws) {
      for (int i = 0; i < 4; ++i)
        h = sin(matmul(h, ws[i]));
      return h;
    };
    EXPECT_CLOSE(run(x, layers), plain(x, d), 1e-5);
    EXPECT_CLOSE(jit(run)(x, layers), plain(x, d), 1e-5);
    auto [xBar, wBar] = jit(grad([&](Array x, Quantized w) { return sum(run(x, w)); }, argnums<0, 1>))(x, layers);
    auto [xWant, wWant] = grad([&](Array x, Array w) { return sum(plain(x, w)); }, argnums<0, 1>)(x, d);
    EXPECT_CLOSE(xBar, xWant, 1e-5);
    EXPECT_CLOSE(wBar, wWant, 1e-5);
  }
}

TEST(TypesQuantized, CarriedStackedAndChosen) {
  Array xs = noise({4, 2, 3});
  auto accumulate = [](Array xs) {
    return scan([](Quantized c, Array x) {
      Quantized next = quantize(dequantize(c) + x);
      return std::pair(next, next);
    }, quantize(zeros({2, 3})), xs);
  };
  auto [last, all] = jit(accumulate)(xs);
  EXPECT_EQ(to_string(all.type()), "quantized{\"int8\",[4,2,3],[4,2,1]}");
  EXPECT_CLOSE(dequantize(last), dequantize(all)[3], 0);
  EXPECT_CLOSE(dequantize(last), sum(xs, 0), 0.05);
  auto choose = [](Array which, Quantized a, Quantized b) {
    return cond(which, [](Quantized a, Quantized) { return a; }, [](Quantized, Quantized b) { return b; }, a, b);
  };
  Quantized a = quantize(xs[0]), b = quantize(xs[1]);
  for (bool which : {false, true})
    EXPECT_CLOSE(dequantize(jit(choose)(array(which), a, b)), dequantize(which ? a : b), 0);
}

TEST(TypesQuantized, LoopsGetTheirLengthAsAnOption) {
  Quantized q = quantize(noise({3, 4}));
  auto rowSum = [](Quantized row) { return sum(dequantize(row)); };
  Array expected = sum(dequantize(q), 1);
  EXPECT_CLOSE(hjx::map(rowSum, q, {.length = 3}), expected, 1e-6);
  EXPECT_CLOSE(foreach(rowSum, q, {.length = 3}), expected, 1e-6);
  Ref first = new_ref(zeros({}));
  foreach([&](Quantized row) { first.set(rowSum(row)); }, q, {.reverse = true, .length = 3});
  EXPECT_CLOSE(first.get(), expected[0], 1e-6);
  EXPECT_HJX_ERROR(foreach(rowSum, q),
                   "foreach: must provide `length`: none of the xs is an array, whose leading axis would say it, xs[0] is "
                   "quantized{\"int8\",[3,4],[3,1]}\n  help: pass it after the xs: foreach(f, xs, {.length = n})");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(TypesQuantized, ARefHoldsOneButAddsNone) {
  Quantized q = quantize(noise({2, 3}));
  Ref ref = new_ref(q);
  auto says = ::testing::ThrowsMessage<Error>(::testing::HasSubstr("requires quantized to implement the add method"));
  EXPECT_THAT([&] { ref.add(q); }, says);
  EXPECT_THAT([&] { jit([](Ref ref, Quantized q) { ref.add(q); })(ref, q); }, says);
  EXPECT_CLOSE(dequantize(ref.get_as<Quantized>()), dequantize(q));
}

TEST(TypesQuantized, ARuleMultipliesItsTangents) {
  Quantized q = quantize(noise({2, 3}));
  auto f = custom_jvp([=](Array x) { return matmul(x, q); }, [=](std::tuple<Array> x, std::tuple<Array> dot) {
    return std::pair(matmul(std::get<0>(x), q), 2 * matmul(std::get<0>(dot), q));
  });
  EXPECT_CLOSE(grad([=](Array x) { return sum(f(x)); })(ones({2})), 2 * sum(dequantize(q), {1}));
}

TEST(TypesQuantized, ErrorsSayExpectedGotAndARemedy) {
  Quantized q = quantize(noise({2, 3}));
  EXPECT_HJX_ERROR(quantize(arange(3)), "hjx.quantize: expected a float32 array, got i32[3]\n  help: convert it: x.astype(hjx::float32)");
  EXPECT_HJX_ERROR(quantize(noise({2, 3}), {.axis = 2}),
                   "quantize: expected an axis of f32[2,3], got 2\n  help: axis = std::nullopt is one scale for all");
  EXPECT_HJX_ERROR(quantize(noise({2, 3}), {.group = 2}),
                   "quantize: expected a group that divides the 3 elements of axis 1, got 2\n  help: 0 is all of the axis");
  EXPECT_HJX_ERROR(quantize(noise({2, 3}), {.axis = std::nullopt, .group = 2}),
                   "quantize: expected group 0 without an axis, got 2\n  help: give the axis of the groups");
  EXPECT_HJX_ERROR(quantize(noise({2, 3}), {.format = "int2"}),
                   "hjx.quantize: expected the format \"int8\" or \"int4\", got \"int2\"\n  help: those are what numbers are stored as");
  EXPECT_HJX_ERROR(matmul(noise({4, 3}), q),
                   "matmul: expected f32[..,k] and a quantized array [k,n], got f32[4,3] and quantized{\"int8\",[2,3],[2,1]}\n"
                   "  help: contracted sizes are equal; convert x to float32, and map over other axes with hjx::vmap");
  EXPECT_HJX_ERROR(take(q, array(1.5f)),
                   "take: expected a quantized array of at least one axis and integer ids, got quantized{\"int8\",[2,3],[2,1]} and f32\n"
                   "  help: ids are indices along axis 0");
  auto inner = [](Quantized q) { return dequantize(q); };
  EXPECT_HJX_ERROR(vmap(inner, {AxisSpec(1)}, 0, AxisSize{3})(q),
                   "vmap: expected 3 scales along the mapped axis 1 of quantized{\"int8\",[2,3],[2,1]}, got 1\n"
                   "  help: each element of a mapped array has scales of its own: quantize along another axis");
  EXPECT_HJX_ERROR(vmap(inner, {AxisSpec(0)}, 0, AxisSize{3})(q),
                   "vmap: expected the size 2 of the mapped axis 0 of quantized{\"int8\",[2,3],[2,1]}, got 3\n"
                   "  help: pass {.length = 2} to scan, hjx::AxisSize{2} to vmap");
  EXPECT_HJX_ERROR(vmap([](Array x) { return quantize(x); })(noise({2, 3, 4})),
                   "vmap: expected hjx::none or a mapping spec in out_axes, got the axis 0 for the non-array type quantized{\"int8\",[3,4],[3,1]}\n"
                   "  help: pass hjx::infer, which maps it at its leading axis, or the spec that the author of the type defines");
  EXPECT_HJX_ERROR(get(tuple({q}), 0), "as: expected an array, got the non-array type quantized{\"int8\",[2,3],[2,1]}\n"
                                       "  help: name its class: value.as<T>(), or get<T>(tuple, i) of a tuple");
  EXPECT_HJX_ERROR(vmap(inner, {AxisSpec("rows")}, 0, AxisSize{2})(q),
                   "vmap: expected an axis below 2 as the mapping spec of quantized{\"int8\",[2,3],[2,1]}, got \"rows\"\n"
                   "  help: say hjx::AxisSpec(0) for the first");
  EXPECT_HJX_ERROR(vmap(inner, {AxisSpec(1)}, 0, AxisSize{3})(quantize(noise({2, 3}), {.format = "int4", .axis = 0})),
                   "vmap: expected an axis below 1 as the mapping spec of quantized{\"int4\",[2,3],[1,3]}, got 1\n"
                   "  help: the last axis of \"int4\" is packed and stays whole");
}
