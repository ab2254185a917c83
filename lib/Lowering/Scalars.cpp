// SPDX-License-Identifier: Apache-2.0
//
// Element arithmetic shared by the rules; see the header.
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Kind hjx::kindOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return Kind::Float;
  if (element.isInteger(1))
    return Kind::Bool;
  return element.isUnsignedInteger() ? Kind::Unsigned : Kind::Signed;
}

Type hjx::signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

TypedAttr hjx::signlessAttr(TypedAttr attr) {
  auto integer = dyn_cast<IntegerAttr>(attr);
  return integer ? IntegerAttr::get(signless(integer.getType()), integer.getValue()) : attr;
}

bool hjx::isHalf(Type type) { return type.isF16() || type.isBF16(); }
Type hjx::widenHalf(Type type) { return isHalf(type) ? Float32Type::get(type.getContext()) : type; }

Value hjx::widenHalf(LocBuilder &b, Value value) {
  return isHalf(value.getType()) ? arith::ExtFOp::create(b, b.getF32Type(), value).getResult()
                                 : value;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value hjx::emitInteger(LocBuilder &b, Type type, const APInt &value) {
  return arith::ConstantOp::create(b, IntegerAttr::get(type, value));
}

Value hjx::emitNumber(LocBuilder &b, Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, FloatAttr::get(floatType, value));
  auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  return emitInteger(b, type, APInt(64, bits).trunc(type.getIntOrFloatBitWidth()));
}

static TypedAttr extremeOf(Type type, bool least) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, APFloat::getInf(floatType.getFloatSemantics(), least));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = kindOf(type) == Kind::Signed
                    ? (least ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width))
                    : (least ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return IntegerAttr::get(signless(type), value);
}

TypedAttr hjx::leastOf(Type type) { return extremeOf(type, /*least=*/true); }
TypedAttr hjx::greatestOf(Type type) { return extremeOf(type, /*least=*/false); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value hjx::emitMax(LocBuilder &b, Kind kind, Value lhs, Value rhs) {
  switch (kind) {
  case Kind::Float:
    return arith::MaximumFOp::create(b, lhs, rhs);
  case Kind::Signed:
    return arith::MaxSIOp::create(b, lhs, rhs);
  case Kind::Unsigned:
    return arith::MaxUIOp::create(b, lhs, rhs);
  case Kind::Bool:
    return arith::OrIOp::create(b, lhs, rhs);
  }
  llvm_unreachable("unknown kind");
}

Value hjx::emitMin(LocBuilder &b, Kind kind, Value lhs, Value rhs) {
  switch (kind) {
  case Kind::Float:
    return arith::MinimumFOp::create(b, lhs, rhs);
  case Kind::Signed:
    return arith::MinSIOp::create(b, lhs, rhs);
  case Kind::Unsigned:
    return arith::MinUIOp::create(b, lhs, rhs);
  case Kind::Bool:
    return arith::AndIOp::create(b, lhs, rhs);
  }
  llvm_unreachable("unknown kind");
}

Value hjx::emitAdd(LocBuilder &b, Kind kind, Value lhs, Value rhs) {
  if (kind == Kind::Float)
    return arith::AddFOp::create(b, lhs, rhs);
  return kind == Kind::Bool ? arith::OrIOp::create(b, lhs, rhs).getResult()
                            : arith::AddIOp::create(b, lhs, rhs).getResult();
}

Value hjx::emitMul(LocBuilder &b, Kind kind, Value lhs, Value rhs) {
  if (kind == Kind::Float)
    return arith::MulFOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The f64 `value` as f32, rounded to odd: towards zero, with the last bit set where anything was
/// cut off. Rounding that to a half gives what rounding `value` once would (Boldo & Melquiond
/// 2005).
static Value emitRoundToOdd(LocBuilder &b, Value value) {
  Type f64 = b.getF64Type(), i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, b.getF32Type(), value);
  Value back = arith::ExtFOp::create(b, f64, nearest);
  Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value isBeyond =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back).getResult(),
                            math::AbsFOp::create(b, value).getResult());
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  Value towardsZero =
      arith::SubIOp::create(b, bits, arith::ExtUIOp::create(b, i32, isBeyond).getResult());
  Value odd = arith::OrIOp::create(b, towardsZero, emitNumber(b, i32, 1));
  return arith::BitcastOp::create(b, b.getF32Type(),
                                  arith::SelectOp::create(b, isInexact, odd, bits).getResult());
}

Value hjx::emitFloatCast(LocBuilder &b, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(b, type, value);
  // f64 to a half, and between the halves, go by f32: targets have no instruction for the rest.
  if (from == 64 && to == 16)
    value = emitRoundToOdd(b, value);
  return arith::TruncFOp::create(b, type, widenHalf(b, value));
}

/// Truncation towards zero that saturates and sends NaN to 0; the plain instruction is undefined
/// outside the range.
static Value emitFloatToInteger(LocBuilder &b, Value value, IntegerType to) {
  value = widenHalf(b, value);
  Type floatType = value.getType(), result = signless(to);
  bool isSigned = !to.isUnsigned();
  unsigned width = to.getWidth();
  // Both bounds are exact: x is in range if low < x < high after truncation.
  double high = std::ldexp(1.0, isSigned ? width - 1 : width);
  Value highBound = emitNumber(b, floatType, high),
        lowBound = emitNumber(b, floatType, isSigned ? -high : 0.0);
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, value, highBound);
  Value isInside = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, value, lowBound);
  isInside = arith::AndIOp::create(
      b, isInside,
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, highBound).getResult());
  Value safe = arith::SelectOp::create(b, isInside, value, emitNumber(b, floatType, 0));
  Value inRange = isSigned ? arith::FPToSIOp::create(b, result, safe).getResult()
                           : arith::FPToUIOp::create(b, result, safe).getResult();
  Value greatest = arith::ConstantOp::create(b, greatestOf(to));
  Value saturated = arith::SelectOp::create(b, isAbove, greatest, inRange);
  if (!isSigned) // Below 0 is 0 already.
    return saturated;
  Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, lowBound);
  return arith::SelectOp::create(b, isBelow, arith::ConstantOp::create(b, leastOf(to)).getResult(),
                                 saturated);
}

static Value emitIntegerCast(LocBuilder &b, Value value, Kind from, Type to) {
  unsigned fromWidth = value.getType().getIntOrFloatBitWidth(),
           toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, to, value);
  return from == Kind::Signed ? arith::ExtSIOp::create(b, to, value).getResult()
                              : arith::ExtUIOp::create(b, to, value).getResult();
}

/// The integer as f32 or f64, so that a cast to `to` is the only rounding.
static Value emitIntegerToFloat(LocBuilder &b, Value value, Kind from, Type to) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type wide = isHalf(to) && width > 16 ? b.getF64Type() : widenHalf(to);
  if (isHalf(to) && width == 64) {
    // More digits than f64 has: rounds to odd first, by keeping 53 bits.
    Type type = value.getType();
    Value cut = arith::AndIOp::create(b, value, emitNumber(b, type, 0x7ff));
    Value isCut = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, cut, emitNumber(b, type, 0));
    Value sticky = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, type, isCut).getResult(),
                                         emitNumber(b, type, 11));
    Value kept = arith::OrIOp::create(b, arith::SubIOp::create(b, value, cut).getResult(), sticky);
    Value magnitude = from == Kind::Signed
                          ? arith::ShRSIOp::create(b, value, emitNumber(b, type, 53)).getResult()
                          : arith::ShRUIOp::create(b, value, emitNumber(b, type, 53)).getResult();
    // 0 or -1: the number fits in 53 bits as it is.
    Value fits = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ule,
        arith::AddIOp::create(b, magnitude, emitNumber(b, type, 1)).getResult(),
        emitNumber(b, type, 1));
    value = arith::SelectOp::create(b, fits, value, kept);
  }
  return from == Kind::Signed ? arith::SIToFPOp::create(b, wide, value).getResult()
                              : arith::UIToFPOp::create(b, wide, value).getResult();
}

Value hjx::emitConvert(LocBuilder &b, Value value, Type from, Type to) {
  Kind fromKind = kindOf(from), toKind = kindOf(to);
  if (from == to)
    return value;
  if (toKind == Kind::Bool) {
    Value zero = emitNumber(b, widenHalf(value.getType()), 0);
    if (fromKind == Kind::Float) // NaN is not 0.
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, widenHalf(b, value), zero);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromKind == Kind::Float)
    return toKind == Kind::Float ? emitFloatCast(b, value, to)
                                 : emitFloatToInteger(b, value, cast<IntegerType>(to));
  if (toKind != Kind::Float)
    return emitIntegerCast(b, value, fromKind, signless(to));
  return emitFloatCast(b, emitIntegerToFloat(b, value, fromKind, to), to);
}

Value hjx::emitIndexAs(LocBuilder &b, Value index, Type type) {
  Type i64 = b.getI64Type();
  if (kindOf(type) != Kind::Float)
    return arith::IndexCastOp::create(b, signless(type), index);
  return emitConvert(b, arith::IndexCastOp::create(b, i64, index), i64, type);
}

Value hjx::emitClampedIndex(LocBuilder &b, Value element, Type type, int64_t limit) {
  if (limit <= 0)
    return arith::ConstantIndexOp::create(b, 0);
  Value last = arith::ConstantIndexOp::create(b, limit);
  if (kindOf(type) == Kind::Unsigned) {
    Value index = arith::IndexCastUIOp::create(b, b.getIndexType(), element);
    return arith::MinUIOp::create(b, index, last);
  }
  Value index = arith::IndexCastOp::create(b, b.getIndexType(), element);
  return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, index, last),
                                arith::ConstantIndexOp::create(b, 0));
}
