// SPDX-License-Identifier: Apache-2.0
//
// Primitives and the components of hi values. A primitive whose author wrote a
// batching rule is mapped by it. Any other stays itself and notes that it is
// mapped, so that it keeps its derivative (quantize stays straight-through) in
// whatever order transforms are nested.
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
  if (results.size() != op.getNumResults() || resultSpecs.size() != op.getNumResults())
    return op.emitOpError("\"") << op.getPrimitive() << "\" batch: expected " << op.getNumResults() << " results and specs, got "
                                << results.size() << " and " << resultSpecs.size();
  for (auto [i, result] : llvm::enumerate(results)) {
    Axis axis = axisOf(op->getResult(i).getType(), resultSpecs[i]);
    Type expected = mappedType(op.getLoc(), op->getResult(i).getType(), axis, ctx.size);
    if (result.getType() != expected)
      return op.emitOpError("\"") << op.getPrimitive() << "\" batch: expected result " << i << " of type " << expected << ", got "
                                  << result.getType();
    ctx.setResult(result, axis);
  }
  return success();
}

static LogicalResult batchPrimitive(BatchContext &ctx) {
  auto op = cast<CallPrimitiveOp>(ctx.op);
  if (op.getDef().has(Rule::Batch))
    return batchByRule(ctx, op);
  // It stays itself, with one more map; results come out mapped at their leading axis.
  Attribute unit = ctx.b.getUnitAttr();
  SmallVector<Attribute> in, out;
  SmallVector<Type> types;
  for (auto [type, axis] : llvm::zip_equal(op.getOperandTypes(), ctx.axes))
    in.push_back(axis ? specOf(op.getLoc(), type, axis) : unit);
  for (Type type : op.getResultTypes()) {
    out.push_back(specOf(op.getLoc(), type, Axis(0)));
    if (!out.back())
      return failure();
    types.push_back(mappedType(op.getLoc(), type, Axis(0), ctx.size));
  }
  if (llvm::is_contained(in, Attribute()))
    return failure();
  NamedAttrList params(op.getCall().params);
  auto maps = dyn_cast_or_null<ArrayAttr>(params.get(kMappedParam));
  SmallVector<Attribute> entries(maps ? maps.getValue() : ArrayRef<Attribute>());
  entries.push_back(ctx.b.getDictionaryAttr({ctx.b.getNamedAttr("in", ctx.b.getArrayAttr(in)),
                                             ctx.b.getNamedAttr("out", ctx.b.getArrayAttr(out)),
                                             ctx.b.getNamedAttr("size", ctx.b.getI64IntegerAttr(ctx.size))}));
  params.set(kMappedParam, ctx.b.getArrayAttr(entries));
  auto mapped = CallPrimitiveOp::create(ctx.b, types, op.getPrimitiveAttr(), ctx.operands, params.getDictionary(ctx.b.getContext()));
  for (Value result : mapped.getResults())
    ctx.setResult(result, Axis(0));
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
