// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: a scalar function on floats, one on integers, or both. Bools
// are unsigned integers of width 1.
#include "lib/Interpreter/Evaluate.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using llvm::APSInt;

namespace hjx {

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

static double signOf(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

static double roundHalvesEven(double x) { return std::nearbyint(x); }

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The x with erf(x) = y: a start within 0.5% (Winitzki 2008), then Halley's
/// steps. In the tails the residual is taken from erfc, so that 1 - |y| keeps
/// its digits.
static double erfInv(double y) {
  double magnitude = std::abs(y);
  if (std::isnan(y) || magnitude > 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == 1)
    return std::copysign(std::numeric_limits<double>::infinity(), y);
  if (magnitude < 1e-300) // exp and erf would lose a subnormal
    return y * (std::sqrt(std::numbers::pi) / 2);
  constexpr double a = 0.147;
  double l = std::log1p(-magnitude * magnitude), t = 2 / (std::numbers::pi * a) + l / 2;
  double x = std::sqrt(std::sqrt(t * t - l / a) - t);
  for (int step = 0; step < 4; ++step) {
    double residual = magnitude < 0.5 ? std::erf(x) - magnitude : (1 - magnitude) - std::erfc(x);
    double newton = residual / (2 / std::sqrt(std::numbers::pi) * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return std::copysign(x, y);
}

double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
double minimum(double x, double y) { return -maximum(-x, -y); }

static APInt quotient(const APSInt &x, const APSInt &y) {
  if (y.isZero())
    return APInt::getAllOnes(x.getBitWidth());
  return x.isUnsigned() ? x.udiv(y) : x.sdiv(y); // least / -1 wraps to itself
}
static APInt remainder(const APSInt &x, const APSInt &y) {
  if (y.isZero())
    return x;
  return x.isUnsigned() ? x.urem(y) : x.srem(y);
}

/// The shift amount, read as unsigned, or the width when it is not below it.
static unsigned shiftAmount(const APSInt &y) { return y.getLimitedValue(y.getBitWidth()); }

//===----------------------------------------------------------------------===//
// Maps over elements
//===----------------------------------------------------------------------===//

using FloatUnary = double (*)(double);
using FloatBinary = double (*)(double, double);
using IntegerUnary = APInt (*)(const APSInt &);
using IntegerBinary = APInt (*)(const APSInt &, const APSInt &);

static EvaluateRule unary(FloatUnary onFloat, IntegerUnary onInteger = nullptr) {
  return [=](Evaluation &e) {
    const HostArray &x = e.operand(0);
    HostArray &result = e.results[0];
    for (int64_t i = 0, n = x.numElements(); i < n; ++i)
      if (x.isFloat())
        result.setFloat(i, onFloat(x.getFloat(i)));
      else
        result.setInteger(i, onInteger(x.getInteger(i)));
    return success();
  };
}

static EvaluateRule binary(FloatBinary onFloat, IntegerBinary onInteger = nullptr) {
  return [=](Evaluation &e) {
    const HostArray &x = e.operand(0), &y = e.operand(1);
    HostArray &result = e.results[0];
    for (int64_t i = 0, n = x.numElements(); i < n; ++i)
      if (x.isFloat())
        result.setFloat(i, onFloat(x.getFloat(i), y.getFloat(i)));
      else
        result.setInteger(i, onInteger(x.getInteger(i), y.getInteger(i)));
    return success();
  };
}

/// round looks at its attribute.
static LogicalResult evaluateRound(Evaluation &e) {
  bool isEven = cast<ir::RoundOp>(e.op).getRoundingMethod() == ir::RoundingMethod::ToNearestEven;
  return unary(isEven ? roundHalvesEven : FloatUnary(std::round))(e);
}

static LogicalResult evaluateIsFinite(Evaluation &e) {
  for (int64_t i = 0, n = e.operand(0).numElements(); i < n; ++i)
    e.results[0].setInteger(i, APInt(1, std::isfinite(e.operand(0).getFloat(i))));
  return success();
}

template <typename T>
static bool compareScalars(ir::ComparisonDirection direction, const T &x, const T &y) {
  switch (direction) {
  case ir::ComparisonDirection::EQ:
    return x == y;
  case ir::ComparisonDirection::NE:
    return x != y;
  case ir::ComparisonDirection::LT:
    return x < y;
  case ir::ComparisonDirection::LE:
    return x <= y;
  case ir::ComparisonDirection::GT:
    return x > y;
  case ir::ComparisonDirection::GE:
    return x >= y;
  }
  llvm_unreachable("all directions are handled");
}

static LogicalResult evaluateCompare(Evaluation &e) {
  const HostArray &x = e.operand(0), &y = e.operand(1);
  ir::ComparisonDirection direction = cast<ir::CompareOp>(e.op).getDirection();
  for (int64_t i = 0, n = x.numElements(); i < n; ++i) {
    bool holds = x.isFloat() ? compareScalars(direction, x.getFloat(i), y.getFloat(i))
                             : compareScalars(direction, x.getInteger(i), y.getInteger(i));
    e.results[0].setInteger(i, APInt(1, holds));
  }
  return success();
}

static LogicalResult evaluateSelectN(Evaluation &e) {
  const HostArray &which = e.operand(0);
  int64_t last = e.operands.size() - 2;
  for (int64_t i = 0, n = e.results[0].numElements(); i < n; ++i) {
    int64_t chosen = which.getIndex(which.rank() == 0 ? 0 : i);
    e.results[0].setElement(i, e.operand(1 + std::clamp<int64_t>(chosen, 0, last)), i);
  }
  return success();
}

static LogicalResult evaluateClamp(Evaluation &e) {
  const HostArray &lo = e.operand(0), &x = e.operand(1), &hi = e.operand(2);
  auto at = [](const HostArray &bound, int64_t i) { return bound.rank() == 0 ? 0 : i; };
  for (int64_t i = 0, n = x.numElements(); i < n; ++i) {
    int64_t l = at(lo, i), h = at(hi, i);
    if (x.isFloat())
      e.results[0].setFloat(i, minimum(maximum(x.getFloat(i), lo.getFloat(l)), hi.getFloat(h)));
    else
      e.results[0].setInteger(
          i, std::min(std::max(x.getInteger(i), lo.getInteger(l)), hi.getInteger(h)));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Element type changes
//===----------------------------------------------------------------------===//

static LogicalResult evaluateConvert(Evaluation &e) {
  const HostArray &x = e.operand(0);
  HostArray &result = e.results[0];
  bool toBool = result.elementType().isInteger(1);
  for (int64_t i = 0, n = x.numElements(); i < n; ++i) {
    if (toBool) {
      result.setInteger(i, APInt(1, x.isFloat() ? x.getFloat(i) != 0 : !x.getInteger(i).isZero()));
    } else if (x.isFloat() && result.isFloat()) {
      result.setFloat(i, x.getFloat(i)); // a double holds every float exactly
    } else if (x.isFloat()) {
      // convertToInteger saturates, and sends NaN to 0.
      APSInt value = result.getInteger(i);
      bool isExact;
      APFloat(x.getFloat(i)).convertToInteger(value, APFloat::rmTowardZero, &isExact);
      result.setInteger(i, value);
    } else if (result.isFloat()) {
      // Not through double, which would round a 64-bit integer twice.
      APSInt value = x.getInteger(i);
      APFloat number(cast<FloatType>(result.elementType()).getFloatSemantics());
      number.convertFromAPInt(value, value.isSigned(), APFloat::rmNearestTiesToEven);
      result.setInteger(i, number.bitcastToAPInt());
    } else {
      APSInt value = x.getInteger(i);
      result.setInteger(i, value.extOrTrunc(result.elementType().getIntOrFloatBitWidth()));
    }
  }
  return success();
}

static LogicalResult evaluateBitcast(Evaluation &e) {
  e.results[0] = e.operand(0).withType(e.results[0].type());
  return success();
}

static LogicalResult evaluateIdentity(Evaluation &e) {
  e.results[0] = e.operand(0);
  return success();
}

void populateElementwiseEvaluateRules(EvaluateRules &rules) {
  using namespace ir;
  // clang-format off
  rules.add<NegOp>(unary([](double x) { return -x; }, [](const APSInt &x) { return -APInt(x); }));
  rules.add<AbsOp>(unary([](double x) { return std::abs(x); },
                         [](const APSInt &x) { return x.isNegative() ? -APInt(x) : APInt(x); }));
  rules.add<SignOp>(unary(signOf, [](const APSInt &x) {
    return APInt(x.getBitWidth(), x.isZero() ? 0 : x.isNegative() ? -1 : 1, /*isSigned=*/true); }));
  rules.add<FloorOp>(unary(std::floor));
  rules.add<CeilOp>(unary(std::ceil));
  rules.add<RoundOp>(evaluateRound);
  rules.add<SqrtOp>(unary(std::sqrt));
  rules.add<RsqrtOp>(unary([](double x) { return 1 / std::sqrt(x); }));
  rules.add<ExpOp>(unary(std::exp));
  rules.add<Expm1Op>(unary(std::expm1));
  rules.add<LogOp>(unary(std::log));
  rules.add<Log1pOp>(unary(std::log1p));
  rules.add<SinOp>(unary(std::sin));
  rules.add<CosOp>(unary(std::cos));
  rules.add<TanOp>(unary(std::tan));
  rules.add<TanhOp>(unary(std::tanh));
  rules.add<ErfOp>(unary(std::erf));
  rules.add<ErfInvOp>(unary(erfInv));
  rules.add<LogisticOp>(unary(logistic));
  rules.add<NotOp>(unary(nullptr, [](const APSInt &x) { return ~APInt(x); }));
  rules.add<IsFiniteOp>(evaluateIsFinite);
  rules.add<StopGradientOp>(evaluateIdentity);

  rules.add<AddOp>(binary([](double x, double y) { return x + y; }, [](const APSInt &x, const APSInt &y) { return APInt(x) + y; }));
  rules.add<SubOp>(binary([](double x, double y) { return x - y; }, [](const APSInt &x, const APSInt &y) { return APInt(x) - y; }));
  rules.add<MulOp>(binary([](double x, double y) { return x * y; }, [](const APSInt &x, const APSInt &y) { return APInt(x) * y; }));
  rules.add<DivOp>(binary([](double x, double y) { return x / y; }, quotient));
  rules.add<RemOp>(binary(std::fmod, remainder));
  rules.add<MaxOp>(binary(maximum, [](const APSInt &x, const APSInt &y) { return APInt(std::max(x, y)); }));
  rules.add<MinOp>(binary(minimum, [](const APSInt &x, const APSInt &y) { return APInt(std::min(x, y)); }));
  rules.add<PowOp>(binary(std::pow));
  rules.add<AndOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return APInt(x) & y; }));
  rules.add<OrOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return APInt(x) | y; }));
  rules.add<XorOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return APInt(x) ^ y; }));
  rules.add<ShiftLeftOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return x.shl(shiftAmount(y)); }));
  rules.add<ShiftRightLogicalOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return x.lshr(shiftAmount(y)); }));
  rules.add<ShiftRightArithmeticOp>(binary(nullptr, [](const APSInt &x, const APSInt &y) { return x.ashr(shiftAmount(y)); }));
  // clang-format on

  rules.add<CompareOp>(evaluateCompare);
  rules.add<SelectNOp>(evaluateSelectN);
  rules.add<ClampOp>(evaluateClamp);
  rules.add<ConvertOp>(evaluateConvert);
  rules.add<BitcastOp>(evaluateBitcast);
}

} // namespace hjx
