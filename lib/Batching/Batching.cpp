// SPDX-License-Identifier: Apache-2.0
//
// The batching engine: walks blocks, asks rules, makes functions.
#include "lib/Batching/Batching.h"

#include "lib/Batching/HiValues.h"

using namespace mlir;

namespace hjx {

/// Batches the blocks of one function over one axis.
class BlockBatcher : public BatchEngine {
public:
  BlockBatcher(Batcher &batcher, int64_t size) : batcher(batcher), size(size) {}

  LogicalResult batchBlock(Block &block, ArrayRef<Value> arguments, ArrayRef<Axis> axes, ImplicitLocOpBuilder &b,
                           SmallVectorImpl<Value> &results, SmallVectorImpl<Axis> &resultAxes) override {
    llvm::DenseMap<Value, std::pair<Value, Axis>> env;
    for (auto [argument, value, axis] : llvm::zip_equal(block.getArguments(), arguments, axes))
      env[argument] = {value, axis};
    Location outer = b.getLoc();
    for (Operation &op : block.without_terminator()) {
      b.setLoc(op.getLoc());
      if (failed(batchOp(op, env, b)))
        return failure();
    }
    b.setLoc(outer);
    for (Value operand : block.getTerminator()->getOperands()) {
      auto [value, axis] = env.lookup(operand);
      results.push_back(value);
      resultAxes.push_back(axis);
    }
    return success();
  }

  SmallVector<bool> mappedResults(Block &block, ArrayRef<bool> arguments) override {
    llvm::DenseSet<Value> mapped;
    for (auto [argument, isMapped] : llvm::zip_equal(block.getArguments(), arguments))
      if (isMapped)
        mapped.insert(argument);
    auto isMapped = [&](Value v) { return mapped.contains(v); };
    for (Operation &op : block.without_terminator())
      if (llvm::any_of(op.getOperands(), isMapped))
        mapped.insert_range(op.getResults());
    return llvm::map_to_vector(block.getTerminator()->getOperands(), isMapped);
  }

  FailureOr<func::FuncOp> batchFunction(Operation *from, FlatSymbolRefAttr name, ArrayRef<Axis> axes,
                                        std::optional<ArrayRef<Axis>> outAxes,
                                        SmallVectorImpl<Axis> &resultAxes) override {
    auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(from, name);
    if (!function)
      return from->emitOpError("no function named @") << name.getValue();
    return batcher.batch(function, axes, size, outAxes, resultAxes);
  }

private:
  LogicalResult batchOp(Operation &op, llvm::DenseMap<Value, std::pair<Value, Axis>> &env, ImplicitLocOpBuilder &b) {
    SmallVector<Value> operands;
    SmallVector<Axis> axes;
    for (Value operand : op.getOperands()) {
      auto [value, axis] = env.lookup(operand);
      operands.push_back(value);
      axes.push_back(axis);
    }
    if (llvm::none_of(axes, [](Axis axis) { return axis.has_value(); })) {
      IRMapping mapping;
      mapping.map(op.getOperands(), operands);
      Operation *clone = b.clone(op, mapping);
      for (auto [result, value] : llvm::zip_equal(op.getResults(), clone->getResults()))
        env[result] = {value, std::nullopt};
      return success();
    }
    const RuleSet *set = batcher.rules.find(&op);
    if (!set || !set->batch)
      return emitMissingRule(&op, "batching");
    BatchContext context{*this, b, &op, size, operands, axes, {}, {}};
    if (failed(set->batch(context)))
      return failure();
    assert(context.results.size() == op.getNumResults() && "a batching rule must fill every result");
    for (auto [result, value, axis] : llvm::zip_equal(op.getResults(), context.results, context.resultAxes))
      env[result] = {value, axis};
    return success();
  }

  Batcher &batcher;
  int64_t size;
};

LogicalResult Batcher::batchInto(Block &block, ArrayRef<Value> arguments, ArrayRef<Axis> axes, int64_t size, ImplicitLocOpBuilder &b,
                                 SmallVectorImpl<Value> &results, SmallVectorImpl<Axis> &resultAxes) {
  return BlockBatcher(*this, size).batchBlock(block, arguments, axes, b, results, resultAxes);
}

/// "0_u_1": mapped at 0, unmapped, mapped at 1.
static std::string spell(ArrayRef<Axis> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      axes, os,
      [&](const Axis &axis) {
        if (axis.spec)
          os << axis.spec;
        else
          os << (axis ? std::to_string(*axis) : "u");
      },
      "_");
  return text;
}

FailureOr<func::FuncOp> Batcher::batch(func::FuncOp function, ArrayRef<Axis> axes, int64_t size,
                                       std::optional<ArrayRef<Axis>> outAxes, SmallVectorImpl<Axis> &resultAxes) {
  std::string key = (function.getSymName() + ".vmap." + spell(axes) + ".x" + Twine(size)).str();
  if (outAxes)
    key += ".to." + spell(*outAxes);
  if (auto it = made.find(key); it != made.end()) {
    resultAxes.assign(it->second.resultAxes.begin(), it->second.resultAxes.end());
    return it->second.function;
  }
  if (function.isExternal())
    return function.emitOpError("has no body to map over");

  SmallVector<Type> inputs;
  for (auto [type, axis] : llvm::zip_equal(function.getArgumentTypes(), axes))
    inputs.push_back(mappedType(function.getLoc(), type, axis, size));
  OpBuilder builder(module.getContext());
  auto batched = func::FuncOp::create(builder, function.getLoc(), key, builder.getFunctionType(inputs, {}));
  batched.setPrivate();
  Block *entry = batched.addEntryBlock();
  auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), entry);

  BlockBatcher engine(*this, size);
  SmallVector<Value> results, arguments(entry->getArguments());
  resultAxes.clear();
  if (failed(engine.batchBlock(function.front(), arguments, axes, b, results, resultAxes))) {
    batched.erase();
    return failure();
  }
  if (outAxes)
    for (auto [i, wanted] : llvm::enumerate(*outAxes)) {
      if (!wanted && resultAxes[i]) {
        batched.erase();
        return function.emitOpError("result ") << i << " depends on a mapped operand, but out_axes says it is not mapped; give it a place there";
      }
      if (wanted)
        results[i] = mapAt(b, results[i], resultAxes[i], wanted, size);
      resultAxes[i] = wanted;
    }
  func::ReturnOp::create(b, results);
  batched.setFunctionType(builder.getFunctionType(inputs, ValueRange(results).getTypes()));
  SymbolTable(module).insert(batched); // renames on a clash
  made[key] = {batched, SmallVector<Axis>(resultAxes.begin(), resultAxes.end())};
  return batched;
}

/// The entries of in_axes or out_axes for the function's arguments or results.
static SmallVector<Axis> toAxes(ArrayAttr specs, TypeRange types) {
  return llvm::map_to_vector(llvm::zip_equal(specs, types), [](auto entry) {
    auto [spec, type] = entry;
    auto axis = dyn_cast<IntegerAttr>(spec);
    return axis && axis.getInt() == -1 ? Axis() : axisOf(type, spec);
  });
}

LogicalResult Batcher::expand(ir::VmapOp op) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  SmallVector<Axis> resultAxes, outAxes = toAxes(op.getOutAxes(), function.getResultTypes());
  auto batched = batch(function, toAxes(op.getInAxes(), function.getArgumentTypes()), op.getAxisSize(), ArrayRef(outAxes), resultAxes);
  if (failed(batched))
    return failure();
  OpBuilder builder(op);
  auto call = func::CallOp::create(builder, op.getLoc(), *batched, op.getOperands());
  op.replaceAllUsesWith(call.getResults());
  op.erase();
  return success();
}

void registerBatchRules(RuleRegistry &rules) {
  registerElementwiseBatchRules(rules);
  registerContractionBatchRules(rules);
  registerReductionBatchRules(rules);
  registerMovementBatchRules(rules);
  registerIndexingBatchRules(rules);
  registerRandomBatchRules(rules);
  registerHiTypesBatchRules(rules);
  registerHigherOrderBatchRules(rules);
}

} // namespace hjx
