// SPDX-License-Identifier: Apache-2.0
//
// The errors of the vector maths, in units in the last place (ulp), against glibc in a
// wider format: f32 against double, f64 against x87 long double. Sweeps stride over all
// bit patterns, so every exponent, subnormals, infinities and NaNs are visited; further
// points cover the range where the function does something.
#include "test/unit/MathKernel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace hjx::test {
namespace {

using Wide = long double;
using Reference = Wide (*)(Wide);

struct UnaryCase {
  std::string name; ///< of the operation, or a builder-level function
  Reference reference;
  double ulpF32, ulpF64;                                  ///< bounds on the error
  double low = -20, high = 20;                            ///< also sampled uniformly
  double limit = std::numeric_limits<double>::infinity(); ///< of |x|, where precision ends
};

void PrintTo(const UnaryCase &c, std::ostream *os) { *os << c.name; }

std::string bodyOf(const std::string &name) {
  bool isBuilderFunction = name == "erf_inv" || name == "logistic";
  return isBuilderFunction ? name : "%y = math." + name + " %x : TYPE";
}

template <typename T> constexpr const char *elementName = sizeof(T) == 8 ? "f64" : "f32";

/// Distance between neighbours of type T near `x`.
template <typename T> Wide ulpAt(Wide x) {
  int exponent;
  std::frexp(std::fabs(x), &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::ldexp(Wide(1), exponent - std::numeric_limits<T>::digits);
}

/// The error in ulp; infinite when one side is NaN or infinite and the other is not.
template <typename T> double ulpError(T got, Wide expected) {
  constexpr double mismatch = std::numeric_limits<double>::infinity();
  T rounded = T(expected);
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : mismatch;
  if (got == rounded)
    return std::signbit(got) == std::signbit(rounded) ? 0 : mismatch;
  if (std::isinf(expected))
    return mismatch;
  // An overflow to infinity counts as the next number after the largest.
  Wide value =
      std::isinf(got)
          ? std::copysign(std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent), Wide(got))
          : Wide(got);
  return std::fabs(value - expected) / ulpAt<T>(expected);
}

template <typename T> std::vector<T> samplePoints(double low, double high) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr int kStrided = 1 << 20, kUniform = 1 << 18;
  std::vector<T> points;
  Bits stride = (std::numeric_limits<Bits>::max() / kStrided) | 1, at = 0;
  for (int i = 0; i < kStrided; ++i, at += stride)
    points.push_back(std::bit_cast<T>(at));
  for (int i = 0; i < kUniform; ++i)
    points.push_back(T(low + (high - low) * (i + 0.5) / kUniform));
  // Edges, each with its neighbours.
  using Limits = std::numeric_limits<T>;
  for (T edge : {T(0), Limits::denorm_min(), Limits::min(), Limits::epsilon(), T(0.5), T(1), T(2),
                 T(low), T(high), Limits::max(), T(1 << 20)})
    for (T sign : {T(1), T(-1)})
      for (T x : {std::nextafter(edge, T(0)), edge, std::nextafter(edge, Limits::infinity())})
        points.push_back(std::copysign(x, sign));
  for (T special : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()})
    points.push_back(special);
  points.resize((points.size() + 31) / 32 * 32, T(1));
  return points;
}

template <typename T> void expectAccurate(const UnaryCase &c, double bound, int lanes) {
  Kernel kernel({bodyOf(c.name), elementName<T>, lanes});
  std::vector<T> x = samplePoints<T>(c.low, c.high), y(x.size());
  kernel(x.data(), x.data(), y.data(), x.size());
  double worst = -1;
  size_t worstAt = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) && std::fabs(x[i]) > c.limit)
      continue;
    double error = ulpError(y[i], sizeof(T) == 8 ? c.reference(x[i]) : Wide(c.reference(x[i])));
    if (error > worst)
      worst = error, worstAt = i;
  }
  printf("%-9s %s  max error %.3f ulp at %a\n", c.name.c_str(), elementName<T>, worst,
         double(x[worstAt]));
  EXPECT_LE(worst, bound) << "at x = " << std::hexfloat << x[worstAt] << " got " << y[worstAt]
                          << ", expected " << c.reference(x[worstAt]);
}

class MathAccuracy : public testing::TestWithParam<UnaryCase> {};

TEST_P(MathAccuracy, F32Vector) { expectAccurate<float>(GetParam(), GetParam().ulpF32, 8); }
TEST_P(MathAccuracy, F64Vector) { expectAccurate<double>(GetParam(), GetParam().ulpF64, 4); }

template <auto f> Wide wide(Wide x) { return f(x); }

INSTANTIATE_TEST_SUITE_P(
    All, MathAccuracy,
    testing::Values(UnaryCase{"cos", [](Wide x) { return std::cos(x); }, 2, 2, -20, 20, 0x1p40},
                    UnaryCase{"erf", [](Wide x) { return std::erf(x); }, 2, 2},
                    UnaryCase{"exp", [](Wide x) { return std::exp(x); }, 2, 2, -110, 90},
                    UnaryCase{"exp2", [](Wide x) { return std::exp2(x); }, 2, 2, -155, 130},
                    UnaryCase{"expm1", [](Wide x) { return std::expm1(x); }, 2, 2},
                    UnaryCase{"log", [](Wide x) { return std::log(x); }, 2, 2, 0, 4},
                    UnaryCase{"log10", [](Wide x) { return std::log10(x); }, 2, 2, 0, 4},
                    UnaryCase{"log1p", [](Wide x) { return std::log1p(x); }, 2, 2, -1, 3},
                    UnaryCase{"log2", [](Wide x) { return std::log2(x); }, 2, 2, 0, 4},
                    UnaryCase{"logistic", [](Wide x) { return 1 / (1 + std::exp(-x)); }, 3, 3, -110,
                              30},
                    UnaryCase{"rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 1.5, 1.5, 0, 10},
                    UnaryCase{"sin", [](Wide x) { return std::sin(x); }, 2, 2, -20, 20, 0x1p40},
                    UnaryCase{"tan", [](Wide x) { return std::tan(x); }, 3, 3, -20, 20, 0x1p40},
                    UnaryCase{"tanh", [](Wide x) { return std::tanh(x); }, 2, 2}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace hjx::test
