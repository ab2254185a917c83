// SPDX-License-Identifier: Apache-2.0
//
// Matrices of low rank by numbers, against the dense matrices that they stand for.
#include "test/unit/FrontendTesting.h"

#include <hjx/types.h>

using namespace hjx;

namespace {

Array noise(const Shape &shape, int seed = 0) { return random::normal(random::key(seed), shape); }

} // namespace

TEST(TypesLowRank, DoesWhatTheDenseMatrixDoes) {
  LowRank a = low_rank(noise({6, 2}), noise({2, 5}, 1)), b = rank_one(noise({6}, 2), noise({5}, 3)), c = low_rank(noise({5, 3}, 4), noise({3, 4}, 5));
  EXPECT_EQ(to_string(a.type()), "low_rank{[6,5],[2]}");
  Array x = noise({3, 6}, 6), y = noise({2, 5, 3}, 7), v = noise({5}, 8);
  auto all = [](LowRank a, LowRank b, LowRank c, Array x, Array y, Array v) {
    return std::tuple(matmul(x, a), matmul(a, y), matmul(a, v), to_dense(add(a, b)), to_dense(scale(transpose(b), array(2.5f))), to_dense(matmul(a, c)));
  };
  Array dense = to_dense(a);
  EXPECT_CLOSE(dense, matmul(noise({6, 2}), noise({2, 5}, 1)));
  for (bool compiled : {false, true}) {
    auto [xa, ay, av, sum, scaled, product] = compiled ? jit(all)(a, b, c, x, y, v) : all(a, b, c, x, y, v);
    EXPECT_CLOSE(xa, matmul(x, dense), 1e-5);
    EXPECT_CLOSE(ay, matmul(dense, y), 1e-5);
    EXPECT_CLOSE(av, matmul(dense, v), 1e-5);
    EXPECT_CLOSE(sum, dense + to_dense(b), 1e-5);
    EXPECT_CLOSE(scaled, 2.5 * to_dense(b).T(), 1e-5);
    EXPECT_CLOSE(product, matmul(dense, to_dense(c)), 1e-5);
  }
  EXPECT_EQ(to_string(add(a, b).type()), "low_rank{[6,5],[3]}");
  EXPECT_EQ(to_string(matmul(a, c).type()), "low_rank{[6,4],[2]}");
}

TEST(TypesLowRank, TangentsAreThoseOfTheFactors) {
  Array u = noise({6, 2}), v = noise({2, 5}, 1), x = noise({3, 6}, 2);
  auto loss = [](Array x, LowRank a) { return sum(sin(matmul(x, add(a, transpose(transpose(a)))))); };
  auto plain = [](Array x, Array u, Array v) { return sum(sin(2 * matmul(matmul(x, u), v))); };
  auto [xBar, uBar, vBar] = grad(plain, argnums<0, 1, 2>)(x, u, v);
  for (bool compiled : {false, true}) {
    auto g = grad(loss, argnums<0, 1>);
    auto [xGot, bar] = compiled ? jit(g)(x, low_rank(u, v)) : g(x, low_rank(u, v));
    EXPECT_EQ(to_string(bar.type()), "tuple{f32[6,2],f32[2,5]}");
    EXPECT_CLOSE(xGot, xBar, 1e-5);
    EXPECT_CLOSE(get(bar, 0), uBar, 1e-5);
    EXPECT_CLOSE(get(bar, 1), vBar, 1e-5);
  }
  Array uDot = noise({6, 2}, 3), vDot = noise({2, 5}, 4), zero = zeros({3, 6});
  auto [value, dot] = jvp(loss, std::tuple(x, low_rank(u, v)), std::tuple(zero, tuple({uDot, vDot})));
  EXPECT_CLOSE(dot, sum(uBar * uDot) + sum(vBar * vDot), 1e-4);
  // Through the constructor, twice: the Hessian's trace by hand and by the type.
  auto twice = [&](auto f) { return grad([f](Array u) { return sum(square(grad(f)(u))); })(u); };
  EXPECT_CLOSE(twice([&](Array u) { return loss(x, low_rank(u, v)); }), twice([&](Array u) { return plain(x, u, v); }), 1e-4);
}

TEST(TypesLowRank, MappedScannedAndInsideAJit) {
  Array us = noise({4, 6, 2}), vs = noise({4, 2, 6}, 1), x = constant(noise({3, 6}, 2));
  LowRank layers = low_rank(us, vs);
  EXPECT_EQ(to_string(layers.type()), "low_rank{[4,6,6],[2]}");
  std::vector<Array> each;
  Array h = x;
  for (int i = 0; i < 4; ++i) {
    each.push_back(matmul(x, matmul(us[i], vs[i])));
    h = sin(matmul(h, matmul(us[i], vs[i])));
  }
  EXPECT_CLOSE(vmap([&](LowRank a) { return matmul(x, a); }, {AxisSpec(0)}, 0, AxisSize{4})(layers), stack(each), 1e-5);
  auto made = vmap([](Array u, Array v) { return low_rank(u, v); }, 0, AxisSpec(0))(us, vs);
  EXPECT_CLOSE(to_dense(made), matmul(us, vs), 1e-5);
  auto run = [](Array x, LowRank layers) {
    return scan([](Array h, LowRank a) { return std::pair(sin(matmul(h, a)), Nothing()); }, x, layers, {.length = 4}).first;
  };
  EXPECT_CLOSE(jit(run)(x, layers), h, 1e-5);
  Tuple bar = jit(grad([&](LowRank a) { return sum(run(x, a)); }))(layers);
  auto plain = [&](Array us) {
    Array h = x;
    for (int i = 0; i < 4; ++i)
      h = sin(matmul(matmul(h, us[i]), vs[i]));
    return sum(h);
  };
  EXPECT_CLOSE(get(bar, 0), grad(plain)(us), 1e-4);
  Tuple bars = vmap(grad([&](LowRank a) { return sum(square(matmul(x, a))); }), {AxisSpec(0)}, AxisSpec(0), AxisSize{4})(layers);
  EXPECT_CLOSE(get(bars, 0)[1], grad([&](Array u) { return sum(square(matmul(matmul(x, u), vs[1]))); })(us[1]), 1e-4);
}

TEST(TypesLowRank, NeverMultipliesItsFactorsOut) {
  auto loss = [](Array x, LowRank a) { return sum(square(matmul(x, add(scale(a, array(0.5f)), a)))) + sum(matmul(a, matmul(transpose(a), x.T()))); };
  std::string text = make_expanded_ir(grad(loss, argnums<0, 1>))(noise({7, 50}), low_rank(noise({50, 3}), noise({3, 70})));
  EXPECT_THAT(text, ::testing::HasSubstr("tensor<50x3xf32>"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("tensor<50x70xf32>")));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("tensor<70x50xf32>")));
}

TEST(TypesLowRank, ErrorsSayExpectedGotAndARemedy) {
  LowRank a = low_rank(noise({6, 2}), noise({2, 5}));
  EXPECT_HJX_ERROR(low_rank(noise({6, 2}), noise({3, 5})),
                   "hjx.low_rank: expected f32[..,m,r] and f32[..,r,n], got f32[6,2] and f32[3,5]\n  help: for two vectors: rank_one(column, row)");
  EXPECT_HJX_ERROR(rank_one(noise({6, 2}), noise({2})), "rank_one: expected two vectors, got f32[6,2] and f32[2]\n  help: for matrices: low_rank");
  EXPECT_HJX_ERROR(matmul(noise({3, 5}), a), "matmul: expected sizes that fit, got f32[3,5] and low_rank{[6,5],[2]}\n  help: transpose an operand");
  EXPECT_HJX_ERROR(matmul(a, noise({6, 3})), "matmul: expected sizes that fit, got low_rank{[6,5],[2]} and f32[6,3]\n  help: transpose an operand");
  EXPECT_HJX_ERROR(add(a, transpose(a)),
                   "add: expected two matrices of one shape, got low_rank{[6,5],[2]} and low_rank{[5,6],[2]}\n  help: transpose an operand");
  EXPECT_HJX_ERROR(scale(a, noise({2})), "scale: expected a float scalar, got f32[2]\n  help: scale the factors for anything else");
  EXPECT_HJX_ERROR(matmul(noise({3, 6}), low_rank(noise({4, 6, 2}), noise({4, 2, 5}))),
                   "matmul: expected one matrix, got low_rank{[4,6,5],[2]}\n  help: map over the others with hjx::vmap");
  EXPECT_HJX_ERROR(vmap([](LowRank a) { return to_dense(a); }, {AxisSpec(0)}, 0, AxisSize{6})(a),
                   "vmap: expected an axis before the matrix, below 0, as the mapping spec of low_rank{[6,5],[2]}, got 0\n"
                   "  help: rows and columns are not mapped: take the factors");
}
