// SPDX-License-Identifier: Apache-2.0
//
// Primitives: their author's rules. PrimitiveDef checks what they return.
//
//   jvp                        forward mode
//   linearize, linearized      the same in halves: y, r = linearize(x) in the values'
//                              program, y_dot = linearized(r, x_dot) in the linear one
//   vjp_forward, vjp_backward  reverse mode: y, r = forward(x) in the values' program;
//                              in the linear one hjx.primitive_lin, whose transpose is
//                              backward(r, y_bar)
//   transpose                  of a primitive that stands in a linear program; of one operand
//                              that may have a tangent, it says forward mode as well: y_dot is
//                              the primitive of x_dot
//
// One of the first two serves both modes. Where there are rules for cotangents as
// well, a linear program that will be transposed takes those, and one that will be
// evaluated does not (Autodiff::isPushed).
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Linearity.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

using Rule = ir::PrimitiveDef::Rule;

static std::string quotedName(ir::CallPrimitiveOp op) { return '"' + op.getPrimitive().str() + "\" "; }
static InFlightDiagnostic fault(ir::CallPrimitiveOp op) { return op.emitOpError(quotedName(op)); }

static bool hasTangents(Operation *op) { return llvm::any_of(op->getResultTypes(), ir::isDifferentiable); }

/// The operand in which a primitive with a transposition is linear: the only one that may have a
/// tangent, which is a value like it. None if the author must say more.
static std::optional<unsigned> linearOperand(ir::CallPrimitiveOp op) {
  auto isOwnTangent = [](Type type) { return ir::tangentOf(type) == type; };
  if (!op.getDef().has(Rule::Transpose) || llvm::count_if(op->getOperandTypes(), ir::isDifferentiable) != 1 ||
      !llvm::all_of(op->getResultTypes(), isOwnTangent))
    return std::nullopt;
  unsigned index = std::distance(op->operand_type_begin(), llvm::find_if(op->getOperandTypes(), ir::isDifferentiable));
  return isOwnTangent(op->getOperand(index).getType()) ? std::optional(index) : std::nullopt;
}

static LogicalResult primitiveJvp(JvpContext &c, ir::CallPrimitiveOp op) {
  if (failed(checkTangentTypes(op, quotedName(op))))
    return failure();
  if (!hasTangents(op))
    return success();
  const ir::PrimitiveDef &def = op.getDef();
  SmallVector<Value> results, dots, residuals;
  if (def.has(Rule::Jvp)) {
    if (failed(def.jvp(c.b, op.getCall(), op.getOperands(), c.tangents, results, dots)))
      return failure();
  } else if (def.has(Rule::Linearize)) {
    ir::PrimitiveCall call = op.getCall();
    call.active = isPresent(c.tangents);
    if (failed(def.linearize(c.b, call, op.getOperands(), call.active, results, residuals)) ||
        failed(def.linearized(c.b, call, residuals, c.tangents, dots)))
      return failure();
  } else if (def.has(Rule::Vjp)) {
    return fault(op) << "has no forward-mode derivative: it defines its pull-back only; differentiate it in reverse, or give it a jvp "
                        "rule";
  } else if (std::optional<unsigned> linear = linearOperand(op)) {
    SmallVector<Value> operands(op.getOperands());
    operands[*linear] = c.tangents[*linear];
    auto dot = ir::CallPrimitiveOp::create(c.b, op->getResultTypes(), op.getPrimitiveAttr(), operands, op.getParamsAttr());
    results.append(op->result_begin(), op->result_end());
    dots.append(dot->result_begin(), dot->result_end());
  } else {
    return fault(op) << "has no derivative; give it a jvp rule, or vjp_forward and vjp_backward";
  }
  llvm::copy(results, c.results.begin());
  for (auto [i, dot] : llvm::enumerate(dots))
    c.setTangent(i, dot);
  return success();
}

static LogicalResult linearizeByHalves(LinearizeContext &c) {
  auto op = cast<ir::CallPrimitiveOp>(c.op);
  ir::PrimitiveCall call = op.getCall();
  call.active = isPresent(c.tangents);
  SmallVector<Value> residuals;
  return failure(failed(op.getDef().linearize(c.fwd, call, c.primals, call.active, c.results, residuals)) ||
                 failed(op.getDef().linearized(c.tan, call, residuals, c.tangents, c.resultTangents)));
}

static LogicalResult linearizeByPullBack(LinearizeContext &c, ir::CallPrimitiveOp op) {
  Mask active = isPresent(c.tangents);
  SmallVector<Value> residuals;
  if (failed(op.getDef().vjpForward(c.fwd, op.getCall(), c.primals, active, c.results, residuals)))
    return failure();
  SmallVector<Type> tangentTypes;
  for (Type type : op->getResultTypes())
    if (Type tangent = ir::tangentOf(type))
      tangentTypes.push_back(tangent);
  auto signature = FunctionType::get(op.getContext(), op.getOperandTypes(), op->getResultTypes());
  auto map = ir::PrimitiveLinOp::create(c.tan, tangentTypes, op.getPrimitiveAttr(), TypeAttr::get(signature), residuals,
                                        present(c.tangents), c.tan.getDenseBoolArrayAttr(active), op.getParamsAttr());
  unsigned next = 0;
  for (Type type : op->getResultTypes())
    c.resultTangents.push_back(ir::isDifferentiable(type) ? map->getResult(next++) : Value());
  return success();
}

/// What an author's rule has put into a program that will be transposed must be linear; one that will be
/// evaluated (Autodiff::isPushed) does what the rule says in any case.
static LogicalResult linearizeByTangents(LinearizeContext &c, ir::CallPrimitiveOp op, LogicalResult (*linearize)(LinearizeContext &)) {
  using Place = std::pair<Block *, Operation *>;
  auto placeOf = [](OpBuilder &b) {
    Block *block = b.getInsertionBlock();
    return Place(block, block->empty() ? nullptr : &block->back());
  };
  Place places[] = {placeOf(c.fwd), placeOf(c.tan)};
  if (failed(linearize(c)))
    return failure();
  if (c.engine.isPushed())
    return success();
  SmallVector<Operation *> made;
  for (auto [block, before] : places)
    for (Operation &each : llvm::make_range(before ? std::next(before->getIterator()) : block->begin(), block->end()))
      made.push_back(&each);
  return checkLinearRule(c.engine, op, made, c.tangents, c.resultTangents);
}

static LogicalResult primitiveLinearize(LinearizeContext &c) {
  auto op = cast<ir::CallPrimitiveOp>(c.op);
  if (failed(checkTangentTypes(op, quotedName(op))))
    return failure();
  const ir::PrimitiveDef &def = op.getDef();
  bool hasTangentRule = def.has(Rule::Jvp) || def.has(Rule::Linearize);
  if (hasTangents(op) && def.has(Rule::Vjp) && !(c.engine.isPushed() && hasTangentRule))
    return linearizeByPullBack(c, op);
  bool hasHalves = hasTangents(op) && def.has(Rule::Linearize);
  return linearizeByTangents(c, op, hasHalves ? linearizeByHalves : linearizeThroughJvp);
}

static LogicalResult primitiveTranspose(TransposeContext &c, ir::CallPrimitiveOp op) {
  if (!op.getDef().has(Rule::Transpose))
    return fault(op) << "stands in a linear program but has no transpose rule; give it one, or vjp_forward and vjp_backward";
  SmallVector<Value> operands, bars;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(c.isLinear(i) ? Value() : c.nonlinear(i));
  if (failed(op.getDef().transpose(c.b, op.getCall(), operands, c.resultBars, bars)))
    return failure();
  for (auto [i, bar] : llvm::enumerate(bars))
    if (bar && c.isLinear(i))
      c.accumulate(i, bar);
  return success();
}

// y_dot = primitive_lin(r, x_dot);  x_bar += backward(r, y_bar), where somebody wants x_bar
static LogicalResult primitiveLinTranspose(TransposeContext &c, ir::PrimitiveLinOp op) {
  unsigned numResiduals = op.getResiduals().size(), next = numResiduals;
  ir::PrimitiveCall call = op.getCall();
  SmallVector<Value> residuals, bars, operandBars;
  for (unsigned i = 0; i < numResiduals; ++i)
    residuals.push_back(c.nonlinear(i));
  ArrayRef<Value> resultBars = c.resultBars;
  for (Type type : call.resultTypes) {
    bool hasBar = ir::isDifferentiable(type);
    bars.push_back(hasBar ? resultBars.front() : Value());
    resultBars = resultBars.drop_front(hasBar);
  }
  SmallVector<BarSink> sinks;
  for (bool isActive : call.active)
    sinks.push_back(isActive ? c.sink(next++) : BarSink{BarSink::None, {}});
  if (llvm::all_of(sinks, [](const BarSink &sink) { return sink.kind == BarSink::None; }))
    return success();
  if (failed(op.getDef().vjpBackward(c.b, call, residuals, bars, sinks, operandBars)))
    return failure();
  next = numResiduals;
  for (auto [bar, isActive] : llvm::zip_equal(operandBars, call.active))
    if (isActive)
      c.accumulate(next++, bar);
  return success();
}

static LogicalResult primitiveLinJvp(JvpContext &, ir::PrimitiveLinOp op) {
  return op.emitOpError("\"") << op.getPrimitive()
                              << "\" cannot be differentiated: it defines its pull-back only; give it a jvp rule";
}

void populateHiTypesAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::CallPrimitiveOp>().jvp = jvpRule(primitiveJvp);
  rules.of<ir::CallPrimitiveOp>().linearize = primitiveLinearize;
  rules.of<ir::CallPrimitiveOp>().transpose = transposeRule(primitiveTranspose);
  rules.of<ir::PrimitiveLinOp>().jvp = jvpRule(primitiveLinJvp);
  rules.of<ir::PrimitiveLinOp>().transpose = transposeRule(primitiveLinTranspose);
}

} // namespace hjx
