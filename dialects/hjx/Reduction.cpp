// SPDX-License-Identifier: Apache-2.0
//
// Reductions: result types, verifiers and folders.
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/Reduction.cpp.inc"

void HjxDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Reduction.cpp.inc"
      >();
}

template <typename Adaptor>
static LogicalResult inferReduce(StringRef op, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  if (!areAscendingDims(axes, type.getRank()))
    return emitOptionalError(loc, op, ": (C1) axes [", axes, "] are not ascending, distinct dimensions of ", type);
  results.push_back(type.clone(pickDims(type.getShape(), dimsExcept(type.getRank(), axes))));
  return success();
}

#define HJX_REDUCE(Op)                                                                                        \
  LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,              \
                                     SmallVectorImpl<Type> &results) {                                         \
    return inferReduce(getOperationName().drop_front(4), loc, adaptor, results);                               \
  }                                                                                                            \
  OpFoldResult Op::fold(FoldAdaptor) { return getAxes().empty() ? OpFoldResult(getOperand()) : OpFoldResult(); }
HJX_REDUCE(ReduceSumOp)
HJX_REDUCE(ReduceProdOp)
HJX_REDUCE(ReduceMaxOp)
HJX_REDUCE(ReduceMinOp)
HJX_REDUCE(ReduceAndOp)
HJX_REDUCE(ReduceOrOp)
#undef HJX_REDUCE

template <typename Op>
static LogicalResult verifyArgReduce(Op op) {
  RankedTensorType type = op.getOperand().getType(), result = op.getType();
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.getDimSize(axis) == 0)
    return op.emitOpError("(C1) expected axis to be a non-empty dimension of ") << type << ", got " << axis;
  if (result.getShape() != dropAxis(type, axis).getShape())
    return op.emitOpError("(C2) expected a result of shape [") << dropAxis(type, axis).getShape() << "], got " << result;
  return success();
}

LogicalResult ArgmaxOp::verify() { return verifyArgReduce(*this); }
LogicalResult ArgminOp::verify() { return verifyArgReduce(*this); }

LogicalResult CumsumOp::verify() {
  int64_t rank = getType().getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError("(C1) expected axis in [0, ") << rank << "), got " << axis;
  return success();
}
