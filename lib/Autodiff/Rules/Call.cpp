// SPDX-License-Identifier: Apache-2.0
//
// Calls and their relatives. A call becomes a call of the transformed callee,
// made once for each mask, so that a layer called 48 times is linearized once.
#include "dialects/hjx/Effects.h"
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Linearity.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

static func::FuncOp calleeOf(Autodiff &engine, Operation *op) {
  return engine.lookup(op->getAttrOfType<FlatSymbolRefAttr>("callee").getValue());
}

/// `operands`, then the tangents that are there.
static SmallVector<Value> withTangents(ValueRange operands, ArrayRef<Value> tangents) {
  SmallVector<Value> all(operands);
  llvm::append_range(all, present(tangents));
  return all;
}

/// The tangents of a call's float operands, zeros where there is none.
static SmallVector<Value> allTangents(ImplicitLocOpBuilder &b, ValueRange operands, ArrayRef<Value> tangents) {
  SmallVector<Value> all;
  for (auto [operand, dot] : llvm::zip_equal(operands, tangents))
    if (ir::isDifferentiable(operand.getType()))
      all.push_back(instantiate(b, b.getLoc(), dot, operand.getType()));
  return all;
}

//===----------------------------------------------------------------------===//
// Call and checkpoint
//===----------------------------------------------------------------------===//

// y = f(x);  (y, y_dot) = f.jvp(x, x_dot)
//   A checkpoint stays one: its tangent program may be differentiated in reverse.
static LogicalResult callJvp(JvpContext &c) {
  auto jvp = c.engine.jvp(calleeOf(c.engine, c.op), isPresent(c.tangents));
  if (failed(jvp))
    return failure();
  SmallVector<Value> operands = withTangents(c.op->getOperands(), c.tangents);
  func::FuncOp function = jvp->function;
  ResultRange results =
      isa<ir::CheckpointOp>(c.op)
          ? ir::CheckpointOp::create(c.b, function.getResultTypes(), function.getName(), operands,
                                     cast<ir::CheckpointOp>(c.op).getPolicy())
                .getResults()
          : func::CallOp::create(c.b, function, operands).getResults();
  setJointResults(c, 0, results, jvp->hasTangent);
  return success();
}

// fwd: y, residuals = f.fwd(x)      tan: y_dot = f.lin(residuals, x_dot)
static LogicalResult callLinearize(LinearizeContext &c) {
  auto policy = ir::CheckpointPolicy::EverythingSaveable;
  if (auto checkpoint = dyn_cast<ir::CheckpointOp>(c.op))
    policy = checkpoint.getPolicy();
  auto pair = c.engine.linearize(calleeOf(c.engine, c.op), isPresent(c.tangents), policy);
  if (failed(pair))
    return failure();
  auto fwd = func::CallOp::create(c.fwd, pair->fwd, c.primals);
  auto lin = func::CallOp::create(c.tan, pair->lin,
                                  withTangents(pair->residualsOf(c.primals, fwd.getResults()), c.tangents));
  unsigned next = 0;
  for (auto [i, hasTangent] : llvm::enumerate(pair->hasTangent)) {
    c.results.push_back(fwd.getResult(i));
    c.resultTangents.push_back(hasTangent ? lin.getResult(next++) : Value());
  }
  return success();
}

// y = f(r, x), linear in x;  x_bar += f.transpose(r, y_bar)
static LogicalResult callTranspose(TransposeContext &c, func::CallOp op) {
  Mask isLinear;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    isLinear.push_back(c.isLinear(i));
    if (!isLinear.back())
      operands.push_back(c.nonlinear(i));
  }
  SmallVector<BarSink> sinks = innerSinks(c, isLinear);
  auto transposed = c.engine.transpose(calleeOf(c.engine, op), isLinear, isPresent(c.resultBars), sinks);
  if (failed(transposed))
    return failure();
  operands = withTangents(operands, c.resultBars);
  for (const BarSink &sink : sinks)
    if (sink.kind == BarSink::Ref)
      operands.push_back(sink.ref);
  auto call = func::CallOp::create(c.b, transposed->function, operands);
  unsigned next = 0;
  for (auto [i, hasBar] : llvm::enumerate(transposed->hasBar))
    if (hasBar)
      c.accumulate(i, call.getResult(next++));
  return success();
}

//===----------------------------------------------------------------------===//
// Custom rules
//===----------------------------------------------------------------------===//

LogicalResult checkTangentTypes(Operation *op, StringRef subject) {
  for (Type type : op->getResultTypes())
    if (auto hi = dyn_cast<ir::HiType>(type); hi && !ir::isDifferentiable(type))
      return op->emitOpError(subject) << "has a result of type " << type << " that depends on what is differentiated: differentiation requires "
                                      << hi.getDef()->name()
                                      << " to implement the tangent_type method; write it in the class of the type (hjx::TupleType{} for "
                                         "none), or make the result of hjx::stop_gradient(x)";
  return success();
}

// y = custom_jvp f(x) with rule g;  (y, y_dot) = g(x, x_dot)
static LogicalResult customJvpJvp(JvpContext &c, ir::CustomJvpOp op) {
  if (failed(checkTangentTypes(op)))
    return failure();
  SmallVector<Value> operands(op.getOperands());
  llvm::append_range(operands, allTangents(c.b, op.getOperands(), c.tangents));
  auto call = func::CallOp::create(c.b, c.engine.lookup(op.getRule()), operands);
  setJointResults(c, 0, call.getResults(), llvm::map_to_vector(op->getResultTypes(), ir::isDifferentiable));
  return success();
}

// The rule's tangent is linear in x_dot, hence equal to its own derivative in
// x_dot at any point: linearize g(x, x_dot) in x_dot, at x_dot = 0. The values
// at zero are read by nobody.
static LogicalResult customJvpLinearize(LinearizeContext &c) {
  auto op = cast<ir::CustomJvpOp>(c.op);
  func::FuncOp rule = c.engine.lookup(op.getRule());
  if (failed(checkTangentTypes(op)) || failed(checkDifferentiable(rule)) || failed(checkLinearRule(c.engine, op)))
    return failure();
  SmallVector<Dual> arguments;
  for (Value primal : c.primals)
    arguments.push_back({primal, Value()});
  for (auto [primal, dot] : llvm::zip_equal(c.primals, c.tangents))
    if (ir::isDifferentiable(primal.getType()))
      arguments.push_back({instantiate(c.fwd, op.getLoc(), {}, primal.getType()), dot});
  auto duals = linearizeBlock(c.engine, rule.getBody().front(), arguments, c.fwd, c.tan);
  if (failed(duals))
    return failure();
  unsigned next = op->getNumResults();
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    c.results.push_back((*duals)[i].primal);
    c.resultTangents.push_back(ir::isDifferentiable(op->getResult(i).getType()) ? (*duals)[next++].tangent : Value());
  }
  return success();
}

static LogicalResult customVjpJvp(JvpContext &c, ir::CustomVjpOp op) {
  return op.emitOpError("has no forward-mode derivative: @")
         << op.getCallee() << " defines its pull-back only; differentiate it in reverse, or give it a custom_jvp rule";
}

// fwd: y, residuals = f_fwd(x)      tan: y_dot = custom_lin[f_bwd](residuals, x_dot)
static LogicalResult customVjpLinearize(LinearizeContext &c) {
  auto op = cast<ir::CustomVjpOp>(c.op);
  if (failed(checkTangentTypes(op)))
    return failure();
  auto fwd = func::CallOp::create(c.fwd, c.engine.lookup(op.getFwd()), c.primals);
  unsigned numResults = op->getNumResults();
  SmallVector<Type> tangentTypes;
  for (Type type : op->getResultTypes())
    if (Type tangent = ir::tangentOf(type))
      tangentTypes.push_back(tangent);
  Mask active;
  for (auto [primal, dot] : llvm::zip_equal(c.primals, c.tangents))
    if (ir::isDifferentiable(ir::heldType(primal.getType())))
      active.push_back(bool(dot));
  SmallVector<Value> residuals = llvm::filter_to_vector(c.primals, [](Value v) { return isa<ir::RefType>(v.getType()); });
  llvm::append_range(residuals, fwd.getResults().drop_front(numResults));
  auto map = ir::CustomLinOp::create(c.tan, tangentTypes, op.getBwdAttr(), residuals, present(c.tangents),
                                     c.tan.getDenseBoolArrayAttr(active));
  unsigned next = 0;
  for (Value result : fwd.getResults().take_front(numResults)) {
    c.results.push_back(result);
    c.resultTangents.push_back(ir::isDifferentiable(result.getType()) ? map->getResult(next++) : Value());
  }
  return success();
}

// y_dot = custom_lin[bwd](r, x_dot);  x_bar += bwd(r, y_bar)
static LogicalResult customLinTranspose(TransposeContext &c, ir::CustomLinOp op) {
  unsigned numResiduals = op.getResiduals().size();
  SmallVector<Value> operands;
  for (unsigned i = 0; i < numResiduals; ++i)
    operands.push_back(c.nonlinear(i));
  for (auto [result, bar] : llvm::zip_equal(op->getResults(), c.resultBars))
    operands.push_back(instantiate(c.b, op.getLoc(), bar, result.getType()));
  auto call = func::CallOp::create(c.b, c.engine.lookup(op.getBwd()), operands);
  unsigned operand = numResiduals;
  for (auto [bar, isActive] : llvm::zip_equal(call.getResults(), op.getActive()))
    if (isActive)
      c.accumulate(operand++, bar);
  return success();
}

static LogicalResult customLinJvp(JvpContext &c, ir::CustomLinOp op) {
  return op.emitOpError("cannot be evaluated or differentiated: a custom_vjp function has no forward-mode derivative; "
                        "give it a custom_jvp rule");
}

void populateCallAutodiffRules(RuleRegistry &rules) {
  for (RuleSet *set : {&rules.of<func::CallOp>(), &rules.of<ir::CheckpointOp>()}) {
    set->jvp = callJvp;
    set->linearize = callLinearize;
  }
  rules.of<func::CallOp>().transpose = transposeRule(callTranspose);
  rules.of<ir::CustomJvpOp>().jvp = jvpRule(customJvpJvp);
  rules.of<ir::CustomJvpOp>().linearize = customJvpLinearize;
  rules.of<ir::CustomVjpOp>().jvp = jvpRule(customVjpJvp);
  rules.of<ir::CustomVjpOp>().linearize = customVjpLinearize;
  rules.of<ir::CustomLinOp>().jvp = jvpRule(customLinJvp);
  rules.of<ir::CustomLinOp>().transpose = transposeRule(customLinTranspose);
}

} // namespace hjx
