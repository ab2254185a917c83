// SPDX-License-Identifier: Apache-2.0
//
// Stages of a traced module that tools and the frontend ask for by name.
#pragma once

#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace hjx {

/// Brings a traced module to the stage pure: jvp, vjp, vmap and the other requests become calls
/// of new private functions.
///
/// Errors: INVALID_ARGUMENT with the diagnostics and their locations.
absl::Status expandTransforms(mlir::ModuleOp traced);

} // namespace hjx
