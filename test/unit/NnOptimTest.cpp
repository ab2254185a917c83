// SPDX-License-Identifier: Apache-2.0
//
// Layers and optimizers against published formulas worked out in float64.
#include <hjx/nn.h>
#include <hjx/optim.h>

#include "test/unit/FrontendTesting.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace hjx;

TEST(Nn, LayerNormIsMeanZeroVarianceOneScaledAndShifted) {
  nn::LayerNorm layer{array({2.0, 1.0, 0.5}), array({0.0, 1.0, -1.0})};
  // x = 1 2 4: mean 7/3, variance 14/9.
  double deviation = std::sqrt(14.0 / 9 + 1e-5);
  EXPECT_CLOSE(nn::layer_norm(layer, array({{1.0, 2.0, 4.0}})),
               array({{-8.0 / 3 / deviation, 1 - 1.0 / 3 / deviation, -1 + 5.0 / 6 / deviation}}));
}

TEST(Nn, CausalAttentionSeesThePast) {
  // Equal scores: position t averages values 0..t.
  Array q = zeros({3, 2}), v = array({{3.0, 0.0}, {1.0, 2.0}, {2.0, 4.0}});
  EXPECT_CLOSE(nn::causal_attention(q, q, v), array({{3.0, 0.0}, {2.0, 1.0}, {2.0, 2.0}}));
}

/// Spelled out; heads in front.
static Array attentionByHand(const Array &q, const Array &k, const Array &v, double scale) {
  Array scores = matmul(swapaxes(q, -2, -3), swapaxes(swapaxes(k, -2, -3), -1, -2)) * scale;
  return swapaxes(matmul(softmax(scores), swapaxes(v, -2, -3)), -2, -3);
}

TEST(Nn, AttentionIsASoftmaxBetweenProducts) {
  // Keys of one head, without the batch axis, serve all.
  Array q = random::normal(random::key(1), {2, 3, 2, 4}), k = random::normal(random::key(2), {5, 1, 4}),
        v = random::normal(random::key(3), {5, 1, 6});
  EXPECT_CLOSE(nn::dot_product_attention(q, k, v, {.scale = 0.3}), attentionByHand(q, k, v, 0.3));
  EXPECT_CLOSE(nn::dot_product_attention(q, k, v), attentionByHand(q, k, v, 0.5));
  auto byOp = [&](const Array &k) { return sum(square(nn::dot_product_attention(q, k, v))); };
  auto byHand = [&](const Array &k) { return sum(square(attentionByHand(q, k, v, 0.5))); };
  EXPECT_CLOSE(grad(byOp)(k), grad(byHand)(k));
}

TEST(Nn, AttentionSaysWhatItExpects) {
  auto messageOf = [](const Array &q, const Array &k, const Array &v) -> std::string {
    try {
      nn::dot_product_attention(q, k, v);
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  };
  Array x = zeros({5, 2, 4});
  auto expectMessage = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expectMessage(messageOf(zeros({5, 4}), x, x), "dot_product_attention: expected arrays [..., positions, heads, features], got query f32[5,4]");
  expectMessage(messageOf(zeros({5, 2, 3}), x, x), "expected query and key of the same number of features, got query f32[5,2,3], key f32[5,2,4]");
  expectMessage(messageOf(x, x, zeros({6, 2, 4})), "expected one value for each key, got query f32[5,2,4], key f32[5,2,4] and value f32[6,2,4]");
  expectMessage(messageOf(x, zeros({5, 3, 4}), zeros({5, 3, 4})), "leading axes and heads do not broadcast: query f32[5,2,4]");
}

TEST(Nn, HeadsAreThirdsCutInTwo) {
  Array qkv = concatenate({zeros({1, 2, 8}), array({{{1.0, 2.0, 3.0, 4.0}, {5.0, 6.0, 7.0, 8.0}}})}, -1);
  EXPECT_CLOSE(nn::causal_self_attention(qkv, 2), array({{{1.0, 2.0, 3.0, 4.0}, {3.0, 4.0, 5.0, 6.0}}}));
}

TEST(Nn, BadHeadsSayWhatFits) {
  try {
    nn::causal_self_attention(zeros({1, 2, 8}), 3);
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("causal_self_attention: expected a last dimension that is a multiple of 3 * 3 heads, got [1,2,8]"),
              std::string::npos)
        << error.what();
  }
}

TEST(Nn, CrossEntropyIsLogSumExpLessTheLabel) {
  Array logits = array({{0.0, 1.0, 2.0}, {5.0, 5.0, 5.0}});
  EXPECT_CLOSE(nn::softmax_cross_entropy(logits, array({2, 0})),
               array({std::log(1 + std::exp(-1) + std::exp(-2)), std::log(3.0)}));
}

TEST(Nn, DropoutKeepsTheMeanAndIsAFunctionOfTheKey) {
  Array x = ones({100, 100}), key = random::key(3);
  Array dropped = nn::dropout(x, 0.25, key);
  EXPECT_NEAR(mean(dropped).item<float>(), 1.0, 0.02);
  EXPECT_NEAR(mean((dropped == 0).astype(float32)).item<float>(), 0.25, 0.02);
  EXPECT_CLOSE(dropped, nn::dropout(x, 0.25, key));
  EXPECT_CLOSE(nn::dropout(x, 0.0, key), x);
  EXPECT_THROW(nn::dropout(x, 1.0, key), Error);
}

// What they return differs from float32's by the roundings of operands and result, 2^-9 each, however long the sums are.
TEST(Nn, SixteenBitValuesAreSummedInFloat32) {
  constexpr int64_t kLength = 512;
  Array x = 100 + random::normal(random::key(1), {4, kLength});
  Array narrow = x.astype(bfloat16);
  nn::LayerNorm layer = nn::layer_norm_init(kLength);
  Array y = nn::layer_norm(layer, narrow);
  EXPECT_EQ(y.dtype(), bfloat16);
  Array difference = y.astype(float32) - nn::layer_norm(layer, narrow.astype(float32));
  EXPECT_LT(max(abs(difference)).item<float>(), 4 * 0x1p-9);

  // Positions look alike, so that a row's weights are many and small.
  Array q = random::normal(random::key(2), {kLength, 16}).astype(bfloat16) * 0.01;
  Array v = narrow[0].reshape({kLength, 1}) * ones({1, 16}, bfloat16);
  Array mixed = nn::causal_attention(q, q, v);
  EXPECT_EQ(mixed.dtype(), bfloat16);
  Array wide = nn::causal_attention(q.astype(float32), q.astype(float32), v.astype(float32));
  EXPECT_LT(max(abs(mixed.astype(float32) / wide - 1)).item<float>(), 2 * 0x1p-8);
}

/// One parameter, gradients one after the other.
static std::vector<double> runAdamW(double parameter, const std::vector<double> &grads) {
  Array p = array(parameter, float64);
  optim::AdamWOptions options{.weight_decay = 0.01};
  auto state = optim::adamw_init(p);
  std::vector<double> values;
  for (double grad : grads) {
    auto [update, next] = optim::adamw(array(grad, float64), state, p, array(1e-3, float64), options);
    p = optim::apply_updates(p, update);
    state = next;
    values.push_back(p.item<double>());
  }
  return values;
}

TEST(Optim, AdamWHasOptaxValues) {
  std::vector<double> values = runAdamW(1.0, {0.5, -0.25, 0.125});
  EXPECT_NEAR(values[0], 0.99899000002, 1e-9);
  EXPECT_NEAR(values[1], 0.9987136730870783, 1e-9);
  EXPECT_NEAR(values[2], 0.9983632568124354, 1e-9);
}

TEST(Optim, EpsilonIsOutsideTheRoot) {
  std::vector<double> values = runAdamW(1.0, {1e-8, 1e-8, 1e-8});
  EXPECT_NEAR(values[0], 0.99949, 1e-9);
  EXPECT_NEAR(values[2], 0.9984700152999489, 1e-9);
}

TEST(Optim, ClippingScalesToTheNorm) {
  auto [tree, norm, factor] = optim::clip_by_global_norm(std::pair(array({3.0}), array({4.0})), 1.0);
  EXPECT_CLOSE(tree.first, array({0.6}));
  EXPECT_CLOSE(tree.second, array({0.8}));
  EXPECT_CLOSE(norm, array(5.0f));
  EXPECT_CLOSE(factor, array(0.2f));
  EXPECT_CLOSE(optim::clip_by_global_norm(array({0.3, 0.4}), 1.0).tree, array({0.3, 0.4}));
}

TEST(Optim, MaskedLeavesDoNotDecay) {
  optim::AdamWOptions options{.weight_decay = 0.5, .mask = [](const Array &p) { return p.ndim() >= 2; }};
  std::pair params(ones({2}), ones({1, 2}));
  auto [updates, state] = optim::adamw(tree_map([](Array p) { return zeros_like(p); }, params), optim::adamw_init(params),
                                       params, 0.1, options);
  EXPECT_CLOSE(updates.first, zeros({2}));
  EXPECT_CLOSE(updates.second, array({{-0.05, -0.05}}));
}

TEST(Optim, AStateOfOtherParametersIsRefused) {
  std::vector<Array> few{ones({2})}, many(8, ones({2}));
  EXPECT_HJX_ERROR(optim::adamw(many, optim::adamw_init(few), many, 0.1),
                   "optim::adamw: expected one structure of parameters and state, they differ at a list of 8 against a list of 1\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
  EXPECT_HJX_ERROR(optim::adamw(many, optim::adamw_init(many), few, 0.1),
                   "optim::adamw: expected one structure of parameters and gradients, they differ at a list of 1 against a list of 8\n"
                   "  help: use the same containers, lengths, numbers and strings in both");
}

TEST(Optim, WarmupCosineHasOptaxValues) {
  auto at = [](int step) { return optim::warmup_cosine_decay_schedule(step, 0, 1, 10, 110, 0.1).item<float>(); };
  for (auto [step, value] : {std::pair(0, 0.0), {1, 0.1}, {5, 0.5}, {9, 0.9}, {10, 1.0}, {35, 0.8681980515339464}, {60, 0.55}, {110, 0.1}, {500, 0.1}})
    EXPECT_NEAR(at(step), value, 1e-6) << step;
  EXPECT_THROW(optim::warmup_cosine_decay_schedule(0, 0, 1, 10, 10), Error);
}
