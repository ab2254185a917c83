// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter: both walk windows of the operand, one for each index
// vector.
#include "lib/Interpreter/Evaluate.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;

namespace hjx {

namespace {

/// How index vectors name places in the operand; gather and scatter spell the
/// same relation with different words.
struct Windows {
  const HostArray &operand, &indices;
  ArrayRef<int64_t> operandBatching, indicesBatching, indexMap;
  /// One entry per operand dimension; 1 where dropped or batching.
  SmallVector<int64_t> sizes;
  ir::IndexingMode mode;

  /// Where the window of the index vector at `batch` starts; none when the mode
  /// drops it.
  std::optional<SmallVector<int64_t>> start(ArrayRef<int64_t> batch) const {
    SmallVector<int64_t> start(operand.rank(), 0), place(batch);
    place.push_back(0);
    for (auto [component, dim] : llvm::enumerate(indexMap)) {
      place.back() = component;
      start[dim] = indices.getIndex(indices.offsetOf(place));
    }
    for (auto [operandDim, indicesDim] : llvm::zip_equal(operandBatching, indicesBatching))
      start[operandDim] = batch[indicesDim];
    for (auto [dim, i] : llvm::enumerate(start)) {
      int64_t last = operand.dim(dim) - sizes[dim];
      if (mode == ir::IndexingMode::FillOrDrop && (i < 0 || i > last))
        return std::nullopt;
      i = std::clamp<int64_t>(i, 0, last);
    }
    return start;
  }
};

} // namespace

/// What fill_or_drop puts where the operand has nothing: all bits set, except
/// NaN for floats and the least value for signed integers.
static void fill(HostArray &array, int64_t i) {
  Type element = array.elementType();
  if (array.isFloat())
    array.setFloat(i, std::numeric_limits<double>::quiet_NaN());
  else if (isa<ir::KeyType>(element))
    array.setKey(i, {UINT32_MAX, UINT32_MAX});
  else if (array.getInteger(i).isUnsigned())
    array.setInteger(i, APInt::getAllOnes(element.getIntOrFloatBitWidth()));
  else
    array.setInteger(i, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
}

static LogicalResult evaluateGather(Evaluation &e) {
  auto op = cast<ir::GatherOp>(e.op);
  Windows windows{e.operand(0),
                  e.operand(1),
                  op.getOperandBatchingDims(),
                  op.getStartIndicesBatchingDims(),
                  op.getStartIndexMap(),
                  SmallVector<int64_t>(op.getSliceSizes()),
                  op.getMode()};
  HostArray &result = e.results[0];
  SmallVector<int64_t> windowDims = ir::dimsExcept(
      windows.operand.rank(), op.getCollapsedSliceDims(), op.getOperandBatchingDims());
  SmallVector<int64_t> batchDims = ir::dimsExcept(result.rank(), op.getOffsetDims());
  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    std::optional<SmallVector<int64_t>> place = windows.start(ir::pickDims(index, batchDims));
    if (!place)
      return fill(result, next++);
    for (auto [operandDim, resultDim] : llvm::zip_equal(windowDims, op.getOffsetDims()))
      (*place)[operandDim] += index[resultDim];
    result.setElement(next++, windows.operand, windows.operand.offsetOf(*place));
  });
  return success();
}

static LogicalResult evaluateScatter(Evaluation &e) {
  auto op = cast<ir::ScatterOp>(e.op);
  const HostArray &updates = e.operand(2);
  HostArray &result = e.results[0] = e.operand(0);
  SmallVector<int64_t> windowDims =
      ir::dimsExcept(result.rank(), op.getInsertedWindowDims(), op.getOperandBatchingDims());
  SmallVector<int64_t> batchDims = ir::dimsExcept(updates.rank(), op.getUpdateWindowDims());
  Windows windows{e.operand(0),
                  e.operand(1),
                  op.getOperandBatchingDims(),
                  op.getScatterIndicesBatchingDims(),
                  op.getScatterDimsToOperandDims(),
                  SmallVector<int64_t>(result.rank(), 1),
                  op.getMode()};
  for (auto [operandDim, updateDim] : llvm::zip_equal(windowDims, op.getUpdateWindowDims()))
    windows.sizes[operandDim] = updates.dim(updateDim);

  int64_t next = 0;
  forEachIndex(updates.shape(), [&](ArrayRef<int64_t> index) {
    int64_t update = next++;
    std::optional<SmallVector<int64_t>> place = windows.start(ir::pickDims(index, batchDims));
    if (!place)
      return;
    for (auto [operandDim, updateDim] : llvm::zip_equal(windowDims, op.getUpdateWindowDims()))
      (*place)[operandDim] += index[updateDim];
    int64_t offset = result.offsetOf(*place);
    if (op.getKind() == ir::ScatterKind::Set)
      result.setElement(offset, updates, update);
    else if (result.isFloat())
      result.setFloat(offset, result.getFloat(offset) + updates.getFloat(update));
    else
      result.setInteger(offset, result.getInteger(offset) + updates.getInteger(update));
  });
  return success();
}

void populateIndexingEvaluateRules(EvaluateRules &rules) {
  rules.add<ir::GatherOp>(evaluateGather);
  rules.add<ir::ScatterOp>(evaluateScatter);
}

} // namespace hjx
