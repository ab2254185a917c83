// SPDX-License-Identifier: Apache-2.0
//
// Primitives and the components of hi values. A primitive whose author wrote a
// batching rule is mapped by it. Any other stays itself and notes that it is
// mapped, so that it keeps its derivative (quantize stays straight-through) in
// whatever order transforms are nested; a batch_axes rule says where its results
// are mapped, else that is their leading axis.
#include "dialects/hjx/MappedPrimitive.h"
#include "lib/Batching/HiValues.h"
#include "lib/Batching/MappedPrimitive.h"
#include "lib/Batching/RemapPrimitive.h"
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

using Rule = PrimitiveDef::Rule;

//===----------------------------------------------------------------------===//
// The author's rule
//===----------------------------------------------------------------------===//

static LogicalResult batchByRule(BatchContext &ctx, CallPrimitiveOp op) {
  SmallVector<Attribute> specs, resultSpecs;
  for (auto [type, axis] : llvm::zip_equal(op.getOperandTypes(), ctx.axes))
    specs.push_back(specOf(op.getLoc(), type, axis));
  SmallVector<Value> results;
  if (failed(op.getDef().batch(ctx.b, op.getCall(), ctx.size, ctx.operands, specs, results, resultSpecs)))
    return failure();
  for (auto [result, type, spec] : llvm::zip_equal(results, op->getResultTypes(), resultSpecs))
    ctx.setResult(result, axisOf(type, spec));
  return success();
}

//===----------------------------------------------------------------------===//
// One more map
//===----------------------------------------------------------------------===//

/// Fails, naming the primitive, if a result has no leading axis.
static LogicalResult checkLeadingAxes(BatchContext &ctx, CallPrimitiveOp op) {
  auto at = [&] {
    return emitError(op.getLoc()) << "\"" << op.getPrimitive()
                                  << "\" has no batch rule, so that its results are mapped at their leading axes: ";
  };
  for (Type type : op->getResultTypes())
    if (isa<HiType>(type) && failed(incLeading(type, ctx.size, at)))
      return failure();
  return success();
}

/// How the results of a mapped call are mapped: as the author says, or at their leading axis.
static LogicalResult resultAxes(BatchContext &ctx, CallPrimitiveOp op, ArrayRef<Attribute> in, SmallVectorImpl<Axis> &axes) {
  if (!op.getDef().has(Rule::BatchAxes)) {
    axes.assign(op.getNumResults(), Axis(0));
    return checkLeadingAxes(ctx, op);
  }
  SmallVector<Attribute> specs;
  if (failed(op.getDef().batchAxes(ctx.b, op.getCall(), ctx.size, in, specs)))
    return failure();
  for (auto [type, spec] : llvm::zip_equal(op->getResultTypes(), specs))
    axes.push_back(axisOf(type, spec));
  return success();
}

static LogicalResult batchPrimitive(BatchContext &ctx) {
  auto op = cast<CallPrimitiveOp>(ctx.op);
  if (op.getDef().has(Rule::Batch))
    return batchByRule(ctx, op);
  auto specsOf = [&](TypeRange types, ArrayRef<Axis> axes) {
    SmallVector<Attribute> specs; // null where elements share a value
    for (auto [type, axis] : llvm::zip_equal(types, axes))
      specs.push_back(specOf(op.getLoc(), type, axis));
    return specs;
  };
  SmallVector<Attribute> in = specsOf(op.getOperandTypes(), ctx.axes), out;
  SmallVector<Axis> outAxes;
  if (failed(resultAxes(ctx, op, in, outAxes)))
    return failure();
  out = specsOf(op->getResultTypes(), outAxes);
  SmallVector<Type> types;
  for (auto [type, axis] : llvm::zip_equal(op->getResultTypes(), outAxes))
    types.push_back(mappedType(op.getLoc(), type, axis, ctx.size));
  auto isMissing = [](auto pair) { return std::get<0>(pair) && !std::get<1>(pair); }; // reported
  if (llvm::any_of(llvm::zip_equal(ctx.axes, in), isMissing) || llvm::any_of(llvm::zip_equal(outAxes, out), isMissing))
    return failure();
  for (SmallVector<Attribute> *specs : {&in, &out})
    llvm::replace(*specs, Attribute(), Attribute(ctx.b.getUnitAttr()));
  NamedAttrList params(op.getCall().params);
  auto maps = dyn_cast_or_null<ArrayAttr>(params.get(kMappedParam));
  SmallVector<Attribute> entries(maps ? maps.getValue() : ArrayRef<Attribute>());
  entries.push_back(ctx.b.getDictionaryAttr({ctx.b.getNamedAttr("in", ctx.b.getArrayAttr(in)),
                                             ctx.b.getNamedAttr("out", ctx.b.getArrayAttr(out)),
                                             ctx.b.getNamedAttr("size", ctx.b.getI64IntegerAttr(ctx.size))}));
  params.set(kMappedParam, ctx.b.getArrayAttr(entries));
  auto mapped = CallPrimitiveOp::create(ctx.b, types, op.getPrimitiveAttr(), ctx.operands, params.getDictionary(ctx.b.getContext()));
  for (auto [result, axis] : llvm::zip_equal(mapped.getResults(), outAxes))
    ctx.setResult(result, axis);
  return success();
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

static LogicalResult batchLower(BatchContext &ctx) {
  auto op = cast<LowerOp>(ctx.op);
  SmallVector<Axis> axes = componentAxes(op.getLoc(), op.getOperand().getType(), ctx.axes[0]);
  SmallVector<Type> types;
  for (auto [type, axis] : llvm::zip_equal(op.getResultTypes(), axes))
    types.push_back(mappedType(op.getLoc(), type, axis, ctx.size));
  auto lowered = LowerOp::create(ctx.b, types, ctx.operands[0]);
  for (auto [component, axis] : llvm::zip_equal(lowered.getResults(), axes))
    ctx.setResult(component, axis);
  return success();
}

static LogicalResult batchRaise(BatchContext &ctx) {
  auto op = cast<RaiseOp>(ctx.op);
  SmallVector<Axis> axes = componentAxes(op.getLoc(), op.getType(), Axis(0));
  SmallVector<Value> components;
  for (auto [i, component] : llvm::enumerate(ctx.operands)) {
    if (!axes[i] && ctx.axes[i])
      return op.emitOpError("component ") << i << " is mapped, but every element of a mapped " << op.getType() << " shares it";
    components.push_back(axes[i] ? mapAt(ctx.b, component, ctx.axes[i], axes[i], ctx.size) : component);
  }
  ctx.setResult(RaiseOp::create(ctx.b, mappedType(op.getLoc(), op.getType(), Axis(0), ctx.size), components), Axis(0));
  return success();
}

void hjx::registerHiTypesBatchRules(RuleRegistry &rules) {
  setMakeMapped(makeMappedPrimitive);
  registerRemapPrimitive();
  rules.of<CallPrimitiveOp>().batch = batchPrimitive;
  rules.of<LowerOp>().batch = batchLower;
  rules.of<RaiseOp>().batch = batchRaise;
}
