// SPDX-License-Identifier: Apache-2.0
//
// Short names for emitting hjx ops in rules, so that a rule reads like its
// mathematics: `mul(b, cos(b, x), xDot)`. One function per op that rules use
// often, and the few two-line compositions that several verbs share.
#pragma once

#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx::emit {

using Builder = mlir::ImplicitLocOpBuilder;
using mlir::Value;

inline mlir::RankedTensorType typeOf(Value v) { return mlir::cast<mlir::RankedTensorType>(v.getType()); }

#define HJX_EMIT_UNARY(name, Op)                                                                              \
  inline Value name(Builder &b, Value x) { return ir::Op::create(b, x); }
HJX_EMIT_UNARY(neg, NegOp)
HJX_EMIT_UNARY(abs, AbsOp)
HJX_EMIT_UNARY(sign, SignOp)
HJX_EMIT_UNARY(sqrt, SqrtOp)
HJX_EMIT_UNARY(rsqrt, RsqrtOp)
HJX_EMIT_UNARY(exp, ExpOp)
HJX_EMIT_UNARY(log, LogOp)
HJX_EMIT_UNARY(sin, SinOp)
HJX_EMIT_UNARY(cos, CosOp)
HJX_EMIT_UNARY(tanh, TanhOp)
HJX_EMIT_UNARY(logistic, LogisticOp)
#undef HJX_EMIT_UNARY

#define HJX_EMIT_BINARY(name, Op)                                                                             \
  inline Value name(Builder &b, Value x, Value y) { return ir::Op::create(b, x, y); }
HJX_EMIT_BINARY(add, AddOp)
HJX_EMIT_BINARY(sub, SubOp)
HJX_EMIT_BINARY(mul, MulOp)
HJX_EMIT_BINARY(div, DivOp)
HJX_EMIT_BINARY(max, MaxOp)
HJX_EMIT_BINARY(min, MinOp)
HJX_EMIT_BINARY(pow, PowOp)
HJX_EMIT_BINARY(logicalAnd, AndOp)
HJX_EMIT_BINARY(logicalOr, OrOp)
#undef HJX_EMIT_BINARY

/// A constant of `like`'s type, every element `value`.
inline Value fullLike(Builder &b, Value like, double value) { return ir::makeSplat(b, b.getLoc(), like.getType(), value); }
inline Value zeros(Builder &b, mlir::Type type) { return ir::makeSplat(b, b.getLoc(), type, 0.0); }

inline Value compare(Builder &b, ir::ComparisonDirection direction, Value x, Value y) {
  return ir::CompareOp::create(b, direction, x, y);
}
/// `ifTrue` where `which`, else `ifFalse`.
inline Value select(Builder &b, Value which, Value ifTrue, Value ifFalse) {
  return ir::SelectNOp::create(b, which, mlir::ValueRange{ifFalse, ifTrue});
}
inline Value convert(Builder &b, Value x, mlir::Type element) {
  if (typeOf(x).getElementType() == element)
    return x;
  return ir::ConvertOp::create(b, typeOf(x).clone(element), x);
}
inline Value reshape(Builder &b, Value x, llvm::ArrayRef<int64_t> shape) {
  return typeOf(x).getShape() == shape ? x : ir::ReshapeOp::create(b, x, shape).getResult();
}
inline Value transpose(Builder &b, Value x, llvm::ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x : ir::TransposeOp::create(b, x, permutation).getResult();
}
inline Value broadcastInDim(Builder &b, Value x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims) {
  return typeOf(x).getShape() == shape ? x : ir::BroadcastInDimOp::create(b, x, shape, dims).getResult();
}
inline Value reduceSum(Builder &b, Value x, llvm::ArrayRef<int64_t> axes) {
  return axes.empty() ? x : ir::ReduceSumOp::create(b, x, axes).getResult();
}
/// `x` with its dimension `from` moved to `to`; the others keep their order.
inline Value moveAxis(Builder &b, Value x, int64_t from, int64_t to) {
  llvm::SmallVector<int64_t> permutation = ir::dimsExcept(typeOf(x).getRank(), {from});
  permutation.insert(permutation.begin() + to, from);
  return transpose(b, x, permutation);
}

} // namespace hjx::emit
