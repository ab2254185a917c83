// SPDX-License-Identifier: Apache-2.0
//
// Movement: result types, verifiers and folders. Gather and scatter have theirs
// in Indexing.cpp.
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hjx::ir;

#include "dialects/hjx/MovementEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Movement.cpp.inc"

void HjxDialect::registerMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Movement.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), dim = getDimension();
  if (dim < 0 || dim >= rank)
    return emitOpError("(C1) expected dim in [0, ") << rank << "), got " << dim;
  return success();
}

LogicalResult BroadcastInDimOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> shape = adaptor.getShape(), dims = adaptor.getDims();
  if (static_cast<int64_t>(dims.size()) != type.getRank() || !areAscendingDims(dims, shape.size()))
    return emitOptionalError(loc, "broadcast_in_dim: (C1) expected ", type.getRank(), " ascending result dimensions below ",
                             shape.size(), ", got [", dims, "]");
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return emitOptionalError(loc, "broadcast_in_dim: (C1) expected sizes that are not negative, got [", shape, "]");
  for (auto [i, dim] : llvm::enumerate(dims))
    if (type.getDimSize(i) != 1 && type.getDimSize(i) != shape[dim])
      return emitOptionalError(loc, "broadcast_in_dim: (C2) dimension ", i, " of ", type, " is neither 1 nor ", shape[dim],
                               ", the size of result dimension ", dim);
  results.push_back(type.clone(shape));
  return success();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()); dense && dense.isSplat())
    return dense.resizeSplat(getType());
  return {};
}

namespace {
/// broadcast(broadcast(x, a), b) -> broadcast(x, b o a)
struct MergeBroadcasts : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, inner.getOperand(), op.getShape(),
                                                  pickDims(op.getDims(), inner.getDims()));
    return success();
  }
};
} // namespace

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeBroadcasts>(context);
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return emitOptionalError(loc, "reshape: (C1) expected sizes that are not negative, got [", shape, "]");
  std::optional<int64_t> numElements = countElements(shape);
  if (!numElements)
    return emitOptionalError(loc, "reshape: (C1) shape [", shape, "] has more elements than 64 bits count");
  if (*numElements != type.getNumElements())
    return emitOptionalError(loc, "reshape: (C1) ", type, " has ", type.getNumElements(), " elements, shape [", shape, "] has ",
                             *numElements);
  results.push_back(type.clone(shape));
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()))
    return dense.reshape(getType());
  return {};
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != type.getRank() || !areDistinctDims(permutation, type.getRank()))
    return emitOptionalError(loc, "transpose: (C1) [", permutation, "] does not permute the dimensions of ", type);
  results.push_back(type.clone(pickDims(type.getShape(), permutation)));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    setPermutation(pickDims(inner.getPermutation(), getPermutation()));
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()); dense && dense.isSplat())
    return dense.resizeSplat(getType());
  return {};
}

LogicalResult RevOp::verify() {
  if (!areDistinctDims(getDims(), getType().getRank()))
    return emitOpError("(C1) [") << getDims() << "] are not distinct dimensions of " << getType();
  return success();
}

OpFoldResult RevOp::fold(FoldAdaptor) { return getDims().empty() ? OpFoldResult(getOperand()) : OpFoldResult(); }

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "concatenate: (C1) expected at least one operand");
  auto first = cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t dim = adaptor.getDimension();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(loc, "concatenate: (C2) expected dim in [0, ", first.getRank(), "), got ", dim);
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getElementType() != first.getElementType() || type.getRank() != first.getRank() ||
        dropAxis(type, dim) != dropAxis(first, dim))
      return emitOptionalError(loc, "concatenate: (C3) ", first, " and ", type, " differ outside dimension ", dim);
    shape[dim] += type.getDimSize(dim);
  }
  results.push_back(first.clone(shape));
  return success();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto value = cast<RankedTensorType>(adaptor.getPaddingValue().getType());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh(), interior = adaptor.getInterior();
  size_t rank = type.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank ||
      llvm::any_of(interior, [](int64_t n) { return n < 0; }))
    return emitOptionalError(loc, "pad: (C1) expected ", rank, " entries in low, high and interior, interior none below 0, got [",
                             low, "], [", high, "], [", interior, "]");
  if (value.getRank() != 0 || value.getElementType() != type.getElementType())
    return emitOptionalError(loc, "pad: (C2) expected a padding value ", type.clone(ArrayRef<int64_t>()), ", got ", value);
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = type.getDimSize(i), gaps = 0, inner = 0, padded = 0;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior[i], gaps) || llvm::AddOverflow(size, gaps, inner) ||
        llvm::AddOverflow(inner, low[i], padded) || llvm::AddOverflow(padded, high[i], padded))
      return emitOptionalError(loc, "pad: (C3) dimension ", i, " of ", type, " grows beyond 64 bits");
    if (padded < 0)
      return emitOptionalError(loc, "pad: (C3) low ", low[i], " and high ", high[i], " remove more than dimension ", i, " of ",
                               type, " holds");
    shape.push_back(padded);
  }
  results.push_back(type.clone(shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t n) { return n == 0; };
  bool padsNothing = llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
                     getOperand().getType() == getType();
  return padsNothing ? OpFoldResult(getOperand()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> start = adaptor.getStart(), limit = adaptor.getLimit(), strides = adaptor.getStrides();
  size_t rank = type.getRank();
  if (start.size() != rank || limit.size() != rank || strides.size() != rank)
    return emitOptionalError(loc, "slice: (C1) expected ", rank, " entries in start, limit and strides, got [", start, "], [",
                             limit, "], [", strides, "]");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > type.getDimSize(i))
      return emitOptionalError(loc, "slice: (C2) expected 0 <= start <= limit <= ", type.getDimSize(i), " in dimension ", i,
                               " of ", type, ", got ", start[i], " and ", limit[i]);
    if (strides[i] <= 0)
      return emitOptionalError(loc, "slice: (C3) expected positive strides, got [", strides, "]");
    shape.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
  }
  results.push_back(type.clone(shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()); dense && dense.isSplat())
    return dense.resizeSplat(getType());
  return {};
}

static LogicalResult checkStarts(StringRef op, std::optional<Location> loc, RankedTensorType type, ValueRange starts) {
  bool areScalars = llvm::all_of(starts, [](Value v) { return cast<RankedTensorType>(v.getType()).getRank() == 0; });
  if (static_cast<int64_t>(starts.size()) != type.getRank() || !areScalars)
    return emitOptionalError(loc, op, ": (C1) expected ", type.getRank(), " scalar start indices for ", type, ", got ",
                             starts.size(), areScalars ? "" : ", not all scalar");
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(checkStarts("dynamic_slice", loc, type, adaptor.getStartIndices())))
    return failure();
  bool fits = static_cast<int64_t>(sizes.size()) == type.getRank();
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] >= 0 && sizes[i] <= type.getDimSize(i);
  if (!fits)
    return emitOptionalError(loc, "dynamic_slice: (C2) sizes [", sizes, "] do not fit in ", type);
  results.push_back(type.clone(sizes));
  return success();
}

OpFoldResult DynamicSliceOp::fold(FoldAdaptor) {
  // A slice of full size starts at 0 by clamping.
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  if (failed(checkStarts("dynamic_update_slice", loc, type, adaptor.getStartIndices())))
    return failure();
  bool fits = update.getRank() == type.getRank() && update.getElementType() == type.getElementType();
  for (int64_t i = 0; fits && i < type.getRank(); ++i)
    fits = update.getDimSize(i) <= type.getDimSize(i);
  if (!fits)
    return emitOptionalError(loc, "dynamic_update_slice: (C2) update ", update, " does not fit in ", type);
  results.push_back(type);
  return success();
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  return getUpdate().getType() == getType() ? OpFoldResult(getUpdate()) : OpFoldResult();
}
