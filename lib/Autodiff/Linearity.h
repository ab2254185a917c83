// SPDX-License-Identifier: Apache-2.0
//
// Is a user's rule linear in its tangents? Reverse mode transposes the rule, which has a meaning
// for linear functions alone: of x_dot * x_dot or x_dot + 1 it would make a wrong gradient in
// silence. Each value of the rule is one of four, joined over loops and branches to a fixpoint:
//
//   other                      x_dot * x_dot, sin(x_dot), x_dot + 1, whatever reads such a value
//   constant     linear        cos(x)        c * x_dot
//          zero                a literal zero, and what is linear in it: at home on both sides
//
// An op that has a transposition rule is linear in its float operands together, a product in each
// of its two, a quotient in the first, a call of a primitive where its author says. JAX refuses what
// it cannot transpose and lets x_dot + 1 pass.
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

class Autodiff;

/// Fails, located, unless the rule of `request` gives results that do not depend on its tangents
/// and tangents that are linear in them.
mlir::LogicalResult checkLinearRule(Autodiff &engine, ir::CustomJvpOp request);

/// The same of a primitive's author, whose rule has made these ops, the tangents `dots` among their
/// results. Null tangents are zero.
mlir::LogicalResult checkLinearRule(Autodiff &engine, ir::CallPrimitiveOp request, llvm::ArrayRef<mlir::Operation *> made,
                                    llvm::ArrayRef<mlir::Value> tangents, llvm::ArrayRef<mlir::Value> dots);

} // namespace hjx
