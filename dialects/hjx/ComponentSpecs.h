// SPDX-License-Identifier: Apache-2.0
//
// Where the components of a mapped value are mapped. Types say it themselves:
// the lo types of t and of inc_rank(t, size, spec) differ by one axis each. The
// question is asked with a size that no array has, so that the answer is unique.
#pragma once

#include "dialects/hjx/HiTypes.h"

namespace hjx::ir {

/// For each component of `element`, how it is mapped in a value that is mapped as `spec` says: the
/// axis of an array, the spec of a hi-type, or null for one that elements share.
///
/// Errors: a diagnostic when the type cannot be mapped so, or its mapped form is not made of the same
///         components with one more axis.
mlir::FailureOr<llvm::SmallVector<mlir::Attribute>> componentSpecs(HiType element, mlir::Attribute spec, EmitError emitError);

/// How the tangent of a value mapped as `spec` says is mapped.
mlir::FailureOr<mlir::Attribute> tangentSpec(mlir::Type element, mlir::Attribute spec, EmitError emitError);

} // namespace hjx::ir
