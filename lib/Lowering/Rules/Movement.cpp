// SPDX-License-Identifier: Apache-2.0
//
// Movement of elements: views (slices, reshapes) where the layout allows, copies by
// an indexing map elsewhere. Gather and scatter have theirs in Indexing.cpp.
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

#include "dialects/hjx/Shapes.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace hjx;

namespace {

SmallVector<OpFoldResult> indexAttrs(LocBuilder &b, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values,
                             [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); });
}
SmallVector<OpFoldResult> repeated(LocBuilder &b, int64_t value, size_t count) {
  return SmallVector<OpFoldResult>(count, b.getIndexAttr(value));
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult lowerConstant(ir::ConstantOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    // A large splat is cheaper to write than to load, and is written where it is wanted.
    if (dense.isSplat() && type.getRank() > 0)
      l.set(op, emitFilled(l.b, type, signlessAttr(dense.getSplatValue<TypedAttr>())));
    else
      l.set(op, arith::ConstantOp::create(
                    l.b, DenseElementsAttr::getFromRawBuffer(type, dense.getRawData())));
    return success();
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    l.set(op, arith::ConstantOp::create(
                  l.b, DenseResourceElementsAttr::get(type, resource.getRawHandle())));
    return success();
  }
  return op.emitOpError("expected a dense or dense_resource value, got ") << op.getValue();
}

LogicalResult lowerIota(ir::IotaOp op, Lowering &l) {
  l.set(op, emitGenerate(l.b, lowerArrayType(op.getType()), [&](LocBuilder &b, ValueRange indices) {
          return emitIndexAs(b, indices[op.getDimension()], op.getType().getElementType());
        }));
  return success();
}

/// Reads the result's own elements: the nest looks through the op, which says how.
LogicalResult lowerBroadcast(ir::BroadcastInDimOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  l.set(op, emitCopy(l, {op.getResult(), l.b.getMultiDimIdentityMap(type.getRank())}, type));
  return success();
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

/// The shape, of as many dimensions as possible, that both shapes collapse to:
/// [2, 3, 4] and [6, 2, 2] both collapse to [6, 4].
SmallVector<int64_t> commonCollapse(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> common;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
    common.push_back(left);
  }
  return common; // What remains on either side are ones.
}

/// `value` in the shape of `type`, which it collapses or expands to; null if it does neither.
Value tryReassociate(LocBuilder &b, Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  auto groups = getReassociationIndicesForReshape(from, type);
  if (!groups)
    return {};
  if (from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(b, type, value, *groups);
  if (from.getRank() < type.getRank())
    return tensor::ExpandShapeOp::create(b, type, value, *groups);
  return {};
}

LogicalResult lowerReshape(ir::ReshapeOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  Value operand = l[op.getOperand()];
  Value result = tryReassociate(l.b, operand, type);
  if (!result) {
    RankedTensorType common =
        type.clone(commonCollapse(op.getOperand().getType().getShape(), type.getShape()));
    result = tryReassociate(l.b, tryReassociate(l.b, operand, common), type);
  }
  l.set(op, result);
  return success();
}

LogicalResult lowerTranspose(ir::TransposeOp op, Lowering &l) {
  if (l.has(op)) // The producer wrote its result in this order.
    return success();
  RankedTensorType type = lowerArrayType(op.getType());
  SmallVector<unsigned> sources =
      llvm::to_vector_of<unsigned>(ir::inversePermutation(op.getPermutation()));
  l.set(op, emitCopy(l, {op.getOperand(), AffineMap::getPermutationMap(sources, l.b.getContext())},
                     type));
  return success();
}

LogicalResult lowerRev(ir::RevOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr loop = l.b.getAffineDimExpr(dim);
    exprs.push_back(llvm::is_contained(op.getDims(), dim) ? (type.getDimSize(dim) - 1) - loop
                                                          : loop);
  }
  l.set(op,
        emitCopy(l, {op.getOperand(), AffineMap::get(type.getRank(), 0, exprs, l.b.getContext())},
                 type));
  return success();
}

LogicalResult lowerConcatenate(ir::ConcatenateOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  int64_t rank = type.getRank(), offset = 0;
  Value result = emitEmpty(l.b, type);
  for (Value input : op.getInputs()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
    SmallVector<OpFoldResult> offsets = repeated(l.b, 0, rank);
    offsets[op.getDimension()] = l.b.getIndexAttr(offset);
    offset += shape[op.getDimension()];
    if (ShapedType::getNumElements(shape) != 0)
      result = tensor::InsertSliceOp::create(l.b, l[input], result, offsets, indexAttrs(l.b, shape),
                                             repeated(l.b, 1, rank));
  }
  l.set(op, result);
  return success();
}

/// Element i of the operand goes to low + i * (1 + interior); negative low and high cut elements
/// off.
LogicalResult lowerPad(ir::PadOp op, Lowering &l) {
  RankedTensorType type = lowerArrayType(op.getType());
  SmallVector<int64_t> starts, counts, offsets, steps;
  for (auto [size, result, low, interior] : llvm::zip_equal(
           op.getOperand().getType().getShape(), type.getShape(), op.getLow(), op.getInterior())) {
    int64_t step = interior + 1;
    int64_t first = low < 0 ? llvm::divideCeil(-low, step) : 0;
    int64_t past =
        result - low <= 0 ? 0 : std::min<int64_t>(size, llvm::divideCeil(result - low, step));
    starts.push_back(first);
    counts.push_back(std::max<int64_t>(past - first, 0));
    offsets.push_back(low + first * step);
    steps.push_back(step);
  }
  Value padding = tensor::ExtractOp::create(l.b, l[op.getPaddingValue()]);
  Value result = emitFilled(l.b, type, padding);
  if (!llvm::is_contained(counts, 0)) {
    SmallVector<OpFoldResult> sizes = indexAttrs(l.b, counts),
                              ones = repeated(l.b, 1, type.getRank());
    Value kept = tensor::ExtractSliceOp::create(l.b, l[op.getOperand()], indexAttrs(l.b, starts),
                                                sizes, ones);
    result = tensor::InsertSliceOp::create(l.b, kept, result, indexAttrs(l.b, offsets), sizes,
                                           indexAttrs(l.b, steps));
  }
  l.set(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult lowerSlice(ir::SliceOp op, Lowering &l) {
  l.set(op, tensor::ExtractSliceOp::create(l.b, l[op.getOperand()], indexAttrs(l.b, op.getStart()),
                                           indexAttrs(l.b, op.getType().getShape()),
                                           indexAttrs(l.b, op.getStrides())));
  return success();
}

/// The start indices, moved so that a box of `sizes` lies inside `shape`.
SmallVector<OpFoldResult> clampedStarts(Lowering &l, ValueRange starts, ArrayRef<int64_t> shape,
                                        ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> offsets;
  for (auto [start, whole, part] : llvm::zip_equal(starts, shape, sizes)) {
    if (whole == part) {
      offsets.push_back(l.b.getIndexAttr(0));
      continue;
    }
    Value element = tensor::ExtractOp::create(l.b, l[start]);
    offsets.push_back(
        emitClampedIndex(l.b, element, getElementTypeOrSelf(start.getType()), whole - part));
  }
  return offsets;
}

LogicalResult lowerDynamicSlice(ir::DynamicSliceOp op, Lowering &l) {
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  SmallVector<OpFoldResult> offsets =
      clampedStarts(l, op.getStartIndices(), op.getOperand().getType().getShape(), sizes);
  l.set(op, tensor::ExtractSliceOp::create(l.b, l[op.getOperand()], offsets, indexAttrs(l.b, sizes),
                                           repeated(l.b, 1, sizes.size())));
  return success();
}

LogicalResult lowerDynamicUpdateSlice(ir::DynamicUpdateSliceOp op, Lowering &l) {
  ArrayRef<int64_t> sizes = op.getUpdate().getType().getShape();
  SmallVector<OpFoldResult> offsets =
      clampedStarts(l, op.getStartIndices(), op.getType().getShape(), sizes);
  l.set(op, tensor::InsertSliceOp::create(l.b, l[op.getUpdate()], l[op.getOperand()], offsets,
                                          indexAttrs(l.b, sizes), repeated(l.b, 1, sizes.size())));
  return success();
}

} // namespace

void hjx::registerMovementLowering(LoweringRules &rules) {
  rules.add<ir::ConstantOp>(lowerConstant);
  rules.add<ir::IotaOp>(lowerIota);
  rules.add<ir::BroadcastInDimOp>(lowerBroadcast);
  rules.add<ir::ReshapeOp>(lowerReshape);
  rules.add<ir::TransposeOp>(lowerTranspose);
  rules.add<ir::RevOp>(lowerRev);
  rules.add<ir::ConcatenateOp>(lowerConcatenate);
  rules.add<ir::PadOp>(lowerPad);
  rules.add<ir::SliceOp>(lowerSlice);
  rules.add<ir::DynamicSliceOp>(lowerDynamicSlice);
  rules.add<ir::DynamicUpdateSliceOp>(lowerDynamicUpdateSlice);
}
