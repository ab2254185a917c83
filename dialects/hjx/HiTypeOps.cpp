// SPDX-License-Identifier: Apache-2.0
//
// Calls of primitives, raise and lower: verifiers and folders.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/MappedPrimitive.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/HiTypes.cpp.inc"

void HjxDialect::registerHiTypeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/HiTypes.cpp.inc"
      >();
}

const PrimitiveDef &CallPrimitiveOp::getDef() { return *findPrimitive(getPrimitive(), getCall().params); }

PrimitiveCall CallPrimitiveOp::getCall() {
  return {getParams().value_or(DictionaryAttr::get(getContext())), SmallVector<Type>(getOperandTypes()),
          SmallVector<Type>(getResultTypes())};
}

LogicalResult CallPrimitiveOp::verify() {
  const PrimitiveDef *def = findPrimitive(getPrimitive(), getCall().params);
  if (!def)
    return emitOpError("(C1) unknown primitive \"") << getPrimitive() << "\"; known primitives: " << HiRegistry::get().primitiveNames()
                                                    << " (a plugin adds others: --load-hjx-plugin)";
  auto inferred = def->infer(getCall().params, getOperandTypes(),
                             [&] { return emitOpError("(C2) \"") << getPrimitive() << "\": "; });
  return failed(inferred) ? failure() : checkTypes(*this, "(C2) results", *inferred, getResultTypes());
}

/// The components that values of `type` have, against those of an op.
static LogicalResult verifyComponents(Operation *op, HiType type, TypeRange got) {
  auto expected = type.getDef()->loTypes(type, [&] { return op->emitOpError("(C1) "); });
  return failed(expected) ? failure() : checkTypes(op, "(C1) components", *expected, got);
}

LogicalResult RaiseOp::verify() { return verifyComponents(*this, getType(), getComponents().getTypes()); }
LogicalResult LowerOp::verify() { return verifyComponents(*this, getOperand().getType(), getResultTypes()); }

LogicalResult LowerOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  auto raise = getOperand().getDefiningOp<RaiseOp>();
  if (!raise)
    return failure();
  llvm::append_range(results, raise.getComponents());
  return success();
}
