// SPDX-License-Identifier: Apache-2.0
//
// Control flow: verifiers. Canonicalisation is in ControlFlowPatterns.cpp.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/HigherOrder.cpp.inc"

void HjxDialect::registerHigherOrderOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/HigherOrder.cpp.inc"
      >();
}

void YieldOp::build(OpBuilder &, OperationState &) {}

YieldOp ScanOp::getYield() { return cast<YieldOp>(getBlock()->getTerminator()); }
YieldOp WhileOp::getCondYield() { return cast<YieldOp>(getCond().front().getTerminator()); }
YieldOp WhileOp::getBodyYield() { return cast<YieldOp>(getBody().front().getTerminator()); }
YieldOp CondOp::getYield(unsigned branch) { return cast<YieldOp>(getBranches()[branch].front().getTerminator()); }

static LogicalResult checkTerminator(Operation *op, Region &region, const Twine &what) {
  if (region.front().empty() || !isa<YieldOp>(region.front().back()))
    return op->emitOpError(what) << " must end in hjx.yield";
  return success();
}

LogicalResult ScanOp::verify() {
  int64_t length = getLength();
  if (length < 0)
    return emitOpError("(C1) expected a length that is not negative, got ") << length;
  SmallVector<Type> arguments(getConsts().getTypes());
  llvm::append_range(arguments, getInits().getTypes());
  for (Type type : getXs().getTypes()) {
    auto xs = dyn_cast<RankedTensorType>(type);
    if (xs && (xs.getRank() == 0 || xs.getDimSize(0) != length))
      return emitOpError("(C1) expected xs with a leading dimension of ") << length << ", got " << xs;
    auto slice = decLeading(type, length, [&] { return emitOpError("(C1) xs: "); });
    if (failed(slice))
      return failure();
    arguments.push_back(*slice);
  }
  if (failed(checkTypes(*this, "(C2) body arguments", arguments, getBlock()->getArgumentTypes())))
    return failure();
  TypeRange yielded = getYield().getOperandTypes();
  unsigned carries = getNumCarries();
  if (yielded.size() < carries)
    return emitOpError("(C3) body yields ") << yielded.size() << " values, expected at least the " << carries << " carries";
  if (failed(checkTypes(*this, "(C3) carries yielded by the body", getInits().getTypes(), yielded.take_front(carries))))
    return failure();
  SmallVector<Type> results(getInits().getTypes());
  for (Type type : yielded.drop_front(carries)) {
    auto stacked = incLeading(type, length, [&] { return emitOpError("(C4) ys: "); });
    if (failed(stacked))
      return failure();
    results.push_back(*stacked);
  }
  return checkTypes(*this, "(C4) results", results, getResultTypes());
}

LogicalResult WhileOp::verify() {
  auto withConsts = [&](OperandRange consts) {
    SmallVector<Type> types(consts.getTypes());
    llvm::append_range(types, getInits().getTypes());
    return types;
  };
  if (failed(checkTerminator(*this, getCond(), "cond")) || failed(checkTerminator(*this, getBody(), "body")))
    return failure();
  if (failed(checkTypes(*this, "(C1) cond arguments", withConsts(getCondConsts()), getCond().getArgumentTypes())))
    return failure();
  TypeRange predicate = getCondYield().getOperandTypes();
  auto type = predicate.size() == 1 ? dyn_cast<RankedTensorType>(predicate.front()) : RankedTensorType();
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger(1))
    return emitOpError("(C1) cond must yield one tensor<i1>");
  if (failed(checkTypes(*this, "(C2) body arguments", withConsts(getBodyConsts()), getBody().getArgumentTypes())) ||
      failed(checkTypes(*this, "(C2) carries yielded by body", getInits().getTypes(), getBodyYield().getOperandTypes())) ||
      failed(checkTypes(*this, "(C3) results", getInits().getTypes(), getResultTypes())))
    return failure();
  // The accessor's type is unsigned.
  if (int64_t maxTrip = getMaxTrip().value_or(0); maxTrip < 0)
    return emitOpError("(C4) expected max_trip not to be negative, got ") << maxTrip;
  return success();
}

LogicalResult CondOp::verify() {
  auto index = cast<RankedTensorType>(getIndex().getType());
  if (index.getRank() != 0)
    return emitOpError("(C1) expected a scalar index, got ") << index;
  if (getBranches().empty() || (index.getElementType().isInteger(1) && getBranches().size() != 2))
    return emitOpError("(C1) expected ") << (getBranches().empty() ? "at least one branch" : "two branches for a bool index")
                                         << ", got " << getBranches().size();
  for (auto [i, branch] : llvm::enumerate(getBranches())) {
    if (failed(checkTypes(*this, "(C2) arguments of branch " + Twine(i), getInputs().getTypes(), branch.getArgumentTypes())) ||
        failed(checkTerminator(*this, branch, "branch " + Twine(i))) ||
        failed(checkTypes(*this, "(C3) values yielded by branch " + Twine(i), getResultTypes(),
                          branch.front().getTerminator()->getOperandTypes())))
      return failure();
  }
  return success();
}

LogicalResult OptBarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getOperands().getTypes());
  return success();
}
