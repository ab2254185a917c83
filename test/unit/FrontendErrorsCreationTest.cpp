// SPDX-License-Identifier: Apache-2.0
//
// The exact text of what happens when arrays cannot be made or read as asked, and
// when layers and optimizers get what does not fit together.
#include "FrontendTesting.h"

#include <hjx/nn.h>
#include <hjx/optim.h>

using namespace hjx;

namespace {

const Array m23 = zeros({2, 3}), m32 = zeros({3, 2}), v3 = zeros({3}), i3 = array({1, 2, 3}),
            b3 = array({true, false, true});
const Array key = random::key(0);

} // namespace

TEST(FrontendErrors, Reading) {
  EXPECT_HJX_ERROR(m23.item<float>(), "item: expected an array of one element, got f32[2,3]\n"
                                      "  help: use to_vector, or index the array first");
  EXPECT_HJX_ERROR(array(1.5f).item<int>(),
                   "item: expected int32 elements, got f32 with the value 1.5\n"
                   "  help: ask for floats, or convert first: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(array({1.0, 2.0}).to_vector<int>(),
                   "to_vector: expected int32 elements, got f32[2] with the value 1\n"
                   "  help: ask for floats, or convert first: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(array({300}).to_vector<uint8_t>(),
                   "to_vector: expected uint8 elements, got i32[1] with the value 300\n"
                   "  help: ask for a wider type");
  EXPECT_HJX_ERROR(array({-1}).to_vector<unsigned>(),
                   "to_vector: expected uint32 elements, got i32[1] with the value -1\n"
                   "  help: ask for a wider type");
  EXPECT_HJX_ERROR(array({NAN}).to_vector<int>(),
                   "to_vector: expected int32 elements, got f32[1] with the value nan\n"
                   "  help: ask for floats, or convert first: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(i3.to_vector<bool>(),
                   "to_vector: expected bool elements, got i32[3] with the value 1\n"
                   "  help: compare with 0, or say astype(hjx::bool_)");
  EXPECT_HJX_ERROR(key.item<int>(), "item: expected numbers, got random keys\n"
                                    "  help: hjx::random::key_data gives their words");
  EXPECT_HJX_ERROR(abstract({2}).to_vector<float>(),
                   "to_vector: expected an array with numbers, got the abstract f32[2]\n"
                   "  help: pass an array made from numbers");
  EXPECT_HJX_ERROR(bool(m23 + 0),
                   "bool: expected a bool scalar as a condition, got the f32[2,3] made here\n"
                   "  help: reduce it with hjx::all or hjx::any");
  EXPECT_HJX_ERROR(bool(array({1})),
                   "bool: expected a bool scalar as a condition, got the i32[1] made here\n"
                   "  help: compare it: x != 0");
  EXPECT_HJX_ERROR(from_bytes(m23.bytes(), {6}, float64),
                   "from_bytes: expected 48 bytes for f64[6], got 24\n"
                   "  help: pass the storage of every element, row-major");
}

TEST(FrontendErrors, Creation) {
  EXPECT_HJX_ERROR(array({{1, 2}, {3}}),
                   "array: expected 2 entries in every list at depth 1, got 1\n"
                   "  help: give every row the same length");
  EXPECT_HJX_ERROR(array({{1}, 2}),
                   "array: expected lists of one depth, got a number beside a list\n"
                   "  help: give every row the same nesting");
  EXPECT_HJX_ERROR(array({300}, int8),
                   "array: expected a number that int8 can hold, got 300\n"
                   "  help: choose a wider type: hjx::array(value, hjx::int64)");
  EXPECT_HJX_ERROR(array({1.5}, int8),
                   "array: expected a number that int8 can hold, got 1.5\n"
                   "  help: choose a floating type: hjx::array(value, hjx::float32)");
  EXPECT_HJX_ERROR(array({int64_t(1) << 40}),
                   "array: expected a number that int32 can hold, got 1099511627776\n"
                   "  help: choose a wider type: hjx::array(value, hjx::int64)");
  EXPECT_HJX_ERROR(array(std::vector<float>{1, 2, 3}, {-3}),
                   "array: expected sizes that are not negative, got shape [-3]\n"
                   "  help: compute the shape from x.shape()");
  EXPECT_HJX_ERROR(abstract({-2}),
                   "abstract: expected sizes that are not negative, got shape [-2]\n"
                   "  help: compute the shape from x.shape()");
  EXPECT_HJX_ERROR(zeros({-1}), "zeros: expected sizes that are not negative, got shape [-1]\n"
                                "  help: compute the shape from x.shape()");
  EXPECT_HJX_ERROR(
      zeros({int64_t(1) << 40, int64_t(1) << 40}),
      "zeros: expected a shape that fits into memory, got [1099511627776,1099511627776]\n"
      "  help: check the order of the sizes");
  try { // What is free is another matter.
    zeros({int64_t(1) << 50});
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.message(), ::testing::StartsWith("array: cpu:0: out of memory, wanted 4194304.0 GiB, free "));
    EXPECT_EQ(error.help(), "free arrays, use smaller batches, or stop other programs");
  }
  EXPECT_HJX_ERROR(zeros({2}, DType::key), "zeros: expected a type of numbers, got key\n"
                                           "  help: make keys with hjx::random::key(seed)");
  EXPECT_HJX_ERROR(full({2}, v3), "full: cannot broadcast f32[3] to shape [2]\n"
                                  "  help: axes match from the last, and only size 1 repeats");
  EXPECT_HJX_ERROR(zeros_like(key), "full_like: expected a type of numbers, got key\n"
                                    "  help: make keys with hjx::random::key(seed)");
  EXPECT_HJX_ERROR(arange(5, bool_), "arange: expected a type that counts, got bool\n"
                                     "  help: count in hjx::int32 and convert");
  EXPECT_HJX_ERROR(arange(0, 5, 0), "arange: expected a step other than 0\n"
                                    "  help: count up with 1, down with -1");
  EXPECT_HJX_ERROR(arange(300, int8), "arange: the number 299 does not fit in int8\n"
                                      "  help: choose a wider type");
  EXPECT_HJX_ERROR(
      linspace(0, 1, 3, int32),
      "linspace: expected a count that is not negative and a floating type, got 3 and int32\n"
      "  help: use arange for integers");
  EXPECT_HJX_ERROR(iota({2, 3}, 2), "iota: axis 2 is out of range for shape [2,3]\n"
                                    "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(one_hot(v3, 3), "one_hot: expected integer labels, got f32[3]\n"
                                   "  help: convert them: labels.astype(hjx::int32)");
  EXPECT_HJX_ERROR(tril(v3), "tril: expected at least two dimensions, got f32[3]\n"
                             "  help: reshape it to a matrix");
}

TEST(FrontendErrors, Random) {
  EXPECT_HJX_ERROR(random::key(1.5), "random::key: expected an integer seed, got f32\n"
                                     "  help: pass a whole number");
  EXPECT_HJX_ERROR(random::split(v3), "random::split: expected a random key, got f32[3]\n"
                                      "  help: make one with hjx::random::key(seed)");
  EXPECT_HJX_ERROR(random::fold_in(key, 1.5),
                   "random::fold_in: expected an integer to fold in, got f32\n"
                   "  help: pass a step or an index");
  EXPECT_HJX_ERROR(
      random::wrap_key_data(v3),
      "random::wrap_key_data: expected uint32 words with a last axis of 2, got f32[3]\n"
      "  help: pass what key_data returned");
  EXPECT_HJX_ERROR(random::bits(key, {2}, float32),
                   "random::bits: expected an unsigned type, got float32\n"
                   "  help: convert the bits afterwards");
  EXPECT_HJX_ERROR(random::uniform(key, {2}, int32),
                   "random::uniform: expected a floating type, got int32\n"
                   "  help: draw integers with hjx::random::randint");
  EXPECT_HJX_ERROR(random::normal(key, {-1}),
                   "random::normal: expected a shape without negative sizes, got [-1]\n"
                   "  help: check the shapes and element types of the operands");
  EXPECT_HJX_ERROR(random::normal(i3, {2}), "random::normal: expected a random key, got i32[3]\n"
                                            "  help: make one with hjx::random::key(seed)");
  EXPECT_HJX_ERROR(random::bernoulli(key, v3, Shape{2}),
                   "random::bernoulli: shapes do not broadcast: f32[2] and f32[3] differ in axis "
                   "-1 (2 against 3)\n"
                   "  help: axes match from the last; give one operand size 1 there, for example "
                   "with hjx::expand_dims");
  EXPECT_HJX_ERROR(random::randint(key, {2}, 0, 5, float32),
                   "random::randint: expected an integer type, got float32\n"
                   "  help: draw floats with hjx::random::uniform");
  EXPECT_HJX_ERROR(random::categorical(key, m23, 3),
                   "random::categorical: axis 3 is out of range for f32[2,3]\n"
                   "  help: use an axis in [-2, 2)");
}

TEST(FrontendErrors, Layers) {
  EXPECT_HJX_ERROR(
      nn::linear(nn::linear_init(key, 3, 4), zeros({2, 5})),
      "nn::linear: contracting dimensions differ: lhs f32[2,5] has 5, rhs f32[3,4] has 3\n"
      "  help: transpose an operand, or name the dimensions with dot_general");
  EXPECT_HJX_ERROR(nn::linear_init(i3, 3, 4), "nn::linear_init: expected a random key, got i32[3]\n"
                                              "  help: make one with hjx::random::key(seed)");
  EXPECT_HJX_ERROR(nn::layer_norm(nn::layer_norm_init(4), m23),
                   "nn::layer_norm: shapes do not broadcast: f32[2,3] and f32[4] differ in axis -1 "
                   "(3 against 4)\n"
                   "  help: axes match from the last; give one operand size 1 there, for example "
                   "with hjx::expand_dims");
  EXPECT_HJX_ERROR(nn::causal_attention(zeros({12}), zeros({12}), zeros({12})),
                   "nn::causal_attention: expected [..., T, d], got f32[12]\n"
                   "  help: add axes with hjx::expand_dims, or map over one with hjx::vmap");
  EXPECT_HJX_ERROR(nn::causal_self_attention(zeros({2, 4, 8}), 3),
                   "nn::causal_self_attention: expected a last dimension that is a multiple of 3 * "
                   "3 heads, got [2,4,8]\n"
                   "  help: choose heads that divide the width");
  EXPECT_HJX_ERROR(nn::causal_self_attention(zeros({12}), 3),
                   "nn::causal_self_attention: expected [..., T, 3C], got f32[12]\n"
                   "  help: add axes with hjx::expand_dims, or map over one with hjx::vmap");
  EXPECT_HJX_ERROR(nn::dropout(m23, 1.5, key), "nn::dropout: expected 0 <= rate < 1, got 1.500000\n"
                                               "  help: rate 0 keeps everything");
  EXPECT_HJX_ERROR(nn::softmax_cross_entropy(m23, zeros({2})),
                   "nn::softmax_cross_entropy: expected logits [..., classes] and integer labels "
                   "[...], got f32[2,3] and f32[2]\n"
                   "  help: give one class number for each row of logits");
  EXPECT_HJX_ERROR(optim::clip_by_global_norm(i3, 1.0),
                   "optim::global_norm: expected floating leaves, got i32[3]\n"
                   "  help: leave integers out of the tree");
  EXPECT_HJX_ERROR(
      optim::adamw(v3, optim::adamw_init(m23), m23, 1.0),
      "optim::adamw: expected gradients and moments of the parameter's shape f32[2,3], got f32[3]\n"
      "  help: take the state from adamw_init and gradients from grad, of the same parameters");
}
