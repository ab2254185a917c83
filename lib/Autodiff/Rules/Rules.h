// SPDX-License-Identifier: Apache-2.0
//
// The differentiation and transposition rules, one file per op family.
//
// Each rule starts with its mathematics. A tangent is written as
// `coefficient * x_dot` with the coefficient computed from primals alone: then
// reverse mode keeps one residual, the coefficient, and nothing else.
#pragma once

#include "lib/Rules/Emit.h"
#include "lib/Rules/Registry.h"

namespace hjx {

void populateContractionAutodiffRules(RuleRegistry &rules);
void populateElementwiseAutodiffRules(RuleRegistry &rules);
void populateHigherOrderAutodiffRules(RuleRegistry &rules);
void populateHiTypesAutodiffRules(RuleRegistry &rules);
void populateMovementAutodiffRules(RuleRegistry &rules);
void populateRandomAutodiffRules(RuleRegistry &rules);
void populateReductionAutodiffRules(RuleRegistry &rules);
void populateRefsAutodiffRules(RuleRegistry &rules);

/// The tangent of an op that is linear in all its operands together: the same
/// op on the tangents, with zeros where some operands have none.
mlir::LogicalResult jvpOfLinear(JvpContext &c);

/// Marks ops whose results never have a tangent.
template <typename... Ops>
void markZeroTangent(RuleRegistry &rules) {
  ((rules.of<Ops>().hasZeroTangent = true), ...);
}

/// `op` with typed access, for rules written as functions of (context, op).
template <typename Op>
JvpRule jvpRule(mlir::LogicalResult (*rule)(JvpContext &, Op)) {
  return [rule](JvpContext &c) { return rule(c, mlir::cast<Op>(c.op)); };
}
template <typename Op>
TransposeRule transposeRule(mlir::LogicalResult (*rule)(TransposeContext &, Op)) {
  return [rule](TransposeContext &c) { return rule(c, mlir::cast<Op>(c.op)); };
}

} // namespace hjx
