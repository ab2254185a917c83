// SPDX-License-Identifier: Apache-2.0
//
// Gather as one nest over the result; scatter as loops in the order of the updates,
// each step on the longest contiguous piece of a window (a row of an embedding's
// gradient is one vector addition).
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;

namespace {

/// The element of an index vector as an index, and whether 0 <= index <= limit. Unsigned comparison
/// serves both kinds: a negative number is a large one.
struct Start {
  Value clamped, isInside;
};
Start emitStart(LocBuilder &b, Value element, Type type, int64_t limit) {
  Value raw = kindOf(type) == Kind::Unsigned
                  ? arith::IndexCastUIOp::create(b, b.getIndexType(), element).getResult()
                  : arith::IndexCastOp::create(b, b.getIndexType(), element).getResult();
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, raw,
                                         arith::ConstantIndexOp::create(b, limit));
  return {emitClampedIndex(b, element, type, limit), isInside};
}

Value emitAnd(LocBuilder &b, Value lhs, Value rhs) {
  return lhs ? arith::AndIOp::create(b, lhs, rhs).getResult() : rhs;
}
Value emitIndexSum(LocBuilder &b, Value lhs, Value rhs) {
  return lhs ? arith::AddIOp::create(b, lhs, rhs).getResult() : rhs;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// What a slice out of bounds holds.
TypedAttr fillOf(LocBuilder &b, Type element) {
  switch (kindOf(element)) {
  case Kind::Float:
    return b.getFloatAttr(element, std::numeric_limits<double>::quiet_NaN());
  case Kind::Signed:
    return leastOf(element);
  default:
    return greatestOf(element);
  }
}

/// One array per component of the index vectors, without their dimension.
SmallVector<Value> indexComponents(LocBuilder &b, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  RankedTensorType component = ir::dropAxis(type, type.getRank() - 1);
  SmallVector<Value> components;
  for (int64_t k = 0; k < type.getShape().back(); ++k) {
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)), sizes;
    for (int64_t size : component.getShape())
      sizes.push_back(b.getIndexAttr(size));
    sizes.push_back(b.getIndexAttr(1));
    offsets.back() = b.getIndexAttr(k);
    components.push_back(
        tensor::ExtractSliceOp::create(b, component, indices, offsets, sizes, strides));
  }
  return components;
}

LogicalResult lowerGather(ir::GatherOp op, Lowering &l) {
  RankedTensorType operandType = op.getOperand().getType(), type = lowerArrayType(op.getType());
  Type indexType = op.getStartIndices().getType().getElementType();
  int64_t rank = type.getRank();
  SmallVector<int64_t> batchDims = ir::dimsExcept(rank, op.getOffsetDims());
  SmallVector<int64_t> windowDims = ir::dimsExcept(
      operandType.getRank(), op.getCollapsedSliceDims(), op.getOperandBatchingDims());
  bool fills = op.getMode() == ir::IndexingMode::FillOrDrop;
  Value operand = l[op.getOperand()];

  SmallVector<Value> inputs = indexComponents(l.b, l[op.getStartIndices()]);
  AffineMap all = l.b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(inputs.size(),
                              all.getSubMap(llvm::to_vector_of<unsigned>(batchDims)));
  maps.push_back(all);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange args) {
    LocBuilder b(loc, nested);
    SmallVector<Value> indices(operandType.getRank());
    Value isInside;
    for (auto [k, dim] : llvm::enumerate(op.getStartIndexMap())) {
      Start start =
          emitStart(b, args[k], indexType, operandType.getDimSize(dim) - op.getSliceSizes()[dim]);
      indices[dim] = start.clamped;
      isInside = emitAnd(b, isInside, start.isInside);
    }
    for (auto [dim, resultDim] : llvm::zip_equal(windowDims, op.getOffsetDims()))
      indices[dim] = emitIndexSum(b, indices[dim], linalg::IndexOp::create(b, resultDim));
    for (auto [dim, indicesDim] :
         llvm::zip_equal(op.getOperandBatchingDims(), op.getStartIndicesBatchingDims()))
      indices[dim] = linalg::IndexOp::create(b, batchDims[indicesDim]);
    for (Value &index : indices)
      if (!index) // A collapsed dimension that no index moves along.
        index = arith::ConstantIndexOp::create(b, 0);
    Value element = tensor::ExtractOp::create(b, operand, indices);
    if (fills && isInside) {
      Value fill = arith::ConstantOp::create(b, fillOf(b, op.getType().getElementType()));
      element = arith::SelectOp::create(b, isInside, element, fill);
    }
    linalg::YieldOp::create(b, element);
  };
  auto generic = linalg::GenericOp::create(l.b, TypeRange{type}, inputs, emitEmpty(l.b, type), maps,
                                           iterators, body);
  l.set(op, generic.getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

class ScatterEmitter {
public:
  ScatterEmitter(ir::ScatterOp op, Lowering &l)
      : op(op), l(l), operandType(lowerArrayType(op.getType())),
        updatesType(lowerArrayType(op.getUpdates().getType())),
        windowDims(op.getUpdateWindowDims()),
        scatterDims(ir::dimsExcept(updatesType.getRank(), windowDims)) {
    // Loops over all dimensions but the last ones, if these belong to the window: going through
    // them in any order is going through the updates in row-major order.
    numLoops = updatesType.getRank();
    while (numLoops > 0 && llvm::is_contained(windowDims, numLoops - 1))
      --numLoops;
    rowType = RankedTensorType::get(updatesType.getShape().drop_front(numLoops),
                                    updatesType.getElementType());
  }

  Value emit() {
    LocBuilder &b = l.b;
    SmallVector<Value> ends;
    for (int64_t size : updatesType.getShape().take_front(numLoops))
      ends.push_back(arith::ConstantIndexOp::create(b, size));
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    auto nest = scf::buildLoopNest(
        b, b.getLoc(), SmallVector<Value>(numLoops, zero), ends, SmallVector<Value>(numLoops, one),
        l[op.getOperand()],
        [&](OpBuilder &nested, Location loc, ValueRange ivs, ValueRange carried) {
          LocBuilder body(loc, nested);
          return scf::ValueVector{emitStep(body, ivs, carried[0])};
        });
    SmallVector<bool> isParallel;
    for (int64_t dim = 0; dim < numLoops; ++dim)
      isParallel.push_back(keepsApart(dim));
    markLoops(nest.loops, isParallel,
              llvm::all_of(llvm::seq<int64_t>(numLoops, updatesType.getRank()),
                           [&](int64_t dim) { return keepsApart(dim); }));
    return nest.results[0];
  }

private:
  /// Whether updates that differ along `dim` never meet: it is a batching dimension, or walks along
  /// a dimension of the operand that no index moves along.
  bool keepsApart(int64_t dim) {
    for (auto [operandDim, updateDim] :
         llvm::zip_equal(ir::dimsExcept(operandType.getRank(), op.getInsertedWindowDims(),
                                        op.getOperandBatchingDims()),
                         windowDims))
      if (updateDim == dim)
        return !llvm::is_contained(op.getScatterDimsToOperandDims(), operandDim);
    auto *walked = llvm::find(scatterDims, dim);
    return llvm::is_contained(op.getScatterIndicesBatchingDims(), walked - scatterDims.begin());
  }

  /// `result` with the row at `ivs` of the updates applied.
  Value emitStep(LocBuilder &b, ValueRange ivs, Value result) {
    Value isInside;
    SmallVector<Value> starts = emitStarts(b, ivs, isInside);
    SmallVector<OpFoldResult> ones(operandType.getRank(), b.getIndexAttr(1)), sizes = ones;
    auto windowOperandDims = ir::dimsExcept(operandType.getRank(), op.getInsertedWindowDims(),
                                            op.getOperandBatchingDims());
    for (auto [dim, updateDim] : llvm::zip_equal(windowOperandDims, windowDims)) {
      if (updateDim < numLoops)
        starts[dim] = emitIndexSum(b, starts[dim], ivs[updateDim]);
      else
        sizes[dim] = b.getIndexAttr(updatesType.getDimSize(updateDim));
    }
    SmallVector<OpFoldResult> offsets = llvm::map_to_vector(starts, [&](Value start) {
      return start ? OpFoldResult(start) : OpFoldResult(b.getIndexAttr(0));
    });
    Value updates = l[op.getUpdates()];
    if (rowType.getRank() == 0) {
      SmallVector<Value> at = getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets);
      Value update = tensor::ExtractOp::create(b, updates, ivs), old;
      if (isInside || op.getKind() == ir::ScatterKind::Add)
        old = tensor::ExtractOp::create(b, result, at);
      return tensor::InsertOp::create(b, emitElement(b, old, update, isInside), result, at);
    }
    SmallVector<OpFoldResult> updateOffsets = getAsOpFoldResult(ivs),
                              updateSizes(numLoops, b.getIndexAttr(1));
    SmallVector<OpFoldResult> updateOnes(updatesType.getRank(), b.getIndexAttr(1));
    updateOffsets.append(rowType.getRank(), b.getIndexAttr(0));
    for (int64_t size : rowType.getShape())
      updateSizes.push_back(b.getIndexAttr(size));
    Value row =
        tensor::ExtractSliceOp::create(b, rowType, updates, updateOffsets, updateSizes, updateOnes);
    if (isInside || op.getKind() == ir::ScatterKind::Add) {
      Value old = tensor::ExtractSliceOp::create(b, rowType, result, offsets, sizes, ones);
      row = emitMap(b, rowType, {old, row}, [&](LocBuilder &body, ValueRange elements) {
        return emitElement(body, elements[0], elements[1], isInside);
      });
    }
    return tensor::InsertSliceOp::create(b, row, result, offsets, sizes, ones);
  }

  /// Per operand dimension, where the window starts, or null for 0; `isInside` only if the mode
  /// asks.
  SmallVector<Value> emitStarts(LocBuilder &b, ValueRange ivs, Value &isInside) {
    SmallVector<Value> starts(operandType.getRank()),
        walked = llvm::map_to_vector(scatterDims, [&](int64_t dim) { return ivs[dim]; });
    SmallVector<int64_t> windowSizes(operandType.getRank(), 1);
    for (auto [dim, updateDim] :
         llvm::zip_equal(ir::dimsExcept(operandType.getRank(), op.getInsertedWindowDims(),
                                        op.getOperandBatchingDims()),
                         windowDims))
      windowSizes[dim] = updatesType.getDimSize(updateDim);
    Type indexType = op.getScatterIndices().getType().getElementType();
    for (auto [k, dim] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
      SmallVector<Value> at = walked;
      at.push_back(arith::ConstantIndexOp::create(b, k));
      Value element = tensor::ExtractOp::create(b, l[op.getScatterIndices()], at);
      Start start =
          emitStart(b, element, indexType, operandType.getDimSize(dim) - windowSizes[dim]);
      starts[dim] = start.clamped;
      if (op.getMode() == ir::IndexingMode::FillOrDrop)
        isInside = emitAnd(b, isInside, start.isInside);
    }
    for (auto [dim, indicesDim] :
         llvm::zip_equal(op.getOperandBatchingDims(), op.getScatterIndicesBatchingDims()))
      starts[dim] = walked[indicesDim];
    return starts;
  }

  /// The element after an update. A dropped update keeps the old element: a branch around the
  /// step would need the array twice.
  Value emitElement(LocBuilder &b, Value old, Value update, Value isInside) {
    Value element = update;
    if (op.getKind() == ir::ScatterKind::Add) {
      element = emitAdd(b, kindOf(op.getType()), widenHalf(b, old), widenHalf(b, update));
      if (isHalf(operandType.getElementType()))
        element = emitFloatCast(b, element, operandType.getElementType());
    }
    return isInside ? arith::SelectOp::create(b, isInside, element, old).getResult() : element;
  }

  ir::ScatterOp op;
  Lowering &l;
  RankedTensorType operandType, updatesType, rowType;
  ArrayRef<int64_t> windowDims;     // Of the updates.
  SmallVector<int64_t> scatterDims; // The other dimensions of the updates.
  int64_t numLoops;
};

LogicalResult lowerScatter(ir::ScatterOp op, Lowering &l) {
  bool isEmpty = op.getUpdates().getType().getNumElements() == 0;
  l.set(op, isEmpty ? l[op.getOperand()] : ScatterEmitter(op, l).emit());
  return success();
}

} // namespace

void hjx::registerIndexingLowering(LoweringRules &rules) {
  rules.add<ir::GatherOp>(lowerGather);
  rules.add<ir::ScatterOp>(lowerScatter);
}
