// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of elementwise ops. Conventions at kinks and ties are JAX's:
// abs'(0) = 1, max and min split a tie evenly, clamp is flat at its bounds.
// One differs: d/dx x^0 is 0 at x = 0, too, where JAX has NaN.
#include "lib/Autodiff/Rules/Rules.h"

#include <numbers>

using namespace mlir;
using namespace hjx::ir;
using namespace hjx::emit;

namespace hjx {

//===----------------------------------------------------------------------===//
// Unary: y_dot = coefficient(x, y) * x_dot
//===----------------------------------------------------------------------===//

using Coefficient = Value (*)(emit::Builder &b, Value x, Value y);

template <typename Op>
static void unary(RuleRegistry &rules, Coefficient coefficient) {
  rules.of<Op>().jvp = [coefficient](JvpContext &c) {
    c.setTangent(0, mul(c.b, c.tangent(0), coefficient(c.b, c.op->getOperand(0), c.op->getResult(0))));
    return success();
  };
}

static Value times(emit::Builder &b, double factor, Value x) { return mul(b, fullLike(b, x, factor), x); }
static Value plus(emit::Builder &b, double term, Value x) { return add(b, fullLike(b, x, term), x); }

static void populateUnary(RuleRegistry &rules) {
  // sqrt(x)' = 1 / (2 y)
  unary<SqrtOp>(rules, [](emit::Builder &b, Value, Value y) { return div(b, fullLike(b, y, 0.5), y); });
  // rsqrt(x)' = -y / (2 x)
  unary<RsqrtOp>(rules, [](emit::Builder &b, Value x, Value y) { return times(b, -0.5, div(b, y, x)); });
  // exp(x)' = y
  unary<ExpOp>(rules, [](emit::Builder &, Value, Value y) { return y; });
  // expm1(x)' = y + 1
  unary<Expm1Op>(rules, [](emit::Builder &b, Value, Value y) { return plus(b, 1.0, y); });
  // sin' = cos, cos' = -sin, tan' = 1 + tan^2
  unary<SinOp>(rules, [](emit::Builder &b, Value x, Value) { return cos(b, x); });
  unary<CosOp>(rules, [](emit::Builder &b, Value x, Value) { return neg(b, sin(b, x)); });
  unary<TanOp>(rules, [](emit::Builder &b, Value, Value y) { return plus(b, 1.0, mul(b, y, y)); });
  // tanh' = 1 - y^2, as a product that keeps its accuracy near y = 1
  unary<TanhOp>(rules, [](emit::Builder &b, Value, Value y) {
    return mul(b, plus(b, 1.0, y), sub(b, fullLike(b, y, 1.0), y));
  });
  // logistic' = y (1 - y)
  unary<LogisticOp>(rules, [](emit::Builder &b, Value, Value y) { return mul(b, y, sub(b, fullLike(b, y, 1.0), y)); });
  // erf(x)' = 2/sqrt(pi) exp(-x^2)
  unary<ErfOp>(rules, [](emit::Builder &b, Value x, Value) {
    return times(b, 2.0 * std::numbers::inv_sqrtpi, exp(b, neg(b, mul(b, x, x))));
  });
  // erf_inv(x)' = sqrt(pi)/2 exp(y^2)
  unary<ErfInvOp>(rules, [](emit::Builder &b, Value, Value y) {
    return times(b, 0.5 / std::numbers::inv_sqrtpi, exp(b, mul(b, y, y)));
  });

  // y = |x|;  y_dot = x_dot where x >= 0, else -x_dot
  rules.of<AbsOp>().jvp = [](JvpContext &c) {
    Value x = c.op->getOperand(0), dot = c.tangent(0);
    Value isPositive = compare(c.b, ComparisonDirection::GE, x, fullLike(c.b, x, 0.0));
    c.setTangent(0, select(c.b, isPositive, dot, neg(c.b, dot)));
    return success();
  };
  // y = log(x);  y_dot = x_dot / x        y = log1p(x);  y_dot = x_dot / (1 + x)
  rules.of<LogOp>().jvp = [](JvpContext &c) {
    c.setTangent(0, div(c.b, c.tangent(0), c.op->getOperand(0)));
    return success();
  };
  rules.of<Log1pOp>().jvp = [](JvpContext &c) {
    c.setTangent(0, div(c.b, c.tangent(0), plus(c.b, 1.0, c.op->getOperand(0))));
    return success();
  };
}

//===----------------------------------------------------------------------===//
// Binary: z_dot = a(x, y, z) * x_dot + b(x, y, z) * y_dot
//===----------------------------------------------------------------------===//

using BinaryCoefficient = Value (*)(emit::Builder &b, Value x, Value y, Value z);

template <typename Op>
static void binary(RuleRegistry &rules, BinaryCoefficient ofX, BinaryCoefficient ofY) {
  rules.of<Op>().jvp = [ofX, ofY](JvpContext &c) {
    Value x = c.op->getOperand(0), y = c.op->getOperand(1), z = c.op->getResult(0), sum;
    for (auto [i, coefficient] : {std::pair(0, ofX), std::pair(1, ofY)})
      if (Value dot = c.tangent(i)) {
        Value term = mul(c.b, dot, coefficient(c.b, x, y, z));
        sum = sum ? add(c.b, sum, term) : term;
      }
    c.setTangent(0, sum);
    return success();
  };
}

/// 1 where x is the extremum z, 1/2 where y is too, else 0.
static Value shareOf(emit::Builder &b, Value x, Value y, Value z) {
  Value one = fullLike(b, z, 1.0);
  Value isX = select(b, compare(b, ComparisonDirection::EQ, x, z), one, fullLike(b, z, 0.0));
  Value ties = select(b, compare(b, ComparisonDirection::EQ, y, z), fullLike(b, z, 2.0), one);
  return div(b, isX, ties);
}

/// x, with zeros replaced by ones.
static Value zeroAsOne(emit::Builder &b, Value x) {
  return select(b, compare(b, ComparisonDirection::EQ, x, fullLike(b, x, 0.0)), fullLike(b, x, 1.0), x);
}

/// y * x^(y - 1), and 0 for y = 0. The unused y of the select is 1, so that no
/// infinity at x = 0 meets a zero in higher derivatives.
static Value powByBase(emit::Builder &b, Value x, Value y, Value) {
  Value safe = zeroAsOne(b, y);
  Value slope = mul(b, safe, pow(b, x, sub(b, safe, fullLike(b, y, 1.0))));
  return select(b, compare(b, ComparisonDirection::EQ, y, fullLike(b, y, 0.0)), fullLike(b, y, 0.0), slope);
}

static void populateBinary(RuleRegistry &rules) {
  // z = x * y
  binary<MulOp>(
      rules, [](emit::Builder &, Value, Value y, Value) { return y; }, [](emit::Builder &, Value x, Value, Value) { return x; });
  // z = max(x, y) or min(x, y): the tangent of the winner, the mean on ties
  BinaryCoefficient x = [](emit::Builder &b, Value x, Value y, Value z) { return shareOf(b, x, y, z); };
  BinaryCoefficient y = [](emit::Builder &b, Value x, Value y, Value z) { return shareOf(b, y, x, z); };
  binary<MaxOp>(rules, x, y);
  binary<MinOp>(rules, x, y);
  // z = x^y;  z_dot = y x^(y-1) x_dot + log(x) z y_dot, log(0) taken as 0 so that d/dy 0^y = 0
  binary<PowOp>(rules, powByBase,
                [](emit::Builder &b, Value x, Value, Value z) { return mul(b, log(b, zeroAsOne(b, x)), z); });
  // z = x - y trunc(x / y);  z_dot = x_dot - trunc(x / y) y_dot
  binary<RemOp>(
      rules, [](emit::Builder &b, Value x, Value, Value) { return fullLike(b, x, 1.0); },
      [](emit::Builder &b, Value x, Value y, Value) {
        Value quotient = div(b, x, y);
        Value truncated = mul(b, sign(b, quotient), FloorOp::create(b, abs(b, quotient)));
        return neg(b, truncated);
      });

  // z = x / y;  z_dot = x_dot / y - y_dot * (z / y)
  rules.of<DivOp>().jvp = [](JvpContext &c) {
    Value y = c.op->getOperand(1), sum;
    if (Value xDot = c.tangent(0))
      sum = div(c.b, xDot, y);
    if (Value yDot = c.tangent(1)) {
      Value term = mul(c.b, yDot, div(c.b, c.op->getResult(0), y));
      sum = sum ? sub(c.b, sum, term) : neg(c.b, term);
    }
    c.setTangent(0, sum);
    return success();
  };
  // z = x + y
  rules.of<AddOp>().jvp = [](JvpContext &c) {
    Value xDot = c.tangent(0), yDot = c.tangent(1);
    c.setTangent(0, xDot && yDot ? add(c.b, xDot, yDot) : xDot ? xDot : yDot);
    return success();
  };
  // z = x - y
  rules.of<SubOp>().jvp = [](JvpContext &c) {
    Value xDot = c.tangent(0), yDot = c.tangent(1);
    c.setTangent(0, xDot && yDot ? sub(c.b, xDot, yDot) : xDot ? xDot : neg(c.b, yDot));
    return success();
  };
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// A scalar bound's tangent or condition, at `type`'s shape.
static Value atShape(emit::Builder &b, Value x, RankedTensorType type) { return broadcastInDim(b, x, type.getShape(), {}); }

// y = clamp(lo, x, hi)
//   x_dot where lo < x < hi;  lo_dot where x < lo < hi;  hi_dot where hi < x
static LogicalResult clampJvp(JvpContext &c, ClampOp op) {
  emit::Builder &b = c.b;
  Value x = op.getOperand();
  auto type = typeOf(x);
  auto full = [&](Value bound) { return typeOf(bound) == type ? bound : atShape(b, bound, type); };
  Value lo = full(op.getLo()), hi = full(op.getHi()), sum;
  auto less = [&](Value a, Value b2) { return compare(b, ComparisonDirection::LT, a, b2); };
  auto addWhere = [&](unsigned operand, llvm::function_ref<Value()> where) {
    Value dot = c.tangent(operand);
    if (!dot)
      return;
    Value term = select(b, where(), full(dot), zeros(b, type));
    sum = sum ? add(b, sum, term) : term;
  };
  addWhere(0, [&] { return logicalAnd(b, less(x, lo), less(lo, hi)); });
  addWhere(1, [&] { return logicalAnd(b, less(lo, x), less(x, hi)); });
  addWhere(2, [&] { return less(hi, x); });
  c.setTangent(0, sum);
  return success();
}

// z = select(which, cases);  case_bar += select(which, ..0, z_bar, 0..)
static LogicalResult selectTranspose(TransposeContext &c, SelectNOp op) {
  Value zero = zeros(c.b, op.getType());
  for (unsigned i = 0, n = op.getCases().size(); i < n; ++i) {
    if (!c.isLinear(i + 1))
      continue;
    SmallVector<Value> cases(n, zero);
    cases[i] = c.resultBar(0);
    c.accumulate(i + 1, SelectNOp::create(c.b, c.nonlinear(0), cases));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

static void populateTransposes(RuleRegistry &rules) {
  // y = -x;  x_bar += -y_bar
  rules.of<NegOp>().transpose = [](TransposeContext &c) {
    c.accumulate(0, neg(c.b, c.resultBar(0)));
    return success();
  };
  // y = stop_gradient(x) in a linear program, such as a branch of a rule that is mapped, is y = x;  x_bar += y_bar
  rules.of<StopGradientOp>().transpose = [](TransposeContext &c) {
    c.accumulate(0, c.resultBar(0));
    return success();
  };
  // z = x + y;  x_bar += z_bar, y_bar += z_bar
  rules.of<AddOp>().transpose = [](TransposeContext &c) {
    c.accumulate(0, c.resultBar(0));
    c.accumulate(1, c.resultBar(0));
    return success();
  };
  // z = x - y;  x_bar += z_bar, y_bar += -z_bar
  rules.of<SubOp>().transpose = [](TransposeContext &c) {
    c.accumulate(0, c.resultBar(0));
    if (c.isLinear(1))
      c.accumulate(1, neg(c.b, c.resultBar(0)));
    return success();
  };
  // z = x * k (either way round);  x_bar += z_bar * k
  rules.of<MulOp>().transpose = [](TransposeContext &c) -> LogicalResult {
    if (c.isLinear(0) && c.isLinear(1))
      return c.op->emitOpError("is not linear: both operands depend on the linear inputs");
    unsigned x = c.isLinear(0) ? 0 : 1;
    c.accumulate(x, mul(c.b, c.resultBar(0), c.nonlinear(1 - x)));
    return success();
  };
  // z = x / k;  x_bar += z_bar / k
  rules.of<DivOp>().transpose = [](TransposeContext &c) -> LogicalResult {
    if (c.isLinear(1))
      return c.op->emitOpError("is not linear: the divisor depends on the linear inputs");
    c.accumulate(0, div(c.b, c.resultBar(0), c.nonlinear(1)));
    return success();
  };
  // y = convert(x) between floats;  x_bar += convert(y_bar) back
  rules.of<ConvertOp>().transpose = [](TransposeContext &c) {
    c.accumulate(0, convert(c.b, c.resultBar(0), typeOf(c.op->getOperand(0)).getElementType()));
    return success();
  };
  rules.of<SelectNOp>().transpose = transposeRule(selectTranspose);
}

LogicalResult jvpOfLinear(JvpContext &c) {
  SmallVector<Value> operands;
  for (auto [operand, dot] : llvm::zip_equal(c.op->getOperands(), c.tangents))
    operands.push_back(dot                                  ? dot
                       : isDifferentiable(operand.getType()) ? zeros(c.b, operand.getType())
                                                             : operand);
  Operation *tangent = c.b.clone(*c.op);
  tangent->setOperands(operands);
  for (auto [i, result] : llvm::enumerate(tangent->getResults()))
    if (isDifferentiable(result.getType()))
      c.setTangent(i, result);
  return success();
}

void populateElementwiseAutodiffRules(RuleRegistry &rules) {
  populateUnary(rules);
  populateBinary(rules);
  populateTransposes(rules);
  rules.of<NegOp>().jvp = jvpOfLinear;
  rules.of<SelectNOp>().jvp = jvpOfLinear;
  rules.of<ClampOp>().jvp = jvpRule(clampJvp);
  // Converting to an integer or bool has no derivative; from one, nothing is active.
  rules.of<ConvertOp>().jvp = [](JvpContext &c) {
    Type type = c.op->getResult(0).getType();
    if (isDifferentiable(type))
      c.setTangent(0, convert(c.b, c.tangent(0), cast<RankedTensorType>(type).getElementType()));
    return success();
  };
  markZeroTangent<SignOp, FloorOp, CeilOp, RoundOp, NotOp, StopGradientOp, IsFiniteOp, AndOp, OrOp, XorOp, ShiftLeftOp,
                  ShiftRightLogicalOp, ShiftRightArithmeticOp, CompareOp, BitcastOp>(rules);
}

} // namespace hjx
