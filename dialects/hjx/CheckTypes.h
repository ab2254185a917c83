// SPDX-License-Identifier: Apache-2.0
//
// The comparison of type lists that verifiers of regions and of callees share.
#pragma once

#include "mlir/IR/Operation.h"

namespace hjx::ir {

/// Checks `got` against `expected`, element by element; the error names `what` and the first
/// difference.
mlir::LogicalResult checkTypes(mlir::Operation *op, const llvm::Twine &what, mlir::TypeRange expected,
                               mlir::TypeRange got);

} // namespace hjx::ir
