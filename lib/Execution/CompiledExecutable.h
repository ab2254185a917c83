// SPDX-License-Identifier: Apache-2.0
//
// A program compiled for the processor of this process.
#pragma once

#include "lib/Execution/Executable.h"

namespace hjx {

/// Lowers a program at the stage pure and generates code.
absl::StatusOr<std::unique_ptr<Executable>> compileProgram(Program program);

} // namespace hjx
