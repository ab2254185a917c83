// SPDX-License-Identifier: Apache-2.0
//
// What a check op says about values, wherever they were computed. The
// interpreter asks for each check op it meets; a compiled program returns the
// operands of its check ops and its runner asks afterwards.
#pragma once

#include "dialects/check/Check.h"
#include "lib/Interpreter/HostArray.h"

namespace hjx {

/// Compares the values of a check op's operands under its tolerances.
///
/// Errors: a diagnostic at `op` that counts the elements that differ, with a
///         note for each of the first few.
mlir::LogicalResult compareCheckOperands(mlir::Operation *op, llvm::ArrayRef<HostArray> operands);

} // namespace hjx
