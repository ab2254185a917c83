// SPDX-License-Identifier: Apache-2.0
//
// Slices at places that the device computed: see Passes.td.
//
//   %i = tensor.extract %start[]                        %y = linalg.generic outs(%empty) {
//   %y = tensor.extract_slice %x[%i, 0] [2, 8] [1, 1]     %i = tensor.extract %start[]
//                                                         tensor.extract %x[%i + linalg.index 0, linalg.index 1]
//
//   %z = tensor.insert_slice %y into %x[%i, 0] ..       scf.for %j, scf.for %k {
//                                                         tensor.insert %y[%j, %k] into %x[%i + %j, %k]
#include "lib/Codegen/Gpu/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_SLICEINKERNELS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// The steps, in order, from elements of tensors to places of slices.
class PlaceSteps {
public:
  /// Of the places of `slice`; nothing if the host knows them, or if they are made of something else, too.
  static std::optional<PlaceSteps> of(OffsetSizeAndStrideOpInterface slice) {
    PlaceSteps steps;
    bool isKnown = true;
    for (OpFoldResult offset : slice.getMixedOffsets())
      if (auto moved = dyn_cast<Value>(offset))
        isKnown &= steps.visit(moved);
    return isKnown && steps.readsElements ? std::optional(steps) : std::nullopt;
  }

  /// The steps again, at `b`: `values` knows the places then.
  void clone(OpBuilder &b, IRMapping &values) const {
    for (Operation *step : steps)
      b.clone(*step, values);
  }

private:
  bool visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
      return false;
    if (steps.contains(op))
      return true;
    auto element = dyn_cast<tensor::ExtractOp>(op);
    readsElements |= element && !matchPattern(element.getTensor(), m_Constant());
    ValueRange made = element ? ValueRange(element.getIndices()) : ValueRange(op->getOperands());
    if (!llvm::all_of(made, [&](Value operand) { return visit(operand); }))
      return false;
    steps.insert(op);
    return true;
  }

  llvm::SetVector<Operation *> steps;
  bool readsElements = false;
};

/// Whether loops over the elements of `part` can take the place of `slice`.
bool isBox(OffsetSizeAndStrideOpInterface slice, RankedTensorType part) {
  return slice.hasUnitStride() && part.getRank() > 0 && part.hasStaticShape() && part.getNumElements() > 0;
}

/// Where an element of the part is in the whole: `place` + `at`, which has no axis for a dropped one.
SmallVector<Value> indicesIn(OpBuilder &b, Location loc, OffsetSizeAndStrideOpInterface slice, const llvm::SmallBitVector &dropped,
                             ValueRange at, const IRMapping &values) {
  SmallVector<Value> indices;
  unsigned axis = 0;
  for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    auto moved = dyn_cast<Value>(offset);
    Value index = moved ? values.lookup(moved) : getValueOrCreateConstantIndexOp(b, loc, offset);
    if (!dropped[dim])
      index = arith::AddIOp::create(b, loc, index, at[axis++]);
    indices.push_back(index);
  }
  return indices;
}

void gather(tensor::ExtractSliceOp slice) {
  RankedTensorType type = slice.getType();
  std::optional<PlaceSteps> steps = PlaceSteps::of(slice);
  if (!steps || !isBox(slice, type))
    return;
  OpBuilder b(slice);
  Location loc = slice.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()), iterators,
      [&](OpBuilder &b, Location loc, ValueRange) {
        IRMapping values;
        steps->clone(b, values);
        SmallVector<Value> at;
        for (int64_t axis = 0; axis < type.getRank(); ++axis)
          at.push_back(linalg::IndexOp::create(b, loc, axis));
        SmallVector<Value> indices = indicesIn(b, loc, slice, slice.getDroppedDims(), at, values);
        linalg::YieldOp::create(b, loc, tensor::ExtractOp::create(b, loc, slice.getSource(), indices).getResult());
      });
  slice.getResult().replaceAllUsesWith(generic.getResult(0));
  slice.erase();
}

void scatter(tensor::InsertSliceOp slice) {
  RankedTensorType type = slice.getSourceType();
  std::optional<PlaceSteps> steps = PlaceSteps::of(slice);
  if (!steps || !isBox(slice, type))
    return;
  OpBuilder b(slice);
  Location loc = slice.getLoc();
  auto indexOf = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  SmallVector<Value> ends = llvm::map_to_vector(type.getShape(), indexOf);
  SmallVector<Value> zeros(type.getRank(), indexOf(0)), ones(type.getRank(), indexOf(1));
  auto nest = scf::buildLoopNest(
      b, loc, zeros, ends, ones, slice.getDest(), [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
        IRMapping values;
        steps->clone(b, values);
        SmallVector<Value> indices = indicesIn(b, loc, slice, slice.getDroppedDims(), at, values);
        Value element = tensor::ExtractOp::create(b, loc, slice.getSource(), at);
        return scf::ValueVector{tensor::InsertOp::create(b, loc, element, carried[0], indices)};
      });
  for (scf::ForOp loop : nest.loops) {
    loop->setAttr(kNestAttr, b.getUnitAttr());
    loop->setAttr(kParallelAttr, b.getUnitAttr());
  }
  slice.getResult().replaceAllUsesWith(nest.results[0]);
  slice.erase();
}

struct SliceInKernels : impl::SliceInKernelsBase<SliceInKernels> {
  void runOnOperation() override {
    SmallVector<Operation *> slices;
    getOperation().walk([&](Operation *op) {
      if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
        slices.push_back(op);
    });
    for (Operation *op : slices) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        gather(slice);
      else
        scatter(cast<tensor::InsertSliceOp>(op));
    }
  }
};

} // namespace
} // namespace hjx
