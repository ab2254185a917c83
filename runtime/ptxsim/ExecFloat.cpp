// SPDX-License-Identifier: Apache-2.0
//
// f32 and f64 arithmetic. Directed roundings run the same loop under another rounding
// mode of the host. NaN results in f32 are the one NaN that the hardware makes
// (0x7fffffff). The approximate functions are computed in double and rounded: better
// than the hardware, within what the manual promises; a program must not count on more.
#include "runtime/ptxsim/Lanes.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace hjx::ptxsim {
namespace {

float flush(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  return bits & 0x7F800000 ? x : std::bit_cast<float>(bits & 0x80000000);
}
// On bits: a comparison of floats may be folded away, as one NaN is as good as another in C++.
float canonical(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFFFFFF : bits);
}
double canonical(double x) { return x; }
double flush(double x) { return x; }
template <typename T> T saturate(T x) { return x > T(0) ? (x < T(1) ? x : T(1)) : T(0); }

// What surrounds an operation: .ftz, .sat.
template <auto f, bool ftz, bool sat, typename... A> constexpr auto wrapped = [](A... a) {
  auto result = [&] {
    if constexpr (ftz)
      return flush(canonical(f(flush(a)...)));
    else
      return canonical(f(a...));
  }();
  if constexpr (sat)
    return saturate(result);
  else
    return result;
};

template <typename T> constexpr auto add = [](T a, T b) { return a + b; };
template <typename T> constexpr auto sub = [](T a, T b) { return a - b; };
template <typename T> constexpr auto mul = [](T a, T b) { return a * b; };
template <typename T> constexpr auto div = [](T a, T b) { return a / b; };
template <typename T> constexpr auto fma = [](T a, T b, T c) { return std::fma(a, b, c); };
template <typename T> constexpr auto root = [](T a) { return std::sqrt(a); };
template <typename T> constexpr auto reciprocal = [](T a) { return T(1) / a; };
template <typename T> constexpr auto reciprocalRoot = [](T a) { return T(1 / std::sqrt(double(a))); };
constexpr auto exp2 = [](float a) { return float(std::exp2(double(a))); };
constexpr auto log2 = [](float a) { return float(std::log2(double(a))); };
constexpr auto sine = [](float a) { return float(std::sin(double(a))); };
constexpr auto cosine = [](float a) { return float(std::cos(double(a))); };
constexpr auto hyperbolicTangent = [](float a) { return float(std::tanh(double(a))); };
// div.approx multiplies by a reciprocal, which underflows for the largest divisors.
constexpr auto divApprox = [](float a, float b) {
  return std::fabs(b) > 0x1p126f && std::isfinite(b) ? a * 0.0f : a / b;
};
// rcp.approx.ftz.f64 and rsqrt: the low word of the result is zero.
constexpr auto highWord = [](double a) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & 0xFFFFFFFF00000000);
};
constexpr auto reciprocalHigh = [](double a) { return highWord(1 / a); };
constexpr auto reciprocalRootHigh = [](double a) { return highWord(1 / std::sqrt(a)); };

template <typename T> T signOf(T a, T b) { return std::copysign(b, a); }
// -0 is less than +0; the number wins over NaN unless .NaN is given.
template <typename T, bool propagates> constexpr auto least = [](T a, T b) {
  T result = a < b || (a == b && std::signbit(a)) ? a : b;
  T nan = a + b;
  if constexpr (propagates)
    return a != a || b != b ? nan : result;
  else
    return a != a ? (b != b ? nan : b) : b != b ? a : result;
};
template <typename T, bool propagates>
constexpr auto greatest = [](T a, T b) { return -least<T, propagates>(-a, -b); };
template <auto f> constexpr auto xorSign = [](float a, float b) {
  return std::copysign(f(std::fabs(a), std::fabs(b)), std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
};

template <typename T, size_t> using Same = T;

/// The handler of T f(T...) with n arguments under .ftz and .sat.
template <auto f, typename T, size_t n> Handler pick(bool ftz, bool sat) {
  return [=]<size_t... k>(std::index_sequence<k...>) -> Handler {
    if (ftz)
      return sat ? each<wrapped<f, true, true, Same<T, k>...>, T, Same<T, k>...>
                 : each<wrapped<f, true, false, Same<T, k>...>, T, Same<T, k>...>;
    return sat ? each<wrapped<f, false, true, Same<T, k>...>, T, Same<T, k>...>
               : each<wrapped<f, false, false, Same<T, k>...>, T, Same<T, k>...>;
  }(std::make_index_sequence<n>{});
}

// Runs the handler in `immediate` under the host's rounding mode in `target`.
void runRounded(const Instruction &i, Warp &w) {
  std::fesetround(i.target);
  reinterpret_cast<Handler>(i.immediate)(i, w);
  std::fesetround(FE_TONEAREST);
}

int roundingMode(absl::string_view word) {
  return word == "rz" ? FE_TOWARDZERO
         : word == "rm" ? FE_DOWNWARD
         : word == "rp" ? FE_UPWARD
                        : FE_TONEAREST;
}

template <typename T> Handler pickMinMax(bool isMin, bool propagates, bool ftz) {
  if (isMin)
    return propagates ? pick<least<T, true>, T, 2>(ftz, false) : pick<least<T, false>, T, 2>(ftz, false);
  return propagates ? pick<greatest<T, true>, T, 2>(ftz, false)
                    : pick<greatest<T, false>, T, 2>(ftz, false);
}

Handler pickXorSign(bool isMin, bool propagates, bool ftz) {
  if (isMin)
    return propagates ? pick<xorSign<least<float, true>>, float, 2>(ftz, false)
                      : pick<xorSign<least<float, false>>, float, 2>(ftz, false);
  return propagates ? pick<xorSign<greatest<float, true>>, float, 2>(ftz, false)
                    : pick<xorSign<greatest<float, false>>, float, 2>(ftz, false);
}

// Sign operations touch bits only: NaNs pass through them.
template <typename T>
constexpr auto negate = [](T a) { return -a; };
template <typename T> constexpr auto absolute = [](T a) { return std::fabs(a); };
template <auto f> constexpr auto flushed = [](float a) { return f(flush(a)); };

Handler pickSign(bool isNeg, Type type, bool ftz) {
  if (type == Type::F64)
    return isNeg ? each<negate<double>, double, double> : each<absolute<double>, double, double>;
  if (ftz)
    return isNeg ? each<flushed<negate<float>>, float, float>
                 : each<flushed<absolute<float>>, float, float>;
  return isNeg ? each<negate<float>, float, float> : each<absolute<float>, float, float>;
}

Handler pickApprox(absl::string_view base, bool ftz) {
  if (base == "ex2") return pick<exp2, float, 1>(ftz, false);
  if (base == "lg2") return pick<log2, float, 1>(ftz, false);
  if (base == "sin") return pick<sine, float, 1>(ftz, false);
  if (base == "cos") return pick<cosine, float, 1>(ftz, false);
  if (base == "tanh") return pick<hyperbolicTangent, float, 1>(ftz, false);
  return nullptr;
}

template <typename T> Handler pickArithmetic(absl::string_view base, bool ftz, bool sat) {
  if (base == "add") return pick<add<T>, T, 2>(ftz, sat);
  if (base == "sub") return pick<sub<T>, T, 2>(ftz, sat);
  if (base == "mul") return pick<mul<T>, T, 2>(ftz, sat);
  if (base == "fma" || base == "mad") return pick<fma<T>, T, 3>(ftz, sat);
  if (base == "div") return pick<div<T>, T, 2>(ftz, sat);
  if (base == "sqrt") return pick<root<T>, T, 1>(ftz, sat);
  if (base == "rcp") return pick<reciprocal<T>, T, 1>(ftz, sat);
  if (base == "rsqrt") return pick<reciprocalRoot<T>, T, 1>(ftz, sat);
  return nullptr;
}

} // namespace

bool decodeFloat(InstructionDecoder &d) {
  static constexpr absl::string_view names[] = {"add", "sub", "mul", "fma", "mad", "div", "sqrt",
                                               "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh",
                                               "neg", "abs", "min", "max", "copysign"};
  absl::string_view base = d.op.base;
  if (std::find(std::begin(names), std::end(names), base) == std::end(names))
    return false;
  Opcode before = d.op;
  std::optional<Type> type = d.op.takeType();
  if (type != Type::F32 && type != Type::F64) {
    d.op = before;
    return false;
  }
  bool isDouble = type == Type::F64;
  bool ftz = d.op.take("ftz"), sat = d.op.take("sat");
  absl::string_view rounding = d.op.takeOneOf({"rn", "rz", "rm", "rp"});
  bool approximate = d.op.take("approx"), full = d.op.take("full");
  bool propagates = d.op.take("NaN");
  unsigned numSources = 2;
  if (base == "fma" || base == "mad")
    numSources = 3;
  else if (base != "add" && base != "sub" && base != "mul" && base != "div" && base != "min" &&
           base != "max" && base != "copysign")
    numSources = 1;
  decodeUniform(d, *type, numSources);

  if (base == "neg" || base == "abs") {
    d.out.run = pickSign(base == "neg", *type, ftz);
  } else if (base == "copysign") {
    d.out.run = isDouble ? Handler(each<signOf<double>, double, double, double>)
                         : Handler(each<signOf<float>, float, float, float>);
  } else if (base == "min" || base == "max") {
    bool xors = d.op.take("xorsign") && d.op.take("abs");
    d.out.run = isDouble ? pickMinMax<double>(base == "min", propagates, false)
                : xors   ? pickXorSign(base == "min", propagates, ftz)
                         : pickMinMax<float>(base == "min", propagates, ftz);
  } else if (isDouble && approximate) {
    if (base == "rcp")
      d.out.run = pick<reciprocalHigh, double, 1>(false, false);
    else if (base == "rsqrt")
      d.out.run = ftz ? pick<reciprocalRootHigh, double, 1>(false, false)
                      : pick<reciprocalRoot<double>, double, 1>(false, false);
  } else if (approximate && base == "div" && !full) {
    d.out.run = pick<divApprox, float, 2>(ftz, sat);
  } else if (Handler handler = isDouble ? nullptr : pickApprox(base, ftz)) {
    d.out.run = handler;
    if (!approximate)
      d.fail("expected .approx");
  } else {
    bool needsRounding = base == "fma" || base == "div" || base == "sqrt" || base == "rcp";
    if (needsRounding && rounding.empty() && !approximate && !full)
      d.fail("expected a rounding: .rn, .rz, .rm, .rp or .approx");
    d.out.run = isDouble ? pickArithmetic<double>(base, false, sat)
                         : pickArithmetic<float>(base, ftz, sat);
  }
  if (!d.out.run) {
    d.fail("unknown form of this instruction");
  } else if (int mode = roundingMode(rounding); mode != FE_TONEAREST) {
    d.out.immediate = reinterpret_cast<uint64_t>(d.out.run);
    d.out.target = mode;
    d.out.run = runRounded;
  }
  d.emit();
  return true;
}

} // namespace hjx::ptxsim
