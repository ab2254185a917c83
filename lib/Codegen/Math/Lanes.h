// SPDX-License-Identifier: Apache-2.0
//
// A small language for writing numerical kernels as IR: `fma(x, y, z) * 2.0` creates
// math.fma and arith.mulf on whatever x is, a scalar or a vector of any rank. The
// kernels in this folder are written in it, so that they read like the C they replace
// while working on every shape. No operation carries fast-math flags: the same IR must
// give the same bits on every target.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cstdint>

namespace hjx::math {

/// A value and the place where operations on it are created.
struct Lanes {
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;

  mlir::Type elementType() const { return mlir::getElementTypeOrSelf(value.getType()); }
  unsigned width() const { return elementType().getIntOrFloatBitWidth(); }
  /// The type with the shape of this value and the given elements.
  mlir::Type like(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(value.getType()))
      return vector.clone(element);
    return element;
  }
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) const {
    return Op::create(*builder, std::forward<Args>(args)...);
  }
  mlir::Value splat(mlir::TypedAttr element) const {
    mlir::Type type = like(element.getType());
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      return make<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(shaped, element));
    return make<mlir::arith::ConstantOp>(element);
  }
};

/// i1 lanes.
struct Mask : Lanes {};

/// Integer lanes.
struct Int : Lanes {
  Int constant(int64_t c) const {
    return {{builder,
             splat(builder->getIntegerAttr(elementType(), llvm::APInt(width(), c, true, true)))}};
  }
};

/// Floating-point lanes: f32 or f64 in the kernels.
struct Float : Lanes {
  Float constant(double c) const {
    return {{builder, splat(builder->getFloatAttr(elementType(), c))}};
  }
  bool isF64() const { return width() == 64; }
  /// The constant for this format.
  double pick(double f32, double f64) const { return isF64() ? f64 : f32; }
};

#define HJX_LANES_BINARY(Type, symbol, Op)                                                         \
  inline Type operator symbol(Type a, Type b) {                                                    \
    return {{a.builder, a.make<Op>(a.value, b.value)}};                                            \
  }
HJX_LANES_BINARY(Float, +, mlir::arith::AddFOp)
HJX_LANES_BINARY(Float, -, mlir::arith::SubFOp)
HJX_LANES_BINARY(Float, *, mlir::arith::MulFOp)
HJX_LANES_BINARY(Float, /, mlir::arith::DivFOp)
HJX_LANES_BINARY(Int, +, mlir::arith::AddIOp)
HJX_LANES_BINARY(Int, -, mlir::arith::SubIOp)
HJX_LANES_BINARY(Int, *, mlir::arith::MulIOp)
HJX_LANES_BINARY(Int, &, mlir::arith::AndIOp)
HJX_LANES_BINARY(Int, |, mlir::arith::OrIOp)
HJX_LANES_BINARY(Int, ^, mlir::arith::XOrIOp)
HJX_LANES_BINARY(Int, <<, mlir::arith::ShLIOp)
HJX_LANES_BINARY(Int, >>, mlir::arith::ShRUIOp) // logical
HJX_LANES_BINARY(Mask, &, mlir::arith::AndIOp)
HJX_LANES_BINARY(Mask, |, mlir::arith::OrIOp)
HJX_LANES_BINARY(Mask, ^, mlir::arith::XOrIOp)
#undef HJX_LANES_BINARY

#define HJX_LANES_WITH_CONSTANT(Type, Scalar, symbol)                                              \
  inline Type operator symbol(Type a, Scalar b) { return a symbol a.constant(b); }                 \
  inline Type operator symbol(Scalar a, Type b) { return b.constant(a) symbol b; }
HJX_LANES_WITH_CONSTANT(Float, double, +)
HJX_LANES_WITH_CONSTANT(Float, double, -)
HJX_LANES_WITH_CONSTANT(Float, double, *)
HJX_LANES_WITH_CONSTANT(Float, double, /)
HJX_LANES_WITH_CONSTANT(Int, int64_t, +)
HJX_LANES_WITH_CONSTANT(Int, int64_t, -)
HJX_LANES_WITH_CONSTANT(Int, int64_t, *)
HJX_LANES_WITH_CONSTANT(Int, int64_t, &)
HJX_LANES_WITH_CONSTANT(Int, int64_t, |)
HJX_LANES_WITH_CONSTANT(Int, int64_t, ^)
HJX_LANES_WITH_CONSTANT(Int, int64_t, <<)
HJX_LANES_WITH_CONSTANT(Int, int64_t, >>)
#undef HJX_LANES_WITH_CONSTANT

// Comparisons are ordered: false when an operand is NaN.
#define HJX_LANES_COMPARE(symbol, floatPredicate)                                                  \
  inline Mask operator symbol(Float a, Float b) {                                                  \
    return {{a.builder, a.make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::floatPredicate,    \
                                                    a.value, b.value)}};                           \
  }                                                                                                \
  inline Mask operator symbol(Float a, double b) { return a symbol a.constant(b); }
HJX_LANES_COMPARE(<, OLT)
HJX_LANES_COMPARE(<=, OLE)
HJX_LANES_COMPARE(>, OGT)
HJX_LANES_COMPARE(>=, OGE)
HJX_LANES_COMPARE(==, OEQ)
#undef HJX_LANES_COMPARE

inline Int arithmeticShift(Int a, int64_t amount) {
  return {{a.builder, a.make<mlir::arith::ShRSIOp>(a.value, a.constant(amount).value)}};
}

inline Mask equal(Int a, Int b) {
  return {
      {a.builder, a.make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, a.value, b.value)}};
}
inline Mask equal(Int a, int64_t b) { return equal(a, a.constant(b)); }
inline Mask notEqual(Int a, int64_t b) {
  return {{a.builder, a.make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne, a.value,
                                                  a.constant(b).value)}};
}
/// A mask of the same shape with every lane set.
inline Mask allTrue(Mask like) {
  return {{like.builder, like.splat(like.builder->getBoolAttr(true))}};
}
inline Mask operator!(Mask mask) { return mask ^ allTrue(mask); }
inline Mask isNan(Float x) {
  return {
      {x.builder, x.make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNO, x.value, x.value)}};
}

template <typename T> T select(Mask mask, T a, T b) {
  return {{a.builder, a.template make<mlir::arith::SelectOp>(mask.value, a.value, b.value)}};
}
inline Float select(Mask mask, double a, Float b) { return select(mask, b.constant(a), b); }
inline Float select(Mask mask, Float a, double b) { return select(mask, a, a.constant(b)); }

inline Float fma(Float a, Float b, Float c) {
  return {{a.builder, a.make<mlir::math::FmaOp>(a.value, b.value, c.value)}};
}
inline Float fma(Float a, double b, Float c) { return fma(a, a.constant(b), c); }
inline Float fma(Float a, Float b, double c) { return fma(a, b, a.constant(c)); }
inline Float fma(Float a, double b, double c) { return fma(a, a.constant(b), a.constant(c)); }
inline Float sqrt(Float x) { return {{x.builder, x.make<mlir::math::SqrtOp>(x.value)}}; }
inline Float abs(Float x) { return {{x.builder, x.make<mlir::math::AbsFOp>(x.value)}}; }
inline Float operator-(Float x) { return {{x.builder, x.make<mlir::arith::NegFOp>(x.value)}}; }
inline Float copySign(Float magnitude, Float sign) {
  return {{sign.builder, sign.make<mlir::math::CopySignOp>(magnitude.value, sign.value)}};
}

/// x where x >= low or x is NaN, else low: one vmaxps, because NaN is the second operand.
inline Float atLeast(Float x, double low) {
  Float bound = x.constant(low);
  return select(bound > x, bound, x);
}
inline Float atMost(Float x, double high) {
  Float bound = x.constant(high);
  return select(bound < x, bound, x);
}

inline Int bits(Float x) {
  return {{x.builder,
           x.make<mlir::arith::BitcastOp>(x.like(x.builder->getIntegerType(x.width())), x.value)}};
}
inline Float asFloat(Int x) {
  mlir::Type element =
      x.width() == 64 ? mlir::Type(x.builder->getF64Type()) : x.builder->getF32Type();
  return {{x.builder, x.make<mlir::arith::BitcastOp>(x.like(element), x.value)}};
}
inline Float widen(Float x) {
  return {{x.builder, x.make<mlir::arith::ExtFOp>(x.like(x.builder->getF64Type()), x.value)}};
}
inline Float narrow(Float x) {
  return {{x.builder, x.make<mlir::arith::TruncFOp>(x.like(x.builder->getF32Type()), x.value)}};
}
inline Int resize(Int x, unsigned width) {
  mlir::Type type = x.like(x.builder->getIntegerType(width));
  if (width > x.width())
    return {{x.builder, x.make<mlir::arith::ExtUIOp>(type, x.value)}};
  return width < x.width() ? Int{{x.builder, x.make<mlir::arith::TruncIOp>(type, x.value)}} : x;
}

/// The polynomial with these coefficients, lowest power first, by Horner's rule.
inline Float horner(Float x, llvm::ArrayRef<double> coefficients) {
  Float sum = x.constant(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c);
  return sum;
}
inline Float horner(Float x, llvm::ArrayRef<double> f32, llvm::ArrayRef<double> f64) {
  return horner(x, x.isF64() ? f64 : f32);
}

//===-- the formats -------------------------------------------------------===//

inline int mantissaBits(Lanes x) { return x.width() == 64 ? 52 : 23; }
inline int64_t exponentBias(Lanes x) { return x.width() == 64 ? 1023 : 127; }
inline int64_t signBit(Lanes x) { return int64_t(uint64_t(1) << (x.width() - 1)); }

/// Rounds to an integer by adding 1.5 * 2^mantissaBits: the sum's low bits hold the
/// integer in two's complement, ready to be shifted into an exponent, and no rounding
/// instruction (SSE4.1) and no conversion to i64 (AVX-512) is needed.
inline double roundingShift(Float x) { return x.pick(0x1.8p23, 0x1.8p52); }

} // namespace hjx::math
