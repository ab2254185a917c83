// SPDX-License-Identifier: Apache-2.0
//
// The derivative of a program that runs at once, as in `vjp` outside of jit: what a
// traced program does in one module, forward and backward pass, is done in two.
//
//   @main(x):  y = f(x)        @main(x):          y, residuals       runs now
//                       ──▶    @lin(residuals, x_dot):  y_dot        is called, or transposed, by later programs
//
// The forward pass runs once, whatever becomes of the map; refs are written when it
// does, and those that the backward pass writes are residuals.
#pragma once

#include "lib/Autodiff/Linearize.h"
#include "lib/Execution/Executable.h"

namespace hjx {

struct SplitProgram {
  std::shared_ptr<const PlacedProgram> forward; ///< @main, with further results
  llvm::SmallVector<mlir::Type> furtherTypes; ///< of these, in `context`
  std::shared_ptr<mlir::MLIRContext> context;
  llvm::SmallVector<Residual> residuals; ///< arguments and results of forward, the first arguments of linear
  std::string linear;                    ///< text of a module: a public function, and what it calls
  llvm::SmallVector<bool> hasTangent;    ///< per result that has a tangent type; those of others are zero
};

/// What becomes of the linear program: where a primitive has rules for tangents and for cotangents, it
/// holds the one or the other.
enum class LinearUse { Push, Pull };

/// The forward program and the linear one of @main of a traced module's text, for the arguments that
/// are `active`; made once for all calls with equal text. The linear one is for `use`.
///
/// Errors: INVALID_ARGUMENT with the diagnostics and their locations.
/// Threads: may be called from several threads at once.
absl::StatusOr<std::shared_ptr<const SplitProgram>> findOrSplit(const std::string &text, llvm::ArrayRef<bool> active, LinearUse use);

} // namespace hjx
