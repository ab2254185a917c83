// SPDX-License-Identifier: Apache-2.0
//
// The exact text of what happens when functions of arrays are misused: the caller's
// line, what was expected and got, a remedy. One entry a mistake.
#include "FrontendTesting.h"

using namespace hjx;

namespace {

const Array m23 = zeros({2, 3}), m32 = zeros({3, 2}), v3 = zeros({3}), i3 = array({1, 2, 3}),
            b3 = array({true, false, true});
const Array key = random::key(0);

} // namespace

TEST(FrontendErrors, Elementwise) {
  EXPECT_HJX_ERROR(
      m23 + m32,
      "add: shapes do not broadcast: f32[2,3] and f32[3,2] differ in axis -2 (2 against 3)\n"
      "  help: axes match from the last; give one operand size 1 there, for example with "
      "hjx::expand_dims");
  EXPECT_HJX_ERROR(m23 + key, "add: expected numbers, got random keys: key\n"
                              "  help: hjx::random::bits turns keys into numbers");
  EXPECT_HJX_ERROR(sin(key), "sin: expected numbers, got random keys: key\n"
                             "  help: hjx::random::bits turns keys into numbers");
  EXPECT_HJX_ERROR(m23 & m23, "bitwise_and: expected integers or bools, got f32[2,3]\n"
                              "  help: compare or convert the floats first");
  EXPECT_HJX_ERROR(m23 << 1, "left_shift: expected integers, got f32[2,3]\n"
                             "  help: convert the operands to integers first");
  EXPECT_HJX_ERROR(-b3, "negative: expected numbers, got bools bool[3]\n"
                        "  help: convert them: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(b3 - b3, "subtract: expected numbers, got bools bool[3]\n"
                            "  help: convert one operand: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(i3 + (int64_t(1) << 40),
                   "add: expected a number that int32 can hold, got 1099511627776\n"
                   "  help: choose a wider type: hjx::array(value, hjx::int64)");
  EXPECT_HJX_ERROR(array(7, uint8) + 300,
                   "add: the number 300 does not fit in uint8, the type of the other operand\n"
                   "  help: convert the array to a wider type first: x.astype(hjx::int64)");
  EXPECT_HJX_ERROR(
      power(i3, -1),
      "power: integers to a negative power are not integers, got i32[3] and exponent -1\n"
      "  help: convert the base to a float first");
  EXPECT_HJX_ERROR(where(b3, m23, m32), "where: shapes do not broadcast: bool[3] and f32[2,3] and "
                                        "f32[3,2] differ in axis -2 (2 against 3)\n"
                                        "  help: axes match from the last; give one operand size 1 "
                                        "there, for example with hjx::expand_dims");
  EXPECT_HJX_ERROR(
      clip(m23, v3, m32),
      "clip: shapes do not broadcast: f32[2,3] and f32[3,2] differ in axis -2 (2 against 3)\n"
      "  help: axes match from the last; give one operand size 1 there, for example with "
      "hjx::expand_dims");
  EXPECT_HJX_ERROR(astype(key, float32), "astype: expected numbers, got key to convert to float32\n"
                                         "  help: hjx::random::bits turns keys into numbers");
  EXPECT_HJX_ERROR(bitcast(m23, int64),
                   "bitcast: expected types of one size, got f32[2,3] and int64\n"
                   "  help: convert the values instead: astype");
  EXPECT_HJX_ERROR(Array() + 1,
                   "add: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(abstract({2}) + 1,
                   "add: expected an array with numbers, got the abstract f32[2]\n"
                   "  help: pass it to the traced function as an argument");
}

TEST(FrontendErrors, Products) {
  EXPECT_HJX_ERROR(matmul(m23, m23),
                   "matmul: contracting dimensions differ: lhs f32[2,3] has 3, rhs f32[2,3] has 2\n"
                   "  help: transpose an operand, or name the dimensions with dot_general");
  EXPECT_HJX_ERROR(matmul(m23, Array(1.0)),
                   "matmul: expected arrays of at least one dimension, got f32[2,3] and f32\n"
                   "  help: multiply scalars with *");
  EXPECT_HJX_ERROR(matmul(zeros({2, 2, 3}), zeros({3, 3, 2})),
                   "matmul: leading dimensions do not broadcast: lhs f32[2,2,3], rhs f32[3,3,2]\n"
                   "  help: make them equal or 1, for example with hjx::expand_dims");
  EXPECT_HJX_ERROR(matmul(m23, m32, int32),
                   "matmul: expected accum to be a float type for operands of 'f32', got 'i32'\n"
                   "  help: leave the accumulation type out, or choose one of the operands' kind");
  EXPECT_HJX_ERROR(dot(m23, m23),
                   "dot: contracting dimensions differ: lhs f32[2,3] has 3, rhs f32[2,3] has 2\n"
                   "  help: transpose an operand, or name the dimensions with dot_general");
  EXPECT_HJX_ERROR(dot_general(m23, m32, {{0}, {0}}),
                   "dot_general: contracting dimensions differ: lhs f32[2,3] has 2 in dimension 0, "
                   "rhs f32[3,2] has 3 in dimension 0\n"
                   "  help: transpose an operand, or contract other dimensions");
  EXPECT_HJX_ERROR(
      dot_general(m23, m32, {{0, 1}, {0}}),
      "dot_general: expected equally many batching and contracting dimensions on both sides\n"
      "  help: pair every dimension of one side with one of the other");
  EXPECT_HJX_ERROR(dot_general(m23, m32, {{5}, {0}}),
                   "dot_general: axis 5 is out of range for f32[2,3]\n"
                   "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(
      dot_general(m23, m32, {{1}, {0}, {1}, {0}}),
      "dot_general: batching [1] and contracting [1] are not distinct dimensions of lhs f32[2,3]\n"
      "  help: name every dimension once, as contracting or as batching");
  EXPECT_HJX_ERROR(einsum("ij,jk->ik", m23, m23),
                   "einsum: axis 'j' has 3 elements in f32[2,3], 2 in f32[2,3]\n"
                   "  help: give equal letters equal sizes");
  EXPECT_HJX_ERROR(einsum("ij,jk", m23), "einsum: spec \"ij,jk\" has 2 operands, got 1\n"
                                         "  help: separate the operands' letters by commas");
  EXPECT_HJX_ERROR(einsum("ijk,jk->i", m23, m32),
                   "einsum: \"ijk\" has 3 letters, its operand is f32[2,3]\n"
                   "  help: write one letter per axis");
  EXPECT_HJX_ERROR(einsum("ii->i", m23),
                   "einsum: the letter 'i' occurs twice in \"ii\"\n"
                   "  help: take the diagonal first: multiply by hjx::eye and sum");
  EXPECT_HJX_ERROR(einsum("i1->i", m23), "einsum: expected one letter per axis in \"i1->i\"\n"
                                         "  help: write for example \"bij,bjk->bik\"");
  EXPECT_HJX_ERROR(einsum("ij->k", m23), "einsum: the output letter 'k' of \"ij->k\" must occur in "
                                         "an operand, and once in the output\n"
                                         "  help: write for example \"bij,bjk->bik\"");
}

TEST(FrontendErrors, Axes) {
  EXPECT_HJX_ERROR(sum(m23, 2), "sum: axis 2 is out of range for f32[2,3]\n"
                                "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(sum(m23, {0, 0}), "sum: axis 0 of f32[2,3] is named twice\n"
                                     "  help: name every axis once");
  EXPECT_HJX_ERROR(sum(Array(1.0), 0), "sum: axis 0 is out of range for f32\n"
                                       "  help: a scalar has no axes");
  EXPECT_HJX_ERROR(max(zeros({0})),
                   "max: expected at least one element along the reduced axes, got f32[0]\n"
                   "  help: an empty array has no extreme element; handle that case apart");
  EXPECT_HJX_ERROR(argmax(zeros({0})),
                   "argmax: expected at least one element, got f32[0]\n"
                   "  help: an empty array has no extreme element; handle that case apart");
  EXPECT_HJX_ERROR(cumsum(m23, 5), "cumsum: axis 5 is out of range for f32[2,3]\n"
                                   "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(softmax(Array(1.0)), "softmax: axis -1 is out of range for f32\n"
                                        "  help: a scalar has no axes");
  EXPECT_HJX_ERROR(transpose(m23, {0}),
                   "transpose: expected a permutation of the 2 axes of f32[2,3], got 1 axis\n"
                   "  help: name every axis once");
  EXPECT_HJX_ERROR(
      transpose(m23, {0, 0}),
      "transpose: expected a permutation of the 2 axes of f32[2,3], got 2 axes, one of them twice\n"
      "  help: name every axis once");
  EXPECT_HJX_ERROR(swapaxes(m23, 0, 2), "swapaxes: axis 2 is out of range for f32[2,3]\n"
                                        "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(expand_dims(m23, 4),
                   "expand_dims: axis 4 is out of range for a result of 3 axes\n"
                   "  help: use an axis in [-3, 3)");
  EXPECT_HJX_ERROR(expand_dims(m23, {0, 0}),
                   "expand_dims: axis 0 of a result of 4 axes is named twice\n"
                   "  help: name every axis once");
  EXPECT_HJX_ERROR(squeeze(m23, 0), "squeeze: expected axis 0 of size 1, got f32[2,3]\n"
                                    "  help: index or reduce the axis instead");
  EXPECT_HJX_ERROR(flip(m23, 2), "flip: axis 2 is out of range for f32[2,3]\n"
                                 "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(m23.shape(2), "shape: axis 2 is out of range for f32[2,3]\n"
                                 "  help: use an axis in [-2, 2)");
}

TEST(FrontendErrors, Shapes) {
  EXPECT_HJX_ERROR(m23.reshape({4}),
                   "reshape: f32[2,3] has 6 elements, which do not fill shape [4]\n"
                   "  help: give sizes whose product is 6, or -1 for one of them");
  EXPECT_HJX_ERROR(
      m23.reshape({-1, -1}),
      "reshape: expected sizes that are not negative, and -1 at most once, got [-1,-1]\n"
      "  help: leave one size to be computed");
  EXPECT_HJX_ERROR(m23.reshape({4, -1}),
                   "reshape: f32[2,3] has 6 elements, which do not fill shape [4,-1]\n"
                   "  help: give sizes whose product is 6, or -1 for one of them");
  EXPECT_HJX_ERROR(broadcast_to(m23, {3, 2}),
                   "broadcast_to: cannot broadcast f32[2,3] to shape [3,2]\n"
                   "  help: axes match from the last, and only size 1 repeats");
  EXPECT_HJX_ERROR(broadcast_to(m23, {-1, 2, 3}),
                   "broadcast_to: expected sizes that are not negative, got shape [-1,2,3]\n"
                   "  help: compute the shape from x.shape()");
  EXPECT_HJX_ERROR(concatenate({m23, m32}), "concatenate: expected arrays that agree in every axis "
                                            "but 0, got f32[2,3] and f32[3,2] at position 1\n"
                                            "  help: reshape or broadcast them first");
  EXPECT_HJX_ERROR(concatenate({}), "concatenate: expected at least one array\n"
                                    "  help: an empty list has no element type");
  EXPECT_HJX_ERROR(concatenate({m23, m23}, 2), "concatenate: axis 2 is out of range for f32[2,3]\n"
                                               "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(stack({m23, v3}),
                   "stack: expected arrays of one shape, got f32[2,3] and f32[3] at position 1\n"
                   "  help: broadcast them to one shape first");
  EXPECT_HJX_ERROR(stack({m23, Array()}),
                   "stack: expected an array, got one without value (default-constructed)\n"
                   "  help: assign it first, for example from hjx::zeros");
  EXPECT_HJX_ERROR(split(m23, 2, 1), "split: cannot split axis 1 of f32[2,3] into 2 equal pieces\n"
                                     "  help: give the indices where pieces begin instead");
  EXPECT_HJX_ERROR(split(m23, std::vector<int64_t>{4}, 1),
                   "split: expected ascending indices in [0, 3], got 4\n"
                   "  help: indices say where pieces begin");
  EXPECT_HJX_ERROR(repeat(m23, -1, 0), "repeat: expected a count that is not negative, got -1\n"
                                       "  help: count 1 changes nothing");
  EXPECT_HJX_ERROR(tile(m23, {-1}), "tile: expected counts that are not negative, got -1\n"
                                    "  help: count 1 changes nothing");
  EXPECT_HJX_ERROR(pad(m23, {{1, 1}}),
                   "pad: expected one pair of widths for each axis of f32[2,3], got 1\n"
                   "  help: write {0, 0} for axes to leave alone");
  EXPECT_HJX_ERROR(pad(m23, {{-1, 1}, {0, 0}}),
                   "pad: expected widths that are not negative, got {-1, 1}\n"
                   "  help: remove elements with slice");
  EXPECT_HJX_ERROR(pad(m23, {{1, 1}, {0, 0}}, v3),
                   "pad: expected a scalar to fill with, got f32[3]\n"
                   "  help: pad with 0 and add the values where they belong");
  EXPECT_HJX_ERROR(slice(m23, {0}, {1}),
                   "slice: expected 2 entries in start, limit and strides, got [0], [1], [1]\n"
                   "  help: give start, limit and strides one entry for each dimension");
  EXPECT_HJX_ERROR(
      slice(m23, {0, 0}, {3, 3}),
      "slice: expected 0 <= start <= limit <= 2 in dimension 0 of f32[2,3], got 0 and 3\n"
      "  help: keep 0 <= start <= limit <= size in each dimension");
  EXPECT_HJX_ERROR(slice(m23, {0, 0}, {1, 3}, {0, 1}),
                   "slice: expected positive strides, got [0, 1]\n"
                   "  help: use positive strides, and hjx::flip to reverse");
  EXPECT_HJX_ERROR(dynamic_slice(m23, {0}, {1, 1}),
                   "dynamic_slice: expected one start for each of the 2 axes of f32[2,3], got 1\n"
                   "  help: give 0 for axes that are taken from the beginning");
  EXPECT_HJX_ERROR(dynamic_slice(m23, {0, 0}, {1, 4}),
                   "dynamic_slice: sizes [1, 4] do not fit in f32[2,3]\n"
                   "  help: give one size for each dimension, none larger than the dimension");
  EXPECT_HJX_ERROR(dynamic_slice(m23, {0.5, 0}, {1, 1}),
                   "dynamic_slice: expected integer scalars as starts, got f32\n"
                   "  help: index or convert it first");
  EXPECT_HJX_ERROR(dynamic_update_slice(m23, zeros({3, 3}), {0, 0}),
                   "dynamic_update_slice: update f32[3,3] does not fit in f32[2,3]\n"
                   "  help: the update needs the array's number of dimensions and must fit inside");
}

TEST(FrontendErrors, Indexing) {
  EXPECT_HJX_ERROR(m23[2], "index: index 2 is out of range for axis 0 of f32[2,3]\n"
                           "  help: use an index in [-2, 2)");
  EXPECT_HJX_ERROR((m23[{0, 0, 0}]), "index: expected at most 2 indices for f32[2,3], got 3\n"
                                     "  help: index one axis with each entry");
  EXPECT_HJX_ERROR((m23[{ellipsis, ellipsis}]),
                   "index: expected at most one ellipsis in a subscript\n"
                   "  help: index one axis with each entry");
  EXPECT_HJX_ERROR(m23[Slice(0, 2, 0)], "index: expected a slice whose step is not 0\n"
                                        "  help: count up with 1, down with -1");
  EXPECT_HJX_ERROR(m23[v3], "index: expected integers as positions, got f32[3]\n"
                            "  help: convert them: i.astype(hjx::int32)");
  EXPECT_HJX_ERROR(
      m23[b3], "index: expected integers as positions, got bool[3]\n"
               "  help: the number of true elements is not known while tracing; use hjx::where");
  EXPECT_HJX_ERROR(Array(1.0)[0], "index: expected at most 0 indices for f32, got 1\n"
                                  "  help: index one axis with each entry");
  EXPECT_HJX_ERROR(zeros({0})[0], "index: index 0 is out of range for axis 0 of f32[0]\n"
                                  "  help: use an index in [-0, 0)");
  EXPECT_HJX_ERROR(zeros({0, 3})[i3],
                   "index: cannot pick elements from the empty axis of f32[0,3]\n"
                   "  help: check the array's size first");
  EXPECT_HJX_ERROR(take(m23, i3, 4), "take: axis 4 is out of range for f32[2,3]\n"
                                     "  help: use an axis in [-2, 2)");
  EXPECT_HJX_ERROR(take(zeros({0}), i3), "take: cannot take from the empty axis 0 of f32[0]\n"
                                         "  help: check the array's size first");
  EXPECT_HJX_ERROR(take_along_axis(m23, i3, 0),
                   "take_along_axis: expected indices with the 2 axes of f32[2,3], got i32[3]\n"
                   "  help: add axes of size 1 with hjx::expand_dims");
  EXPECT_HJX_ERROR(take_along_axis(m23, zeros({5, 5}, int32), 0),
                   "take_along_axis: axis 1 differs: f32[2,3] and indices i32[5,5]\n"
                   "  help: sizes must be equal or 1 in every axis but 0");
  EXPECT_HJX_ERROR(m23.at(2).set(1), "set: index 2 is out of range for axis 0 of f32[2,3]\n"
                                     "  help: use an index in [-2, 2)");
  EXPECT_HJX_ERROR(
      m23.at(0).set(zeros({2})),
      "set: cannot broadcast the values f32[2] to the shape [3] of the indexed elements\n"
      "  help: axes match from the last, and only size 1 repeats");
  EXPECT_HJX_ERROR(m23.at(0).set(key), "set: expected numbers, got key to convert to float32\n"
                                       "  help: hjx::random::bits turns keys into numbers");
  EXPECT_HJX_ERROR(i3.at(0).set(2.5),
                   "set: the number 2.5 does not fit in int32, the type of the other operand\n"
                   "  help: convert the array to a floating type first: x.astype(hjx::float32)");
}
