// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/Activity.h"

#include "lib/Autodiff/Autodiff.h"

using namespace mlir;

namespace hjx {

Mask concat(ArrayRef<bool> a, ArrayRef<bool> b, ArrayRef<bool> c) {
  Mask all(a);
  llvm::append_range(all, b);
  llvm::append_range(all, c);
  return all;
}

Mask growCarries(Mask carries, llvm::function_ref<Mask(ArrayRef<bool>)> step) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [carry, next] : llvm::zip_equal(carries, step(carries)))
      if (next && !carry)
        carry = changed = true;
  }
  return carries;
}

Mask activeCarries(const Autodiff &engine, Block &body, ArrayRef<bool> consts, Mask inits, ArrayRef<bool> xs) {
  unsigned numCarries = inits.size();
  return growCarries(std::move(inits), [&](ArrayRef<bool> carries) {
    Mask yields = activeYields(engine, body, concat(consts, carries, xs));
    yields.truncate(numCarries);
    return yields;
  });
}

/// Follows `values` forwards through `block`; `step` says which results of an op
/// join when some of its operands have.
static Mask propagate(Block &block, ArrayRef<bool> arguments,
                      llvm::function_ref<Mask(Operation *, ArrayRef<bool>)> step) {
  llvm::DenseSet<Value> values;
  auto contains = [&](Value v) { return values.contains(v); };
  for (auto [argument, isIn] : llvm::zip_equal(block.getArguments(), arguments))
    if (isIn)
      values.insert(argument);
  for (Operation &op : block.without_terminator()) {
    Mask operands = llvm::map_to_vector(op.getOperands(), contains);
    if (!anyOf(operands))
      continue;
    for (auto [result, isIn] : llvm::zip_equal(op.getResults(), step(&op, operands)))
      if (isIn)
        values.insert(result);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), contains);
}

Mask activeYields(const Autodiff &engine, Block &block, ArrayRef<bool> arguments) {
  return propagate(block, arguments,
                   [&](Operation *op, ArrayRef<bool> active) { return activeResults(engine, op, active); });
}

Mask dependentYields(Block &block, ArrayRef<bool> from) {
  return propagate(block, from, [](Operation *op, ArrayRef<bool>) { return Mask(op->getNumResults(), true); });
}

Mask activeResults(const Autodiff &engine, Operation *op, ArrayRef<bool> active) {
  const RuleSet *rules = engine.rulesOf(op);
  if (!anyOf(active) || (rules && rules->hasZeroTangent))
    return Mask(op->getNumResults(), false);
  if (auto scan = dyn_cast<ir::ScanOp>(op)) {
    unsigned c = scan.getNumConsts(), n = scan.getNumCarries();
    ArrayRef<bool> consts = active.take_front(c), xs = active.drop_front(c + n);
    Mask carries = activeCarries(engine, *scan.getBlock(), consts, Mask(active.slice(c, n)), xs);
    return activeYields(engine, *scan.getBlock(), concat(consts, carries, xs));
  }
  if (auto loop = dyn_cast<ir::WhileOp>(op)) {
    unsigned skipped = loop.getCondConsts().size(), c = loop.getBodyConsts().size();
    return activeCarries(engine, loop.getBody().front(), active.slice(skipped, c), Mask(active.drop_front(skipped + c)));
  }
  if (auto cond = dyn_cast<ir::CondOp>(op)) {
    Mask all(op->getNumResults(), false);
    for (Region &branch : cond.getBranches())
      for (auto [result, isActive] : llvm::zip_equal(all, activeYields(engine, branch.front(), active.drop_front())))
        result |= isActive;
    return all;
  }
  if (isa<func::CallOp, ir::CheckpointOp>(op))
    if (auto callee = engine.lookup(op->getAttrOfType<FlatSymbolRefAttr>("callee").getValue());
        callee.getBody().hasOneBlock())
      return activeYields(engine, callee.getBody().front(), active);
  return llvm::map_to_vector(op->getResultTypes(), [](Type type) { return ir::isDifferentiable(type); });
}

Mask reachedArguments(Block &block, ArrayRef<bool> linear, ArrayRef<bool> bars) {
  llvm::DenseSet<Value> linearValues, reached;
  for (auto [argument, isLinear] : llvm::zip_equal(block.getArguments(), linear))
    if (isLinear)
      linearValues.insert(argument);
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value v) { return linearValues.contains(v); }))
      linearValues.insert(op.result_begin(), op.result_end());

  auto reach = [&](ValueRange values) {
    for (Value v : values)
      if (linearValues.contains(v))
        reached.insert(v);
  };
  for (auto [yielded, hasBar] : llvm::zip_equal(block.getTerminator()->getOperands(), bars))
    if (hasBar)
      reach(yielded);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (llvm::any_of(op.getResults(), [&](Value v) { return reached.contains(v); }))
      reach(op.getOperands());
  return llvm::map_to_vector(block.getArguments(), [&](Value v) { return reached.contains(v); });
}

} // namespace hjx
