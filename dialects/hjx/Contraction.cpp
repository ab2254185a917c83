// SPDX-License-Identifier: Apache-2.0
//
// Contractions: result types.
#include "dialects/hjx/Attention.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/Contraction.cpp.inc"

void HjxDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Contraction.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Attention.cpp.inc"
      >();
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatching(), rhsBatch = adaptor.getRhsBatching();
  ArrayRef<int64_t> lhsContract = adaptor.getLhsContracting(), rhsContract = adaptor.getRhsContracting();

  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(loc, "dot_general: (C1) expected operands of one element type, got ", lhs, " and ", rhs);
  auto isValid = [](RankedTensorType type, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    SmallVector<int64_t> all(batch);
    all.append(contract.begin(), contract.end());
    return areDistinctDims(all, type.getRank());
  };
  if (!isValid(lhs, lhsBatch, lhsContract))
    return emitOptionalError(loc, "dot_general: (C2) batching [", lhsBatch, "] and contracting [", lhsContract,
                             "] are not distinct dimensions of lhs ", lhs);
  if (!isValid(rhs, rhsBatch, rhsContract))
    return emitOptionalError(loc, "dot_general: (C2) batching [", rhsBatch, "] and contracting [", rhsContract,
                             "] are not distinct dimensions of rhs ", rhs);
  if (lhsBatch.size() != rhsBatch.size() || lhsContract.size() != rhsContract.size())
    return emitOptionalError(loc, "dot_general: (C3) expected equally many batching and contracting dimensions on both sides");
  for (auto [kind, l, r] : {std::tuple("batching", lhsBatch, rhsBatch), std::tuple("contracting", lhsContract, rhsContract)})
    for (auto [ld, rd] : llvm::zip_equal(l, r))
      if (lhs.getDimSize(ld) != rhs.getDimSize(rd))
        return emitOptionalError(loc, "dot_general: (C4) ", kind, " dimensions differ: lhs ", lhs, " has ",
                                 lhs.getDimSize(ld), " in dimension ", ld, ", rhs ", rhs, " has ", rhs.getDimSize(rd),
                                 " in dimension ", rd);

  SmallVector<int64_t> shape = pickDims(lhs.getShape(), lhsBatch);
  llvm::append_range(shape, pickDims(lhs.getShape(), dimsExcept(lhs.getRank(), lhsBatch, lhsContract)));
  llvm::append_range(shape, pickDims(rhs.getShape(), dimsExcept(rhs.getRank(), rhsBatch, rhsContract)));
  Type element = adaptor.getAccumType().value_or(lhs.getElementType());
  if (!isa<FloatType, IntegerType>(element) || isa<FloatType>(element) != isa<FloatType>(lhs.getElementType()))
    return emitOptionalError(loc, "dot_general: (C5) expected accum to be ",
                             isa<FloatType>(lhs.getElementType()) ? "a float" : "an integer", " type for operands of ",
                             lhs.getElementType(), ", got ", element);
  results.push_back(RankedTensorType::get(shape, element));
  return success();
}
