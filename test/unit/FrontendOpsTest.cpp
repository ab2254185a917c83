// SPDX-License-Identifier: Apache-2.0
//
// Functions of arrays against the values of JAX 0.10.2 on CPU: element types,
// shapes and numbers.
#include "FrontendTesting.h"

using namespace hjx;

namespace {
const Array x = array({{0.5, -1.25, 2.0}, {3.0, -0.75, 0.1}}), y = array({{1.5, 0.5, -2.0}, {0.25, -0.75, 4.0}});
const Array i = array({{7, -7, 5}, {0, 3, -8}}), j = array({{2, 2, -3}, {4, -2, 3}});
const Array b = array({{true, false, true}, {false, false, true}}), v = array({1.0, -2.0, 0.5});
const Array m = arange(24, float32).reshape({2, 3, 4}), ids = array({2, 0, 1});
} // namespace

TEST(FrontendOps, Elementwise) {
  EXPECT_CLOSE(x + y, array({{2.0, -0.75, 0.0}, {3.25, -1.5, 4.1}}));
  EXPECT_CLOSE(x - v, array({{-0.5, 0.75, 1.5}, {2.0, 1.25, -0.4}}));
  EXPECT_CLOSE(2 * x, array({{1.0, -2.5, 4.0}, {6.0, -1.5, 0.2}}));
  EXPECT_CLOSE(x / y, array({{0.33333334, -2.5, -1.0}, {12.0, 1.0, 0.025}}));
  EXPECT_CLOSE(i / j, array({{3.5, -3.5, -1.6666666}, {0.0, -1.5, -2.6666667}}));
  EXPECT_CLOSE(i % j, array({{1, 1, -1}, {0, -1, 1}}));
  EXPECT_CLOSE(x % y, array({{0.5, 0.25, 0.0}, {0.0, -0.0, 0.1}}));
  EXPECT_CLOSE(floor_divide(i, j), array({{3, -4, -2}, {0, -2, -3}}));
  EXPECT_CLOSE(floor_divide(x, y), array({{0.0, -3.0, -1.0}, {12.0, 1.0, 0.0}}));
  EXPECT_CLOSE(fmod(i, j), array({{1, -1, 2}, {0, 1, -2}}));
  EXPECT_CLOSE(power(x, 3), array({{0.125, -1.953125, 8.0}, {27.0, -0.421875, 0.001}}));
  EXPECT_CLOSE(power(y, -2), array({{0.44444445, 4.0, 0.25}, {16.0, 1.7777778, 0.0625}}));
  EXPECT_CLOSE(power(abs(x), y), array({{0.35355338, 1.118034, 0.25}, {1.316074, 1.2408065, 0.000100000005}}));
  EXPECT_CLOSE(power(i, abs(j)), array({{49, 49, 125}, {0, 9, -512}}));
  EXPECT_CLOSE(maximum(x, y), array({{1.5, 0.5, 2.0}, {3.0, -0.75, 4.0}}));
  EXPECT_CLOSE(minimum(i, 1), array({{1, -7, 1}, {0, 1, -8}}));
  EXPECT_CLOSE(logaddexp(x, y), array({{1.8132617, 0.66022414, 2.0181499}, {3.0619676, -0.056852818, 4.0200396}}));
  EXPECT_CLOSE(x < y, array({{true, true, false}, {false, false, true}}));
  EXPECT_CLOSE(i >= 3, array({{true, false, true}, {false, true, false}}));
  EXPECT_CLOSE(i == j, array({{false, false, false}, {false, false, false}}));
  EXPECT_CLOSE(b & (x > 0), array({{true, false, true}, {false, false, true}}));
  EXPECT_CLOSE(i ^ j, array({{5, -5, -8}, {4, -3, -5}}));
  EXPECT_CLOSE(~i, array({{-8, 6, -6}, {-1, -4, 7}}));
  EXPECT_CLOSE(i << 2, array({{28, -28, 20}, {0, 12, -32}}));
  EXPECT_CLOSE(i >> 1, array({{3, -4, 2}, {0, 1, -4}}));
  EXPECT_CLOSE(logical_not(i), array({{false, false, false}, {true, false, false}}));
  EXPECT_CLOSE(b + b, array({{true, false, true}, {false, false, true}}));
  EXPECT_CLOSE(b * b, array({{true, false, true}, {false, false, true}}));
  EXPECT_CLOSE(-i, array({{-7, 7, -5}, {0, -3, 8}}));
  EXPECT_CLOSE(sign(x), array({{1.0, -1.0, 1.0}, {1.0, -1.0, 1.0}}));
  EXPECT_CLOSE(abs(i), array({{7, 7, 5}, {0, 3, 8}}));
  EXPECT_CLOSE(floor(x), array({{0.0, -2.0, 2.0}, {3.0, -1.0, 0.0}}));
  EXPECT_CLOSE(ceil(x), array({{1.0, -1.0, 2.0}, {3.0, -0.0, 1.0}}));
  EXPECT_CLOSE(round(y), array({{2.0, 0.0, -2.0}, {0.0, -1.0, 4.0}}));
  EXPECT_CLOSE(floor(i), array({{7, -7, 5}, {0, 3, -8}}));
  EXPECT_CLOSE(sqrt(abs(x)), array({{0.70710677, 1.118034, 1.4142135}, {1.7320508, 0.8660254, 0.31622776}}));
  EXPECT_CLOSE(rsqrt(abs(x)), array({{1.4142135, 0.8944272, 0.70710677}, {0.57735026, 1.1547005, 3.1622775}}));
  EXPECT_CLOSE(square(i), array({{49, 49, 25}, {0, 9, 64}}));
  EXPECT_CLOSE(reciprocal(x), array({{2.0, -0.8, 0.5}, {0.33333334, -1.3333334, 10.0}}));
  EXPECT_CLOSE(exp(x), array({{1.6487212, 0.2865048, 7.389056}, {20.085537, 0.47236654, 1.105171}}));
  EXPECT_CLOSE(exp2(x), array({{1.4142135, 0.4204482, 4.0}, {8.0, 0.59460354, 1.0717734}}));
  EXPECT_CLOSE(expm1(x), array({{0.6487213, -0.7134952, 6.389056}, {19.085537, -0.5276334, 0.105170906}}));
  EXPECT_CLOSE(log(abs(x)), array({{-0.6931472, 0.22314355, 0.6931472}, {1.0986123, -0.2876821, -2.3025851}}));
  EXPECT_CLOSE(log2(abs(x)), array({{-1.0, 0.32192808, 1.0}, {1.5849625, -0.4150375, -3.321928}}));
  EXPECT_CLOSE(log10(abs(x)), array({{-0.30103, 0.096910015, 0.30103}, {0.47712126, -0.12493875, -1.0}}));
  EXPECT_CLOSE(log1p(abs(x)), array({{0.4054651, 0.8109302, 1.0986123}, {1.3862944, 0.5596158, 0.09531018}}));
  EXPECT_CLOSE(sin(x), array({{0.47942555, -0.9489846, 0.9092974}, {0.14112, -0.6816388, 0.09983342}}));
  EXPECT_CLOSE(cos(i), array({{0.75390226, 0.75390226, 0.2836622}, {1.0, -0.9899925, -0.14550003}}));
  EXPECT_CLOSE(tan(x), array({{0.5463025, -3.0095696, -2.1850398}, {-0.14254655, -0.93159646, 0.100334674}}));
  EXPECT_CLOSE(sinh(x), array({{0.52109534, -1.601919, 3.6268604}, {10.017875, -0.8223167, 0.10016674}}));
  EXPECT_CLOSE(cosh(x), array({{1.127626, 1.8884238, 3.7621958}, {10.067662, 1.2946833, 1.0050042}}));
  EXPECT_CLOSE(tanh(x), array({{0.46211717, -0.84828365, 0.9640276}, {0.9950547, -0.635149, 0.09966799}}));
  EXPECT_CLOSE(erf(x), array({{0.5204999, -0.9229001, 0.9953222}, {0.99997795, -0.7111556, 0.112462915}}));
  EXPECT_CLOSE(erf_inv(x / 4), array({{0.11123545, -0.28443378, 0.47693628}, {0.8134198, -0.16772723, 0.022159299}}));
  EXPECT_CLOSE(isfinite(x / (y + 0.75)), array({{true, true, true}, {true, false, true}}));
  EXPECT_CLOSE(where(b, x, 0), array({{0.5, 0.0, 2.0}, {0.0, 0.0, 0.1}}));
  EXPECT_CLOSE(where(b, i, 0.5), array({{7.0, 0.5, 5.0}, {0.5, 0.5, -8.0}}));
  EXPECT_CLOSE(clip(x, -1, 1), array({{0.5, -1.0, 1.0}, {1.0, -0.75, 0.1}}));
  EXPECT_CLOSE(astype(x, int32), array({{0, -1, 2}, {3, 0, 0}}));
  EXPECT_CLOSE(astype(x, bool_), array({{true, true, true}, {true, true, true}}));
  EXPECT_CLOSE(bitcast(x, uint32), array(std::vector<uint32_t>{1056964608, 3214934016, 1073741824, 1077936128, 3208642560, 1036831949}, {2, 3}));
  EXPECT_CLOSE(relu(x), array({{0.5, 0.0, 2.0}, {3.0, 0.0, 0.1}}));
  EXPECT_CLOSE(sigmoid(x), array({{0.62245935, 0.22270013, 0.880797}, {0.95257413, 0.3208213, 0.5249792}}));
  EXPECT_CLOSE(silu(x), array({{0.31122968, -0.27837518, 1.761594}, {2.8577223, -0.24061596, 0.05249792}}));
  EXPECT_CLOSE(softplus(x), array({{0.974077, 0.25192907, 2.126928}, {3.0485873, 0.386871, 0.7443967}}));
  EXPECT_CLOSE(gelu(x), array({{0.345714, -0.13228577, 1.9545977}, {2.9963627, -0.17003945, 0.053982753}}));
  EXPECT_CLOSE(gelu(x, false), array({{0.34573123, -0.13206226, 1.9544997}, {2.9959502, -0.16997053, 0.053982783}}));
}

TEST(FrontendOps, Reduction) {
  EXPECT_CLOSE(sum(x), array(3.6, float32));
  EXPECT_CLOSE(sum(x, 0), array({3.5, -2.0, 2.1}));
  EXPECT_CLOSE(sum(x, -1, keepdims), array({{1.25}, {2.35}}));
  EXPECT_CLOSE(sum(b), array(3, int32));
  EXPECT_CLOSE(sum(m, {0, 2}), array({60.0, 92.0, 124.0}));
  EXPECT_CLOSE(prod(x, 1), array({-1.25, -0.22500001}));
  EXPECT_CLOSE(mean(x), array(0.6, float32));
  EXPECT_CLOSE(mean(i, 0), array({3.5, -2.0, -1.5}));
  EXPECT_CLOSE(var(x, 1), array({1.763889, 2.577222}));
  EXPECT_CLOSE(var(x, 1, false, 1), array({2.6458335, 3.8658333}));
  EXPECT_CLOSE(stddev(x), array(1.4846436, float32));
  EXPECT_CLOSE(max(x, 0), array({3.0, -0.75, 2.0}));
  EXPECT_CLOSE(min(i), array(-8, int32));
  EXPECT_CLOSE(max(b), array(true, bool_));
  EXPECT_CLOSE(all(b, 0), array({false, false, true}));
  EXPECT_CLOSE(any(x > 2, 1), array({false, true}));
  EXPECT_CLOSE(argmax(x), array(3, int32));
  EXPECT_CLOSE(argmax(x, 1), array({2, 0}));
  EXPECT_CLOSE(argmin(i, 0, keepdims), array({{1, 0, 1}}));
  EXPECT_CLOSE(cumsum(x, 1), array({{0.5, -0.75, 1.25}, {3.0, 2.25, 2.35}}));
  EXPECT_CLOSE(cumsum(i, 0, true), array({{7, -4, -3}, {0, 3, -8}}));
  EXPECT_CLOSE(logsumexp(x, 1), array({2.232622, 3.0756092}));
  EXPECT_CLOSE(softmax(x), array({{0.17682019, 0.030726742, 0.7924531}, {0.92717856, 0.02180515, 0.051016346}}));
  EXPECT_CLOSE(softmax(x, 0), array({{0.07585818, 0.37754068, 0.8698916}, {0.9241418, 0.62245935, 0.13010848}}));
  EXPECT_CLOSE(log_softmax(x), array({{-1.732622, -3.482622, -0.23262198}, {-0.075609125, -3.8256092, -2.9756093}}));
  // Of nothing, as JAX has it.
  Array none = zeros({2, 0});
  EXPECT_EQ(to_string(softmax(none).shape()) + to_string(log_softmax(none).shape()), "[2,0][2,0]");
  EXPECT_EQ(logsumexp(none, 1).to_vector<float>(), (std::vector<float>(2, -std::numeric_limits<float>::infinity())));
  EXPECT_EQ(to_string(grad([](Array x) { return sum(softmax(x)); })(none).shape()), "[2,0]");
}

TEST(FrontendOps, Product) {
  EXPECT_CLOSE(matmul(x, y.T()), array({{-3.875, 9.0625}, {3.925, 1.7125}}));
  EXPECT_CLOSE(matmul(x, v), array({4.0, 4.55}));
  EXPECT_CLOSE(matmul(v, v), array(5.25, float32));
  EXPECT_CLOSE(matmul(v, m), array({{-4.0, -4.5, -5.0, -5.5}, {-10.0, -10.5, -11.0, -11.5}}));
  EXPECT_CLOSE(matmul(m, ones({4, 2})), array({{{6.0, 6.0}, {22.0, 22.0}, {38.0, 38.0}}, {{54.0, 54.0}, {70.0, 70.0}, {86.0, 86.0}}}));
  EXPECT_CLOSE(matmul(ones({2, 3}), m), array(std::vector<float>{12.0, 15.0, 18.0, 21.0, 12.0, 15.0, 18.0, 21.0, 48.0, 51.0, 54.0, 57.0, 48.0, 51.0, 54.0, 57.0}, {2, 2, 4}));
  EXPECT_CLOSE(matmul(ones({3, 1, 2, 3}), m), array(std::vector<float>{12.0, 15.0, 18.0, 21.0, 12.0, 15.0, 18.0, 21.0, 48.0, 51.0, 54.0, 57.0, 48.0, 51.0, 54.0, 57.0, 12.0, 15.0, 18.0, 21.0, 12.0, 15.0, 18.0, 21.0, 48.0, 51.0, 54.0, 57.0, 48.0, 51.0, 54.0, 57.0, 12.0, 15.0, 18.0, 21.0, 12.0, 15.0, 18.0, 21.0, 48.0, 51.0, 54.0, 57.0, 48.0, 51.0, 54.0, 57.0}, {3, 2, 2, 4}));
  EXPECT_CLOSE(matmul(i, j.T()), array({{-15, 57}, {30, -30}}));
  EXPECT_CLOSE(dot(m, ones({5, 4, 2})), array(std::vector<float>{6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 22.0, 22.0, 22.0, 22.0, 22.0, 22.0, 22.0, 22.0, 22.0, 22.0, 38.0, 38.0, 38.0, 38.0, 38.0, 38.0, 38.0, 38.0, 38.0, 38.0, 54.0, 54.0, 54.0, 54.0, 54.0, 54.0, 54.0, 54.0, 54.0, 54.0, 70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 70.0, 86.0, 86.0, 86.0, 86.0, 86.0, 86.0, 86.0, 86.0, 86.0, 86.0}, {2, 3, 5, 2}));
  EXPECT_CLOSE(outer(v, v), array({{1.0, -2.0, 0.5}, {-2.0, 4.0, -1.0}, {0.5, -1.0, 0.25}}));
  EXPECT_CLOSE(dot_general(m, m, {{1}, {1}, {0}, {0}}), array(std::vector<float>{80.0, 92.0, 104.0, 116.0, 92.0, 107.0, 122.0, 137.0, 104.0, 122.0, 140.0, 158.0, 116.0, 137.0, 158.0, 179.0, 800.0, 848.0, 896.0, 944.0, 848.0, 899.0, 950.0, 1001.0, 896.0, 950.0, 1004.0, 1058.0, 944.0, 1001.0, 1058.0, 1115.0}, {2, 4, 4}));
  EXPECT_CLOSE(einsum("ij,kj->ik", x, y), array({{-3.875, 9.0625}, {3.925, 1.7125}}));
  EXPECT_CLOSE(einsum("bij,bik->bkj", m, m), array(std::vector<float>{80.0, 92.0, 104.0, 116.0, 92.0, 107.0, 122.0, 137.0, 104.0, 122.0, 140.0, 158.0, 116.0, 137.0, 158.0, 179.0, 800.0, 848.0, 896.0, 944.0, 848.0, 899.0, 950.0, 1001.0, 896.0, 950.0, 1004.0, 1058.0, 944.0, 1001.0, 1058.0, 1115.0}, {2, 4, 4}));
  EXPECT_CLOSE(einsum("ij->j", x), array({3.5, -2.0, 2.1}));
  EXPECT_CLOSE(einsum("ij,ij", x, y), array(-2.1625, float32));
  EXPECT_CLOSE(einsum("ij->ji", x), array({{0.5, 3.0}, {-1.25, -0.75}, {2.0, 0.1}}));
}

TEST(FrontendOps, Creation) {
  EXPECT_CLOSE(zeros({2}), array({0.0, 0.0}));
  EXPECT_CLOSE(ones({2}, int32), array({1, 1}));
  EXPECT_CLOSE(full({2}, 1.5), array({1.5, 1.5}));
  EXPECT_CLOSE(full_like(i, 3), array({{3, 3, 3}, {3, 3, 3}}));
  EXPECT_CLOSE(arange(4), array({0, 1, 2, 3}));
  EXPECT_CLOSE(arange(1, 8, 3), array({1, 4, 7}));
  EXPECT_CLOSE(arange(5, 0, -2), array({5, 3, 1}));
  EXPECT_CLOSE(linspace(0, 1, 5), array({0.0, 0.25, 0.5, 0.75, 1.0}));
  EXPECT_CLOSE(eye(2, 3), array({{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}));
  EXPECT_CLOSE(one_hot(ids, 4), array({{0.0, 0.0, 1.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}}));
  EXPECT_CLOSE(tril(ones({3, 3}), 1), array({{1.0, 1.0, 0.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}}));
  EXPECT_CLOSE(triu(m), array(std::vector<float>{0.0, 1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 7.0, 0.0, 0.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 0.0, 17.0, 18.0, 19.0, 0.0, 0.0, 22.0, 23.0}, {2, 3, 4}));
}

TEST(FrontendOps, Movement) {
  EXPECT_CLOSE(reshape(x, {3, -1}), array({{0.5, -1.25}, {2.0, 3.0}, {-0.75, 0.1}}));
  EXPECT_CLOSE(ravel(x), array({0.5, -1.25, 2.0, 3.0, -0.75, 0.1}));
  EXPECT_CLOSE(transpose(m), array(std::vector<float>{0.0, 12.0, 4.0, 16.0, 8.0, 20.0, 1.0, 13.0, 5.0, 17.0, 9.0, 21.0, 2.0, 14.0, 6.0, 18.0, 10.0, 22.0, 3.0, 15.0, 7.0, 19.0, 11.0, 23.0}, {4, 3, 2}));
  EXPECT_CLOSE(m.transpose({1, 0, 2}), array(std::vector<float>{0.0, 1.0, 2.0, 3.0, 12.0, 13.0, 14.0, 15.0, 4.0, 5.0, 6.0, 7.0, 16.0, 17.0, 18.0, 19.0, 8.0, 9.0, 10.0, 11.0, 20.0, 21.0, 22.0, 23.0}, {3, 2, 4}));
  EXPECT_CLOSE(swapaxes(m, 0, -1), array(std::vector<float>{0.0, 12.0, 4.0, 16.0, 8.0, 20.0, 1.0, 13.0, 5.0, 17.0, 9.0, 21.0, 2.0, 14.0, 6.0, 18.0, 10.0, 22.0, 3.0, 15.0, 7.0, 19.0, 11.0, 23.0}, {4, 3, 2}));
  EXPECT_CLOSE(moveaxis(m, 0, 2), array(std::vector<float>{0.0, 12.0, 1.0, 13.0, 2.0, 14.0, 3.0, 15.0, 4.0, 16.0, 5.0, 17.0, 6.0, 18.0, 7.0, 19.0, 8.0, 20.0, 9.0, 21.0, 10.0, 22.0, 11.0, 23.0}, {3, 4, 2}));
  EXPECT_CLOSE(squeeze(expand_dims(x, {0, -1})), array({{0.5, -1.25, 2.0}, {3.0, -0.75, 0.1}}));
  EXPECT_CLOSE(broadcast_to(v, {2, 3}), array({{1.0, -2.0, 0.5}, {1.0, -2.0, 0.5}}));
  EXPECT_CLOSE(flip(x, 1), array({{2.0, -1.25, 0.5}, {0.1, -0.75, 3.0}}));
  EXPECT_CLOSE(roll(i, 1, 1), array({{5, 7, -7}, {-8, 0, 3}}));
  EXPECT_CLOSE(roll(i, -4, 1), array({{-7, 5, 7}, {3, -8, 0}}));
  EXPECT_CLOSE(repeat(v, 2, 0), array({1.0, 1.0, -2.0, -2.0, 0.5, 0.5}));
  EXPECT_CLOSE(tile(v, {2, 2}), array({{1.0, -2.0, 0.5, 1.0, -2.0, 0.5}, {1.0, -2.0, 0.5, 1.0, -2.0, 0.5}}));
  EXPECT_CLOSE(concatenate({x, y}, 1), array({{0.5, -1.25, 2.0, 1.5, 0.5, -2.0}, {3.0, -0.75, 0.1, 0.25, -0.75, 4.0}}));
  EXPECT_CLOSE(concatenate({x, i}), array({{0.5, -1.25, 2.0}, {3.0, -0.75, 0.1}, {7.0, -7.0, 5.0}, {0.0, 3.0, -8.0}}));
  EXPECT_CLOSE(stack({v, v}, -1), array({{1.0, 1.0}, {-2.0, -2.0}, {0.5, 0.5}}));
  EXPECT_CLOSE(split(m, 2, 2)[1], array({{{2.0, 3.0}, {6.0, 7.0}, {10.0, 11.0}}, {{14.0, 15.0}, {18.0, 19.0}, {22.0, 23.0}}}));
  EXPECT_CLOSE(split(m, std::vector<int64_t>{1}, 1)[1], array(std::vector<float>{4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0}, {2, 2, 4}));
  EXPECT_CLOSE(pad(x, {{1, 0}, {0, 2}}, 9), array(std::vector<float>{9.0, 9.0, 9.0, 9.0, 9.0, 0.5, -1.25, 2.0, 9.0, 9.0, 3.0, -0.75, 0.1, 9.0, 9.0}, {3, 5}));
}

TEST(FrontendOps, Indexing) {
  EXPECT_CLOSE(x[0], array({0.5, -1.25, 2.0}));
  EXPECT_CLOSE(x[-1], array({3.0, -0.75, 0.1}));
  EXPECT_CLOSE((x[{every, -1}]), array({2.0, 0.1}));
  EXPECT_CLOSE((x[{1, 2}]), array(0.1, float32));
  EXPECT_CLOSE((x[{every, Slice(0, 2)}]), array({{0.5, -1.25}, {3.0, -0.75}}));
  EXPECT_CLOSE((x[{every, Slice(Slice::none, Slice::none, -1)}]), array({{2.0, -1.25, 0.5}, {0.1, -0.75, 3.0}}));
  EXPECT_CLOSE((m[{every, Slice(2, 0, -1), Slice(0, 4, 2)}]), array({{{8.0, 10.0}, {4.0, 6.0}}, {{20.0, 22.0}, {16.0, 18.0}}}));
  EXPECT_CLOSE((x[{newaxis, 0}]), array({{0.5, -1.25, 2.0}}));
  EXPECT_CLOSE((m[{ellipsis, 0}]), array({{0.0, 4.0, 8.0}, {12.0, 16.0, 20.0}}));
  EXPECT_CLOSE((m[{0, ellipsis, newaxis}]), array({{{0.0}, {1.0}, {2.0}, {3.0}}, {{4.0}, {5.0}, {6.0}, {7.0}}, {{8.0}, {9.0}, {10.0}, {11.0}}}));
  EXPECT_CLOSE(v[ids], array({0.5, 1.0, -2.0}));
  EXPECT_CLOSE((m[{every, ids}]), array(std::vector<float>{8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 20.0, 21.0, 22.0, 23.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0}, {2, 3, 4}));
  EXPECT_CLOSE((m[{ids % 2, ids}]), array({{8.0, 9.0, 10.0, 11.0}, {0.0, 1.0, 2.0, 3.0}, {16.0, 17.0, 18.0, 19.0}}));
  EXPECT_CLOSE((m[{0, every, ids}]), array({{2.0, 6.0, 10.0}, {0.0, 4.0, 8.0}, {1.0, 5.0, 9.0}}));
  EXPECT_CLOSE((m[{1, ids}]), array({{20.0, 21.0, 22.0, 23.0}, {12.0, 13.0, 14.0, 15.0}, {16.0, 17.0, 18.0, 19.0}}));
  EXPECT_CLOSE((m[{ids % 2, every, ids}]), array({{2.0, 6.0, 10.0}, {0.0, 4.0, 8.0}, {13.0, 17.0, 21.0}}));
  EXPECT_CLOSE((m[{every, array(1)}]), array({{4.0, 5.0, 6.0, 7.0}, {16.0, 17.0, 18.0, 19.0}}));
  EXPECT_CLOSE((m[{array(-1), every, array(2)}]), array({14.0, 18.0, 22.0}));
  EXPECT_CLOSE(v[array({5, -1})], array({0.5, 0.5}));
  EXPECT_CLOSE(x.at(0).set(v), array({{1.0, -2.0, 0.5}, {3.0, -0.75, 0.1}}));
  EXPECT_CLOSE(x.at({every, 1}).set(7), array({{0.5, 7.0, 2.0}, {3.0, 7.0, 0.1}}));
  EXPECT_CLOSE(x.at({every, Slice(0, 3, 2)}).set(0), array({{0.0, -1.25, 0.0}, {0.0, -0.75, 0.0}}));
  EXPECT_CLOSE(x.at({1, Slice(Slice::none, Slice::none, -1)}).set(v), array({{0.5, -1.25, 2.0}, {0.5, -2.0, 1.0}}));
  EXPECT_CLOSE(x.at({1, Slice(1, 3)}).add(1), array({{0.5, -1.25, 2.0}, {3.0, 0.25, 1.1}}));
  EXPECT_CLOSE(v.at(array({0, 2, 0})).add(1), array({3.0, -2.0, 1.5}));
  EXPECT_CLOSE(m.at({every, array({0, 2})}).set(-1), array(std::vector<float>{-1.0, -1.0, -1.0, -1.0, 4.0, 5.0, 6.0, 7.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 16.0, 17.0, 18.0, 19.0, -1.0, -1.0, -1.0, -1.0}, {2, 3, 4}));
  EXPECT_CLOSE(m.at({0, array({0, 2}), Slice(1, 3)}).add(10), array(std::vector<float>{0.0, 11.0, 12.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 19.0, 20.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0}, {2, 3, 4}));
  EXPECT_CLOSE(v.at(array({5, 1})).set(0), array({1.0, 0.0, 0.5}));
  EXPECT_CLOSE(x.at({every, 1}).get(), array({-1.25, -0.75}));
  EXPECT_CLOSE(slice(x, {0, 1}, {2, 3}, {1, 2}), array({{-1.25}, {-0.75}}));
  EXPECT_CLOSE(dynamic_slice(x, {1, 5}, {1, 2}), array({{-0.75, 0.1}}));
  EXPECT_CLOSE(dynamic_update_slice(x, ones({1, 2}), {0, 1}), array({{0.5, 1.0, 1.0}, {3.0, -0.75, 0.1}}));
  EXPECT_CLOSE(take(v, array({2, -1, 9})), array({0.5, 0.5, NAN}));
  EXPECT_CLOSE(take(m, ids, 1), array(std::vector<float>{8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 20.0, 21.0, 22.0, 23.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0}, {2, 3, 4}));
  EXPECT_CLOSE(take(i, array({{0, 1}}), 1), array({{{7, -7}}, {{0, 3}}}));
  EXPECT_CLOSE(take_along_axis(x, argmax(x, 1, keepdims), 1), array({{2.0}, {3.0}}));
  EXPECT_CLOSE((take_along_axis(m, ids[{newaxis, every, newaxis}], 1)), array(std::vector<float>{8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 20.0, 21.0, 22.0, 23.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0}, {2, 3, 4}));
}
