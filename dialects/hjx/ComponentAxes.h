// SPDX-License-Identifier: Apache-2.0
//
// Where the components of a mapped value are mapped. Types say it themselves:
// the lo types of t and of inc_rank(t, size, spec) differ by one axis each. The
// question is asked with a size that no array has, so that the answer is unique.
#pragma once

#include "dialects/hjx/HiTypes.h"

#include <optional>

namespace hjx::ir {

/// For each array that values of `element` become, its axis in a value mapped as `spec` says; none
/// where elements share it.
///
/// Errors: a diagnostic when the type cannot be mapped so, or its mapped form is not made of the same
///         components with one more axis.
mlir::FailureOr<llvm::SmallVector<std::optional<int64_t>>> componentAxes(mlir::Type element, mlir::Attribute spec,
                                                                         EmitError emitError);

} // namespace hjx::ir
