// SPDX-License-Identifier: Apache-2.0
//
// Calls of primitives, raise and lower: verifiers and folders.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Hjx.h"

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

const PrimitiveDef &CallPrimitiveOp::getDef() { return *HiRegistry::get().findPrimitive(getPrimitive()); }

/// The types without, or with, the mapped axes of one entry of `maps`.
static FailureOr<SmallVector<Type>> changeRank(TypeRange types, ArrayAttr specs, int64_t size, EmitError emitError,
                                               decltype(decRank) &change) {
  if (!specs || specs.size() != types.size())
    return emitError() << "(C2) maps: expected one spec for each of " << types.size() << " values";
  SmallVector<Type> changed;
  for (auto [type, spec] : llvm::zip_equal(types, specs)) {
    auto result = isa<UnitAttr>(spec) ? FailureOr<Type>(type) : change(type, size, spec, emitError);
    if (failed(result))
      return failure();
    changed.push_back(*result);
  }
  return changed;
}

/// The type list of the unmapped operation.
static FailureOr<SmallVector<Type>> unmap(TypeRange types, ArrayAttr maps, StringRef specs, EmitError emitError) {
  SmallVector<Type> unmapped(types);
  for (Attribute entry : maps ? llvm::to_vector(llvm::reverse(maps)) : SmallVector<Attribute>()) {
    auto map = dyn_cast<DictionaryAttr>(entry);
    auto size = map ? map.getAs<IntegerAttr>("size") : IntegerAttr();
    if (!size)
      return emitError() << "(C2) maps: expected entries {size, in, out}, got " << entry;
    auto inner = changeRank(unmapped, map.getAs<ArrayAttr>(specs), size.getInt(), emitError, decRank);
    if (failed(inner))
      return failure();
    unmapped = std::move(*inner);
  }
  return unmapped;
}

static DictionaryAttr paramsOf(CallPrimitiveOp op) {
  return op.getParams().value_or(DictionaryAttr::get(op.getContext()));
}

PrimitiveCall CallPrimitiveOp::getCall() {
  auto emit = [&] { return emitOpError(); };
  return {paramsOf(*this), *unmap(getOperandTypes(), getMapsAttr(), "in", emit),
          *unmap(getResultTypes(), getMapsAttr(), "out", emit)};
}

LogicalResult CallPrimitiveOp::verify() {
  const PrimitiveDef *def = HiRegistry::get().findPrimitive(getPrimitive());
  if (!def)
    return emitOpError("(C1) unknown primitive \"") << getPrimitive() << "\"; known primitives: " << HiRegistry::get().primitiveNames()
                                                    << " (a plugin adds others: --load-hjx-plugin)";
  auto emit = [&] { return emitOpError("(C2) \"") << getPrimitive() << "\": "; };
  auto operands = unmap(getOperandTypes(), getMapsAttr(), "in", emit);
  if (failed(operands))
    return failure();
  auto inferred = def->infer(paramsOf(*this), *operands, emit);
  if (failed(inferred))
    return failure();
  auto results = unmap(getResultTypes(), getMapsAttr(), "out", emit);
  if (failed(results))
    return failure();
  return checkTypes(*this, "(C2) results", *inferred, *results);
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
