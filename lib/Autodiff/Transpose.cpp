// SPDX-License-Identifier: Apache-2.0
//
// Transposition of a block and of a function.
#include "lib/Autodiff/Accumulate.h"
#include "lib/Autodiff/Autodiff.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hjx {

FailureOr<SmallVector<Value>> transposeBlock(Autodiff &engine, Block &block, ArrayRef<Value> arguments,
                                             ArrayRef<Value> yieldBars, OpBuilder &builder, ArrayRef<BarSink> sinks) {
  IRMapping primals; // non-linear values of `block` -> their values here
  llvm::DenseSet<Value> linear;
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments)) {
    if (value)
      primals.map(argument, value);
    else
      linear.insert(argument);
  }
  SmallVector<Operation *> linearOps;
  for (Operation &op : block.without_terminator()) {
    if (llvm::none_of(op.getOperands(), [&](Value v) { return linear.contains(v); })) {
      builder.clone(op, primals);
      continue;
    }
    linearOps.push_back(&op);
    linear.insert(op.result_begin(), op.result_end());
  }

  llvm::DenseMap<Value, Value> bars;
  auto sinkOf = [&](Value to) {
    auto argument = dyn_cast<BlockArgument>(to);
    return argument && !sinks.empty() ? sinks[argument.getArgNumber()] : BarSink();
  };
  auto accumulate = [&](Value to, Value bar, Location loc) {
    BarSink sink = sinkOf(to);
    if (!bar || !linear.contains(to) || sink.kind == BarSink::None)
      return;
    if (sink.kind == BarSink::Ref)
      return addToRef(builder, loc, sink.ref, bar);
    Value &sum = bars[to];
    sum = addCotangents(builder, loc, sum, bar);
  };
  for (auto [yielded, bar] : llvm::zip_equal(block.getTerminator()->getOperands(), yieldBars))
    accumulate(yielded, bar, block.getTerminator()->getLoc());

  for (Operation *op : llvm::reverse(linearOps)) {
    auto resultBars = llvm::map_to_vector(op->getResults(), [&](Value v) { return bars.lookup(v); });
    if (llvm::none_of(resultBars, [](Value bar) { return bool(bar); }))
      continue;
    const RuleSet *rules = engine.rulesOf(op);
    if (!rules || !rules->transpose)
      return emitMissingRule(op, "transpose");
    ImplicitLocOpBuilder b(op->getLoc(), builder);
    TransposeContext context{
        b,
        op,
        resultBars,
        [&](unsigned i) { return linear.contains(op->getOperand(i)); },
        [&](unsigned i) { return primals.lookup(op->getOperand(i)); },
        [&](unsigned i, Value bar) { accumulate(op->getOperand(i), bar, op->getLoc()); },
        [&](unsigned i) { return sinkOf(op->getOperand(i)); },
        engine};
    if (failed(rules->transpose(context)))
      return failure();
  }
  return llvm::map_to_vector(block.getArguments(), [&](BlockArgument a) { return bars.lookup(a); });
}

FailureOr<TransposedFunction> Autodiff::transpose(func::FuncOp f, ArrayRef<bool> isLinear, ArrayRef<bool> hasBar,
                                                  ArrayRef<BarSink> kinds) {
  std::string name = f.getName().str() + ".transpose";
  // The usual case has a short name: everything after the residuals is linear,
  // every result has a cotangent.
  std::string key = name + "." + maskName(isLinear) + "." + maskName(hasBar) + ".";
  for (const BarSink &sink : kinds)
    key += "srn"[sink.kind];
  if (auto known = transposed.find(key); known != transposed.end())
    return known->second;
  if (failed(checkDifferentiable(f)))
    return failure();

  SmallVector<Type> types;
  for (auto [type, linear] : llvm::zip_equal(f.getArgumentTypes(), isLinear))
    if (!linear)
      types.push_back(type);
  for (auto [type, has] : llvm::zip_equal(f.getResultTypes(), hasBar))
    if (has)
      types.push_back(type);
  for (auto [i, sink] : llvm::enumerate(kinds))
    if (sink.kind == BarSink::Ref)
      types.push_back(ir::RefType::get(f.getArgumentTypes()[i]));
  TransposedFunction result{createFunction(f.getLoc(), name, types), {}};
  Block &body = result.function.getBody().front();
  unsigned next = 0;
  auto arguments = llvm::map_to_vector(isLinear, [&](bool linear) { return linear ? Value() : body.getArgument(next++); });
  auto bars = llvm::map_to_vector(hasBar, [&](bool has) { return has ? body.getArgument(next++) : Value(); });
  SmallVector<BarSink> sinks(kinds);
  for (BarSink &sink : sinks)
    if (sink.kind == BarSink::Ref)
      sink.ref = body.getArgument(next++);

  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  auto argumentBars = transposeBlock(*this, f.getBody().front(), arguments, bars, builder, sinks);
  if (failed(argumentBars)) {
    discard(result.function);
    return failure();
  }
  SmallVector<Value> returned;
  for (Value bar : *argumentBars) {
    result.hasBar.push_back(bool(bar));
    if (bar)
      returned.push_back(bar);
  }
  func::ReturnOp::create(builder, f.getLoc(), returned);
  result.function.setType(builder.getFunctionType(types, ValueRange(returned).getTypes()));
  simplifier.run(result.function);
  return transposed[key] = result;
}

} // namespace hjx
