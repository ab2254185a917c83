// SPDX-License-Identifier: Apache-2.0
//
// Attention written out in other ops: what targets without kernels of its own
// compute, and what second derivatives are made from; and with more features. Several verbs need it.
#pragma once

#include "dialects/hjx/Attention.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <string>

namespace hjx {

/// Whether `op` is attention, its tangent or its cotangent.
bool isAttention(mlir::Operation *op);

/// Of a head: those of queries and keys, and those of values.
std::pair<int64_t, int64_t> featuresOf(mlir::Operation *attention);
/// What the scores take in memory where they are stored: in the type of logsumexp.
int64_t scoresBytes(mlir::Operation *attention);

/// What a target has for attention, its tangent or its cotangent.
struct AttentionSupport {
  int64_t features = 0; ///< of the heads in its kernels: the op's, or more, of which the others are zeros; 0 without a kernel
  std::string refusal;  ///< then "expected X, got Y", and a remedy; empty where nothing is lost
};
using AttentionSupportOf = AttentionSupport (*)(mlir::Operation *);

/// Emits what `op`, one of these, computes; returns its results. A result that nobody uses is null.
llvm::SmallVector<mlir::Value> decomposeAttention(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op);

/// Emits the same op on heads of `features`, of which those that `op` does not have are zeros: no product, so
/// no score, sees them. Returns its results without them.
llvm::SmallVector<mlir::Value> padAttention(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op, int64_t features);

} // namespace hjx
