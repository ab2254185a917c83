// SPDX-License-Identifier: Apache-2.0
//
// Control flow and calls. A loop's carries are mapped when they start so or
// become so: a boolean fixpoint, found by analysis before anything is emitted.
#include "lib/Batching/HiValues.h"
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

/// `value` mapped at 0 where `mapped`, else as it is.
static Value atFrontIf(BatchContext &ctx, Value value, Axis axis, bool mapped) {
  return mapped ? mapAt(ctx.b, value, axis, 0, ctx.size) : value;
}

static SmallVector<Axis> frontAxes(ArrayRef<bool> mapped) {
  return llvm::map_to_vector(mapped, [](bool m) { return m ? Axis(0) : Axis(); });
}

static SmallVector<bool> mappedOf(ArrayRef<Axis> axes) { return llvm::map_to_vector(axes, isMapped); }

template <typename T>
static SmallVector<T> concat(ArrayRef<T> a, ArrayRef<T> b) {
  SmallVector<T> all(a);
  llvm::append_range(all, b);
  return all;
}

/// Batches `from` into the empty region `to`, whose block gets arguments of
/// these types. Yielded value i is made mapped at 0 where `mapYield[i]`, and
/// must be unmapped elsewhere.
static LogicalResult batchRegion(BatchContext &ctx, Region &from, Region &to, TypeRange argumentTypes, ArrayRef<Axis> axes,
                                 ArrayRef<bool> mapYield) {
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(&to, to.end(), argumentTypes, SmallVector<Location>(argumentTypes.size(), ctx.op->getLoc()));
  SmallVector<Value> results, arguments(block->getArguments());
  SmallVector<Axis> resultAxes;
  if (failed(ctx.engine.batchBlock(from.front(), arguments, axes, ctx.b, results, resultAxes)))
    return failure();
  for (auto [value, axis, mapped] : llvm::zip_equal(results, resultAxes, mapYield))
    value = atFrontIf(ctx, value, axis, mapped);
  YieldOp::create(ctx.b, results);
  return success();
}

// scan: consts and carries at 0, xs and ys at 1 (their slices at 0)
static LogicalResult batchScan(BatchContext &ctx) {
  auto op = cast<ScanOp>(ctx.op);
  unsigned numConsts = op.getNumConsts(), numCarries = op.getNumCarries();
  SmallVector<bool> mapped = mappedOf(ctx.axes), yields;
  for (bool changed = true; changed;) {
    changed = false;
    yields = ctx.engine.mappedResults(*op.getBlock(), mapped);
    for (unsigned i = 0; i < numCarries; ++i)
      if (yields[i] && !mapped[numConsts + i])
        mapped[numConsts + i] = changed = true;
  }
  for (unsigned i = 0; i < numCarries; ++i)
    yields[i] = mapped[numConsts + i];

  SmallVector<Value> operands;
  SmallVector<Type> argumentTypes;
  for (auto [i, value] : llvm::enumerate(ctx.operands)) {
    bool isXs = i >= numConsts + numCarries;
    Value moved = value;
    Type type = op.getBlock()->getArgument(i).getType();
    if (mapped[i] && isXs)
      moved = mapBehindLoop(ctx.b, value, ctx.axes[i], op->getOperand(i).getType(), op.getLength(), ctx.size);
    else if (mapped[i])
      moved = mapAt(ctx.b, value, ctx.axes[i], 0, ctx.size);
    operands.push_back(moved);
    argumentTypes.push_back(mapped[i] ? mappedType(op.getLoc(), type, 0, ctx.size) : type);
  }
  SmallVector<Type> resultTypes;
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    if (yields[i])
      type = i < numCarries ? mappedType(op.getLoc(), type, 0, ctx.size) : typeBehindLoop(op.getLoc(), type, op.getLength(), ctx.size);
    resultTypes.push_back(type);
  }
  ArrayRef<Value> all = operands;
  auto scan = ScanOp::create(ctx.b, resultTypes, all.take_front(numConsts), all.slice(numConsts, numCarries),
                             all.drop_front(numConsts + numCarries), op.getLength(), op.getReverse());
  scan->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (failed(batchRegion(ctx, op.getBody(), scan.getBody(), argumentTypes, frontAxes(mapped), yields)))
    return failure();
  for (auto [i, result] : llvm::enumerate(scan.getResults())) {
    bool isStack = i >= numCarries && yields[i], isHi = isa<HiType>(result.getType());
    Value value = isStack && isHi ? mapBeforeLoop(ctx.b, result, op->getResult(i).getType(), op.getLength(), ctx.size) : result;
    ctx.setResult(value, yields[i] ? Axis(isStack && !isHi ? 1 : 0) : Axis());
  }
  return success();
}

// while, predicate shared:  the loop stays, some carries are mapped
// while, predicate mapped:  runs while any element's predicate holds; elements
//                           that are done keep their carries
static LogicalResult batchWhile(BatchContext &ctx) {
  auto op = cast<WhileOp>(ctx.op);
  unsigned numCond = op.getCondConsts().size(), numBody = op.getBodyConsts().size(), numCarries = op.getInits().size();
  SmallVector<bool> mapped = mappedOf(ctx.axes);
  auto slice = [&](unsigned begin, unsigned count) { return ArrayRef<bool>(mapped).slice(begin, count); };
  auto condMapped = [&] { return concat(slice(0, numCond), slice(numCond + numBody, numCarries)); };
  auto bodyMapped = [&] { return concat(slice(numCond, numBody), slice(numCond + numBody, numCarries)); };
  bool predicateMapped = false;
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<bool> yields = ctx.engine.mappedResults(op.getBody().front(), bodyMapped());
    predicateMapped = ctx.engine.mappedResults(op.getCond().front(), condMapped()).front();
    for (unsigned i = 0; i < numCarries; ++i)
      if ((yields[i] || predicateMapped) && !mapped[numCond + numBody + i])
        mapped[numCond + numBody + i] = changed = true;
  }

  SmallVector<Value> operands;
  for (auto [i, value] : llvm::enumerate(ctx.operands))
    operands.push_back(atFrontIf(ctx, value, ctx.axes[i], mapped[i]));
  ArrayRef<Value> all = operands;
  ArrayRef<Value> condConsts = all.take_front(numCond), bodyConsts = all.slice(numCond, numBody), inits = all.take_back(numCarries);
  // The body asks the mapped predicate again, to know which elements are done.
  SmallVector<Value> allBodyConsts = predicateMapped ? concat(condConsts, bodyConsts) : SmallVector<Value>(bodyConsts);
  auto loop = WhileOp::create(ctx.b, ValueRange(inits).getTypes(), condConsts, allBodyConsts, inits, op.getMaxTripAttr());

  SmallVector<Type> condTypes(ValueRange(concat(condConsts, inits)).getTypes());
  SmallVector<Type> bodyTypes(ValueRange(concat(ArrayRef<Value>(allBodyConsts), inits)).getTypes());
  SmallVector<Location> condLocs(condTypes.size(), op.getLoc()), bodyLocs(bodyTypes.size(), op.getLoc());
  OpBuilder::InsertionGuard guard(ctx.b);

  Block *cond = ctx.b.createBlock(&loop.getCond(), loop.getCond().end(), condTypes, condLocs);
  SmallVector<Value> condArguments(cond->getArguments()), predicate;
  SmallVector<Axis> predicateAxis, condAxes = frontAxes(condMapped());
  if (failed(ctx.engine.batchBlock(op.getCond().front(), condArguments, condAxes, ctx.b, predicate, predicateAxis)))
    return failure();
  if (predicateAxis.front())
    predicate.front() = ReduceOrOp::create(ctx.b, predicate.front(), ArrayRef<int64_t>{0});
  YieldOp::create(ctx.b, predicate);

  Block *body = ctx.b.createBlock(&loop.getBody(), loop.getBody().end(), bodyTypes, bodyLocs);
  ArrayRef<BlockArgument> arguments = body->getArguments();
  SmallVector<Value> carries(arguments.take_back(numCarries)), next;
  SmallVector<Axis> nextAxes, bodyAxes = frontAxes(bodyMapped());
  SmallVector<Value> bodyArguments(arguments.drop_front(predicateMapped ? numCond : 0));
  if (failed(ctx.engine.batchBlock(op.getBody().front(), bodyArguments, bodyAxes, ctx.b, next, nextAxes)))
    return failure();
  for (auto [i, value] : llvm::enumerate(next))
    value = atFrontIf(ctx, value, nextAxes[i], mapped[numCond + numBody + i]);
  if (predicateMapped) {
    SmallVector<Value> askArguments(arguments.take_front(numCond)), going;
    llvm::append_range(askArguments, carries);
    SmallVector<Axis> goingAxis;
    if (failed(ctx.engine.batchBlock(op.getCond().front(), askArguments, condAxes, ctx.b, going, goingAxis)))
      return failure();
    Value mask = mapAt(ctx.b, going.front(), goingAxis.front(), 0, ctx.size);
    for (auto [value, old] : llvm::zip_equal(next, carries))
      value = selectMapped(ctx.b, mask, ValueRange{old, value});
  }
  YieldOp::create(ctx.b, next);
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    ctx.setResult(result, mapped[numCond + numBody + i] ? Axis(0) : Axis());
  return success();
}

// cond, index shared: every branch batched, results mapped where any branch's are
static LogicalResult batchSharedCond(BatchContext &ctx, CondOp op) {
  ArrayRef<Value> inputs = ctx.operands.drop_front();
  ArrayRef<Axis> axes = ctx.axes.drop_front();
  SmallVector<bool> mapped(op.getNumResults(), false);
  for (Region &branch : op.getBranches())
    for (auto [i, isMapped] : llvm::enumerate(ctx.engine.mappedResults(branch.front(), mappedOf(axes))))
      mapped[i] |= isMapped;
  SmallVector<Type> resultTypes;
  for (auto [type, isMapped] : llvm::zip_equal(op.getResultTypes(), mapped))
    resultTypes.push_back(isMapped ? mappedType(op.getLoc(), type, 0, ctx.size) : type);
  auto cond = CondOp::create(ctx.b, resultTypes, ctx.operands[0], inputs, op.getBranches().size());
  for (auto [from, to] : llvm::zip_equal(op.getBranches(), cond.getBranches()))
    if (failed(batchRegion(ctx, from, to, ValueRange(inputs).getTypes(), axes, mapped)))
      return failure();
  for (auto [result, isMapped] : llvm::zip_equal(cond.getResults(), mapped))
    ctx.setResult(result, isMapped ? Axis(0) : Axis());
  return success();
}

// cond, index mapped: all branches run and select_n picks. What a branch reads
// for elements that did not choose it passes through stop_gradient, so that a
// derivative that is infinite there cannot poison those that are wanted.
static LogicalResult batchMappedCond(BatchContext &ctx, CondOp op) {
  Value index = atFront(ctx, 0);
  Type indexElement = emit::typeOf(index).getElementType();
  int64_t last = op.getBranches().size() - 1;
  if (!indexElement.isInteger(1)) {
    Type scalar = RankedTensorType::get({}, indexElement);
    index = ClampOp::create(ctx.b, emit::zeros(ctx.b, scalar), index, makeSplat(ctx.b, ctx.b.getLoc(), scalar, last));
  }
  SmallVector<SmallVector<Value>> cases(op.getNumResults());
  for (auto [k, branch] : llvm::enumerate(op.getBranches())) {
    Value chosen = emit::compare(ctx.b, ComparisonDirection::EQ, index, emit::fullLike(ctx.b, index, k));
    SmallVector<Value> arguments, results;
    SmallVector<Axis> axes, resultAxes;
    for (unsigned i = 1; i < ctx.operands.size(); ++i) {
      bool isFloat = isDifferentiable(ctx.operands[i].getType());
      Value value = isFloat ? atFront(ctx, i) : ctx.operands[i];
      if (isFloat && !isa<HiType>(value.getType()))
        value = emit::select(ctx.b, emit::broadcastInDim(ctx.b, chosen, emit::typeOf(value).getShape(), {0}), value,
                             StopGradientOp::create(ctx.b, value));
      arguments.push_back(value);
      axes.push_back(isFloat ? Axis(0) : ctx.axes[i]);
    }
    if (failed(ctx.engine.batchBlock(branch.front(), arguments, axes, ctx.b, results, resultAxes)))
      return failure();
    for (auto [i, value] : llvm::enumerate(results))
      cases[i].push_back(mapAt(ctx.b, value, resultAxes[i], 0, ctx.size));
  }
  for (ArrayRef<Value> values : cases)
    ctx.setResult(selectMapped(ctx.b, index, values), 0);
  return success();
}

static LogicalResult batchCond(BatchContext &ctx) {
  auto op = cast<CondOp>(ctx.op);
  return ctx.axes[0] ? batchMappedCond(ctx, op) : batchSharedCond(ctx, op);
}

static LogicalResult batchOptBarrier(BatchContext &ctx) {
  auto barrier = OptBarrierOp::create(ctx.b, ctx.operands);
  for (auto [result, axis] : llvm::zip_equal(barrier.getResults(), ctx.axes))
    ctx.setResult(result, axis);
  return success();
}

static LogicalResult batchCall(BatchContext &ctx) {
  auto op = cast<func::CallOp>(ctx.op);
  SmallVector<Axis> resultAxes;
  auto callee = ctx.engine.batchFunction(op, op.getCalleeAttr(), ctx.axes, std::nullopt, resultAxes);
  if (failed(callee))
    return failure();
  auto call = func::CallOp::create(ctx.b, *callee, ctx.operands);
  for (auto [result, axis] : llvm::zip_equal(call.getResults(), resultAxes))
    ctx.setResult(result, axis);
  return success();
}

static LogicalResult batchCheckpoint(BatchContext &ctx) {
  auto op = cast<CheckpointOp>(ctx.op);
  SmallVector<Axis> resultAxes;
  auto callee = ctx.engine.batchFunction(op, op.getCalleeAttr(), ctx.axes, std::nullopt, resultAxes);
  if (failed(callee))
    return failure();
  auto call = CheckpointOp::create(ctx.b, callee->getResultTypes(), callee->getSymName(), ctx.operands, op.getPolicy());
  for (auto [result, axis] : llvm::zip_equal(call.getResults(), resultAxes))
    ctx.setResult(result, axis);
  return success();
}

//===----------------------------------------------------------------------===//
// Custom rules: the function and the user's rule must agree on what is mapped.
// Every float is: operands, tangents, results and cotangents, at 0. Other
// operands stay as they are; other results are mapped too.
//===----------------------------------------------------------------------===//

static SmallVector<Axis> frontFloats(TypeRange types, ArrayRef<Axis> others) {
  SmallVector<Axis> axes;
  for (auto [type, axis] : llvm::zip_equal(types, others))
    axes.push_back(isDifferentiable(type) ? Axis(0) : axis);
  return axes;
}

static unsigned countFloats(TypeRange types) { return llvm::count_if(types, isDifferentiable); }

static SmallVector<Value> mappedFloats(BatchContext &ctx) {
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(ctx.op->getOperands()))
    operands.push_back(isDifferentiable(operand.getType()) ? atFront(ctx, i) : ctx.operands[i]);
  return operands;
}

static LogicalResult batchCustomJvp(BatchContext &ctx) {
  auto op = cast<CustomJvpOp>(ctx.op);
  SmallVector<Axis> axes = frontFloats(op.getOperandTypes(), ctx.axes), ignored;
  SmallVector<Axis> ruleAxes = axes, outAxes(op.getNumResults(), Axis(0));
  ruleAxes.append(countFloats(op.getOperandTypes()), Axis(0));
  SmallVector<Axis> ruleOutAxes(op.getNumResults() + countFloats(op.getResultTypes()), Axis(0));
  auto callee = ctx.engine.batchFunction(op, op.getCalleeAttr(), axes, ArrayRef(outAxes), ignored);
  if (failed(callee))
    return failure();
  auto rule = ctx.engine.batchFunction(op, op.getRuleAttr(), ruleAxes, ArrayRef(ruleOutAxes), ignored);
  if (failed(rule))
    return failure();
  setResults(ctx,
             CustomJvpOp::create(ctx.b, callee->getResultTypes(), callee->getSymName(), rule->getSymName(), mappedFloats(ctx)), 0);
  return success();
}

static LogicalResult batchCustomVjp(BatchContext &ctx) {
  auto op = cast<CustomVjpOp>(ctx.op);
  SmallVector<Axis> axes = frontFloats(op.getOperandTypes(), ctx.axes), ignored;
  auto fwdFunction = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getFwdAttr());
  SmallVector<Axis> outAxes(op.getNumResults(), Axis(0)), fwdOutAxes(fwdFunction.getNumResults(), Axis(0));
  unsigned numResiduals = fwdFunction.getNumResults() - op.getNumResults();
  SmallVector<Axis> bwdAxes(numResiduals + countFloats(op.getResultTypes()), Axis(0));
  SmallVector<Axis> bwdOutAxes(countFloats(op.getOperandTypes()), Axis(0));
  auto callee = ctx.engine.batchFunction(op, op.getCalleeAttr(), axes, ArrayRef(outAxes), ignored);
  if (failed(callee))
    return failure();
  auto fwd = ctx.engine.batchFunction(op, op.getFwdAttr(), axes, ArrayRef(fwdOutAxes), ignored);
  if (failed(fwd))
    return failure();
  auto bwd = ctx.engine.batchFunction(op, op.getBwdAttr(), bwdAxes, ArrayRef(bwdOutAxes), ignored);
  if (failed(bwd))
    return failure();
  setResults(ctx,
             CustomVjpOp::create(ctx.b, callee->getResultTypes(), callee->getSymName(), fwd->getSymName(), bwd->getSymName(),
                                 mappedFloats(ctx)),
             0);
  return success();
}

static LogicalResult batchCustomLin(BatchContext &ctx) {
  auto op = cast<CustomLinOp>(ctx.op);
  auto bwdFunction = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getBwdAttr());
  unsigned numResiduals = op.getResiduals().size();
  SmallVector<Axis> axes(ctx.axes.take_front(numResiduals)), ignored;
  axes.append(op.getNumResults(), Axis(0));
  SmallVector<Axis> outAxes(bwdFunction.getNumResults(), Axis(0));
  auto bwd = ctx.engine.batchFunction(op, op.getBwdAttr(), axes, ArrayRef(outAxes), ignored);
  if (failed(bwd))
    return failure();
  SmallVector<Value> tangents;
  for (unsigned i = numResiduals; i < ctx.operands.size(); ++i)
    tangents.push_back(atFront(ctx, i));
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(mappedType(op.getLoc(), type, 0, ctx.size));
  setResults(ctx,
             CustomLinOp::create(ctx.b, types, bwd->getSymName(), ctx.operands.take_front(numResiduals), tangents, op.getActive()),
             0);
  return success();
}

void hjx::registerHigherOrderBatchRules(RuleRegistry &rules) {
  rules.of<ScanOp>().batch = batchScan;
  rules.of<WhileOp>().batch = batchWhile;
  rules.of<CondOp>().batch = batchCond;
  rules.of<OptBarrierOp>().batch = batchOptBarrier;
  rules.of<func::CallOp>().batch = batchCall;
  rules.of<CheckpointOp>().batch = batchCheckpoint;
  rules.of<CustomJvpOp>().batch = batchCustomJvp;
  rules.of<CustomVjpOp>().batch = batchCustomVjp;
  rules.of<CustomLinOp>().batch = batchCustomLin;
}
