// SPDX-License-Identifier: Apache-2.0
//
// Movement: name dimensions past the mapped axis; where the op fixes the whole
// shape, move the axis to the front first.
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

static LogicalResult batchBroadcastInDim(BatchContext &ctx) {
  auto op = cast<BroadcastInDimOp>(ctx.op);
  SmallVector<int64_t> dims{0};
  for (int64_t dim : op.getDims())
    dims.push_back(dim + 1);
  ctx.setResult(BroadcastInDimOp::create(ctx.b, atFront(ctx, 0), prepend(ctx.size, op.getShape()), dims), 0);
  return success();
}

static LogicalResult batchReshape(BatchContext &ctx) {
  ctx.setResult(ReshapeOp::create(ctx.b, atFront(ctx, 0), prepend(ctx.size, cast<ReshapeOp>(ctx.op).getShape())), 0);
  return success();
}

// transpose(x mapped on a, p) -> transpose(x, [a, p past a]), mapped at 0
static LogicalResult batchTranspose(BatchContext &ctx) {
  int64_t axis = *ctx.axes[0];
  SmallVector<int64_t> permutation = prepend(axis, shift(cast<TransposeOp>(ctx.op).getPermutation(), axis));
  ctx.setResult(emit::transpose(ctx.b, ctx.operands[0], permutation), 0);
  return success();
}

static LogicalResult batchRev(BatchContext &ctx) {
  int64_t axis = *ctx.axes[0];
  ctx.setResult(RevOp::create(ctx.b, ctx.operands[0].getType(), ctx.operands[0], shift(cast<RevOp>(ctx.op).getDims(), axis)), axis);
  return success();
}

static LogicalResult batchConcatenate(BatchContext &ctx) {
  int64_t axis = firstMapped(ctx.axes);
  SmallVector<Value> inputs;
  for (auto [operand, from] : llvm::zip_equal(ctx.operands, ctx.axes))
    inputs.push_back(mapAt(ctx.b, operand, from, axis, ctx.size));
  ctx.setResult(ConcatenateOp::create(ctx.b, inputs, shift(cast<ConcatenateOp>(ctx.op).getDimension(), axis)), axis);
  return success();
}

// pad(x, v mapped): v differs along the batch, which pad cannot say.
// -> select(pad(true, false), pad(x, 0), v repeated)
static LogicalResult batchPad(BatchContext &ctx) {
  auto op = cast<PadOp>(ctx.op);
  Value x = atFront(ctx, 0);
  SmallVector<int64_t> low = prepend(0, op.getLow()), high = prepend(0, op.getHigh()), interior = prepend(0, op.getInterior());
  if (!ctx.axes[1]) {
    ctx.setResult(PadOp::create(ctx.b, x, ctx.operands[1], low, high, interior), 0);
    return success();
  }
  RankedTensorType type = emit::typeOf(x);
  auto scalar = [&](Type element) { return RankedTensorType::get({}, element); };
  Type boolean = ctx.b.getI1Type();
  Value inside = PadOp::create(ctx.b, makeSplat(ctx.b, ctx.b.getLoc(), type.clone(boolean), 1),
                               makeSplat(ctx.b, ctx.b.getLoc(), scalar(boolean), 0), low, high, interior);
  // Any scalar of the element type will do under the mask: the first element of v.
  Value first = SliceOp::create(ctx.b, atFront(ctx, 1), ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
  Value padded = PadOp::create(ctx.b, x, emit::reshape(ctx.b, first, {}), low, high, interior);
  Value repeated = emit::broadcastInDim(ctx.b, atFront(ctx, 1), emit::typeOf(padded).getShape(), {0});
  ctx.setResult(emit::select(ctx.b, inside, padded, repeated), 0);
  return success();
}

static LogicalResult batchSlice(BatchContext &ctx) {
  auto op = cast<SliceOp>(ctx.op);
  int64_t axis = *ctx.axes[0];
  auto insert = [&](ArrayRef<int64_t> list, int64_t value) {
    SmallVector<int64_t> all(list);
    all.insert(all.begin() + axis, value);
    return all;
  };
  ctx.setResult(SliceOp::create(ctx.b, ctx.operands[0], insert(op.getStart(), 0), insert(op.getLimit(), ctx.size),
                                insert(op.getStrides(), 1)),
                axis);
  return success();
}

void hjx::registerMovementBatchRules(RuleRegistry &rules) {
  rules.of<BroadcastInDimOp>().batch = batchBroadcastInDim;
  rules.of<ReshapeOp>().batch = batchReshape;
  rules.of<TransposeOp>().batch = batchTranspose;
  rules.of<RevOp>().batch = batchRev;
  rules.of<ConcatenateOp>().batch = batchConcatenate;
  rules.of<PadOp>().batch = batchPad;
  rules.of<SliceOp>().batch = batchSlice;
}
