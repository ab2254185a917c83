// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions. Where NumPy and the IR differ, NumPy is followed here:
// / of integers is a float, % and // round down, + of bools is "or".
#include "lib/Frontend/Operands.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

using Direction = ir::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// A binary op on numbers. On bools, `OnBools` if there is one.
template <typename Op, typename OnBools = void>
static Array binary(const char *name, const ArrayLike &lhs, const ArrayLike &rhs, bool inexact = false) {
  OpScope op(name, lhs.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {lhs.array, rhs.array}, inexact);
  if (xs[0].dtype() == DType::bool_) {
    if constexpr (std::is_same_v<OnBools, void>)
      op.fail("expected numbers, got bools " + describe(xs[0]), "convert one operand: x.astype(hjx::int32)");
    else
      return op.finish(op.emit<OnBools>(xs));
  }
  return op.finish(op.emit<Op>(xs));
}

Array hjx::add(ArrayLike lhs, ArrayLike rhs) { return binary<ir::AddOp, ir::OrOp>("add", lhs, rhs); }
Array hjx::subtract(ArrayLike lhs, ArrayLike rhs) { return binary<ir::SubOp>("subtract", lhs, rhs); }
Array hjx::multiply(ArrayLike lhs, ArrayLike rhs) { return binary<ir::MulOp, ir::AndOp>("multiply", lhs, rhs); }
Array hjx::divide(ArrayLike lhs, ArrayLike rhs) { return binary<ir::DivOp>("divide", lhs, rhs, /*inexact=*/true); }
Array hjx::maximum(ArrayLike lhs, ArrayLike rhs) { return binary<ir::MaxOp, ir::MaxOp>("maximum", lhs, rhs); }
Array hjx::minimum(ArrayLike lhs, ArrayLike rhs) { return binary<ir::MinOp, ir::MinOp>("minimum", lhs, rhs); }

Array hjx::fmod(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("fmod", lhs.where);
  Array rest = binary<ir::RemOp>("fmod", lhs, rhs);
  const std::optional<Literal> &divisor = Access::checked(rhs.array, op.name(), op.where()).literal;
  bool isKnown = divisor && std::visit([](auto number) { return number != 0; }, *divisor);
  if (isKnown || !is_integer(rest.dtype()))
    return op.finish(rest);
  return op.finish(hjx::where(rhs.array == 0, zeros_like(rest), rest)); // NumPy's; the op gives lhs.
}

Array hjx::remainder(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("remainder", lhs.where);
  Array rest = fmod(lhs, rhs);
  Array y = broadcast_to(astype(rhs, rest.dtype()), rest.shape());
  Array wrongSign = (rest != 0) & ((rest < 0) != (y < 0));
  return op.finish(hjx::where(wrongSign, rest + y, rest));
}

Array hjx::floor_divide(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("floor_divide", lhs.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {lhs.array, rhs.array});
  if (xs[0].dtype() == DType::bool_)
    op.fail("expected numbers, got bools " + describe(xs[0]), "convert one operand: x.astype(hjx::int32)");
  Array x = op.wrap(xs[0]), y = op.wrap(xs[1]);
  if (is_unsigned(xs[0].dtype()))
    return op.finish(op.emit<ir::DivOp>(xs));
  Array rest = op.wrap(op.emit<ir::RemOp>(xs));
  Array isBelow = (rest != 0) & ((rest < 0) != (y < 0));
  if (is_integer(xs[0].dtype())) {
    Array quotient = op.wrap(op.emit<ir::DivOp>(xs));
    return op.finish(hjx::where(isBelow, quotient - 1, quotient));
  }
  // From an exact multiple of y, so that 1 // 0.1 is 9 as in NumPy.
  Array quotient = hjx::where(y == 0, x / y, (x - rest) / y);
  return op.finish(hjx::round(hjx::where(isBelow, quotient - 1, quotient)));
}

/// base to the power of a number known while recording, by repeated squaring.
static Array integerPower(OpScope &op, Array base, int64_t exponent) {
  if (exponent < 0)
    return reciprocal(integerPower(op, base, -exponent));
  std::optional<Array> result;
  for (Array factor = base; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = result ? *result * factor : factor;
    if (exponent > 1)
      factor = factor * factor;
  }
  return result ? *result : ones_like(base);
}

/// Integer bases and exponents: one squaring for each bit of the exponent's type. A negative
/// exponent gives the fraction rounded to zero, and 0 of 0.
static Array integerPowers(Array base, Array exponent) {
  bool hasSign = !is_unsigned(exponent.dtype());
  Array isZero = (exponent < 0) & (base != 1) & (base + 1 != 0);
  Array result = ones_like(base);
  for (int bit = 0, count = 8 * item_size(exponent.dtype()) - hasSign; bit < count; ++bit) {
    result = hjx::where((exponent & 1) != 0, result * base, result);
    base = base * base;
    exponent = exponent >> 1;
  }
  return hasSign ? hjx::where(isZero, zeros_like(result), result) : result;
}

Array hjx::power(ArrayLike base, ArrayLike exponent) {
  OpScope op("power", base.where);
  const std::optional<Literal> &number = Access::checked(exponent.array, op.name(), op.where()).literal;
  if (number && std::holds_alternative<int64_t>(*number)) {
    int64_t n = std::get<int64_t>(*number);
    if (n < 0 && !is_floating(base.array.dtype()))
      op.fail("integers to a negative power are not integers, got " + describe(base.array) + " and exponent " +
                  std::to_string(n),
              "convert the base to a float first");
    bool isBool = base.array.dtype() == DType::bool_;
    if (std::abs(n) <= 1024)
      return op.finish(integerPower(op, isBool ? hjx::astype(base, int32) : base.array, n));
  }
  SmallVector<Operand> xs = promoteAndBroadcast(op, {base.array, exponent.array});
  if (is_integer(xs[0].dtype()))
    return op.finish(integerPowers(op.wrap(xs[0]), op.wrap(xs[1])));
  if (xs[0].dtype() == DType::bool_)
    op.fail("expected numbers, got bools " + describe(xs[0]), "convert the base: x.astype(hjx::int32)");
  return op.finish(op.emit<ir::PowOp>(xs));
}

Array hjx::logaddexp(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("logaddexp", lhs.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {lhs.array, rhs.array}, /*inexact=*/true);
  Array x = op.wrap(xs[0]), y = op.wrap(xs[1]);
  // A choice rather than maximum and abs: smooth in what is chosen, so derivatives of every order
  // are right where x equals y. Equal infinities have no difference.
  Array isGreater = x >= y;
  Array greater = hjx::where(isGreater, x, y), less = hjx::where(isGreater, y, x);
  Array difference = hjx::where((x == y) & isinf(x), -INFINITY, less - greater);
  return op.finish(greater + log1p(exp(difference)));
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static Array compare(const char *name, Direction direction, const ArrayLike &lhs, const ArrayLike &rhs) {
  OpScope op(name, lhs.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {lhs.array, rhs.array});
  Operand result =
      op.emit<ir::CompareOp>(xs, {.direction = ir::ComparisonDirectionAttr::get(&op.context(), direction)});
  result.isWeak = false;
  return op.finish(result);
}

Array hjx::equal(ArrayLike lhs, ArrayLike rhs) { return compare("equal", Direction::EQ, lhs, rhs); }
Array hjx::not_equal(ArrayLike lhs, ArrayLike rhs) { return compare("not_equal", Direction::NE, lhs, rhs); }
Array hjx::less(ArrayLike lhs, ArrayLike rhs) { return compare("less", Direction::LT, lhs, rhs); }
Array hjx::less_equal(ArrayLike lhs, ArrayLike rhs) { return compare("less_equal", Direction::LE, lhs, rhs); }
Array hjx::greater(ArrayLike lhs, ArrayLike rhs) { return compare("greater", Direction::GT, lhs, rhs); }
Array hjx::greater_equal(ArrayLike lhs, ArrayLike rhs) { return compare("greater_equal", Direction::GE, lhs, rhs); }

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename Op>
static Array bitwise(const char *name, const ArrayLike &lhs, const ArrayLike &rhs) {
  OpScope op(name, lhs.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {lhs.array, rhs.array});
  if (is_floating(xs[0].dtype()))
    op.fail("expected integers or bools, got " + describe(xs[0]), "compare or convert the floats first");
  return op.finish(op.emit<Op>(xs));
}

Array hjx::bitwise_and(ArrayLike lhs, ArrayLike rhs) { return bitwise<ir::AndOp>("bitwise_and", lhs, rhs); }
Array hjx::bitwise_or(ArrayLike lhs, ArrayLike rhs) { return bitwise<ir::OrOp>("bitwise_or", lhs, rhs); }
Array hjx::bitwise_xor(ArrayLike lhs, ArrayLike rhs) { return bitwise<ir::XorOp>("bitwise_xor", lhs, rhs); }

Array hjx::bitwise_not(ArrayLike x) {
  OpScope op("bitwise_not", x.where);
  Operand operand = op.use(x.array);
  if (is_floating(operand.dtype()) || operand.dtype() == DType::key)
    op.fail("expected integers or bools, got " + describe(operand), "compare or convert the floats first");
  return op.finish(op.emit<ir::NotOp>({operand}));
}

template <typename Op>
static Array shift(const char *name, const ArrayLike &x, const ArrayLike &amount) {
  OpScope op(name, x.where);
  SmallVector<Operand> xs = promoteAndBroadcast(op, {x.array, amount.array});
  if (!is_integer(xs[0].dtype()))
    op.fail("expected integers, got " + describe(xs[0]), "convert the operands to integers first");
  return op.finish(op.emit<Op>(xs));
}

Array hjx::left_shift(ArrayLike x, ArrayLike amount) { return shift<ir::ShiftLeftOp>("left_shift", x, amount); }

Array hjx::right_shift(ArrayLike x, ArrayLike amount) {
  DType type = promote_types(x.array.dtype(x.where), amount.array.dtype(x.where));
  bool isUnsigned = is_unsigned(x.array.weak_type() ? type : amount.array.weak_type() ? x.array.dtype() : type);
  return isUnsigned ? shift<ir::ShiftRightLogicalOp>("right_shift", x, amount)
                    : shift<ir::ShiftRightArithmeticOp>("right_shift", x, amount);
}

Array hjx::logical_not(ArrayLike x) {
  OpScope op("logical_not", x.where);
  return op.finish(op.emit<ir::NotOp>({useAs(op, x.array, DType::bool_)}));
}

template <typename Op>
static Array logical(const char *name, const ArrayLike &lhs, const ArrayLike &rhs) {
  OpScope op(name, lhs.where);
  SmallVector<Operand> xs{useAs(op, lhs.array, DType::bool_), useAs(op, rhs.array, DType::bool_)};
  SmallVector<int64_t> shape = broadcastShape(op, xs);
  return op.finish(op.emit<Op>({broadcastTo(op, xs[0], shape), broadcastTo(op, xs[1], shape)}));
}

Array hjx::logical_and(ArrayLike lhs, ArrayLike rhs) { return logical<ir::AndOp>("logical_and", lhs, rhs); }
Array hjx::logical_or(ArrayLike lhs, ArrayLike rhs) { return logical<ir::OrOp>("logical_or", lhs, rhs); }

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// An op on floats; integers are converted.
template <typename Op>
static Array unaryFloat(const char *name, const ArrayLike &x) {
  OpScope op(name, x.where);
  return op.finish(op.emit<Op>({toFloat(op, x.array)}));
}

Array hjx::sqrt(ArrayLike x) { return unaryFloat<ir::SqrtOp>("sqrt", x); }
Array hjx::rsqrt(ArrayLike x) { return unaryFloat<ir::RsqrtOp>("rsqrt", x); }
Array hjx::exp(ArrayLike x) { return unaryFloat<ir::ExpOp>("exp", x); }
Array hjx::expm1(ArrayLike x) { return unaryFloat<ir::Expm1Op>("expm1", x); }
Array hjx::log(ArrayLike x) { return unaryFloat<ir::LogOp>("log", x); }
Array hjx::log1p(ArrayLike x) { return unaryFloat<ir::Log1pOp>("log1p", x); }
Array hjx::sin(ArrayLike x) { return unaryFloat<ir::SinOp>("sin", x); }
Array hjx::cos(ArrayLike x) { return unaryFloat<ir::CosOp>("cos", x); }
Array hjx::tan(ArrayLike x) { return unaryFloat<ir::TanOp>("tan", x); }
Array hjx::tanh(ArrayLike x) { return unaryFloat<ir::TanhOp>("tanh", x); }
Array hjx::erf(ArrayLike x) { return unaryFloat<ir::ErfOp>("erf", x); }
Array hjx::erf_inv(ArrayLike x) { return unaryFloat<ir::ErfInvOp>("erf_inv", x); }
Array hjx::sigmoid(ArrayLike x) { return unaryFloat<ir::LogisticOp>("sigmoid", x); }

/// An op on numbers of any type.
template <typename Op>
static Array unary(const char *name, const ArrayLike &x) {
  OpScope op(name, x.where);
  Operand operand = promote(op, {x.array}).front();
  if (operand.dtype() == DType::bool_)
    op.fail("expected numbers, got bools " + describe(operand), "convert them: x.astype(hjx::int32)");
  return op.finish(op.emit<Op>({operand}));
}

Array hjx::negative(ArrayLike x) { return unary<ir::NegOp>("negative", x); }
Array hjx::abs(ArrayLike x) { return unary<ir::AbsOp>("abs", x); }
Array hjx::sign(ArrayLike x) { return unary<ir::SignOp>("sign", x); }

Array hjx::square(ArrayLike x) {
  OpScope op("square", x.where);
  return op.finish(multiply(x, x));
}

/// Rounding of integers is the identity.
template <typename Op>
static Array rounding(const char *name, const ArrayLike &x, typename Op::Properties properties = {}) {
  OpScope op(name, x.where);
  Operand operand = promote(op, {x.array}).front();
  return op.finish(is_floating(operand.dtype()) ? op.emit<Op>({operand}, properties) : operand);
}

Array hjx::floor(ArrayLike x) { return rounding<ir::FloorOp>("floor", x); }
Array hjx::ceil(ArrayLike x) { return rounding<ir::CeilOp>("ceil", x); }
Array hjx::round(ArrayLike x) {
  OpScope op("round", x.where);
  return op.finish(rounding<ir::RoundOp>(
      "round", x, {.rounding_method = ir::RoundingMethodAttr::get(&op.context(), ir::RoundingMethod::ToNearestEven)}));
}

Array hjx::reciprocal(ArrayLike x) {
  OpScope op("reciprocal", x.where);
  return op.finish(divide(1, x));
}
Array hjx::exp2(ArrayLike x) {
  OpScope op("exp2", x.where);
  return op.finish(exp(x.array * 0.69314718055994530942));
}
Array hjx::log2(ArrayLike x) {
  OpScope op("log2", x.where);
  return op.finish(log(x) / 0.69314718055994530942);
}
Array hjx::log10(ArrayLike x) {
  OpScope op("log10", x.where);
  return op.finish(log(x) / 2.30258509299404568402);
}
Array hjx::sinh(ArrayLike x) {
  OpScope op("sinh", x.where);
  // (e^x - e^-x) / 2; the ones of expm1 cancel, and it keeps the digits of a small x.
  Array value = op.wrap(toFloat(op, x.array));
  return op.finish(0.5 * (expm1(value) - expm1(-value)));
}
Array hjx::cosh(ArrayLike x) {
  OpScope op("cosh", x.where);
  Array value = op.wrap(toFloat(op, x.array));
  return op.finish(0.5 * (exp(value) + exp(-value)));
}

Array hjx::isfinite(ArrayLike x) {
  OpScope op("isfinite", x.where);
  Operand operand = promote(op, {x.array}).front();
  if (!is_floating(operand.dtype()))
    return op.finish(splat(op, 1, DType::bool_, operand.shape()));
  Operand result = op.emit<ir::IsFiniteOp>({operand});
  result.isWeak = false;
  return op.finish(result);
}

Array hjx::isnan(ArrayLike x) {
  OpScope op("isnan", x.where);
  return op.finish(not_equal(x, x));
}

Array hjx::isinf(ArrayLike x) {
  OpScope op("isinf", x.where);
  return op.finish(~(isfinite(x) | isnan(x)));
}

//===----------------------------------------------------------------------===//
// Choice and types
//===----------------------------------------------------------------------===//

Array hjx::where(ArrayLike condition, ArrayLike x, ArrayLike y) {
  OpScope op("where", condition.where);
  bool areKeys = x.array.dtype(condition.where) == DType::key && y.array.dtype(condition.where) == DType::key;
  SmallVector<Operand> values = areKeys ? SmallVector<Operand>{op.use(x.array), op.use(y.array)}
                                        : promote(op, {x.array, y.array});
  Operand which = useAs(op, condition.array, DType::bool_);
  SmallVector<int64_t> shape = broadcastShape(op, {which, values[0], values[1]});
  if (which.rank() != 0)
    which = broadcastTo(op, which, shape);
  Operand result =
      op.emit<ir::SelectNOp>({which, broadcastTo(op, values[1], shape), broadcastTo(op, values[0], shape)});
  result.isWeak = values[0].isWeak && values[1].isWeak;
  return op.finish(result);
}

Array hjx::clip(ArrayLike x, ArrayLike low, ArrayLike high) {
  OpScope op("clip", x.where);
  return op.finish(minimum(maximum(x, low), high));
}

Array hjx::stop_gradient(ArrayLike x) {
  OpScope op("stop_gradient", x.where);
  return op.finish(op.emit<ir::StopGradientOp>({op.use(x.array)}));
}

Array hjx::constant(ArrayLike x) {
  ArrayImpl &impl = Access::checked(x.array, "constant", x.where);
  if (!impl.isConcrete())
    fail(x.where, "constant", "expected a concrete array, got the traced " + describe(x.array),
         "freeze arrays before the traced function is called");
  Array frozen = makeConcrete({impl.dtype, impl.shape, impl.isWeak}, storageOf(x.array, "constant", x.where), x.where,
                              impl.isCommitted);
  Access::get(frozen)->literal = impl.literal;
  Access::get(frozen)->isFrozen = true;
  return frozen;
}

Array hjx::astype(ArrayLike x, DType type) {
  OpScope op("astype", x.where);
  ArrayImpl &impl = Access::checked(x.array, op.name(), op.where());
  // A number keeps its digits; but a float must truncate to become an integer, which is an operation.
  bool isDirect = impl.literal && !(std::holds_alternative<double>(*impl.literal) && !is_floating(type));
  Operand result = isDirect ? useAs(op, x.array, type) : convert(op, op.use(x.array), type);
  result.isWeak = false;
  return op.finish(result);
}

Array hjx::bitcast(ArrayLike x, DType type) {
  OpScope op("bitcast", x.where);
  Operand operand = op.use(x.array);
  if (item_size(operand.dtype()) != item_size(type) || operand.dtype() == DType::bool_ || type == DType::bool_)
    op.fail("expected types of one size, got " + describe(operand) + " and " + name(type),
            "convert the values instead: astype");
  return op.finish(op.emitAs<ir::BitcastOp>(operand.type().clone(elementTypeOf(type, &op.context())), {operand}));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace hjx {
Array operator+(ArrayLike lhs, ArrayLike rhs) { return add(lhs, rhs); }
Array operator-(ArrayLike lhs, ArrayLike rhs) { return subtract(lhs, rhs); }
Array operator*(ArrayLike lhs, ArrayLike rhs) { return multiply(lhs, rhs); }
Array operator/(ArrayLike lhs, ArrayLike rhs) { return divide(lhs, rhs); }
Array operator%(ArrayLike lhs, ArrayLike rhs) { return remainder(lhs, rhs); }
Array operator-(ArrayLike operand) { return negative(operand); }
Array operator==(ArrayLike lhs, ArrayLike rhs) { return equal(lhs, rhs); }
Array operator!=(ArrayLike lhs, ArrayLike rhs) { return not_equal(lhs, rhs); }
Array operator<(ArrayLike lhs, ArrayLike rhs) { return less(lhs, rhs); }
Array operator<=(ArrayLike lhs, ArrayLike rhs) { return less_equal(lhs, rhs); }
Array operator>(ArrayLike lhs, ArrayLike rhs) { return greater(lhs, rhs); }
Array operator>=(ArrayLike lhs, ArrayLike rhs) { return greater_equal(lhs, rhs); }
Array operator&(ArrayLike lhs, ArrayLike rhs) { return bitwise_and(lhs, rhs); }
Array operator|(ArrayLike lhs, ArrayLike rhs) { return bitwise_or(lhs, rhs); }
Array operator^(ArrayLike lhs, ArrayLike rhs) { return bitwise_xor(lhs, rhs); }
Array operator~(ArrayLike operand) { return bitwise_not(operand); }
Array operator<<(ArrayLike lhs, ArrayLike rhs) { return left_shift(lhs, rhs); }
Array operator>>(ArrayLike lhs, ArrayLike rhs) { return right_shift(lhs, rhs); }
Array &operator+=(Array &lhs, ArrayLike rhs) { return lhs = add({lhs, rhs.where}, rhs); }
Array &operator-=(Array &lhs, ArrayLike rhs) { return lhs = subtract({lhs, rhs.where}, rhs); }
Array &operator*=(Array &lhs, ArrayLike rhs) { return lhs = multiply({lhs, rhs.where}, rhs); }
Array &operator/=(Array &lhs, ArrayLike rhs) { return lhs = divide({lhs, rhs.where}, rhs); }
} // namespace hjx

Array Array::astype(DType type, Where where) const { return hjx::astype({*this, where}, type); }
