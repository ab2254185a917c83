// SPDX-License-Identifier: Apache-2.0
//
// Forward mode of a block and of a function.
#include "lib/Autodiff/Autodiff.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hjx {

Value instantiate(OpBuilder &builder, Location loc, Value tangent, Type type) {
  if (tangent)
    return tangent;
  ImplicitLocOpBuilder b(loc, builder);
  return ir::makeZero(b, ir::tangentOf(type));
}

LogicalResult applyJvpRule(Autodiff &engine, const RuleSet *rules, Operation *primal, ArrayRef<Value> tangents,
                           OpBuilder &builder, SmallVectorImpl<Dual> &results) {
  if (!rules || !rules->jvp)
    return emitMissingRule(primal, "jvp");
  ImplicitLocOpBuilder b(primal->getLoc(), builder);
  SmallVector<Value> values(primal->getResults()), dots(primal->getNumResults());
  JvpContext context{b, primal, tangents, dots, values, engine};
  if (failed(rules->jvp(context)))
    return failure();
  for (auto [value, dot] : llvm::zip_equal(values, dots))
    results.push_back({value, dot});
  return success();
}

void DualValues::set(ValueRange originals, ArrayRef<Dual> duals) {
  for (auto [original, dual] : llvm::zip_equal(originals, duals)) {
    primals.map(original, dual.primal);
    if (dual.tangent)
      tangents[original] = dual.tangent;
  }
}

SmallVector<Value> DualValues::tangentsOf(ValueRange originals) const {
  return llvm::map_to_vector(originals, [&](Value v) { return tangents.lookup(v); });
}

SmallVector<Dual> DualValues::lookup(ValueRange originals) const {
  return llvm::map_to_vector(originals, [&](Value v) { return Dual{primals.lookup(v), tangents.lookup(v)}; });
}

FailureOr<SmallVector<Dual>> jvpBlock(Autodiff &engine, Block &block, ArrayRef<Dual> arguments, OpBuilder &builder) {
  DualValues values(block, arguments);

  for (Operation &op : block.without_terminator()) {
    Operation *primal = builder.clone(op, values.primals);
    SmallVector<Value> dots = values.tangentsOf(op.getOperands());
    const RuleSet *rules = engine.rulesOf(&op);
    if (llvm::none_of(dots, [](Value dot) { return bool(dot); }) || (rules && rules->hasZeroTangent))
      continue;
    SmallVector<Dual> results;
    if (failed(applyJvpRule(engine, rules, primal, dots, builder, results)))
      return failure();
    values.set(op.getResults(), results);
    if (llvm::none_of(results, [&](Dual dual) { return dual.primal.getDefiningOp() == primal; }))
      primal->erase(); // the rule emitted a joint op
  }
  return values.lookup(block.getTerminator()->getOperands());
}

FailureOr<JvpFunction> Autodiff::jvp(func::FuncOp f, ArrayRef<bool> active) {
  std::string name = (f.getName() + ".jvp." + maskName(active)).str();
  if (auto known = jvps.find(name); known != jvps.end())
    return known->second;
  if (failed(checkDifferentiable(f)))
    return failure();

  SmallVector<Type> types(f.getArgumentTypes());
  for (auto [type, isActive] : llvm::zip_equal(f.getArgumentTypes(), active))
    if (isActive)
      types.push_back(ir::tangentOf(type));
  JvpFunction result{createFunction(f.getLoc(), name, types), {}};
  Block &body = result.function.getBody().front();
  SmallVector<Dual> arguments;
  unsigned nextTangent = f.getNumArguments();
  for (auto [i, isActive] : llvm::enumerate(active))
    arguments.push_back({body.getArgument(i), isActive ? body.getArgument(nextTangent++) : Value()});

  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  auto duals = jvpBlock(*this, f.getBody().front(), arguments, builder);
  if (failed(duals)) {
    discard(result.function);
    return failure();
  }
  SmallVector<Value> returned, tangents;
  for (Dual dual : *duals) {
    returned.push_back(dual.primal);
    result.hasTangent.push_back(bool(dual.tangent));
    if (dual.tangent)
      tangents.push_back(dual.tangent);
  }
  llvm::append_range(returned, tangents);
  func::ReturnOp::create(builder, f.getLoc(), returned);
  result.function.setType(builder.getFunctionType(types, ValueRange(returned).getTypes()));
  simplifier.run(result.function);
  return jvps[name] = result;
}

} // namespace hjx
