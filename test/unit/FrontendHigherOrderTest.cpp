// SPDX-License-Identifier: Apache-2.0
//
// Transforms of transforms of control flow, in float64, against central
// differences. ctest runs these once compiled and once on the interpreter.
#include "FrontendTesting.h"

using namespace hjx;

namespace {

/// df/dx at each element of x; f maps an array to a scalar.
template <typename F> Array slopes(const F &f, const Array &x, double step = 1e-5) {
  std::vector<double> values = x.to_vector<double>(), result;
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = [&](double shift) {
      std::vector<double> moved = values;
      moved[i] += shift;
      return Array(f(array(moved, x.shape()))).template item<double>();
    };
    result.push_back((at(step) - at(-step)) / (2 * step));
  }
  return array(result, x.shape());
}

const Array x3 = array({0.3, -0.7, 1.1}, float64);
const Array x23 = array({{0.3, -0.7, 1.1}, {0.9, 0.2, -0.4}}, float64);

/// A recurrence over the elements of x: c <- sin(c x) + x.
Array recurrence(Array x) {
  auto step = [](Array c, Array x) { return std::pair(sin(c * x) + x, c * x); };
  auto [last, products] = scan(step, Array(0.5).astype(float64), x);
  return last + sum(products * products);
}

Array branches(Array x) {
  return cond(
      sum(x) > 0, [](Array x) { return sum(x * x * x); }, [](Array x) { return sum(sin(x) * x); },
      x);
}

} // namespace

TEST(FrontendHigherOrder, ThirdDerivativeOfElementwise) {
  auto f = [](Array x) { return exp(sin(x)) * x; };
  auto second = grad(grad(f));
  for (double at : {-0.7, 0.0, 1.3})
    EXPECT_CLOSE(grad(second)(array(at, float64)), slopes(second, array(at, float64)), 1e-7);
}

TEST(FrontendHigherOrder, ThirdDerivativeOfScan) {
  // Along one direction, by forward over reverse over reverse, and by three times reverse.
  auto along = [](Array t) { return recurrence(x3 + t * array({1.0, 0.5, -2.0}, float64)); };
  auto second = grad(grad(along));
  Array zero = array(0.0, float64), expected = slopes(second, zero);
  EXPECT_CLOSE(grad(second)(zero), expected, 1e-6);
  EXPECT_CLOSE(jvp(second, zero, array(1.0, float64)).second, expected, 1e-6);
}

TEST(FrontendHigherOrder, ThirdDerivativeOfBoundedWhile) {
  auto f = [](Array x) {
    return while_loop([](Array c) { return c < 10; }, [](Array c) { return c * c; }, x, 5);
  };
  // 2 -> 4 -> 16 is x^4.
  EXPECT_CLOSE(grad(grad(grad(f)))(array(2.0, float64)), array(48.0, float64), 1e-9);
}

TEST(FrontendHigherOrder, GradOfVmapOfScan) {
  auto f = [](Array rows) { return sum(square(vmap(recurrence)(rows))); };
  EXPECT_CLOSE(grad(f)(x23), slopes(f, x23), 1e-7);
  // Mapped along the other axis, under jit, and with the map inside of the loop.
  auto columns = [](Array rows) { return sum(vmap(recurrence, 1)(rows)); };
  EXPECT_CLOSE(jit(grad(columns))(x23), slopes(columns, x23), 1e-7);
  auto inside = [](Array rows) {
    auto step = [](Array c, Array row) {
      return std::pair(vmap([](Array c, Array x) { return sin(c * x) + x; })(c, row), c);
    };
    return sum(scan(step, ones({3}, float64), rows).first);
  };
  EXPECT_CLOSE(grad(inside)(x23), slopes(inside, x23), 1e-7);
}

TEST(FrontendHigherOrder, VmapOfGradOfCond) {
  // Rows that take different branches.
  Array rows = stack({x3, -x3, array({2.0, -0.5, 0.1}, float64)});
  std::vector<Array> expected;
  for (int i = 0; i < 3; ++i)
    expected.push_back(slopes(branches, rows[i]));
  EXPECT_CLOSE(vmap(grad(branches))(rows), stack(expected), 1e-7);
  EXPECT_CLOSE(jit(vmap(grad(branches)))(rows), stack(expected), 1e-7);
  auto all = [](Array rows) { return sum(vmap(branches)(rows)); };
  EXPECT_CLOSE(grad(all)(rows), stack(expected), 1e-7);
}

TEST(FrontendHigherOrder, HessianOfCond) {
  auto hessian = [](Array x) {
    return vmap([&](Array direction) { return jvp(grad(branches), x, direction).second; })(
        eye(3, {}, float64));
  };
  for (Array x : {x3, -x3}) {
    std::vector<Array> rows;
    for (int i = 0; i < 3; ++i)
      rows.push_back(slopes([&](Array x) { return grad(branches)(x)[i]; }, x));
    EXPECT_CLOSE(hessian(x), stack(rows), 1e-6);
  }
}

TEST(FrontendHigherOrder, CheckpointInsideScan) {
  auto cell = [](Array c, Array x) { return sin(c * x) * exp(-c * c) + x; };
  for (Policy policy :
       {Policy::nothing_saveable, Policy::dots_saveable, Policy::everything_saveable}) {
    auto f = [&](Array xs) {
      auto step = [&](Array c, Array x) {
        Array next = checkpoint(cell, policy)(c, x);
        return std::pair(next, next);
      };
      auto [last, all] = scan(step, Array(0.5).astype(float64), xs);
      return last * sum(all);
    };
    EXPECT_CLOSE(grad(f)(x3), slopes(f, x3), 1e-7);
    auto mapped = [&](Array rows) { return sum(vmap(f)(rows)); };
    EXPECT_CLOSE(grad(mapped)(x23), slopes(mapped, x23), 1e-7);
    auto second = [&](Array t) { return grad([&](Array t) { return f(x3 + t); })(t); };
    EXPECT_CLOSE(grad(second)(array(0.0, float64)), slopes(second, array(0.0, float64)), 1e-6);
  }
}

TEST(FrontendHigherOrder, ScanOfGradOfScan) {
  // Gradient descent through the recurrence, itself differentiated in its step size.
  auto descend = [](Array rate) {
    auto step = [&](Array x, Nothing) {
      return std::pair(x - rate * grad(recurrence)(x), Nothing());
    };
    return recurrence(scan(step, x3, Nothing(), {.length = 3}).first);
  };
  EXPECT_CLOSE(grad(descend)(array(0.05, float64)), slopes(descend, array(0.05, float64)), 1e-7);
}
