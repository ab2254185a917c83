// SPDX-License-Identifier: Apache-2.0
//
// What an op does besides computing results. In this dialect that is what it does with refs, and
// those are operands.
#pragma once

#include "mlir/IR/Operation.h"

namespace hjx::ir {

bool takesRef(mlir::Operation *op);

/// What a ref of `type` holds; `type` itself if it is no ref.
mlir::Type heldType(mlir::Type type);

/// True for an op that may go when nobody reads its results. A call does with its refs what its
/// function does, and has no other effects.
bool isRemovable(mlir::Operation *op);

} // namespace hjx::ir
