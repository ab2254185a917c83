// SPDX-License-Identifier: Apache-2.0
//
// The patterns and the pass around the functions of this folder. f16 and bf16 operands
// are computed in f32; the conversion to bf16 is written out, because x86 without
// AVX-512 BF16 would call __truncsfbf2 for it.
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Codegen/Math/Functions.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace hjx {
namespace {

using Unary = hjx::math::Float (*)(hjx::math::Float);

bool isExpandable(Type type) {
  if (isa<ShapedType>(type) && !isa<VectorType>(type))
    return false;
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

hjx::math::Float toComputeType(ImplicitLocOpBuilder &builder, Value x) {
  hjx::math::Float lanes{{&builder, x}};
  if (lanes.width() != 16)
    return lanes;
  return {{&builder, arith::ExtFOp::create(builder, lanes.like(builder.getF32Type()), x)}};
}

/// Rounds f32 to the nearest bf16, ties to even: adds just under half a unit to the bits.
Value truncateToBF16(hjx::math::Float x) {
  hjx::math::Int all = bits(x);
  hjx::math::Int rounded = (all + ((all >> 16) & 1) + 0x7fff) >> 16;
  hjx::math::Int quietNan = (all >> 16) | 0x40;
  hjx::math::Int half = resize(select(isNan(x), quietNan, rounded), 16);
  return x.make<arith::BitcastOp>(x.like(x.builder->getBF16Type()), half.value);
}

Value toType(hjx::math::Float x, Type type) {
  if (x.value.getType() == type)
    return x.value;
  if (getElementTypeOrSelf(type).isBF16())
    return truncateToBF16(x);
  return x.make<arith::TruncFOp>(type, x.value);
}

Value emitUnary(ImplicitLocOpBuilder &builder, Value x, Unary function) {
  return toType(function(toComputeType(builder, x)), x.getType());
}

LogicalResult unsupported(PatternRewriter &rewriter, Operation *op) {
  return rewriter.notifyMatchFailure(op, "expected a scalar or vector of f16, bf16, f32 or f64");
}

template <typename Op, Unary function> struct ExpandUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return unsupported(rewriter, op);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emitUnary(builder, op.getOperand(), function));
    return success();
  }
};

struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  StringRef getArgument() const final { return "hjx-expand-math"; }
  StringRef getDescription() const final {
    return "expand math functions into arithmetic, the same on every target";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, mlir::math::MathDialect>();
  }
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandUnary<mlir::math::CosOp, hjx::math::cos>,
               ExpandUnary<mlir::math::ErfOp, hjx::math::erf>,
               ExpandUnary<mlir::math::Exp2Op, hjx::math::exp2>,
               ExpandUnary<mlir::math::ExpM1Op, hjx::math::expm1>,
               ExpandUnary<mlir::math::ExpOp, hjx::math::exp>,
               ExpandUnary<mlir::math::Log10Op, hjx::math::log10>,
               ExpandUnary<mlir::math::Log1pOp, hjx::math::log1p>,
               ExpandUnary<mlir::math::Log2Op, hjx::math::log2>,
               ExpandUnary<mlir::math::LogOp, hjx::math::log>,
               ExpandUnary<mlir::math::RsqrtOp, hjx::math::rsqrt>,
               ExpandUnary<mlir::math::SinOp, hjx::math::sin>,
               ExpandUnary<mlir::math::TanOp, hjx::math::tan>,
               ExpandUnary<mlir::math::TanhOp, hjx::math::tanh>>(patterns.getContext());
}

std::unique_ptr<Pass> createExpandMathPass() { return std::make_unique<ExpandMathPass>(); }
void registerExpandMathPass() { PassRegistration<ExpandMathPass>(); }

Value emitErfInv(ImplicitLocOpBuilder &builder, Value x) {
  return emitUnary(builder, x, hjx::math::erfInv);
}
Value emitLogistic(ImplicitLocOpBuilder &builder, Value x) {
  return emitUnary(builder, x, hjx::math::logistic);
}

} // namespace hjx
