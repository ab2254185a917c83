// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter are each other's transposes: gather reads many windows of
// an array, scatter-add adds many windows to one. Windows may overlap, so each
// transpose must add. Out-of-bounds windows: clip stays clip; where gather fills
// (NaN), the derivative is zero, and its transpose drops the window.
#include "lib/Autodiff/Rules/Indexing.h"

#include "lib/Rules/Emit.h"

using namespace mlir;
using namespace hjx::ir;
using namespace hjx::emit;

namespace hjx {

/// Where windows go, common to gather and scatter.
struct Windows {
  RankedTensorType operand;         // the array that windows index
  SmallVector<int64_t> sizes;       // of a window, one per operand dimension
  SmallVector<int64_t> offsetDims;  // window dimensions of the many windows
  SmallVector<int64_t> dropped, operandBatching, indicesBatching, indexMap;
  IndexingMode mode;
};

static Windows windowsOf(GatherOp op) {
  return {op.getOperand().getType(),
          llvm::to_vector(op.getSliceSizes()),
          llvm::to_vector(op.getOffsetDims()),
          llvm::to_vector(op.getCollapsedSliceDims()),
          llvm::to_vector(op.getOperandBatchingDims()),
          llvm::to_vector(op.getStartIndicesBatchingDims()),
          llvm::to_vector(op.getStartIndexMap()),
          op.getMode()};
}

static Windows windowsOf(ScatterOp op) {
  Windows w{op.getOperand().getType(),
            {},
            llvm::to_vector(op.getUpdateWindowDims()),
            llvm::to_vector(op.getInsertedWindowDims()),
            llvm::to_vector(op.getOperandBatchingDims()),
            llvm::to_vector(op.getScatterIndicesBatchingDims()),
            llvm::to_vector(op.getScatterDimsToOperandDims()),
            op.getMode()};
  w.sizes.assign(w.operand.getRank(), 1);
  for (auto [dim, windowDim] :
       llvm::zip_equal(dimsExcept(w.operand.getRank(), w.dropped, w.operandBatching), w.offsetDims))
    w.sizes[dim] = op.getUpdates().getType().getDimSize(windowDim);
  return w;
}

static Value gather(emit::Builder &b, Value operand, Value indices, const Windows &w, IndexingMode mode) {
  return GatherOp::create(b, operand, indices, w.offsetDims, w.dropped, w.operandBatching, w.indicesBatching, w.indexMap,
                          w.sizes, mode);
}

static Value scatter(emit::Builder &b, ScatterKind kind, Value operand, Value indices, Value updates, const Windows &w,
                     bool unique = false) {
  return ScatterOp::create(b, kind, operand, indices, updates, w.offsetDims, w.dropped, w.operandBatching,
                           w.indicesBatching, w.indexMap, w.mode, unique);
}

/// Whether each window lies inside the operand, at the windows' shape.
static Value isInside(emit::Builder &b, Value indices, const Windows &w, RankedTensorType windows) {
  // 0 <= start <= size - window, for each component of the index vectors
  auto type = typeOf(indices);
  SmallVector<APInt> last;
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  for (int64_t dim : w.indexMap) {
    // A bound beyond the index type holds for all its values.
    APInt bound(64, w.operand.getDimSize(dim) - w.sizes[dim]);
    APInt greatest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
    last.push_back(bound.getActiveBits() > greatest.getActiveBits() ? greatest : bound.zextOrTrunc(width));
  }
  auto boundsType = RankedTensorType::get({static_cast<int64_t>(last.size())}, type.getElementType());
  Value bounds = ConstantOp::create(b, boundsType, DenseIntElementsAttr::get(boundsType, last));
  bounds = broadcastInDim(b, bounds, type.getShape(), {type.getRank() - 1});
  Value inside = compare(b, ComparisonDirection::LE, indices, bounds);
  if (!isUnsigned)
    inside = logicalAnd(b, inside, compare(b, ComparisonDirection::GE, indices, fullLike(b, indices, 0)));
  inside = ReduceAndOp::create(b, inside, ArrayRef<int64_t>{type.getRank() - 1});
  return broadcastInDim(b, inside, windows.getShape(), dimsExcept(windows.getRank(), w.offsetDims));
}

/// Windows of `operand`, zeros where gather would fill.
static Value gatherOrZero(emit::Builder &b, Value operand, Value indices, const Windows &w) {
  if (w.mode != IndexingMode::FillOrDrop)
    return gather(b, operand, indices, w, w.mode);
  Value windows = gather(b, operand, indices, w, IndexingMode::Clip);
  return select(b, isInside(b, indices, w, typeOf(windows)), windows, fullLike(b, windows, 0.0));
}

// y = gather(x, i);  y_dot = gather(x_dot, i), zero outside
LogicalResult gatherJvp(JvpContext &c, GatherOp op) {
  c.setTangent(0, gatherOrZero(c.b, c.tangent(0), op.getStartIndices(), windowsOf(op)));
  return success();
}

// y = gather(x, i);  x_bar += scatter_add(0, i, y_bar)
LogicalResult gatherTranspose(TransposeContext &c, GatherOp op) {
  Windows w = windowsOf(op);
  c.accumulate(0, scatter(c.b, ScatterKind::Add, zeros(c.b, w.operand), c.nonlinear(1), c.resultBar(0), w));
  return success();
}

/// Which elements of the updates survive a scatter-set with repeated indices:
/// number all elements, scatter the numbers, and see who finds his own.
static Value survives(emit::Builder &b, Value indices, RankedTensorType updates, const Windows &w) {
  Type i32 = b.getI32Type();
  Value flat = IotaOp::create(b, RankedTensorType::get({updates.getNumElements()}, i32), 0);
  Value ids = reshape(b, flat, updates.getShape());
  Value nobody = makeSplat(b, b.getLoc(), RankedTensorType::get(w.operand.getShape(), i32), -1);
  Value owners = scatter(b, ScatterKind::Set, nobody, indices, ids, w);
  return compare(b, ComparisonDirection::EQ, gather(b, owners, indices, w, IndexingMode::Clip), ids);
}

// y = scatter_add(x, i, u);  x_bar += y_bar;  u_bar += gather(y_bar, i), zero where dropped
// y = scatter_set(x, i, u);  x_bar += scatter_set(y_bar, i, 0);
//                            u_bar += gather(y_bar, i) for the updates that survive, else 0
LogicalResult scatterTranspose(TransposeContext &c, ScatterOp op) {
  emit::Builder &b = c.b;
  Windows w = windowsOf(op);
  Value indices = c.nonlinear(1), yBar = c.resultBar(0);
  RankedTensorType updates = op.getUpdates().getType();
  bool isSet = op.getKind() == ScatterKind::Set;
  if (c.isLinear(0))
    c.accumulate(0, isSet ? scatter(b, ScatterKind::Set, yBar, indices, zeros(b, updates), w, op.getUniqueIndices()) : yBar);
  if (!c.isLinear(2) || op.getType().getNumElements() == 0) // No place: every update is dropped.
    return success();
  if (!isSet || op.getUniqueIndices()) {
    c.accumulate(2, gatherOrZero(b, yBar, indices, w));
    return success();
  }
  Value windows = gather(b, yBar, indices, w, IndexingMode::Clip);
  c.accumulate(2, select(b, survives(b, indices, updates, w), windows, zeros(b, updates)));
  return success();
}

} // namespace hjx
