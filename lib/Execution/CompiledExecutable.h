// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs behind the interface of all programs: host memory in and out.
#pragma once

#include "lib/Execution/DeviceExecutable.h"
#include "lib/Execution/Executable.h"

namespace hjx {

/// Gives host pointers to a program on a device.
///
/// Cost: nothing on the processor, whose memory it is. On another device each call allocates room
///       for all arguments and results, copies the arguments there and the results back, and waits:
///       right for a single call, wrong for a loop, which keeps its data on the device and calls
///       the DeviceExecutable.
std::unique_ptr<Executable> makeHostExecutable(std::unique_ptr<DeviceExecutable> code);

/// Lowers a program at the stage pure and generates code for the processor of this process.
absl::StatusOr<std::unique_ptr<Executable>> compileProgram(Program program);

} // namespace hjx
