// SPDX-License-Identifier: Apache-2.0
//
// Linearize: from one program, two. For y = x * sin(x):
//
//   fwd(x):                      lin(x, s, c, x_dot):
//     s = sin x                    a = x_dot * s
//     y = x * s                    b = c * x_dot
//     c = cos x      (from the     d = x * b
//                     jvp rule)    y_dot = a + d
//     return y, s, c               return y_dot
//
// Each op is cloned at `fwd`; then its jvp rule runs there too, and those ops it
// emitted that read a tangent move to `tan` (*routing*): what is left in fwd
// depends on primals alone, what moved is linear in the tangents. That is all
// the partial evaluation ever needed. Values of fwd that tan names at the end
// are the *residuals* (Residuals.h chooses them). A residual that is already an
// argument or a result of fwd costs nothing; any other becomes a further result.
//
// Ops with regions or callees have a `linearize` rule of their own.
//
// Checkpointing is a policy on residuals: those that the policy does not allow
// are computed again in lin from those that it does, behind an opt_barrier. It
// looks at the checkpointed function's own ops: a call or a loop in it counts as
// one op, which is run again whole.
#pragma once

#include "lib/Autodiff/Jvp.h"
#include "lib/Rules/Registry.h"

namespace hjx {

/// Where a residual comes from: argument or result `index` of fwd.
struct Residual {
  bool isArgument;
  unsigned index;
};

/// `fwd` takes f's arguments and returns f's results, then new residuals.
/// `lin` takes the residuals, then the tangents of active arguments; it returns
/// the tangents of the results in `hasTangent`; the others' are zero.
struct LinearizedFunction {
  mlir::func::FuncOp fwd, lin;
  llvm::SmallVector<Residual> residuals;
  llvm::SmallVector<bool> hasTangent;

  /// The residuals' values at a call of fwd.
  llvm::SmallVector<mlir::Value> residualsOf(mlir::ValueRange arguments, mlir::ValueRange results) const {
    return llvm::map_to_vector(residuals,
                               [&](Residual r) { return r.isArgument ? arguments[r.index] : results[r.index]; });
  }
};

/// Emits `block`'s values at `fwd` and their tangents at `tan`, both at the end
/// of their blocks; returns those of its terminator's operands. `tan`'s ops may
/// name `fwd`'s values afterwards. With `wanted`, the operands that are not have no
/// tangent, and neither has what serves them alone.
mlir::FailureOr<llvm::SmallVector<Dual>> linearizeBlock(Autodiff &engine, mlir::Block &block,
                                                        llvm::ArrayRef<Dual> arguments, mlir::OpBuilder &fwd,
                                                        mlir::OpBuilder &tan, llvm::ArrayRef<bool> wanted = {});

/// What ops without a linearize rule get, for rules that decline: the primal op in fwd, and what of
/// its jvp rule reads a tangent moved to tan.
mlir::LogicalResult linearizeThroughJvp(LinearizeContext &c);

} // namespace hjx
