// SPDX-License-Identifier: Apache-2.0
//
// Cuts a module at the machine stage into parts of about equal size, so that LLVM,
// which works on one module with one thread, can use all of them. Functions are
// never cut; what a part calls or addresses in another is declared.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

/// Returns at most `numParts` modules that together hold what `module` holds. Functions that were
/// local to it become visible to the linker; constants that only code refers to are repeated.
llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> splitModule(mlir::ModuleOp module,
                                                                 unsigned numParts);

} // namespace hjx
