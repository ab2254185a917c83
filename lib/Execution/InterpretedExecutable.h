// SPDX-License-Identifier: Apache-2.0
//
// A program that the reference interpreter evaluates.
#pragma once

#include "lib/Execution/CompiledExecutable.h"

namespace hjx {

/// Calls on any cpu device evaluate the program, which is at the stage pure.
absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForInterpreter(Program program);

} // namespace hjx
