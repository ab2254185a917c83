// SPDX-License-Identifier: Apache-2.0
//
// Primitives: their author's rules.
//
//   jvp                        forward mode; in reverse, linearized like any rule
//   vjp_forward, vjp_backward  reverse mode: y, r = forward(x) in the values'
//                              program; in the linear one hjx.custom_lin, whose
//                              transpose calls backward(r, y_bar)
//   transpose                  of a primitive that stands in a linear program
//
// What a rule returns is checked: an error names primitive, rule and both types.
#include "lib/Autodiff/Activity.h"
#include "lib/Autodiff/Autodiff.h"
#include "lib/Autodiff/Rules/HigherOrder.h"
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

using Rule = ir::PrimitiveDef::Rule;

static InFlightDiagnostic fault(ir::CallPrimitiveOp op) { return op.emitOpError("\"") << op.getPrimitive() << "\" "; }

/// `values` against the types of values or, with `areTangents`, of tangents of values of `types`;
/// null is allowed for a tangent.
static LogicalResult checkRule(ir::CallPrimitiveOp op, StringRef rule, StringRef what, ArrayRef<Value> values, TypeRange types,
                               bool areTangents) {
  if (values.size() != types.size())
    return fault(op) << rule << ": expected " << types.size() << " " << what << "s, got " << values.size();
  for (auto [i, value] : llvm::enumerate(values)) {
    Type expected = areTangents ? ir::tangentOf(types[i]) : types[i];
    if (!value && areTangents)
      continue;
    if (!value || !expected || value.getType() != expected) {
      InFlightDiagnostic diagnostic = fault(op) << rule << ": expected ";
      expected ? diagnostic << what << " " << i << " of type " << expected : diagnostic << "no " << what << " " << i;
      value ? diagnostic << ", got " << value.getType() : diagnostic << ", got none";
      return diagnostic;
    }
  }
  return success();
}

static bool hasTangents(Operation *op) { return llvm::any_of(op->getResultTypes(), ir::isDifferentiable); }

static LogicalResult primitiveJvp(JvpContext &c, ir::CallPrimitiveOp op) {
  if (!hasTangents(op))
    return success();
  const ir::PrimitiveDef &def = op.getDef();
  if (!def.has(Rule::Jvp) && def.has(Rule::Vjp))
    return fault(op) << "has no forward-mode derivative: it defines its pull-back only; differentiate it in reverse, or give it a jvp "
                         "rule";
  if (!def.has(Rule::Jvp))
    return fault(op) << "has no derivative: give it a jvp rule, or vjp_forward and vjp_backward";
  SmallVector<Value> results, dots;
  if (failed(def.jvp(c.b, op.getCall(), op.getOperands(), c.tangents, results, dots)) ||
      failed(checkRule(op, "jvp", "result", results, op.getResultTypes(), false)) ||
      failed(checkRule(op, "jvp", "tangent", dots, op.getResultTypes(), true)))
    return failure();
  llvm::copy(results, c.results.begin());
  for (auto [i, dot] : llvm::enumerate(dots))
    c.setTangent(i, dot);
  return success();
}

/// backward as a function (residuals, a cotangent for each result that has one) -> a cotangent for
/// each operand that has one.
static FailureOr<func::FuncOp> backwardFunction(LinearizeContext &c, ir::CallPrimitiveOp op, ArrayRef<Value> residuals,
                                                ArrayRef<bool> wanted) {
  SmallVector<Type> types(ValueRange(residuals).getTypes());
  for (Type type : op->getResultTypes())
    if (Type tangent = ir::tangentOf(type))
      types.push_back(tangent);
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange arguments) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> bars, operandBars;
    unsigned next = residuals.size();
    for (Type type : op->getResultTypes())
      bars.push_back(ir::isDifferentiable(type) ? arguments[next++] : Value());
    if (failed(op.getDef().vjpBackward(b, op.getCall(), arguments.take_front(residuals.size()), bars, wanted, operandBars)) ||
        failed(checkRule(op, "vjp_backward", "cotangent", operandBars, op.getOperandTypes(), true)))
      return failure();
    SmallVector<Value> returned;
    for (auto [bar, type] : llvm::zip_equal(operandBars, op.getOperandTypes()))
      if (ir::isDifferentiable(type))
        returned.push_back(instantiate(b, b.getLoc(), bar, type));
    return returned;
  };
  return c.engine.addFunction(op.getLoc(), (op.getPrimitive() + ".backward").str(), types, body);
}

static LogicalResult primitiveLinearize(LinearizeContext &c) {
  auto op = cast<ir::CallPrimitiveOp>(c.op);
  const ir::PrimitiveDef &def = op.getDef();
  if (!hasTangents(op) || !def.has(Rule::Vjp))
    return linearizeThroughJvp(c);
  Mask wanted = isPresent(c.tangents);
  SmallVector<Value> residuals;
  if (failed(def.vjpForward(c.fwd, op.getCall(), c.primals, wanted, c.results, residuals)) ||
      failed(checkRule(op, "vjp_forward", "result", c.results, op.getResultTypes(), false)))
    return failure();
  auto backward = backwardFunction(c, op, residuals, wanted);
  if (failed(backward))
    return failure();
  SmallVector<Type> tangentTypes;
  for (Type type : op->getResultTypes())
    if (Type tangent = ir::tangentOf(type))
      tangentTypes.push_back(tangent);
  Mask active;
  for (auto [type, isWanted] : llvm::zip_equal(op.getOperandTypes(), wanted))
    if (ir::isDifferentiable(type))
      active.push_back(isWanted);
  auto map = ir::CustomLinOp::create(c.tan, tangentTypes, FlatSymbolRefAttr::get(*backward), residuals, present(c.tangents),
                                     c.tan.getDenseBoolArrayAttr(active));
  unsigned next = 0;
  for (Type type : op->getResultTypes())
    c.resultTangents.push_back(ir::isDifferentiable(type) ? map->getResult(next++) : Value());
  return success();
}

static LogicalResult primitiveTranspose(TransposeContext &c, ir::CallPrimitiveOp op) {
  if (!op.getDef().has(Rule::Transpose))
    return fault(op) << "stands in a linear program but has no transpose rule; give it one, or vjp_forward and vjp_backward";
  SmallVector<Value> operands, bars;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(c.isLinear(i) ? Value() : c.nonlinear(i));
  if (failed(op.getDef().transpose(c.b, op.getCall(), operands, c.resultBars, bars)) ||
      failed(checkRule(op, "transpose", "cotangent", bars, op.getOperandTypes(), true)))
    return failure();
  for (auto [i, bar] : llvm::enumerate(bars))
    if (bar && c.isLinear(i))
      c.accumulate(i, bar);
  return success();
}

void populateHiTypesAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::CallPrimitiveOp>().jvp = jvpRule(primitiveJvp);
  rules.of<ir::CallPrimitiveOp>().linearize = primitiveLinearize;
  rules.of<ir::CallPrimitiveOp>().transpose = transposeRule(primitiveTranspose);
}

} // namespace hjx
