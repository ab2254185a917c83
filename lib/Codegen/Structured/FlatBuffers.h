// SPDX-License-Identifier: Apache-2.0
//
// Kernels address every buffer by one number: a rank-1 buffer from the first element to the last
// that strides reach.
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"

namespace hjx {

/// The rank-1 buffer that begins at the first element of `buffer` and covers it.
mlir::Value flatten(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer);

/// Replaces a buffer that lives within a row of a group by one as long as a row's stretch, which
/// `make` makes for an element type and a number of elements; `flatBuffers` learns of it.
void keepOneRow(mlir::Value buffer, llvm::MutableArrayRef<LoopNest> nests,
                mlir::IRMapping &flatBuffers,
                llvm::function_ref<mlir::Value(mlir::Type, int64_t)> make);

/// Erases `ops`, then what is dead without them: buffers of full size, and their views.
void eraseWithBuffers(llvm::ArrayRef<mlir::linalg::GenericOp> ops, mlir::Block &body);

/// number % radix, leaving number / radix; the slowest digit (no more to come) is what is left.
mlir::Value takeDigit(mlir::ImplicitLocOpBuilder &b, mlir::Value &number, int64_t radix,
                      bool hasMore);

/// Sizes of the digits of the row in which `nest` counts, slowest first, once its rows are split.
llvm::SmallVector<int64_t> rowDigits(const LoopNest &nest);

/// The iterations of all row loops of `nest` together.
int64_t numRowsOf(const LoopNest &nest);

} // namespace hjx
