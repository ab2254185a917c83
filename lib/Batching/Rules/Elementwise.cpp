// SPDX-License-Identifier: Apache-2.0
//
// op(x mapped on a, y unmapped) -> op(x, y repeated along a), mapped on a.
#include "lib/Batching/Rules/Shared.h"

using namespace hjx::ir;

namespace hjx::batching {

Operation *copyWith(BatchContext &ctx, ValueRange operands, int64_t axis) {
  OperationState state(ctx.op->getLoc(), ctx.op->getName());
  state.addOperands(operands);
  for (Type type : ctx.op->getResultTypes())
    state.addTypes(insertAxis(cast<RankedTensorType>(type), axis, ctx.size));
  state.addAttributes(ctx.op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = ctx.op->getPropertiesAsAttribute();
  return ctx.b.create(state);
}

void setResults(BatchContext &ctx, Operation *copy, int64_t axis) {
  for (Value result : copy->getResults())
    ctx.setResult(result, axis);
}

LogicalResult batchElementwise(BatchContext &ctx) {
  int64_t axis = firstMapped(ctx.axes);
  SmallVector<Value> operands;
  for (auto [operand, from] : llvm::zip_equal(ctx.operands, ctx.axes))
    operands.push_back(mapAt(ctx.b, operand, from, axis, ctx.size));
  setResults(ctx, copyWith(ctx, operands, axis), axis);
  return success();
}

/// select_n's selector and clamp's bounds may be scalars beside arrays: unmapped
/// they stay scalars; mapped, now one per element, they are repeated over the
/// array's shape.
static LogicalResult batchWithScalars(BatchContext &ctx) {
  RankedTensorType type = insertAxis(cast<RankedTensorType>(ctx.op->getResult(0).getType()), 0, ctx.size);
  SmallVector<Value> operands;
  for (auto [i, value] : llvm::enumerate(ctx.operands)) {
    Value operand = value;
    bool mayBeScalar = isa<SelectNOp>(ctx.op) ? i == 0 : i != 1;
    bool isScalar = mayBeScalar && emit::typeOf(ctx.op->getOperand(i)).getRank() == 0;
    if (!isScalar)
      operand = atFront(ctx, i);
    else if (ctx.axes[i])
      operand = emit::broadcastInDim(ctx.b, operand, type.getShape(), {0});
    operands.push_back(operand);
  }
  setResults(ctx, copyWith(ctx, operands, 0), 0);
  return success();
}

static LogicalResult batchBitcast(BatchContext &ctx) {
  setResults(ctx, copyWith(ctx, atFront(ctx, 0), 0), 0);
  return success();
}

} // namespace hjx::batching

template <typename... Ops>
static void setRule(hjx::RuleRegistry &rules, const hjx::BatchRule &rule) {
  ((rules.of<Ops>().batch = rule), ...);
}

void hjx::registerElementwiseBatchRules(RuleRegistry &rules) {
  setRule<NegOp, AbsOp, SignOp, FloorOp, CeilOp, RoundOp, SqrtOp, RsqrtOp, ExpOp, Expm1Op, LogOp, Log1pOp, SinOp, CosOp, TanOp,
          TanhOp, ErfOp, ErfInvOp, LogisticOp, NotOp, StopGradientOp, IsFiniteOp, AddOp, SubOp, MulOp, DivOp, RemOp, MaxOp,
          MinOp, PowOp, AndOp, OrOp, XorOp, ShiftLeftOp, ShiftRightLogicalOp, ShiftRightArithmeticOp, CompareOp, ConvertOp>(
      rules, batching::batchElementwise);
  setRule<SelectNOp, ClampOp>(rules, batching::batchWithScalars);
  setRule<BitcastOp>(rules, batching::batchBitcast);
}
