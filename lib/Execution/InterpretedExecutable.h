// SPDX-License-Identifier: Apache-2.0
//
// A program that the reference interpreter evaluates.
#pragma once

#include "lib/Execution/Executable.h"

namespace hjx {

/// Expands the transforms of a traced program; calls then evaluate it.
absl::StatusOr<std::unique_ptr<Executable>> interpretProgram(Program program);

} // namespace hjx
