// SPDX-License-Identifier: Apache-2.0
//
// Arrays: construction, promotion, the way back to numbers, printing.
#include "FrontendTesting.h"

#include <sstream>

using namespace hjx;

TEST(FrontendArray, FromNestedBraces) {
  Array x = array({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  EXPECT_EQ(x.shape(), Shape({2, 3}));
  EXPECT_EQ(x.dtype(), float32);
  EXPECT_FALSE(x.weak_type());
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(array({1, 2, 3}).dtype(), int32);
  EXPECT_EQ(array({true, false}).dtype(), bool_);
  EXPECT_EQ(array({1, 2.5}).dtype(), float32);
  EXPECT_EQ(array({1, 2}, float64).dtype(), float64);
  EXPECT_EQ(array({{{1}, {2}}}).shape(), Shape({1, 2, 1}));
  EXPECT_EQ(array(1.5).dtype(), float32) << "a scalar as in braces";
  EXPECT_FALSE(array(1.5).weak_type());
  EXPECT_EQ(array(1.5, float64).dtype(), float64);
  EXPECT_HJX_ERROR(array({{1, 2}, {3}}), "array: expected 2 entries in every list at depth 1, got 1\n"
                                         "  help: give every row the same length");
  EXPECT_HJX_ERROR(array({300}, uint8), "array: expected a number that uint8 can hold, got 300\n"
                                        "  help: choose a wider type: hjx::array(value, hjx::int64)");
}

TEST(FrontendArray, FromVectors) {
  EXPECT_EQ(array(std::vector<double>{1, 2}).dtype(), float64);
  EXPECT_EQ(array(std::vector<int64_t>{1, 2}).dtype(), int64);
  EXPECT_EQ(array(std::vector<uint8_t>{1, 2}).dtype(), uint8);
  EXPECT_EQ(array(std::vector<bool>{true, false}).dtype(), bool_);
  EXPECT_EQ(array(std::vector<float>{1, 2, 3, 4}, {2, 2}).shape(), Shape({2, 2}));
  EXPECT_HJX_ERROR(array(std::vector<float>{1, 2, 3}, {2, 2}), "array: expected 4 numbers for shape [2,2], got 3\n"
                                                                "  help: give a shape of as many elements");
}

TEST(FrontendArray, ItemConvertsOrRefuses) {
  EXPECT_EQ(array(3).item<int>(), 3);
  EXPECT_EQ(array(3).item<double>(), 3.0);
  EXPECT_EQ(array(2.5f).item<double>(), 2.5);
  EXPECT_EQ(Array(0.1).item<double>(), 0.1) << "a literal keeps all digits";
  EXPECT_EQ(array({1, 2}).to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_HJX_ERROR(array(2.5f).item<int>(), "item: expected int32 elements, got f32 with the value 2.5\n"
                                            "  help: ask for floats, or convert first: x.astype(hjx::int32)");
  EXPECT_HJX_ERROR(array(300).item<uint8_t>(), "item: expected uint8 elements, got i32 with the value 300\n"
                                               "  help: ask for a wider type");
  EXPECT_HJX_ERROR(array({1, 2}).item<int>(), "item: expected an array of one element, got i32[2]\n"
                                              "  help: use to_vector, or index the array first");
  EXPECT_HJX_ERROR(Array().item<int>(), "item: expected an array, got one without value (default-constructed)\n"
                                        "  help: assign it first, for example from hjx::zeros");
}

TEST(FrontendArray, HalfFloatsRound) {
  EXPECT_EQ(array(1.00390625, bfloat16).item<float>(), 1.0f) << "a tie goes to even";
  EXPECT_EQ(array(1.01171875, bfloat16).item<float>(), 1.015625f);
  EXPECT_EQ(array(65504.0, float16).item<float>(), 65504.0f);
  EXPECT_EQ(array(1e-8, float16).item<float>(), 0.0f);
}

TEST(FrontendArray, PromotionFollowsJax) {
  // Rows and columns: bool, int8, int32, uint8, uint64, bfloat16, float16, float32, float64.
  EXPECT_EQ(promote_types(bool_, int8), int8);
  EXPECT_EQ(promote_types(int8, uint8), int16);
  EXPECT_EQ(promote_types(int32, uint32), int64);
  EXPECT_EQ(promote_types(int64, uint64), float32);
  EXPECT_EQ(promote_types(uint64, bfloat16), bfloat16);
  EXPECT_EQ(promote_types(bfloat16, float16), float32);
  EXPECT_EQ(promote_types(int64, float16), float16);
  EXPECT_EQ(promote_types(float32, float64), float64);
}

TEST(FrontendArray, NumbersAreWeak) {
  Array half = array(1.5, bfloat16), byte = array(7, uint8), wide = array(1.0, float64);
  EXPECT_EQ((half * 2.0).dtype(), bfloat16);
  EXPECT_EQ((half + 1).dtype(), bfloat16);
  EXPECT_EQ((byte + 1).dtype(), uint8);
  EXPECT_EQ((byte + 1.5).dtype(), float32);
  EXPECT_TRUE((byte + 1.5).weak_type());
  EXPECT_EQ((wide * 0.1).item<double>(), 0.1) << "no detour through float32";
  EXPECT_TRUE((Array(1) + 2).weak_type());
  EXPECT_EQ((array(7) / 2).dtype(), float32);
  EXPECT_HJX_ERROR(byte + 300, "add: the number 300 does not fit in uint8, the type of the other operand\n"
                               "  help: convert the array to a wider type first: x.astype(hjx::int64)");
  EXPECT_EQ((array(int64_t(1)) + 5000000000).item<int64_t>(), 5000000001);
}

TEST(FrontendArray, ConditionsNeedConcreteBools) {
  EXPECT_TRUE(bool(array(2) > 1));
  EXPECT_HJX_ERROR(bool(array({1, 2}) > 1), "bool: expected a bool scalar as a condition, got the bool[2] made here\n"
                                            "  help: reduce it with hjx::all or hjx::any");
}

static std::string print(const Array &array) {
  std::ostringstream os;
  os << array;
  return os.str();
}

TEST(FrontendArray, PrintsAsNumPy) {
  EXPECT_EQ(print(array({{1.0, 2.0}, {3.0, 4.5}})), "[[1.  2. ]\n [3.  4.5]]");
  EXPECT_EQ(print(array({{1, -20}, {300, 4}})), "[[  1 -20]\n [300   4]]");
  EXPECT_EQ(print(array({true, false})), "[ True False]");
  EXPECT_EQ(print(array(0.1f)), "0.1");
  EXPECT_EQ(print(array({1e10, 1.0})), "[1.e+10 1.e+00]");
  EXPECT_EQ(print(arange(2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(print(zeros({0})), "[]");
  EXPECT_EQ(print(array({{{1}}, {{2}}})), "[[[1]]\n\n [[2]]]");
  EXPECT_EQ(print(Array()), "Array()");
  EXPECT_EQ(print(abstract({2, 3})), "Abstract<f32[2,3]>");
}
