// SPDX-License-Identifier: Apache-2.0
//
// Which values a forward program keeps for its linear program. Of the values
// that the linear program names, some are cheaper computed again from others:
//
//   y = tanh(x);  y_dot = (1 + y) * (1 - y) * x_dot
//
// names (1+y)*(1-y), but y is a result already, so nothing more need be kept.
// The choice is a minimum cut (VertexCut.h) between what cannot be computed
// again and what is named; only cheap ops (arithmetic, comparisons, changes of
// shape) may be computed again, never contractions or transcendental functions.
// Checkpointing is the same cut with other prices: all ops may be computed
// again, and only what the policy names may be kept, or what the author of a
// primitive keeps instead of its results (its remat rule).
#pragma once

#include "dialects/hjx/Hjx.h"

namespace hjx {

/// The prices of one choice of residuals.
struct ResidualPrices {
  /// May `op` run again in the linear program?
  llvm::function_ref<bool(mlir::Operation *)> canRecompute;
  /// Bytes that keeping `value` costs; VertexCut::kInfinite forbids it. Values
  /// that are there anyway (arguments, results) cost nothing.
  llvm::function_ref<int64_t(mlir::Value)> cost;
  /// Values of fwd that are computed again as another one of fwd, their twin, and in no other way.
  const llvm::DenseMap<mlir::Value, mlir::Value> *twins = nullptr;

  mlir::Value twinOf(mlir::Value value) const { return twins ? twins->lookup(value) : mlir::Value(); }
};

/// Emits again at the head of `tan` what is not kept; returns the values of
/// `fwd` that are, in order of first use. Dead ops of `tan` go first.
llvm::SmallVector<mlir::Value> captureResiduals(mlir::Block &fwd, mlir::Block &tan, const ResidualPrices &prices);

/// As above for everyday prices: cheap ops may run again, kept values cost their
/// size, those in `isFree` and those that fwd's terminator names nothing.
llvm::SmallVector<mlir::Value> captureResiduals(mlir::Block &fwd, mlir::Block &tan,
                                                llvm::function_ref<bool(mlir::Value)> isFree);

/// What checkpointing under `policy` captures. Runs the remat rules of primitives.
llvm::SmallVector<mlir::Value> captureResiduals(mlir::Block &fwd, mlir::Block &tan, ir::CheckpointPolicy policy);

/// Erases ops of `block` that nobody reads.
void eraseDeadOps(mlir::Block &block);

} // namespace hjx
