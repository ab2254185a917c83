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
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

namespace hjx::test {
namespace {

using Wide = long double;
using Reference = Wide (*)(Wide);

struct UnaryCase {
  std::string name; ///< of the operation, or a builder-level function
  Reference reference;
  double ulpF32, ulpF64;       ///< bounds on the error
  double low = -20, high = 20; ///< also sampled uniformly
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

/// Runs `body` on x and w and checks every result against `reference(i)`.
template <typename T>
void expectWithin(const std::string &body, const std::vector<T> &x, const std::vector<T> &w,
                  double bound, llvm::function_ref<Wide(size_t)> reference,
                  int lanes = sizeof(T) == 8 ? 4 : 8) {
  Kernel kernel({body, elementName<T>, lanes});
  std::vector<T> y(x.size());
  kernel(x.data(), w.data(), y.data(), x.size());
  double worst = -1;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (double error = ulpError(y[i], reference(i)); error > worst)
      worst = error, at = i;
  printf("%-32s %s: %.3f ulp at %a, %a\n", body.c_str(), elementName<T>, worst, double(x[at]),
         double(w[at]));
  EXPECT_LE(worst, bound) << std::hexfloat << "at " << x[at] << ", " << w[at] << " got " << y[at]
                          << ", expected " << T(reference(at));
}

template <typename T> void expectAccurate(const UnaryCase &c, double bound) {
  std::vector<T> x = samplePoints<T>(c.low, c.high);
  expectWithin<T>(bodyOf(c.name), x, x, bound, [&](size_t i) { return c.reference(x[i]); });
}

class MathAccuracy : public testing::TestWithParam<UnaryCase> {};

TEST_P(MathAccuracy, F32Vector) { expectAccurate<float>(GetParam(), GetParam().ulpF32); }
TEST_P(MathAccuracy, F64Vector) { expectAccurate<double>(GetParam(), GetParam().ulpF64); }

INSTANTIATE_TEST_SUITE_P(
    All, MathAccuracy,
    testing::Values(UnaryCase{"acos", [](Wide x) { return std::acos(x); }, 2, 2, -1, 1},
                    UnaryCase{"acosh", [](Wide x) { return std::acosh(x); }, 4, 4, 1, 4},
                    UnaryCase{"asin", [](Wide x) { return std::asin(x); }, 2.5, 2.5, -1, 1},
                    UnaryCase{"asinh", [](Wide x) { return std::asinh(x); }, 4, 4},
                    UnaryCase{"atan", [](Wide x) { return std::atan(x); }, 2, 2, -3, 3},
                    UnaryCase{"atanh", [](Wide x) { return std::atanh(x); }, 4, 4, -1, 1},
                    UnaryCase{"cbrt", [](Wide x) { return std::cbrt(x); }, 1, 1},
                    UnaryCase{"cos", [](Wide x) { return std::cos(x); }, 2, 2},
                    UnaryCase{"cosh", [](Wide x) { return std::cosh(x); }, 2, 2},
                    UnaryCase{"erf", [](Wide x) { return std::erf(x); }, 2, 2, -5, 5},
                    UnaryCase{"erfc", [](Wide x) { return std::erfc(x); }, 4.5, 4.5, -5, 28},
                    UnaryCase{"exp", [](Wide x) { return std::exp(x); }, 1, 1, -110, 90},
                    UnaryCase{"exp2", [](Wide x) { return std::exp2(x); }, 1, 1, -155, 130},
                    UnaryCase{"expm1", [](Wide x) { return std::expm1(x); }, 2, 2},
                    UnaryCase{"log", [](Wide x) { return std::log(x); }, 1, 1, 0, 4},
                    UnaryCase{"log10", [](Wide x) { return std::log10(x); }, 1, 1, 0, 4},
                    UnaryCase{"log1p", [](Wide x) { return std::log1p(x); }, 2, 2, -1, 3},
                    UnaryCase{"log2", [](Wide x) { return std::log2(x); }, 1, 1, 0, 4},
                    UnaryCase{"logistic", [](Wide x) { return 1 / (1 + std::exp(-x)); }, 3, 3, -110,
                              30},
                    UnaryCase{"rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 1.5, 1.5, 0, 10},
                    UnaryCase{"sin", [](Wide x) { return std::sin(x); }, 2, 2},
                    UnaryCase{"sinh", [](Wide x) { return std::sinh(x); }, 3, 3},
                    UnaryCase{"tan", [](Wide x) { return std::tan(x); }, 3, 3},
                    UnaryCase{"tanh", [](Wide x) { return std::tanh(x); }, 2, 2}),
    [](const auto &info) { return info.param.name; });

/// The f64 closest to a multiple of pi/2 (Kahan): 61 bits cancel in the reduction.
TEST(Math, HardestAngle) {
  std::vector<double> x(32, 0x1.6ac5b262ca1ffp+849);
  x[5] = 1;
  expectWithin<double>("%y = math.cos %x : TYPE", x, x, 2,
                       [&](size_t i) { return std::cos(Wide(x[i])); });
}

//===-- two operands ------------------------------------------------------===//

template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> magnitudes = {0,
                               Limits::denorm_min(),
                               Limits::min(),
                               Limits::epsilon(),
                               T(0.3),
                               T(0.5),
                               std::nextafter(T(1), T(0)),
                               1,
                               std::nextafter(T(1), T(2)),
                               T(1.5),
                               2,
                               3,
                               T(3.5),
                               10,
                               11,
                               T(0x1p22) + T(0.5),
                               T(0x1p24) - 1,
                               T(0x1p52) - T(0.5),
                               T(0x1p52) + 1,
                               T(0x1p53) - 1,
                               T(0x1p53),
                               Limits::max(),
                               Limits::infinity(),
                               Limits::quiet_NaN()};
  std::vector<T> values;
  for (T magnitude : magnitudes)
    for (T sign : {T(1), T(-1)})
      values.push_back(std::copysign(magnitude, sign));
  return values;
}

/// All pairs of special values.
template <typename T> void specialPairs(std::vector<T> &x, std::vector<T> &w) {
  std::vector<T> values = specialValues<T>();
  for (T a : values)
    for (T b : values)
      x.push_back(a), w.push_back(b);
}

template <typename T> void pad(std::vector<T> &x, T with) {
  x.resize((x.size() + 31) / 32 * 32, with);
}

/// Pairs with results all over the range of T, and some that overflow or underflow.
template <typename T> void powerPairs(std::vector<T> &x, std::vector<T> &w) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  constexpr int kMaxExponent = std::numeric_limits<T>::max_exponent;
  for (int i = 0; i < 1 << 19; ++i) {
    double base = i % 2 ? std::exp2((2 * unit(random) - 1) * kMaxExponent) : 0.5 + unit(random);
    double logResult = (2 * unit(random) - 1) * kMaxExponent * 1.2;
    T a = T(base) == 1 ? T(1.5) : T(base);
    x.push_back(a);
    w.push_back(T(logResult / std::log2(double(a))));
  }
}

template <typename T> void expectPow(double bound) {
  std::vector<T> x, w;
  powerPairs(x, w);
  specialPairs(x, w);
  pad(x, T(1)), pad(w, T(1));
  expectWithin<T>("%y = math.powf %x, %w : TYPE", x, w, bound,
                  [&](size_t i) { return std::pow(Wide(x[i]), Wide(w[i])); });
}
TEST(Math, PowF32) { expectPow<float>(0.51); }
TEST(Math, PowF64) { expectPow<double>(1); }

template <typename T> void expectFPowI(const std::string &body, double bound) {
  std::vector<T> x, w;
  for (T base : specialValues<T>())
    for (int n : {0, 1, -1, 2, -2, 3, 7, -8, 31, 100, -101, 2147483647, -2147483647 - 1})
      x.push_back(base), w.push_back(T(n));
  pad(x, T(1)), pad(w, T(1));
  expectWithin<T>(body, x, w, bound, [&](size_t i) { return std::pow(Wide(x[i]), Wide(w[i])); });
}
TEST(Math, FPowI) {
  // The exponents arrive as floats: those above are exact in f64, and all but two in f32.
  expectFPowI<double>(
      "%k = arith.fptosi %w : TYPE to vector<4xi32> %y = math.fpowi %x, %k : TYPE, vector<4xi32>",
      1);
  expectFPowI<double>(
      "%k = arith.fptosi %w : TYPE to vector<4xi64> %y = math.fpowi %x, %k : TYPE, vector<4xi64>",
      1);
  expectFPowI<float>(
      "%k = arith.fptosi %w : TYPE to vector<8xi64> %y = math.fpowi %x, %k : TYPE, vector<8xi64>",
      0.51);
}

template <typename T> void expectAtan2(double bound) {
  std::vector<T> y = samplePoints<T>(-10, 10), x(y.size());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (size_t i = 0; i < y.size(); ++i)
    x[i] = i % 4 ? T(y[i] * unit(random) * 2) : y[(i * 7919) % y.size()];
  specialPairs(y, x);
  pad(y, T(1)), pad(x, T(1));
  expectWithin<T>("%y = math.atan2 %x, %w : TYPE", y, x, bound,
                  [&](size_t i) { return std::atan2(Wide(y[i]), Wide(x[i])); });
}
TEST(Math, Atan2F32) { expectAtan2<float>(2.5); }
TEST(Math, Atan2F64) { expectAtan2<double>(2.5); }

//===-- erf_inv -----------------------------------------------------------===//

/// erf_inv of a positive a = 1 - complement, by Newton's method on erf or erfc, from an
/// estimate by Winitzki (2008).
Wide erfInv(Wide a, Wide complement) {
  Wide l = std::log(complement * (1 + a)), k = 2 / (std::numbers::pi_v<Wide> * 0.147L) + l / 2;
  Wide y = a < 0.01L ? a * std::sqrt(std::numbers::pi_v<Wide>) / 2
                     : std::sqrt(std::sqrt(k * k - l / 0.147L) - k);
  for (int i = 0; i < 5; ++i) {
    Wide slope = 2 * std::numbers::inv_sqrtpi_v<Wide> * std::exp(-y * y);
    y -= (a < 0.5L ? std::erf(y) - a : complement - std::erfc(y)) / slope;
  }
  return y;
}

/// XLA's formula rounds x^2 before log1p(-x^2), so near +-1 its error is that of the
/// rounded square: compare with erf_inv(sqrt(round(x^2))).
template <typename T> void expectErfInv(double bound) {
  std::vector<T> x = samplePoints<T>(-1, 1);
  expectWithin<T>("erf_inv", x, x, bound, [&](size_t i) -> Wide {
    Wide a = std::fabs(x[i]), square = T(x[i] * x[i]);
    if (a < std::numeric_limits<T>::epsilon())
      return x[i] * (std::sqrt(std::numbers::pi_v<Wide>) / 2);
    if (!(a < 1))
      return a == 1 ? x[i] * std::numeric_limits<Wide>::infinity() : std::nan("");
    Wide root = std::sqrt(square);
    return std::copysign(erfInv(root, (1 - square) / (1 + root)), Wide(x[i]));
  });
}
TEST(Math, ErfInvF32) { expectErfInv<float>(8); }
TEST(Math, ErfInvF64) { expectErfInv<double>(8); }

//===-- shapes and formats ------------------------------------------------===//

const char *const kUnaryNames[] = {"acos", "acosh", "asin",    "asinh",   "atan",  "atanh", "cbrt",
                                   "cos",  "cosh",  "erf",     "erfc",    "exp",   "exp2",  "expm1",
                                   "log",  "log10", "log1p",   "log2",    "rsqrt", "sin",   "sinh",
                                   "tan",  "tanh",  "erf_inv", "logistic"};

/// A scalar, a short vector and one wider than a register give the same bits.
template <typename T> void expectSameOnAllShapes(const std::string &name) {
  std::vector<T> x = samplePoints<T>(-4, 4), expected(x.size());
  x.resize(1 << 16);
  Kernel({bodyOf(name), elementName<T>, 0})(x.data(), x.data(), expected.data(), x.size());
  for (int lanes : {2, 32}) {
    std::vector<T> y(x.size());
    Kernel({bodyOf(name), elementName<T>, lanes})(x.data(), x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(std::memcmp(&y[i], &expected[i], sizeof(T)) == 0 ||
                  (std::isnan(y[i]) && std::isnan(expected[i])))
          << name << " on " << lanes << " lanes of " << elementName<T> << " at " << x[i] << ": "
          << y[i] << ", scalar " << expected[i];
  }
}
TEST(Math, ShapesAgree) {
  for (const char *name : {"cos", "exp", "erf_inv", "log1p", "sin", "tanh", "cbrt"}) {
    expectSameOnAllShapes<float>(name);
    expectSameOnAllShapes<double>(name);
  }
}

float fromBF16(uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); }
float fromF16(uint16_t x) {
  int exponent = x >> 10 & 31;
  float mantissa = x & 1023;
  float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                    : exponent == 0 ? std::ldexp(mantissa, -24)
                                    : std::ldexp(mantissa + 1024, exponent - 25);
  return x >> 15 ? -magnitude : magnitude;
}

/// All 65536 inputs, within half an ulp of the half format and an ulp of f32.
void expectHalf(const char *element, float (*decode)(uint16_t), const char *name,
                double (*reference)(double)) {
  std::vector<uint16_t> x(1 << 16), y(x.size());
  std::iota(x.begin(), x.end(), 0);
  Kernel({bodyOf(name), element, 8})(x.data(), x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = reference(decode(x[i]));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(decode(y[i]))) << name << " of " << element << " bits " << i;
      continue;
    }
    // The neighbours of y enclose the exact value, and none is much closer to it.
    double error = std::fabs(decode(y[i]) - expected);
    for (int step : {-1, 1}) {
      double neighbour = decode(y[i] + step);
      if (std::isinf(decode(y[i])) || std::isnan(neighbour) || (y[i] & 0x7fff) + step < 0)
        continue;
      ASSERT_LE(error, std::fabs(neighbour - expected) * 1.0005 + 1e-44)
          << name << " of " << element << " bits " << i;
    }
  }
}
TEST(Math, HalfPrecision) {
  expectHalf("bf16", fromBF16, "exp", std::exp);
  expectHalf("f16", fromF16, "exp", std::exp);
  expectHalf("bf16", fromBF16, "tanh", std::tanh);
  expectHalf("f16", fromF16, "log", std::log);
}

//===-- NVPTX -------------------------------------------------------------===//

std::vector<KernelSpec> allFunctions() {
  std::vector<KernelSpec> specs;
  for (const char *element : {"f32", "f64"}) {
    for (const char *name : kUnaryNames)
      specs.push_back({bodyOf(name), element, 0});
    specs.push_back({"%y = math.powf %x, %w : TYPE", element, 0});
    specs.push_back({"%y = math.atan2 %x, %w : TYPE", element, 0});
    specs.push_back({"%k = arith.constant 3 : i32 %y = math.fpowi %x, %k : TYPE, i32", element, 0});
  }
  for (const char *element : {"f16", "bf16"})
    specs.push_back({bodyOf("exp"), element, 0});
  return specs;
}

void expectAssembles(const std::string &ptx, const std::string &chip) {
  if (std::system(HJX_PTXAS " --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no ptxas: the PTX was generated but not assembled";
  std::string path = testing::TempDir() + "/hjx_math_" + chip + ".ptx";
  std::ofstream(path) << ptx;
  EXPECT_EQ(std::system((HJX_PTXAS " -arch=" + chip + " -o /dev/null " + path).c_str()), 0);
  std::remove(path.c_str());
}

class MathPtx : public testing::TestWithParam<const char *> {};

TEST_P(MathPtx, SelectsEverything) {
  std::string ptx = compileToPtx(allFunctions(), GetParam());
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("call")));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr(".extern")));
  // The bits are those of the host only if nothing is approximate, flushed or contracted.
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr(".approx")));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr(".ftz")));
  EXPECT_THAT(ptx, testing::Not(testing::ContainsRegex("(mul|add|sub)\\.f(32|64)")));
  expectAssembles(ptx, GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, MathPtx, testing::Values("sm_80", "sm_90"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace hjx::test
