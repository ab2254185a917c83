// SPDX-License-Identifier: Apache-2.0
//
// Moving what a value is computed from to where the value is wanted earlier.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

/// Whether `op` computes something, or allocates, and touches no memory: it can run anywhere behind its operands.
bool isMovable(mlir::Operation *op);

/// Whether `value` can be had at `position`: it is there, or comes from movable ops of the same block.
bool canMoveBefore(mlir::Value value, mlir::Operation *position);

/// Moves what `value` comes from before `position`, if it stands behind it.
void moveBefore(mlir::Value value, mlir::Operation *position);

} // namespace hjx
