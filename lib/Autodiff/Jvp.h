// SPDX-License-Identifier: Apache-2.0
//
// Forward mode: one walk that clones each op and lets its jvp rule emit the
// tangents right after it.
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

class Autodiff;
struct RuleSet;

/// A value and its tangent; a null tangent is a symbolic zero, for which
/// nothing is emitted until a boundary needs an array.
struct Dual {
  mlir::Value primal, tangent;
};

/// What the values of a block became, while it is walked.
class DualValues {
public:
  DualValues(mlir::Block &block, llvm::ArrayRef<Dual> arguments) { set(block.getArguments(), arguments); }

  void set(mlir::ValueRange originals, llvm::ArrayRef<Dual> duals);
  /// Null for symbolic zeros.
  llvm::SmallVector<mlir::Value> tangentsOf(mlir::ValueRange originals) const;
  llvm::SmallVector<Dual> lookup(mlir::ValueRange originals) const;

  mlir::IRMapping primals; ///< cloning an op through it records the clone's results

private:
  llvm::DenseMap<mlir::Value, mlir::Value> tangents;
};

/// `function` takes the primals, then the tangents of the active arguments; it
/// returns the results, then the tangents of those in `hasTangent`. The other
/// results' tangents are zero.
struct JvpFunction {
  mlir::func::FuncOp function;
  llvm::SmallVector<bool> hasTangent;
};

/// Emits at `builder` the values and tangents of `block`'s ops; returns those of
/// its terminator's operands.
mlir::FailureOr<llvm::SmallVector<Dual>> jvpBlock(Autodiff &engine, mlir::Block &block, llvm::ArrayRef<Dual> arguments,
                                                  mlir::OpBuilder &builder);

/// Runs the jvp rule of `primal`, an op just emitted whose operands have
/// `tangents`; fills values and tangents of the results. Diagnostics are at `primal`.
mlir::LogicalResult applyJvpRule(Autodiff &engine, const RuleSet *rules, mlir::Operation *primal,
                                 llvm::ArrayRef<mlir::Value> tangents, mlir::OpBuilder &builder,
                                 llvm::SmallVectorImpl<Dual> &results);

/// `tangent`, or, for a symbolic zero, the zero of the tangents of values of `type`.
mlir::Value instantiate(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tangent, mlir::Type type);

} // namespace hjx
