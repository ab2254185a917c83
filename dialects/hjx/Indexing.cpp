// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter: result types. Both check the same relation between an
// operand, its index vectors and its windows.
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx::ir;

namespace {
/// What gather and scatter share.
struct Indexed {
  StringRef op;
  std::optional<Location> loc;
  RankedTensorType operand, indices;
  ArrayRef<int64_t> droppedDims;   // collapsed or inserted
  StringRef droppedName;
  ArrayRef<int64_t> operandBatching, indicesBatching, indexMap;
  StringRef indexMapName;

  LogicalResult checkDropped() const {
    SmallVector<int64_t> both(droppedDims);
    llvm::append_range(both, operandBatching);
    if (!areDistinctDims(both, operand.getRank()) || !llvm::is_sorted(droppedDims) || !llvm::is_sorted(operandBatching))
      return emitOptionalError(loc, op, ": (C2) ", droppedName, " [", droppedDims, "] and operand_batching_dims [",
                               operandBatching, "] are not ascending, disjoint dimensions of ", operand);
    return success();
  }

  LogicalResult checkIndices() const {
    if (indices.getRank() == 0)
      return emitOptionalError(loc, op, ": (C4) expected indices with a last dimension for the index vector, got ", indices);
    if (operandBatching.size() != indicesBatching.size() || !areDistinctDims(indicesBatching, indices.getRank() - 1))
      return emitOptionalError(loc, op, ": (C3) expected one distinct indices dimension for each of operand_batching_dims [",
                               operandBatching, "], got [", indicesBatching, "] of ", indices);
    for (auto [o, i] : llvm::zip_equal(operandBatching, indicesBatching))
      if (operand.getDimSize(o) != indices.getDimSize(i))
        return emitOptionalError(loc, op, ": (C3) batching dimensions differ: operand ", operand, " has ", operand.getDimSize(o),
                                 " in dimension ", o, ", indices ", indices, " has ", indices.getDimSize(i), " in dimension ", i);
    SmallVector<int64_t> both(indexMap);
    llvm::append_range(both, operandBatching);
    if (static_cast<int64_t>(indexMap.size()) != indices.getShape().back() || !areDistinctDims(both, operand.getRank()))
      return emitOptionalError(loc, op, ": (C4) expected ", indexMapName, " to name ", indices.getShape().back(),
                               " distinct, unbatched dimensions of ", operand, ", got [", indexMap, "]");
    return success();
  }
};
} // namespace

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  Indexed spec{"gather", loc, cast<RankedTensorType>(adaptor.getOperand().getType()),
               cast<RankedTensorType>(adaptor.getStartIndices().getType()), adaptor.getCollapsedSliceDims(),
               "collapsed_slice_dims", adaptor.getOperandBatchingDims(), adaptor.getStartIndicesBatchingDims(),
               adaptor.getStartIndexMap(), "start_index_map"};
  RankedTensorType operand = spec.operand;
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes(), offsets = adaptor.getOffsetDims();
  bool fits = static_cast<int64_t>(sizes.size()) == operand.getRank();
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] >= 0 && sizes[i] <= operand.getDimSize(i);
  if (!fits)
    return emitOptionalError(loc, "gather: (C1) slice_sizes [", sizes, "] do not fit in ", operand);
  if (failed(spec.checkDropped()))
    return failure();
  for (int64_t dim : llvm::concat<const int64_t>(spec.droppedDims, spec.operandBatching))
    if (sizes[dim] != 1)
      return emitOptionalError(loc, "gather: (C2) expected slice size 1 in collapsed or batching dimension ", dim, ", got ",
                               sizes[dim]);
  if (failed(spec.checkIndices()))
    return failure();

  SmallVector<int64_t> window = dimsExcept(operand.getRank(), spec.droppedDims, spec.operandBatching);
  int64_t rank = window.size() + spec.indices.getRank() - 1;
  if (offsets.size() != window.size() || !areAscendingDims(offsets, rank))
    return emitOptionalError(loc, "gather: (C5) expected ", window.size(), " ascending offset_dims below ", rank, ", got [",
                             offsets, "]");
  SmallVector<int64_t> shape(rank);
  for (auto [dim, source] : llvm::zip_equal(offsets, window))
    shape[dim] = sizes[source];
  for (auto [i, dim] : llvm::enumerate(dimsExcept(rank, offsets)))
    shape[dim] = spec.indices.getDimSize(i);
  results.push_back(operand.clone(shape));
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  Indexed spec{"scatter", loc, cast<RankedTensorType>(adaptor.getOperand().getType()),
               cast<RankedTensorType>(adaptor.getScatterIndices().getType()), adaptor.getInsertedWindowDims(),
               "inserted_window_dims", adaptor.getOperandBatchingDims(), adaptor.getScatterIndicesBatchingDims(),
               adaptor.getScatterDimsToOperandDims(), "scatter_dims_to_operand_dims"};
  RankedTensorType operand = spec.operand;
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  ArrayRef<int64_t> windowDims = adaptor.getUpdateWindowDims();
  if (updates.getElementType() != operand.getElementType())
    return emitOptionalError(loc, "scatter: (C1) expected updates with the element type of ", operand, ", got ", updates);
  if (adaptor.getKind() == ScatterKind::Add &&
      (!operand.getElementType().isIntOrFloat() || operand.getElementType().isInteger(1)))
    return emitOptionalError(loc, "scatter: (C1) add needs numbers, got ", operand);
  if (failed(spec.checkDropped()) || failed(spec.checkIndices()))
    return failure();

  SmallVector<int64_t> window = dimsExcept(operand.getRank(), spec.droppedDims, spec.operandBatching);
  if (windowDims.size() != window.size() || !areAscendingDims(windowDims, updates.getRank()))
    return emitOptionalError(loc, "scatter: (C5) expected ", window.size(), " ascending update_window_dims of ", updates,
                             ", got [", windowDims, "]");
  for (auto [dim, source] : llvm::zip_equal(windowDims, window))
    if (updates.getDimSize(dim) > operand.getDimSize(source))
      return emitOptionalError(loc, "scatter: (C6) window dimension ", dim, " of updates ", updates, " is larger than dimension ",
                               source, " of ", operand);
  SmallVector<int64_t> walked = pickDims(updates.getShape(), dimsExcept(updates.getRank(), windowDims));
  if (ArrayRef(walked) != spec.indices.getShape().drop_back())
    return emitOptionalError(loc, "scatter: (C7) updates ", updates, " outside update_window_dims [", windowDims,
                             "] do not have the dimensions of indices ", spec.indices, " without the last");
  results.push_back(operand);
  return success();
}
