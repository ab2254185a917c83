// SPDX-License-Identifier: Apache-2.0
//
// Movement: each op says which operand element a result element is. Gather and
// scatter are in Indexing.cpp.
#include "lib/Interpreter/Evaluate.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;

namespace hjx {

/// Fills the result from `source(index) -> index of the operand`.
static void pick(Evaluation &e, function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> source) {
  int64_t next = 0;
  forEachIndex(e.results[0].shape(), [&](ArrayRef<int64_t> index) {
    e.results[0].setElement(next++, e.operand(0), e.operand(0).offsetOf(source(index)));
  });
}

static LogicalResult evaluateConstant(Evaluation &e) {
  auto array = HostArray::fromElements(cast<ir::ConstantOp>(e.op).getValue());
  if (failed(array))
    return e.op->emitOpError(
        "expected a value whose elements are present (dense<...> or a loaded resource)");
  e.results[0] = std::move(*array);
  return success();
}

static LogicalResult evaluateIota(Evaluation &e) {
  int64_t dim = cast<ir::IotaOp>(e.op).getDimension(), next = 0;
  HostArray &result = e.results[0];
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    if (result.isFloat())
      result.setFloat(next++, index[dim]);
    else
      result.setInteger(next++, APInt(64, index[dim]));
  });
  return success();
}

static LogicalResult evaluateBroadcastInDim(Evaluation &e) {
  ArrayRef<int64_t> dims = cast<ir::BroadcastInDimOp>(e.op).getDims();
  pick(e, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source = ir::pickDims(index, dims);
    for (auto [i, size] : llvm::zip_equal(source, e.operand(0).shape()))
      if (size == 1)
        i = 0;
    return source;
  });
  return success();
}

static LogicalResult evaluateReshape(Evaluation &e) {
  e.results[0] = e.operand(0).withType(e.results[0].type());
  return success();
}

static LogicalResult evaluateTranspose(Evaluation &e) {
  SmallVector<int64_t> inverse =
      ir::inversePermutation(cast<ir::TransposeOp>(e.op).getPermutation());
  pick(e, [&](ArrayRef<int64_t> index) { return ir::pickDims(index, inverse); });
  return success();
}

static LogicalResult evaluateRev(Evaluation &e) {
  ArrayRef<int64_t> dims = cast<ir::RevOp>(e.op).getDims();
  pick(e, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    for (int64_t dim : dims)
      source[dim] = e.operand(0).dim(dim) - 1 - source[dim];
    return source;
  });
  return success();
}

static LogicalResult evaluateConcatenate(Evaluation &e) {
  int64_t dim = cast<ir::ConcatenateOp>(e.op).getDimension(), start = 0;
  for (const HostArray *input : e.operands) {
    int64_t next = 0;
    forEachIndex(input->shape(), [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> place(index);
      place[dim] += start;
      e.results[0].setElement(e.results[0].offsetOf(place), *input, next++);
    });
    start += input->dim(dim);
  }
  return success();
}

static LogicalResult evaluatePad(Evaluation &e) {
  auto op = cast<ir::PadOp>(e.op);
  const HostArray &x = e.operand(0), &padding = e.operand(1);
  HostArray &result = e.results[0];
  for (int64_t i = 0, n = result.numElements(); i < n; ++i)
    result.setElement(i, padding, 0);
  int64_t next = 0;
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> place;
    bool isInside = true;
    for (auto [dim, i] : llvm::enumerate(index)) {
      place.push_back(op.getLow()[dim] + i * (op.getInterior()[dim] + 1));
      isInside &= place[dim] >= 0 && place[dim] < result.dim(dim);
    }
    if (isInside)
      result.setElement(result.offsetOf(place), x, next);
    ++next;
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

static LogicalResult evaluateSlice(Evaluation &e) {
  auto op = cast<ir::SliceOp>(e.op);
  pick(e, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    for (auto [dim, i] : llvm::enumerate(source))
      i = op.getStart()[dim] + i * op.getStrides()[dim];
    return source;
  });
  return success();
}

/// The start indices (scalar operands from `first` on), moved so that a slice of
/// `sizes` lies inside operand 0.
static SmallVector<int64_t> clampedStarts(const Evaluation &e, unsigned first,
                                          ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> starts;
  for (auto [dim, size] : llvm::enumerate(sizes))
    starts.push_back(
        std::clamp<int64_t>(e.operand(first + dim).getIndex(0), 0, e.operand(0).dim(dim) - size));
  return starts;
}

static SmallVector<int64_t> sum(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return llvm::map_to_vector(llvm::zip_equal(a, b),
                             [](auto pair) { return std::get<0>(pair) + std::get<1>(pair); });
}

static LogicalResult evaluateDynamicSlice(Evaluation &e) {
  SmallVector<int64_t> starts = clampedStarts(e, 1, e.results[0].shape());
  pick(e, [&](ArrayRef<int64_t> index) { return sum(starts, index); });
  return success();
}

static LogicalResult evaluateDynamicUpdateSlice(Evaluation &e) {
  const HostArray &update = e.operand(1);
  SmallVector<int64_t> starts = clampedStarts(e, 2, update.shape());
  HostArray &result = e.results[0] = e.operand(0);
  int64_t next = 0;
  forEachIndex(update.shape(), [&](ArrayRef<int64_t> index) {
    result.setElement(result.offsetOf(sum(starts, index)), update, next++);
  });
  return success();
}

void populateMovementEvaluateRules(EvaluateRules &rules) {
  using namespace ir;
  rules.add<ConstantOp>(evaluateConstant);
  rules.add<IotaOp>(evaluateIota);
  rules.add<BroadcastInDimOp>(evaluateBroadcastInDim);
  rules.add<ReshapeOp>(evaluateReshape);
  rules.add<TransposeOp>(evaluateTranspose);
  rules.add<RevOp>(evaluateRev);
  rules.add<ConcatenateOp>(evaluateConcatenate);
  rules.add<PadOp>(evaluatePad);
  rules.add<SliceOp>(evaluateSlice);
  rules.add<DynamicSliceOp>(evaluateDynamicSlice);
  rules.add<DynamicUpdateSliceOp>(evaluateDynamicUpdateSlice);
}

} // namespace hjx
