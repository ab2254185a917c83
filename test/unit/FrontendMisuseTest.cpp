// SPDX-License-Identifier: Apache-2.0
//
// Random calls with random operands: whatever they do wrong ends in an hjx::Error
// with a place and a remedy, never in a crash or another exception. Most calls
// only record, which is quick; some run.
#include "FrontendTesting.h"

#include <random>

using namespace hjx;

namespace {

class Misuse {
public:
  explicit Misuse(unsigned seed) : random(seed) {}

  /// One call of a random function. What it gives may be an operand of later calls.
  Array call() {
    Array x = operand(), y = operand();
    switch (number(0, 44)) {
    case 0: return x + y;
    case 1: return x * y;
    case 2: return x / y;
    case 3: return x % y;
    case 4: return x < y;
    case 5: return x & y;
    case 6: return x << y;
    case 7: return power(x, y);
    case 8: return matmul(x, y);
    case 9: return dot(x, y);
    case 10: return dot_general(x, y, {axes(), axes(), axes(), axes()}, maybe<DType>(type()));
    case 11: return einsum(number(0, 1) ? "ij,jk->ik" : "bi,bi->b", x, y);
    case 12: return sum(x, reduced());
    case 13: return max(x, reduced(), number(0, 1));
    case 14: return argmax(x, maybe<int>(axis()));
    case 15: return cumsum(x, axis());
    case 16: return softmax(x, axis());
    case 17: return x.reshape(shape());
    case 18: return broadcast_to(x, shape());
    case 19: return transpose(x, reduced());
    case 20: return swapaxes(x, axis(), axis());
    case 21: return moveaxis(x, axis(), axis());
    case 22: return expand_dims(x, reduced());
    case 23: return squeeze(x, reduced());
    case 24: return flip(x, reduced());
    case 25: return roll(x, size(), axis());
    case 26: return repeat(x, size(), axis());
    case 27: return tile(x, shape().vec());
    case 28: return concatenate({x, y, operand()}, axis());
    case 29: return stack({x, y}, axis());
    case 30: return split(x, axis(), axis()).back();
    case 31: return split(x, shape().vec(), axis()).back();
    case 32: return pad(x, {{size(), size()}, {size(), size()}}, y);
    case 33: return slice(x, shape().vec(), shape().vec(), shape().vec());
    case 34: return dynamic_slice(x, {y, operand()}, shape().vec());
    case 35: return dynamic_update_slice(x, y, {operand(), 0});
    case 36: return x[{index(), index()}];
    case 37: return x.at({index(), index()}).set(y);
    case 38: return x.at(index()).add(y);
    case 39: return take(x, y, axis());
    case 40: return take_along_axis(x, y, axis());
    case 41: return where(x, y, operand());
    case 42: return number(0, 1) ? astype(x, type()) : bitcast(x, type());
    case 43: return number(0, 1) ? full(shape(), x, maybe<DType>(type())) : zeros(shape(), type());
    default: return random::uniform(x, shape(), type(), y);
    }
  }

  void keep(Array array) {
    if (array.has_value() && array.size() <= 64)
      results.push_back(array);
    if (results.size() > 8)
      results.erase(results.begin());
  }

private:
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random); }
  int axis() { return number(-4, 4); }
  int64_t size() { return number(0, 40) ? number(-2, 4) : int64_t(1) << number(30, 62); }
  DType type() { return static_cast<DType>(number(0, static_cast<int>(DType::key))); }
  std::vector<int> axes() {
    std::vector<int> list(number(0, 2));
    for (int &entry : list)
      entry = axis();
    return list;
  }
  Axes reduced() { return number(0, 3) ? Axes(axes()) : Axes(); }
  Shape shape() {
    std::vector<int64_t> sizes(number(0, 3));
    for (int64_t &entry : sizes)
      entry = size();
    return sizes;
  }
  template <typename T>
  std::optional<T> maybe(T value) {
    return number(0, 1) ? std::optional<T>(value) : std::nullopt;
  }
  Index index() {
    switch (number(0, 5)) {
    case 0: return axis();
    case 1: return Slice(axis(), axis(), number(-2, 2));
    case 2: return newaxis;
    case 3: return ellipsis;
    case 4: return every;
    default: return operand();
    }
  }
  Array operand() {
    int kind = number(0, 9);
    if (kind == 0)
      return number(0, 5) ? Array(number(-3, 300)) : Array();
    if (kind == 1)
      return Array(number(-3, 3) + 0.5);
    if (kind < 5 && !results.empty())
      return results[number(0, results.size() - 1)];
    static const std::vector<Shape> shapes{{}, {0}, {1}, {2}, {3}, {2, 3}, {3, 2}, {1, 3}, {2, 0}, {2, 3, 4}};
    const Shape &shape = shapes[number(0, shapes.size() - 1)];
    DType element = type();
    return element == DType::key ? random::split(random::key(0), shape) : ones(shape, element);
  }

  std::mt19937 random;
  std::vector<Array> results; // Of earlier calls.
};

/// Number of calls that succeeded, so that a test sees that not all of them fail.
int tryCalls(Misuse &misuse, int count) {
  int numGood = 0;
  for (int i = 0; i < count; ++i) {
    try {
      misuse.keep(misuse.call());
      ++numGood;
    } catch (const Error &error) {
      std::string text = error.what();
      EXPECT_THAT(text, ::testing::StartsWith("FrontendMisuseTest.cpp:")) << "call " << i;
      EXPECT_THAT(text, ::testing::HasSubstr("\n  help: ")) << "call " << i;
    }
  }
  return numGood;
}

} // namespace

TEST(FrontendMisuse, RecordedCallsFailWithAMessage) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    int numGood = 0;
    eval_shape([&](Array x) {
      Misuse misuse(seed);
      misuse.keep(x);
      numGood = tryCalls(misuse, 250);
      return x;
    })(ones({2, 3}));
    EXPECT_GT(numGood, 25) << "seed " << seed;
  }
}

TEST(FrontendMisuse, RunCallsFailWithAMessage) {
  Misuse misuse(1000);
  EXPECT_GT(tryCalls(misuse, 300), 30);
}
