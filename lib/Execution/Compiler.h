// SPDX-License-Identifier: Apache-2.0
//
// Stages of a traced module that tools and the frontend ask for by name.
#pragma once

#include "lib/Execution/Executable.h"

namespace hjx {

/// The program of a module's text at the traced stage, in a context of its own.
absl::StatusOr<Program> parseProgram(const std::string &text);

/// Brings a traced module to the stage pure: jvp, vjp, vmap and the other requests become calls
/// of new private functions. Attention stays an op where `forGpu` says that there are kernels for it.
///
/// Errors: INVALID_ARGUMENT with the diagnostics and their locations.
absl::Status expandTransforms(mlir::ModuleOp traced, bool forGpu = false);

/// Brings a traced module that uses hi-types to arrays: what the interpreter knows.
///
/// Errors: INVALID_ARGUMENT with the diagnostics and their locations.
absl::Status expandHiTypes(mlir::ModuleOp traced);

} // namespace hjx
