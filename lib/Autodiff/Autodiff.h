// SPDX-License-Identifier: Apache-2.0
//
// The autodiff engine: three functions on functions, from which every
// derivative request is made. A worked example, f(x) = x * sin(x):
//
//   jvp        @f.jvp.1(x, x_dot):   s = sin x; c = cos x
//                                    return x*s, x_dot*s + x*(c*x_dot)
//   linearize  @f.fwd.1(x):          s = sin x; c = cos x; return x*s, s, c
//              @f.lin.1(x, s, c, x_dot):  return x_dot*s + x*(c*x_dot)
//   transpose  @f.lin.1.transpose(x, s, c, y_bar):  return y_bar*s + (y_bar*x)*c
//
// Forward mode is jvp. Reverse mode is linearize, then transpose of the linear
// function: each op needs one differentiation rule (jvp) and, only if it is
// linear, one transposition rule. Nothing records a tape and nothing evaluates
// partially: linearize writes two programs at once (Linearize.h).
//
// A function is transformed once for each (transform, mask); the copies are
// private functions named after both. Functions are never edited in place.
// After Radul et al. 2022, "You Only Linearize Once", and JAX's direct linearize.
#pragma once

#include "lib/Autodiff/Jvp.h"
#include "lib/Autodiff/Linearize.h"
#include "lib/Autodiff/Transpose.h"
#include "lib/Rules/Registry.h"
#include "lib/Transforms/Simplify.h"

#include "llvm/Support/SaveAndRestore.h"

namespace hjx {

class Autodiff {
public:
  /// New functions go into `module`.
  Autodiff(mlir::ModuleOp module, const RuleRegistry &rules)
      : module(module), rules(rules), simplifier(module.getContext()) {}

  /// f's values and tangents, where the arguments in `active` have a tangent.
  mlir::FailureOr<JvpFunction> jvp(mlir::func::FuncOp f, llvm::ArrayRef<bool> active);

  /// f's values and its derivative as a linear function. `policy` says which
  /// values the linear function may receive; it computes the others again. `wanted`:
  /// the results that have a tangent, if not all.
  mlir::FailureOr<LinearizedFunction>
  linearize(mlir::func::FuncOp f, llvm::ArrayRef<bool> active,
            ir::CheckpointPolicy policy = ir::CheckpointPolicy::EverythingSaveable, llvm::ArrayRef<bool> wanted = {});

  /// As linearize, for a linear function that will be evaluated: where a primitive has rules for
  /// tangents and for cotangents, the latter would be in the way.
  mlir::FailureOr<LinearizedFunction> linearizeToPush(mlir::func::FuncOp f, llvm::ArrayRef<bool> active) {
    llvm::SaveAndRestore push(isPushing, true);
    return linearize(f, active);
  }
  /// True in rules that linearizeToPush calls.
  bool isPushed() const { return isPushing; }

  /// The transpose of f, linear in the arguments in `isLinear`, for cotangents
  /// of the results in `hasBar`; those of the others are zero. `sinks`: per
  /// argument, of which only the kind counts.
  mlir::FailureOr<TransposedFunction> transpose(mlir::func::FuncOp f, llvm::ArrayRef<bool> isLinear,
                                                llvm::ArrayRef<bool> hasBar, llvm::ArrayRef<BarSink> sinks = {});

  /// The function of this name; verified IR has it.
  mlir::func::FuncOp lookup(llvm::StringRef name) const {
    return mlir::cast<mlir::func::FuncOp>(mlir::SymbolTable::lookupSymbolIn(module, name));
  }
  const RuleSet *rulesOf(mlir::Operation *op) const { return rules.find(op); }

  /// Erases the functions made here that nothing names.
  void eraseUnused();

private:
  mlir::func::FuncOp createFunction(mlir::Location loc, llvm::StringRef name, mlir::TypeRange arguments);
  /// Erases half-written functions after an error; they may name each other's values.
  void discard(llvm::ArrayRef<mlir::func::FuncOp> functions);

  mlir::ModuleOp module;
  const RuleRegistry &rules;
  Simplifier simplifier;
  bool isPushing = false;
  llvm::StringMap<JvpFunction> jvps;
  llvm::StringMap<LinearizedFunction> linearized;
  llvm::StringMap<TransposedFunction> transposed;
  llvm::SmallVector<mlir::func::FuncOp> created;
};

/// "101" for {true, false, true}.
std::string maskName(llvm::ArrayRef<bool> mask);

/// Fails, located, unless `f` has a body of one block.
mlir::LogicalResult checkDifferentiable(mlir::func::FuncOp f);

} // namespace hjx
