// SPDX-License-Identifier: Apache-2.0
//
// What each elementwise op does to one element. No fastmath flag is set anywhere:
// a product and a sum stay two roundings, so that random numbers keep JAX's bits.
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

namespace {

//===----------------------------------------------------------------------===//
// Shapes of rules
//===----------------------------------------------------------------------===//

template <typename Op, typename ScalarOp> Value emitOne(Op, LocBuilder &b, ValueRange args) {
  return ScalarOp::create(b, args);
}

/// Ops that choose the instruction by the kind of number.
template <typename Op, Value (*emit)(LocBuilder &, Kind, Value, Value)>
Value emitByKind(Op op, LocBuilder &b, ValueRange args) {
  return emit(b, kindOf(op.getType()), args[0], args[1]);
}

Value compareFloats(LocBuilder &b, arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, predicate, lhs, rhs);
}
Value compareIntegers(LocBuilder &b, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, predicate, lhs, rhs);
}
Value select(LocBuilder &b, Value which, Value ifTrue, Value ifFalse) {
  return arith::SelectOp::create(b, which, ifTrue, ifFalse);
}
Value numberLike(LocBuilder &b, Value like, double value) {
  return emitNumber(b, like.getType(), value);
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

Value emitNeg(ir::NegOp op, LocBuilder &b, ValueRange args) {
  if (kindOf(op.getType()) == Kind::Float)
    return arith::NegFOp::create(b, args[0]);
  return arith::SubIOp::create(b, numberLike(b, args[0], 0), args[0]);
}

Value emitAbs(ir::AbsOp op, LocBuilder &b, ValueRange args) {
  switch (kindOf(op.getType())) {
  case Kind::Float:
    return math::AbsFOp::create(b, args[0]);
  case Kind::Signed: {
    // Not math.absi: the least integer must wrap to itself.
    Value zero = numberLike(b, args[0], 0);
    Value isNegative = compareIntegers(b, arith::CmpIPredicate::slt, args[0], zero);
    return select(b, isNegative, arith::SubIOp::create(b, zero, args[0]), args[0]);
  }
  default:
    return args[0];
  }
}

Value emitSign(ir::SignOp op, LocBuilder &b, ValueRange args) {
  Value x = args[0], zero = numberLike(b, x, 0);
  switch (kindOf(op.getType())) {
  case Kind::Float: {
    // Zeros and NaN are their own sign.
    Value isNumber = compareFloats(b, arith::CmpFPredicate::ONE, x, zero);
    return select(b, isNumber, math::CopySignOp::create(b, numberLike(b, x, 1), x), x);
  }
  case Kind::Signed: {
    Value bounded = arith::MinSIOp::create(b, x, numberLike(b, x, 1));
    return arith::MaxSIOp::create(b, bounded, numberLike(b, x, -1));
  }
  default:
    return arith::MinUIOp::create(b, x, numberLike(b, x, 1));
  }
}

Value emitRound(ir::RoundOp op, LocBuilder &b, ValueRange args) {
  if (op.getRoundingMethod() == ir::RoundingMethod::ToNearestEven)
    return math::RoundEvenOp::create(b, args[0]);
  return math::RoundOp::create(b, args[0]);
}

// e^-|x| cannot overflow, and keeps the tail of negative x down to subnormals.
Value emitSigmoid(ir::LogisticOp, LocBuilder &b, ValueRange args) {
  Value x = args[0], one = numberLike(b, x, 1);
  Value e = math::ExpOp::create(
      b, arith::NegFOp::create(b, math::AbsFOp::create(b, x).getResult()).getResult());
  Value isNegative = compareFloats(b, arith::CmpFPredicate::OLT, x, numberLike(b, x, 0));
  return arith::DivFOp::create(b, select(b, isNegative, e, one),
                               arith::AddFOp::create(b, e, one).getResult());
}

Value emitErfInverse(ir::ErfInvOp, LocBuilder &b, ValueRange args) {
  return emitErfInv(b, args[0]);
}

Value emitNot(ir::NotOp, LocBuilder &b, ValueRange args) {
  return arith::XOrIOp::create(b, args[0], numberLike(b, args[0], -1));
}

Value emitIsFinite(ir::IsFiniteOp, LocBuilder &b, ValueRange args) {
  Value infinity = numberLike(b, args[0], std::numeric_limits<double>::infinity());
  return compareFloats(b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, args[0]), infinity);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

Value emitSub(ir::SubOp op, LocBuilder &b, ValueRange args) {
  if (kindOf(op.getType()) == Kind::Float)
    return arith::SubFOp::create(b, args[0], args[1]);
  return arith::SubIOp::create(b, args[0], args[1]);
}

/// The divisor with what the instruction must not see (0, and -1 under the least integer) replaced
/// by 1.
struct SafeDivisor {
  Value isZero, isMinusOne, divisor;
};
SafeDivisor makeSafe(LocBuilder &b, Kind kind, Value divisor) {
  SafeDivisor safe;
  Value one = numberLike(b, divisor, 1);
  safe.isZero = compareIntegers(b, arith::CmpIPredicate::eq, divisor, numberLike(b, divisor, 0));
  safe.divisor = select(b, safe.isZero, one, divisor);
  if (kind == Kind::Signed) {
    safe.isMinusOne =
        compareIntegers(b, arith::CmpIPredicate::eq, divisor, numberLike(b, divisor, -1));
    safe.divisor = select(b, safe.isMinusOne, one, safe.divisor);
  }
  return safe;
}

// x / 0 = -1 (all ones); x / -1 = -x, which wraps.
Value emitDiv(ir::DivOp op, LocBuilder &b, ValueRange args) {
  Kind kind = kindOf(op.getType());
  if (kind == Kind::Float)
    return arith::DivFOp::create(b, args[0], args[1]);
  SafeDivisor safe = makeSafe(b, kind, args[1]);
  Value allOnes = numberLike(b, args[0], -1);
  if (kind == Kind::Unsigned)
    return select(b, safe.isZero, allOnes, arith::DivUIOp::create(b, args[0], safe.divisor));
  Value negated = arith::SubIOp::create(b, numberLike(b, args[0], 0), args[0]);
  Value quotient = arith::DivSIOp::create(b, args[0], safe.divisor);
  return select(b, safe.isZero, allOnes, select(b, safe.isMinusOne, negated, quotient));
}

// x rem 0 = x; x rem -1 = 0, which is x rem 1.
Value emitRem(ir::RemOp op, LocBuilder &b, ValueRange args) {
  Kind kind = kindOf(op.getType());
  if (kind == Kind::Float)
    return arith::RemFOp::create(b, args[0], args[1]);
  SafeDivisor safe = makeSafe(b, kind, args[1]);
  Value remainder = kind == Kind::Unsigned
                        ? arith::RemUIOp::create(b, args[0], safe.divisor).getResult()
                        : arith::RemSIOp::create(b, args[0], safe.divisor).getResult();
  return select(b, safe.isZero, args[0], remainder);
}

Value isBelowWidth(LocBuilder &b, Value amount) {
  Value width = numberLike(b, amount, amount.getType().getIntOrFloatBitWidth());
  return compareIntegers(b, arith::CmpIPredicate::ult, amount, width);
}

/// Shifts that leave nothing when the amount is not below the width.
template <typename Op, typename ShiftOp> Value emitShift(Op, LocBuilder &b, ValueRange args) {
  Value zero = numberLike(b, args[0], 0), fits = isBelowWidth(b, args[1]);
  // The instruction must not see a large amount, even where its result is not selected.
  Value amount = select(b, fits, args[1], zero);
  return select(b, fits, ShiftOp::create(b, args[0], amount), zero);
}

Value emitShiftRightArithmetic(ir::ShiftRightArithmeticOp, LocBuilder &b, ValueRange args) {
  Value last = numberLike(b, args[1], args[1].getType().getIntOrFloatBitWidth() - 1);
  return arith::ShRSIOp::create(b, args[0], arith::MinUIOp::create(b, args[1], last).getResult());
}

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

Value emitCompare(ir::CompareOp op, LocBuilder &b, ValueRange args) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  struct Predicates {
    F floats;
    I signedInts, unsignedInts;
  };
  auto predicates = [&]() -> Predicates {
    switch (op.getDirection()) {
    case ir::ComparisonDirection::EQ:
      return {F::OEQ, I::eq, I::eq};
    case ir::ComparisonDirection::NE:
      return {F::UNE, I::ne, I::ne};
    case ir::ComparisonDirection::LT:
      return {F::OLT, I::slt, I::ult};
    case ir::ComparisonDirection::LE:
      return {F::OLE, I::sle, I::ule};
    case ir::ComparisonDirection::GT:
      return {F::OGT, I::sgt, I::ugt};
    case ir::ComparisonDirection::GE:
      return {F::OGE, I::sge, I::uge};
    }
    llvm_unreachable("unknown direction");
  }();
  Kind kind = kindOf(op.getLhs().getType());
  if (kind == Kind::Float)
    return compareFloats(b, predicates.floats, args[0], args[1]);
  return compareIntegers(b, kind == Kind::Signed ? predicates.signedInts : predicates.unsignedInts,
                         args[0], args[1]);
}

Value emitSelectN(ir::SelectNOp op, LocBuilder &b, ValueRange args) {
  Value which = args[0];
  ValueRange cases = args.drop_front();
  if (cases.size() == 1)
    return cases[0];
  if (which.getType().isInteger(1))
    return select(b, which, cases[1], cases[0]);
  // Clamped at both ends: below 1 is case 0, at least k is case k or a later one.
  Value chosen = cases[0];
  for (size_t k = 1; k < cases.size(); ++k)
    chosen =
        select(b, compareIntegers(b, arith::CmpIPredicate::sge, which, numberLike(b, which, k)),
               cases[k], chosen);
  return chosen;
}

Value emitClamp(ir::ClampOp op, LocBuilder &b, ValueRange args) {
  Kind kind = kindOf(op.getType());
  return emitMin(b, kind, emitMax(b, kind, args[1], args[0]), args[2]);
}

} // namespace

void hjx::registerElementwiseLowering(LoweringRules &rules) {
  rules.addScalar<ir::NegOp>(emitNeg);
  rules.addScalar<ir::AbsOp>(emitAbs);
  rules.addScalar<ir::SignOp>(emitSign);
  rules.addScalar<ir::FloorOp>(emitOne<ir::FloorOp, math::FloorOp>);
  rules.addScalar<ir::CeilOp>(emitOne<ir::CeilOp, math::CeilOp>);
  rules.addScalar<ir::RoundOp>(emitRound);
  rules.addScalar<ir::SqrtOp>(emitOne<ir::SqrtOp, math::SqrtOp>);
  rules.addScalar<ir::RsqrtOp>(emitOne<ir::RsqrtOp, math::RsqrtOp>);
  rules.addScalar<ir::ExpOp>(emitOne<ir::ExpOp, math::ExpOp>);
  rules.addScalar<ir::Expm1Op>(emitOne<ir::Expm1Op, math::ExpM1Op>);
  rules.addScalar<ir::LogOp>(emitOne<ir::LogOp, math::LogOp>);
  rules.addScalar<ir::Log1pOp>(emitOne<ir::Log1pOp, math::Log1pOp>);
  rules.addScalar<ir::SinOp>(emitOne<ir::SinOp, math::SinOp>);
  rules.addScalar<ir::CosOp>(emitOne<ir::CosOp, math::CosOp>);
  rules.addScalar<ir::TanOp>(emitOne<ir::TanOp, math::TanOp>);
  rules.addScalar<ir::TanhOp>(emitOne<ir::TanhOp, math::TanhOp>);
  rules.addScalar<ir::ErfOp>(emitOne<ir::ErfOp, math::ErfOp>);
  rules.addScalar<ir::ErfInvOp>(emitErfInverse);
  rules.addScalar<ir::LogisticOp>(emitSigmoid);
  rules.addScalar<ir::NotOp>(emitNot);
  rules.addScalar<ir::IsFiniteOp>(emitIsFinite);

  rules.addScalar<ir::AddOp>(emitByKind<ir::AddOp, emitAdd>);
  rules.addScalar<ir::SubOp>(emitSub);
  rules.addScalar<ir::MulOp>(emitByKind<ir::MulOp, emitMul>);
  rules.addScalar<ir::DivOp>(emitDiv);
  rules.addScalar<ir::RemOp>(emitRem);
  rules.addScalar<ir::MaxOp>(emitByKind<ir::MaxOp, emitMax>);
  rules.addScalar<ir::MinOp>(emitByKind<ir::MinOp, emitMin>);
  rules.addScalar<ir::PowOp>(emitOne<ir::PowOp, math::PowFOp>);
  rules.addScalar<ir::AndOp>(emitOne<ir::AndOp, arith::AndIOp>);
  rules.addScalar<ir::OrOp>(emitOne<ir::OrOp, arith::OrIOp>);
  rules.addScalar<ir::XorOp>(emitOne<ir::XorOp, arith::XOrIOp>);
  rules.addScalar<ir::ShiftLeftOp>(emitShift<ir::ShiftLeftOp, arith::ShLIOp>);
  rules.addScalar<ir::ShiftRightLogicalOp>(emitShift<ir::ShiftRightLogicalOp, arith::ShRUIOp>);
  rules.addScalar<ir::ShiftRightArithmeticOp>(emitShiftRightArithmetic);

  rules.addScalar<ir::CompareOp>(emitCompare);
  rules.addScalar<ir::SelectNOp>(emitSelectN, /*raw=*/true);
  rules.addScalar<ir::ClampOp>(emitClamp);
}
