// SPDX-License-Identifier: Apache-2.0
//
// Reductions keep the mapped axis where it is and name their own axes past it.
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

// reduce(x mapped on a, axes) -> reduce(x, axes past a), mapped on a less the axes dropped before it
template <typename Op>
static LogicalResult batchReduce(BatchContext &ctx) {
  int64_t axis = *ctx.axes[0];
  SmallVector<int64_t> axes = shift(cast<Op>(ctx.op).getAxes(), axis);
  int64_t dropped = llvm::count_if(axes, [&](int64_t dim) { return dim < axis; });
  ctx.setResult(Op::create(ctx.b, ctx.operands[0], axes), axis - dropped);
  return success();
}

template <typename Op>
static LogicalResult batchArgReduce(BatchContext &ctx) {
  auto op = cast<Op>(ctx.op);
  int64_t axis = *ctx.axes[0], dim = shift(op.getAxis(), axis), resultAxis = axis - (dim < axis);
  ctx.setResult(Op::create(ctx.b, insertAxis(op.getType(), resultAxis, ctx.size), ctx.operands[0], dim), resultAxis);
  return success();
}

static LogicalResult batchCumsum(BatchContext &ctx) {
  auto op = cast<CumsumOp>(ctx.op);
  int64_t axis = *ctx.axes[0];
  ctx.setResult(CumsumOp::create(ctx.b, ctx.operands[0].getType(), ctx.operands[0], shift(op.getAxis(), axis), op.getReverse()), axis);
  return success();
}

void hjx::registerReductionBatchRules(RuleRegistry &rules) {
  rules.of<ReduceSumOp>().batch = batchReduce<ReduceSumOp>;
  rules.of<ReduceProdOp>().batch = batchReduce<ReduceProdOp>;
  rules.of<ReduceMaxOp>().batch = batchReduce<ReduceMaxOp>;
  rules.of<ReduceMinOp>().batch = batchReduce<ReduceMinOp>;
  rules.of<ReduceAndOp>().batch = batchReduce<ReduceAndOp>;
  rules.of<ReduceOrOp>().batch = batchReduce<ReduceOrOp>;
  rules.of<ArgmaxOp>().batch = batchArgReduce<ArgmaxOp>;
  rules.of<ArgminOp>().batch = batchArgReduce<ArgminOp>;
  rules.of<CumsumOp>().batch = batchCumsum;
}
