// SPDX-License-Identifier: Apache-2.0
//
// The patterns and the pass around the functions of this folder. f16 and bf16 operands
// are computed in f32; the conversion to bf16 is written out, because x86 without
// AVX-512 BF16 would call __truncsfbf2 for it.
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Codegen/Math/Functions.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace hjx {

#define GEN_PASS_DEF_EXPANDMATH
#include "lib/Codegen/Math/Passes.h.inc"

namespace {

using hjx::math::Float;
using hjx::math::Int;

bool isScalarOrVector(Type type) { return !isa<ShapedType>(type) || isa<VectorType>(type); }

bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isScalarOrVector(type) &&
         (element.isF16() || element.isBF16() || element.isF32() || element.isF64());
}

/// `x` in the format that the functions compute in.
Float toComputed(ImplicitLocOpBuilder &builder, Value x) {
  Float lanes{{&builder, x}};
  if (lanes.width() != 16)
    return lanes;
  return {{&builder, arith::ExtFOp::create(builder, lanes.like(builder.getF32Type()), x)}};
}

/// Rounds f32 to the nearest bf16, ties to even: adds just under half a unit to the bits.
Value truncateToBF16(Float x) {
  Int all = bits(x);
  Int rounded = (all + ((all >> 16) & 1) + 0x7fff) >> 16;
  Int quietNan = (all >> 16) | 0x40;
  Int half = resize(select(isNan(x), quietNan, rounded), 16);
  return x.make<arith::BitcastOp>(x.like(x.builder->getBF16Type()), half.value);
}

/// A computed result in the format asked for.
Value fromComputed(Float x, Type type) {
  if (x.value.getType() == type)
    return x.value;
  if (getElementTypeOrSelf(type).isBF16())
    return truncateToBF16(x);
  return x.make<arith::TruncFOp>(type, x.value);
}

/// Rewrites Op to `function` of its floating-point operands; others are passed as they are.
template <typename Op, auto function> struct Expand : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (!isExpandable(type))
      return rewriter.notifyMatchFailure(op,
                                         "expected a scalar or vector of f16, bf16, f32 or f64");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expand(builder, op, type));
    return success();
  }

private:
  static SmallVector<Value> expand(ImplicitLocOpBuilder &builder, Op op, Type type) {
    Float x = toComputed(builder, op->getOperand(0));
    if constexpr (std::is_invocable_v<decltype(function), Float, Int>) {
      return {fromComputed(function(x, Int{{&builder, op->getOperand(1)}}), type)};
    } else if constexpr (std::is_invocable_v<decltype(function), Float, Float>) {
      return {fromComputed(function(x, toComputed(builder, op->getOperand(1))), type)};
    } else if constexpr (std::is_same_v<Op, mlir::math::SincosOp>) {
      auto [sine, cosine] = function(x);
      return {fromComputed(sine, type), fromComputed(cosine, type)};
    } else {
      return {fromComputed(function(x), type)};
    }
  }
};

constexpr Float (*powFloat)(Float, Float) = hjx::math::pow;
constexpr Float (*powInt)(Float, Int) = hjx::math::pow;

/// clampf(x, low, high) = min(max(x, low), high), with NaN kept.
struct ExpandClamp : OpRewritePattern<mlir::math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::ClampFOp op, PatternRewriter &rewriter) const override {
    Value low = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, low, op.getMax());
    return success();
  }
};

/// Whether LLVM selects instructions for `op` on every target, given fma and SSE4.1.
bool isNative(Operation *op) {
  return isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CeilOp, mlir::math::CopySignOp,
             mlir::math::CountLeadingZerosOp, mlir::math::CountTrailingZerosOp, mlir::math::CtPopOp,
             mlir::math::FloorOp, mlir::math::FmaOp, mlir::math::IsFiniteOp, mlir::math::IsInfOp,
             mlir::math::IsNaNOp, mlir::math::IsNormalOp, mlir::math::RoundEvenOp,
             mlir::math::RoundOp, mlir::math::SqrtOp, mlir::math::TruncOp>(op);
}

struct ExpandMathPass : impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (!isa_and_nonnull<mlir::math::MathDialect>(op->getDialect()) || isNative(op) ||
          !isScalarOrVector(op->getResult(0).getType()))
        return;
      op->emitOpError("has no expansion: expected f16, bf16, f32 or f64, got ")
          << op->getOperand(0).getType() << "\n  help: convert the operands to f32 or f64 first";
      signalPassFailure();
    });
  }
};

} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns) {
  namespace from = mlir::math;
  namespace to = hjx::math;
  patterns.add<
      Expand<from::AcosOp, to::acos>, Expand<from::AcoshOp, to::acosh>,
      Expand<from::AsinOp, to::asin>, Expand<from::AsinhOp, to::asinh>,
      Expand<from::Atan2Op, to::atan2>, Expand<from::AtanOp, to::atan>,
      Expand<from::AtanhOp, to::atanh>, Expand<from::CbrtOp, to::cbrt>,
      Expand<from::CosOp, to::cos>, Expand<from::CoshOp, to::cosh>, Expand<from::ErfOp, to::erf>,
      Expand<from::ErfcOp, to::erfc>, Expand<from::Exp2Op, to::exp2>,
      Expand<from::ExpM1Op, to::expm1>, Expand<from::ExpOp, to::exp>, Expand<from::FPowIOp, powInt>,
      Expand<from::Log10Op, to::log10>, Expand<from::Log1pOp, to::log1p>,
      Expand<from::Log2Op, to::log2>, Expand<from::LogOp, to::log>, Expand<from::PowFOp, powFloat>,
      Expand<from::RsqrtOp, to::rsqrt>, Expand<from::SinOp, to::sin>,
      Expand<from::SincosOp, to::sinCos>, Expand<from::SinhOp, to::sinh>,
      Expand<from::TanOp, to::tan>, Expand<from::TanhOp, to::tanh>, ExpandClamp>(
      patterns.getContext());
}

Value emitErfInv(ImplicitLocOpBuilder &builder, Value x) {
  return fromComputed(hjx::math::erfInv(toComputed(builder, x)), x.getType());
}

Value emitLogistic(ImplicitLocOpBuilder &builder, Value x) {
  return fromComputed(hjx::math::logistic(toComputed(builder, x)), x.getType());
}

} // namespace hjx
