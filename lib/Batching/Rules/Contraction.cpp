// SPDX-License-Identifier: Apache-2.0
//
// dot_general: the mapped axis becomes a batching dimension when both operands
// have it, else a free dimension of the operand that has it. Attention takes it in front of its batch.
#include "dialects/hjx/Attention.h"
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

// both mapped:  batching = [l] x [r] in front; result mapped at 0
// lhs mapped:   l is a free dim of lhs; result mapped at its place among the result's dims
// rhs mapped:   likewise, after lhs's free dims
static LogicalResult batchDotGeneral(BatchContext &ctx) {
  auto op = cast<DotGeneralOp>(ctx.op);
  Axis l = ctx.axes[0], r = ctx.axes[1];
  auto shiftBy = [](ArrayRef<int64_t> dims, Axis axis) { return axis ? shift(dims, *axis) : SmallVector<int64_t>(dims); };
  SmallVector<int64_t> lhsBatch = shiftBy(op.getLhsBatching(), l), rhsBatch = shiftBy(op.getRhsBatching(), r);
  SmallVector<int64_t> lhsContract = shiftBy(op.getLhsContracting(), l), rhsContract = shiftBy(op.getRhsContracting(), r);
  int64_t axis = 0;
  if (l && r) {
    lhsBatch = prepend(*l, lhsBatch);
    rhsBatch = prepend(*r, rhsBatch);
  } else {
    Value mapped = ctx.operands[l ? 0 : 1];
    SmallVector<int64_t> free = l ? dimsExcept(emit::typeOf(mapped).getRank(), lhsBatch, lhsContract)
                                  : dimsExcept(emit::typeOf(mapped).getRank(), rhsBatch, rhsContract);
    axis = lhsBatch.size() + (llvm::find(free, l ? *l : *r) - free.begin());
    if (r)
      axis += op.getLhs().getType().getRank() - lhsBatch.size() - lhsContract.size();
  }
  ctx.setResult(DotGeneralOp::create(ctx.b, ctx.operands[0], ctx.operands[1], lhsBatch, rhsBatch, lhsContract, rhsContract,
                                     op.getAccumTypeAttr()),
                axis);
  return success();
}

// attention(q mapped at a, ..): a moves to the front, operands that are not mapped are repeated; results mapped at 0
static LogicalResult batchAttention(BatchContext &ctx) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < ctx.operands.size(); ++i)
    operands.push_back(atFront(ctx, i));
  setResults(ctx, copyWith(ctx, operands, 0), 0);
  return success();
}

void hjx::registerContractionBatchRules(RuleRegistry &rules) {
  rules.of<DotGeneralOp>().batch = batchDotGeneral;
  rules.of<AttentionOp>().batch = batchAttention;
  rules.of<AttentionTangentOp>().batch = batchAttention;
  rules.of<AttentionCotangentOp>().batch = batchAttention;
}
