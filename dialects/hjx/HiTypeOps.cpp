// SPDX-License-Identifier: Apache-2.0
//
// Calls of primitives and their linear maps, raise and lower: verifiers, patterns and folders.
#include "dialects/hjx/CheckTypes.h"
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/MappedPrimitive.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

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

template <typename Op>
static DictionaryAttr paramsOf(Op op) {
  return op.getParams().value_or(DictionaryAttr::get(op.getContext()));
}

const PrimitiveDef &CallPrimitiveOp::getDef() { return *findPrimitive(getPrimitive(), paramsOf(*this)); }

PrimitiveCall CallPrimitiveOp::getCall() {
  return {paramsOf(*this), SmallVector<Type>(getOperandTypes()), SmallVector<Type>(getResultTypes())};
}

/// The definition, or a diagnostic.
template <typename Op>
static const PrimitiveDef *lookup(Op op) {
  const PrimitiveDef *def = findPrimitive(op.getPrimitive(), paramsOf(op));
  if (!def)
    op.emitOpError("(C1) unknown primitive \"") << op.getPrimitive() << "\"; known primitives: " << HiRegistry::get().primitiveNames()
                                                << " (a plugin adds others: --load-hjx-plugin)";
  return def;
}

LogicalResult CallPrimitiveOp::verify() {
  const PrimitiveDef *def = lookup(*this);
  if (!def)
    return failure();
  auto inferred = def->infer(paramsOf(*this), getOperandTypes(),
                             [&] { return emitOpError("(C2) \"") << getPrimitive() << "\": "; });
  return failed(inferred) ? failure() : checkTypes(*this, "(C2) results", *inferred, getResultTypes());
}

namespace {

/// A call some of whose results nobody reads, made smaller by its author's rule.
struct DropUnusedResults : OpRewritePattern<CallPrimitiveOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CallPrimitiveOp op, PatternRewriter &rewriter) const override {
    auto used = llvm::map_to_vector(op.getResults(), [](Value result) { return !result.use_empty(); });
    if (!llvm::is_contained(used, false) || !llvm::is_contained(used, true))
      return rewriter.notifyMatchFailure(op, "has no unused result, or is dead");
    const PrimitiveDef &def = op.getDef();
    if (!def.has(PrimitiveDef::Rule::Dce))
      return rewriter.notifyMatchFailure(op, "has no dce rule");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Operation *before = op->getPrevNode();
    SmallVector<Value> results;
    // A pattern cannot fail: hjx-lower-hi asks again, and reports.
    ScopedDiagnosticHandler silence(getContext(), [](Diagnostic &) { return success(); });
    LogicalResult made = def.dce(b, op.getCall(), op.getOperands(), used, results);
    bool isSmaller = succeeded(made) && llvm::any_of(results, [](Value result) { return bool(result); });
    // A rule that calls its own primitive again, just so, has saved nothing and would never end.
    auto repeats = [&](Operation &other) {
      auto call = dyn_cast<CallPrimitiveOp>(other);
      return call && call.getPrimitive() == op.getPrimitive() && call.getOperands() == op.getOperands() &&
             paramsOf(call) == paramsOf(op);
    };
    auto first = before ? std::next(before->getIterator()) : op->getBlock()->begin();
    if (!isSmaller || llvm::any_of(llvm::make_range(first, op->getIterator()), repeats)) {
      while (op->getPrevNode() != before)
        rewriter.eraseOp(op->getPrevNode());
      return rewriter.notifyMatchFailure(op, "its dce rule saves nothing");
    }
    for (auto [old, result] : llvm::zip_equal(op.getResults(), results))
      if (result)
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void CallPrimitiveOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedResults>(context);
}

//===----------------------------------------------------------------------===//
// Linear maps
//===----------------------------------------------------------------------===//

const PrimitiveDef &PrimitiveLinOp::getDef() { return *findPrimitive(getPrimitive(), paramsOf(*this)); }

PrimitiveCall PrimitiveLinOp::getCall() {
  return {paramsOf(*this), SmallVector<Type>(getSignature().getInputs()), SmallVector<Type>(getSignature().getResults()),
          SmallVector<bool>(getActive())};
}

LogicalResult PrimitiveLinOp::verify() {
  const PrimitiveDef *def = lookup(*this);
  if (!def)
    return failure();
  if (!def->has(PrimitiveDef::Rule::Vjp))
    return emitOpError("(C1) \"") << getPrimitive() << "\" has no rules for cotangents; give it vjp_forward and vjp_backward";
  ArrayRef<Type> operands = getSignature().getInputs();
  if (getActive().size() != operands.size())
    return emitOpError("(C2) active: expected one entry per operand of the signature, ") << operands.size() << ", got "
                                                                                        << getActive().size();
  SmallVector<Type> tangents, results;
  for (auto [type, isActive] : llvm::zip_equal(operands, getActive()))
    if (isActive)
      tangents.push_back(tangentOf(type));
  if (llvm::is_contained(tangents, Type()))
    return emitOpError("(C2) active: an operand without tangents is marked");
  for (Type type : getSignature().getResults())
    if (Type tangent = tangentOf(type))
      results.push_back(tangent);
  return failure(failed(checkTypes(*this, "(C2) tangents", tangents, getTangents().getTypes())) ||
                 failed(checkTypes(*this, "(C3) results", results, getResultTypes())));
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

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
