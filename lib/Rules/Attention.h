// SPDX-License-Identifier: Apache-2.0
//
// Attention written out in other ops: what targets without kernels of its own
// compute, and what second derivatives are made from. Several verbs need it.
#pragma once

#include "dialects/hjx/Attention.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx {

/// Whether `op` is attention, its tangent or its cotangent.
bool isAttention(mlir::Operation *op);

/// Emits what `op`, one of these, computes; returns its results. A result that nobody uses is null.
llvm::SmallVector<mlir::Value> decomposeAttention(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op);

} // namespace hjx
