// SPDX-License-Identifier: Apache-2.0
//
// Linearize of a block and of a function.
#include "dialects/hjx/Effects.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Residuals.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hjx {

/// Moves the ops after `primal` that read a value of `tan`'s block there.
static void route(Operation *primal, OpBuilder &tan) {
  Block *tanBlock = tan.getInsertionBlock();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(primal->getIterator()), primal->getBlock()->end())))
    if (llvm::any_of(op.getOperands(), [&](Value v) { return v.getParentBlock() == tanBlock; }))
      op.moveBefore(tanBlock, tan.getInsertionPoint());
}

LogicalResult linearizeThroughJvp(LinearizeContext &c) {
  IRMapping primals;
  primals.map(c.op->getOperands(), c.primals);
  Operation *primal = c.fwd.clone(*c.op, primals);
  SmallVector<Dual> results;
  if (failed(applyJvpRule(c.engine, c.engine.rulesOf(c.op), primal, c.tangents, c.fwd, results)))
    return failure();
  route(primal, c.tan);
  for (Dual dual : results) {
    c.results.push_back(dual.primal);
    c.resultTangents.push_back(dual.tangent);
  }
  return success();
}

/// The ops of `block` that operands of its terminator in `wanted` depend on.
static SmallPtrSet<Operation *, 32> opsBehind(Block &block, ArrayRef<bool> wanted) {
  SmallPtrSet<Operation *, 32> ops;
  auto add = [&](Value v) {
    if (Operation *op = v.getDefiningOp())
      ops.insert(op);
  };
  for (auto [v, isWanted] : llvm::zip_equal(block.getTerminator()->getOperands(), wanted))
    if (isWanted)
      add(v);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (ops.contains(&op))
      llvm::for_each(op.getOperands(), add);
  return ops;
}

FailureOr<SmallVector<Dual>> linearizeBlock(Autodiff &engine, Block &block, ArrayRef<Dual> arguments, OpBuilder &fwd,
                                            OpBuilder &tan, ArrayRef<bool> wanted) {
  DualValues values(block, arguments);
  SmallPtrSet<Operation *, 32> needed;
  if (!wanted.empty())
    needed = opsBehind(block, wanted);

  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> dots = values.tangentsOf(op.getOperands());
    const RuleSet *rules = engine.rulesOf(&op);
    bool isUseless = !wanted.empty() && !needed.contains(&op) && !ir::takesRef(&op); // A write may not have a tangent.
    if (isUseless || llvm::none_of(dots, [](Value dot) { return bool(dot); }) || (rules && rules->hasZeroTangent)) {
      fwd.clone(op, values.primals);
      continue;
    }
    ImplicitLocOpBuilder fwdAt(op.getLoc(), fwd), tanAt(op.getLoc(), tan);
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value v) { return values.primals.lookup(v); });
    LinearizeContext context{fwdAt, tanAt, &op, operands, dots, engine, {}, {}};
    if (failed(rules && rules->linearize ? rules->linearize(context) : linearizeThroughJvp(context)))
      return failure();
    SmallVector<Dual> results;
    for (auto [value, dot] : llvm::zip_equal(context.results, context.resultTangents))
      results.push_back({value, dot});
    values.set(op.getResults(), results);
  }
  SmallVector<Dual> results = values.lookup(block.getTerminator()->getOperands());
  for (auto [result, isWanted] : llvm::zip(results, wanted)) // None, or all.
    if (!isWanted)
      result.tangent = Value();
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The function type that body and terminator imply.
static void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

/// Turns the values of fwd that lin names into arguments of lin.
static void closeOverResiduals(LinearizedFunction &pair, ir::CheckpointPolicy policy) {
  Block &fwd = pair.fwd.getBody().front(), &lin = pair.lin.getBody().front();
  SmallVector<Value> values = captureResiduals(fwd, lin, policy);
  Operation *fwdReturn = fwd.getTerminator();
  for (auto [i, value] : llvm::enumerate(values)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument) {
      pair.residuals.push_back({true, argument.getArgNumber()});
    } else {
      auto results = fwdReturn->getOperands();
      unsigned index = std::distance(results.begin(), llvm::find(results, value));
      pair.residuals.push_back({false, index});
      if (index == results.size())
        fwdReturn->insertOperands(index, value);
    }
    BlockArgument residual = lin.insertArgument(i, value.getType(), value.getLoc());
    value.replaceUsesWithIf(residual, [&](OpOperand &use) { return use.getOwner()->getBlock() == &lin; });
  }
  if (policy != ir::CheckpointPolicy::EverythingSaveable && !values.empty()) {
    OpBuilder builder = OpBuilder::atBlockBegin(&lin);
    auto arguments = llvm::filter_to_vector(lin.getArguments().take_front(values.size()),
                                            [](Value v) { return !isa<ir::RefType>(v.getType()); });
    auto barrier = ir::OptBarrierOp::create(builder, pair.lin.getLoc(), llvm::to_vector_of<Value>(arguments));
    for (auto [argument, guarded] : llvm::zip_equal(arguments, barrier.getResults()))
      argument.replaceAllUsesExcept(guarded, barrier);
  }
  updateType(pair.fwd);
  updateType(pair.lin);
}

/// After simplification: residuals that lin no longer reads, and the results of
/// fwd that were only returned for them, go.
static void dropUnusedResiduals(LinearizedFunction &pair, unsigned numResults) {
  Block &fwd = pair.fwd.getBody().front(), &lin = pair.lin.getBody().front();
  for (unsigned i = pair.residuals.size(); i-- > 0;)
    if (lin.getArgument(i).use_empty()) {
      lin.eraseArgument(i);
      pair.residuals.erase(pair.residuals.begin() + i);
    }
  Operation *fwdReturn = fwd.getTerminator();
  for (unsigned index = fwdReturn->getNumOperands(); index-- > numResults;) {
    if (llvm::any_of(pair.residuals, [&](Residual r) { return !r.isArgument && r.index == index; }))
      continue;
    fwdReturn->eraseOperand(index);
    for (Residual &r : pair.residuals)
      if (!r.isArgument && r.index > index)
        --r.index;
  }
  updateType(pair.fwd);
  updateType(pair.lin);
}

FailureOr<LinearizedFunction> Autodiff::linearize(func::FuncOp f, ArrayRef<bool> active, ir::CheckpointPolicy policy,
                                                  ArrayRef<bool> wanted) {
  std::string suffix = "." + maskName(active);
  if (!wanted.empty())
    suffix += ".of" + maskName(wanted);
  if (policy != ir::CheckpointPolicy::EverythingSaveable)
    suffix += "." + ir::stringifyCheckpointPolicy(policy).str();
  if (isPushing)
    suffix += ".push";
  std::string key = f.getName().str() + suffix;
  if (auto known = linearized.find(key); known != linearized.end())
    return known->second;
  if (failed(checkDifferentiable(f)))
    return failure();

  SmallVector<Type> tangentTypes;
  for (auto [type, isActive] : llvm::zip_equal(f.getArgumentTypes(), active))
    if (isActive)
      tangentTypes.push_back(ir::tangentOf(type));
  LinearizedFunction pair{createFunction(f.getLoc(), (f.getName() + ".fwd" + suffix).str(), f.getArgumentTypes()),
                          createFunction(f.getLoc(), (f.getName() + ".lin" + suffix).str(), tangentTypes),
                          {},
                          {}};
  Block &fwdBody = pair.fwd.getBody().front(), &linBody = pair.lin.getBody().front();
  SmallVector<Dual> arguments;
  unsigned nextTangent = 0;
  for (auto [i, isActive] : llvm::enumerate(active))
    arguments.push_back({fwdBody.getArgument(i), isActive ? linBody.getArgument(nextTangent++) : Value()});

  OpBuilder fwd = OpBuilder::atBlockEnd(&fwdBody), tan = OpBuilder::atBlockEnd(&linBody);
  auto duals = linearizeBlock(*this, f.getBody().front(), arguments, fwd, tan, wanted);
  if (failed(duals)) {
    discard({pair.lin, pair.fwd});
    return failure();
  }
  SmallVector<Value> results, tangents;
  for (Dual dual : *duals) {
    results.push_back(dual.primal);
    pair.hasTangent.push_back(bool(dual.tangent));
    if (dual.tangent)
      tangents.push_back(dual.tangent);
  }
  func::ReturnOp::create(fwd, f.getLoc(), results);
  func::ReturnOp::create(tan, f.getLoc(), tangents);
  simplifier.run(pair.fwd); // equal residuals become one
  closeOverResiduals(pair, policy);
  simplifier.run(pair.lin);
  dropUnusedResiduals(pair, f.getNumResults());
  simplifier.run(pair.fwd);
  return linearized[key] = pair;
}

} // namespace hjx
