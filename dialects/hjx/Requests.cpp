// SPDX-License-Identifier: Apache-2.0
//
// Requests: verification against the functions they name.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#include "dialects/hjx/RequestsEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/hjx/Requests.cpp.inc"

void HjxDialect::registerRequestOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Requests.cpp.inc"
      >();
}

static FailureOr<FunctionType> lookup(Operation *op, SymbolTableCollection &symbols, FlatSymbolRefAttr name) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!function) {
    op->emitOpError("(C1) no function named @") << name.getValue();
    return failure();
  }
  return function.getFunctionType();
}

/// The types of the tangents of those that have one.
static SmallVector<Type> tangentsOf(TypeRange types) {
  SmallVector<Type> tangents;
  for (Type type : types)
    if (Type tangent = tangentOf(type))
      tangents.push_back(tangent);
  return tangents;
}

static FailureOr<SmallVector<Type>> activeTypes(Operation *op, TypeRange primals, ArrayRef<bool> active) {
  if (active.size() != primals.size()) {
    op->emitOpError("(C2) active: expected one entry per primal operand, ") << primals.size() << ", got " << active.size();
    return failure();
  }
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(primals)) {
    if (!active[i])
      continue;
    Type tangent = tangentOf(type);
    if (!tangent) {
      op->emitOpError("(C2) operand ") << i << " is active but has no tangent: expected a float array, got " << type;
      return failure();
    }
    types.push_back(tangent);
  }
  return types;
}

static SmallVector<Type> concat(TypeRange a, TypeRange b) {
  SmallVector<Type> all(a);
  llvm::append_range(all, b);
  return all;
}

LogicalResult JvpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  if (failed(type) || failed(checkTypes(*this, "(C1) primals", type->getInputs(), getPrimals().getTypes())))
    return failure();
  auto tangents = activeTypes(*this, getPrimals().getTypes(), getActive());
  if (failed(tangents) || failed(checkTypes(*this, "(C3) tangents", *tangents, getTangents().getTypes())))
    return failure();
  return checkTypes(*this, "(C4) results", concat(type->getResults(), tangentsOf(type->getResults())), getResultTypes());
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  if (failed(type) || failed(checkTypes(*this, "(C1) primals", type->getInputs(), getPrimals().getTypes())))
    return failure();
  auto wanted = activeTypes(*this, getPrimals().getTypes(), getActive());
  if (failed(wanted) ||
      failed(checkTypes(*this, "(C3) cotangents", tangentsOf(type->getResults()), getCotangents().getTypes())))
    return failure();
  return checkTypes(*this, "(C4) results", concat(type->getResults(), *wanted), getResultTypes());
}

LogicalResult LinearizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  if (failed(type) || failed(checkTypes(*this, "(C1) primals", type->getInputs(), getPrimals().getTypes())))
    return failure();
  auto tangents = activeTypes(*this, getPrimals().getTypes(), getActive());
  if (failed(tangents))
    return failure();
  Type map = LinearType::get(getContext(), FunctionType::get(getContext(), *tangents, tangentsOf(type->getResults())));
  if (failed(checkTypes(*this, "(C3) results", concat(type->getResults(), map), getResultTypes())))
    return failure();
  for (OpOperand &use : getResults().back().getUses())
    if (!isa<ApplyLinearOp, ApplyTransposeOp>(use.getOwner()))
      return emitOpError("(C4) the linear map may only be used by apply_linear and apply_transpose, but is used by ")
             << use.getOwner()->getName();
  return success();
}

LogicalResult ApplyLinearOp::verify() {
  FunctionType map = getLinear().getType().getSignature();
  if (failed(checkTypes(*this, "(C1) tangents", map.getInputs(), getTangents().getTypes())))
    return failure();
  return checkTypes(*this, "(C2) results", map.getResults(), getResultTypes());
}

LogicalResult ApplyTransposeOp::verify() {
  FunctionType map = getLinear().getType().getSignature();
  if (failed(checkTypes(*this, "(C1) cotangents", map.getResults(), getCotangents().getTypes())))
    return failure();
  return checkTypes(*this, "(C2) results", map.getInputs(), getResultTypes());
}

LogicalResult VmapOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  if (failed(type))
    return failure();
  int64_t size = getAxisSize();
  if (size < 0)
    return emitOpError("(C2) expected a size that is not negative, got ") << size;
  if (getInAxes().size() != getOperands().size())
    return emitOpError("(C1) in_axes: expected one entry per operand, ") << getOperands().size() << ", got " << getInAxes().size();
  SmallVector<Type> arguments;
  for (auto [i, operand] : llvm::enumerate(getOperands().getTypes())) {
    int64_t axis = getInAxes()[i];
    auto array = dyn_cast<RankedTensorType>(operand);
    if (axis != -1 && (!array || axis < 0 || axis >= array.getRank()))
      return emitOpError("(C1) in_axes: expected -1 or an axis of ") << operand << " for operand " << i << ", got " << axis;
    if (axis != -1 && array.getDimSize(axis) != size)
      return emitOpError("(C2) operand ") << i << " has size " << array.getDimSize(axis) << " on its mapped axis, expected " << size;
    arguments.push_back(axis == -1 ? operand : Type(dropAxis(array, axis)));
  }
  if (failed(checkTypes(*this, "(C3) unmapped operands", type->getInputs(), arguments)))
    return failure();
  if (getOutAxes().size() != type->getNumResults())
    return emitOpError("(C4) out_axes: expected one entry per result, ") << type->getNumResults() << ", got " << getOutAxes().size();
  SmallVector<Type> results;
  for (auto [i, result] : llvm::enumerate(type->getResults())) {
    int64_t axis = getOutAxes()[i];
    auto array = dyn_cast<RankedTensorType>(result);
    if (axis != -1 && (!array || axis < 0 || axis > array.getRank()))
      return emitOpError("(C4) out_axes: expected -1 or a place for an axis in ") << result << " for result " << i << ", got " << axis;
    results.push_back(axis == -1 ? result : Type(insertAxis(array, axis, size)));
  }
  return checkTypes(*this, "(C4) results", results, getResultTypes());
}

static LogicalResult checkCall(Operation *op, FunctionType type, TypeRange operands) {
  if (failed(checkTypes(op, "(C1) operands", type.getInputs(), operands)))
    return failure();
  return checkTypes(op, "(C2) results", type.getResults(), op->getResultTypes());
}

LogicalResult CheckpointOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  return failed(type) ? failure() : checkCall(*this, *type, getOperands().getTypes());
}

LogicalResult CustomJvpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr()), rule = lookup(*this, symbols, getRuleAttr());
  if (failed(type) || failed(rule) || failed(checkCall(*this, *type, getOperands().getTypes())))
    return failure();
  if (failed(checkTypes(*this, "(C2) arguments of the rule", concat(type->getInputs(), tangentsOf(type->getInputs())),
                        rule->getInputs())))
    return failure();
  return checkTypes(*this, "(C2) results of the rule", concat(type->getResults(), tangentsOf(type->getResults())),
                    rule->getResults());
}

LogicalResult CustomVjpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr()), fwd = lookup(*this, symbols, getFwdAttr()),
       bwd = lookup(*this, symbols, getBwdAttr());
  if (failed(type) || failed(fwd) || failed(bwd) || failed(checkCall(*this, *type, getOperands().getTypes())))
    return failure();
  unsigned numResults = type->getNumResults();
  if (failed(checkTypes(*this, "(C2) arguments of fwd", type->getInputs(), fwd->getInputs())))
    return failure();
  if (fwd->getNumResults() < numResults)
    return emitOpError("(C2) fwd returns ") << fwd->getNumResults() << " values, expected at least the " << numResults << " results";
  if (failed(checkTypes(*this, "(C2) results of fwd", type->getResults(), fwd->getResults().take_front(numResults))) ||
      failed(checkTypes(*this, "(C2) arguments of bwd",
                        concat(fwd->getResults().drop_front(numResults), tangentsOf(type->getResults())), bwd->getInputs())))
    return failure();
  return checkTypes(*this, "(C2) results of bwd", tangentsOf(type->getInputs()), bwd->getResults());
}

LogicalResult CustomLinOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto bwd = lookup(*this, symbols, getBwdAttr());
  if (failed(bwd) || failed(checkTypes(*this, "(C1) arguments of bwd", concat(getResiduals().getTypes(), getResultTypes()),
                                       bwd->getInputs())))
    return failure();
  // What bwd returns is of the cotangents' types.
  if (getActive().size() != bwd->getNumResults())
    return emitOpError("(C2) active: expected one entry per result of bwd, ") << bwd->getNumResults() << ", got " << getActive().size();
  SmallVector<Type> tangents;
  for (auto [type, isActive] : llvm::zip_equal(bwd->getResults(), getActive()))
    if (isActive)
      tangents.push_back(type);
  return checkTypes(*this, "(C2) tangents", tangents, getTangents().getTypes());
}
