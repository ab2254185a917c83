// SPDX-License-Identifier: Apache-2.0
//
// Dynamic slices, gather and scatter. Shared starts leave the op as it is, with
// one more full dimension; starts that differ along the batch become gather and
// scatter, whose batching dimensions say just that.
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

static SmallVector<int64_t> plusOne(ArrayRef<int64_t> dims) { return shift(dims, 0); }

/// The start indices, with a leading 0 of their type.
static SmallVector<Value> withZero(BatchContext &ctx, ValueRange starts) {
  Type type = starts.empty() ? RankedTensorType::get({}, ctx.b.getI32Type()) : starts.front().getType();
  SmallVector<Value> all{emit::zeros(ctx.b, type)};
  llvm::append_range(all, starts);
  return all;
}

/// Scalar starts, from operand `first` on, as index vectors [size, count] of
/// one type wide enough for all.
static Value stackStarts(BatchContext &ctx, unsigned first) {
  Type element = ctx.b.getI32Type();
  for (unsigned i = first; i < ctx.operands.size(); ++i)
    if (emit::typeOf(ctx.operands[i]).getElementTypeBitWidth() == 64 ||
        emit::typeOf(ctx.operands[i]).getElementType().isUnsignedInteger(32))
      element = ctx.b.getI64Type();
  SmallVector<Value> columns;
  for (unsigned i = first; i < ctx.operands.size(); ++i)
    columns.push_back(emit::reshape(ctx.b, emit::convert(ctx.b, atFront(ctx, i), element), {ctx.size, 1}));
  return ConcatenateOp::create(ctx.b, columns, 1);
}

// dynamic_slice(x, starts unmapped)  -> dynamic_slice(x, [0, starts]) of a full leading dim
// dynamic_slice(x, starts mapped)    -> gather(x, starts), clipped, windows of slice_sizes
static LogicalResult batchDynamicSlice(BatchContext &ctx) {
  auto op = cast<DynamicSliceOp>(ctx.op);
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  if (!anyMapped(ctx.axes.drop_front())) {
    ctx.setResult(DynamicSliceOp::create(ctx.b, atFront(ctx, 0), withZero(ctx, ctx.operands.drop_front()),
                                         prepend(ctx.size, sizes)),
                  0);
    return success();
  }
  int64_t rank = op.getOperand().getType().getRank();
  Value starts = stackStarts(ctx, 1);
  SmallVector<int64_t> window = plusOne(iotaDims(rank));
  GatherOp gather =
      ctx.axes[0] ? GatherOp::create(ctx.b, atFront(ctx, 0), starts, window, ArrayRef<int64_t>{}, ArrayRef<int64_t>{0},
                                     ArrayRef<int64_t>{0}, window, prepend(1, sizes), IndexingMode::Clip)
                  : GatherOp::create(ctx.b, ctx.operands[0], starts, window, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                     ArrayRef<int64_t>{}, iotaDims(rank), sizes, IndexingMode::Clip);
  ctx.setResult(gather, 0);
  return success();
}

// dynamic_update_slice(x, u, starts unmapped) -> the same with a full leading dim
// dynamic_update_slice(x, u, starts mapped)   -> scatter set, clipped, one window per batch element
static LogicalResult batchDynamicUpdateSlice(BatchContext &ctx) {
  auto op = cast<DynamicUpdateSliceOp>(ctx.op);
  Value x = atFront(ctx, 0), update = atFront(ctx, 1);
  if (!anyMapped(ctx.axes.drop_front(2))) {
    ctx.setResult(DynamicUpdateSliceOp::create(ctx.b, x, update, withZero(ctx, ctx.operands.drop_front(2))), 0);
    return success();
  }
  SmallVector<int64_t> window = plusOne(iotaDims(op.getOperand().getType().getRank()));
  ctx.setResult(ScatterOp::create(ctx.b, ScatterKind::Set, x, stackStarts(ctx, 2), update, window, ArrayRef<int64_t>{},
                                  ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0}, window, IndexingMode::Clip, /*unique_indices=*/true),
                0);
  return success();
}

// operand only:  one more window dim, of full size, in front
// indices only:  one more batch dim of the indices, in front
// both:          one more pair of batching dims, in front
static LogicalResult batchGather(BatchContext &ctx) {
  auto op = cast<GatherOp>(ctx.op);
  bool operandMapped = ctx.axes[0].has_value(), indicesMapped = ctx.axes[1].has_value();
  Value operand = operandMapped ? atFront(ctx, 0) : ctx.operands[0];
  Value indices = indicesMapped ? atFront(ctx, 1) : ctx.operands[1];
  auto shiftIf = [](bool condition, ArrayRef<int64_t> dims) { return condition ? plusOne(dims) : SmallVector<int64_t>(dims); };

  SmallVector<int64_t> offset = plusOne(op.getOffsetDims());
  SmallVector<int64_t> collapsed = shiftIf(operandMapped, op.getCollapsedSliceDims());
  SmallVector<int64_t> operandBatching = shiftIf(operandMapped, op.getOperandBatchingDims());
  SmallVector<int64_t> indicesBatching = shiftIf(indicesMapped, op.getStartIndicesBatchingDims());
  SmallVector<int64_t> indexMap = shiftIf(operandMapped, op.getStartIndexMap());
  SmallVector<int64_t> sizes(op.getSliceSizes());
  if (operandMapped && indicesMapped) {
    operandBatching = prepend(0, operandBatching);
    indicesBatching = prepend(0, indicesBatching);
    sizes = prepend(1, sizes);
  } else if (operandMapped) {
    offset = prepend(0, offset);
    sizes = prepend(ctx.size, sizes);
  }
  ctx.setResult(GatherOp::create(ctx.b, operand, indices, offset, collapsed, operandBatching, indicesBatching, indexMap, sizes,
                                 op.getMode()),
                0);
  return success();
}

// indices unmapped: one more window dim, in front, of operand and updates
// indices mapped:   one more pair of batching dims, in front
static LogicalResult batchScatter(BatchContext &ctx) {
  auto op = cast<ScatterOp>(ctx.op);
  bool indicesMapped = ctx.axes[1].has_value();
  SmallVector<int64_t> window = plusOne(op.getUpdateWindowDims());
  SmallVector<int64_t> operandBatching = plusOne(op.getOperandBatchingDims());
  SmallVector<int64_t> indicesBatching(op.getScatterIndicesBatchingDims());
  if (indicesMapped) {
    operandBatching = prepend(0, operandBatching);
    indicesBatching = prepend(0, plusOne(indicesBatching));
  } else {
    window = prepend(0, window);
  }
  ctx.setResult(ScatterOp::create(ctx.b, op.getKind(), atFront(ctx, 0), indicesMapped ? atFront(ctx, 1) : ctx.operands[1],
                                  atFront(ctx, 2), window, plusOne(op.getInsertedWindowDims()), operandBatching, indicesBatching,
                                  plusOne(op.getScatterDimsToOperandDims()), op.getMode(), op.getUniqueIndices()),
                0);
  return success();
}

void hjx::registerIndexingBatchRules(RuleRegistry &rules) {
  rules.of<DynamicSliceOp>().batch = batchDynamicSlice;
  rules.of<DynamicUpdateSliceOp>().batch = batchDynamicUpdateSlice;
  rules.of<GatherOp>().batch = batchGather;
  rules.of<ScatterOp>().batch = batchScatter;
}
