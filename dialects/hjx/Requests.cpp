// SPDX-License-Identifier: Apache-2.0
//
// Requests: verification against the functions they name.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Effects.h"
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

void VjpOp::build(OpBuilder &b, OperationState &state, TypeRange results, StringRef callee, ValueRange primals,
                  ValueRange cotangents, ArrayRef<bool> active) {
  build(b, state, results, FlatSymbolRefAttr::get(b.getContext(), callee), primals, cotangents, ValueRange(),
        b.getDenseBoolArrayAttr(active), DenseBoolArrayAttr());
}

void ApplyTransposeOp::build(OpBuilder &b, OperationState &state, TypeRange results, Value linear, ValueRange cotangents) {
  build(b, state, results, linear, cotangents, ValueRange(), DenseBoolArrayAttr(), DenseBoolArrayAttr());
}

void VmapOp::build(OpBuilder &b, OperationState &state, TypeRange results, StringRef callee, ValueRange operands,
                   ArrayRef<int64_t> inAxes, ArrayRef<int64_t> outAxes, int64_t size) {
  build(b, state, results, FlatSymbolRefAttr::get(b.getContext(), callee), operands, b.getI64ArrayAttr(inAxes),
        b.getI64ArrayAttr(outAxes), b.getI64IntegerAttr(size));
}

/// The cotangents that are results: those of `types` that `inPlace` does not add to an accumulator.
static FailureOr<SmallVector<Type>> returnedBars(Operation *op, StringRef constraint, TypeRange types,
                                                 std::optional<ArrayRef<bool>> inPlace, TypeRange accumulators) {
  if (!inPlace)
    return SmallVector<Type>(types);
  if (inPlace->size() != types.size()) {
    op->emitOpError(constraint) << " in_place: expected one entry per cotangent, " << types.size() << ", got " << inPlace->size();
    return failure();
  }
  SmallVector<Type> returned, refs;
  for (auto [type, isInPlace] : llvm::zip_equal(types, *inPlace)) {
    if (isInPlace)
      refs.push_back(RefType::get(type));
    else
      returned.push_back(type);
  }
  if (failed(checkTypes(op, constraint + " accumulators", refs, accumulators)))
    return failure();
  return returned;
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = lookup(*this, symbols, getCalleeAttr());
  if (failed(type) || failed(checkTypes(*this, "(C1) primals", type->getInputs(), getPrimals().getTypes())))
    return failure();
  auto wanted = activeTypes(*this, getPrimals().getTypes(), getActive());
  if (failed(wanted) ||
      failed(checkTypes(*this, "(C3) cotangents", tangentsOf(type->getResults()), getCotangents().getTypes())))
    return failure();
  auto returned = returnedBars(*this, "(C5)", *wanted, getInPlace(), getAccumulators().getTypes());
  if (failed(returned))
    return failure();
  return checkTypes(*this, "(C4) results", concat(type->getResults(), *returned), getResultTypes());
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
  SmallVector<Type> wanted;
  if (getWanted() && getWanted()->size() != map.getNumInputs())
    return emitOpError("(C3) wanted: expected one entry per input of the map, ") << map.getNumInputs() << ", got " << getWanted()->size();
  for (auto [i, type] : llvm::enumerate(map.getInputs()))
    if (!getWanted() || (*getWanted())[i])
      wanted.push_back(type);
  auto returned = returnedBars(*this, "(C4)", wanted, getInPlace(), getAccumulators().getTypes());
  return failed(returned) ? failure() : checkTypes(*this, "(C2) results", *returned, getResultTypes());
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
    Attribute spec = getInAxes()[i];
    auto array = dyn_cast<RankedTensorType>(operand);
    auto axis = dyn_cast<IntegerAttr>(spec);
    if (axis && axis.getInt() == -1) {
      arguments.push_back(operand);
      continue;
    }
    if (array && (!axis || axis.getInt() < 0 || axis.getInt() >= array.getRank()))
      return emitOpError("(C1) in_axes: expected -1 or an axis of ") << operand << " for operand " << i << ", got " << spec;
    if (array && array.getDimSize(axis.getInt()) != size)
      return emitOpError("(C2) operand ") << i << " has size " << array.getDimSize(axis.getInt()) << " on its mapped axis, expected " << size;
    auto element = decRank(operand, size, spec, [&] { return emitOpError("(C1) in_axes: operand ") << i << ": "; });
    if (failed(element))
      return failure();
    arguments.push_back(*element);
  }
  if (failed(checkTypes(*this, "(C3) unmapped operands", type->getInputs(), arguments)))
    return failure();
  if (getOutAxes().size() != type->getNumResults())
    return emitOpError("(C4) out_axes: expected one entry per result, ") << type->getNumResults() << ", got " << getOutAxes().size();
  SmallVector<Type> results;
  for (auto [i, result] : llvm::enumerate(type->getResults())) {
    Attribute spec = getOutAxes()[i];
    auto array = dyn_cast<RankedTensorType>(result);
    auto axis = dyn_cast<IntegerAttr>(spec);
    if (axis && axis.getInt() == -1) {
      results.push_back(result);
      continue;
    }
    if (array && (!axis || axis.getInt() < 0 || axis.getInt() > array.getRank()))
      return emitOpError("(C4) out_axes: expected -1 or a place for an axis in ") << result << " for result " << i << ", got " << spec;
    auto mapped = incRank(result, size, spec, [&] { return emitOpError("(C4) out_axes: result ") << i << ": "; });
    if (failed(mapped))
      return failure();
    results.push_back(*mapped);
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
  SmallVector<Type> refs, held;
  for (Type input : type->getInputs()) {
    held.push_back(heldType(input));
    if (isa<RefType>(input))
      refs.push_back(input);
  }
  SmallVector<Type> residuals = concat(refs, fwd->getResults().drop_front(numResults));
  if (failed(checkTypes(*this, "(C2) results of fwd", type->getResults(), fwd->getResults().take_front(numResults))) ||
      failed(checkTypes(*this, "(C2) arguments of bwd", concat(residuals, tangentsOf(type->getResults())), bwd->getInputs())))
    return failure();
  return checkTypes(*this, "(C2) results of bwd", tangentsOf(held), bwd->getResults());
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
