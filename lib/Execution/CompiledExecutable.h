// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs behind the interface of all programs, and compilations for all
// devices of one kind.
#pragma once

#include "lib/Execution/DeviceExecutable.h"
#include "lib/Execution/Executable.h"

namespace hjx {

/// A program for all devices of one kind.
class DeviceCompilation {
public:
  virtual ~DeviceCompilation() = default;
  /// What runs it on a device of that kind, as long as this object lives.
  virtual absl::StatusOr<std::unique_ptr<Executable>> on(RuntimeDevice &device) const = 0;

  std::string kind; ///< "cpu", or what tells GPUs that run other code
};

/// Lowers a program at the stage pure and generates code for the processor of this process.
absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForCpu(Program program);
/// The same for GPUs of the kind of `device`.
absl::StatusOr<std::unique_ptr<DeviceCompilation>> compileForGpu(Program program, RuntimeDevice &device);

/// Gives host pointers to a program on a device.
///
/// Cost: nothing on the processor, whose memory it is. On another device each call allocates room
///       for all arguments and results, copies the arguments there and the results back, and waits:
///       right for a single call, wrong for a loop, which keeps its data on the device.
std::unique_ptr<Executable> makeHostExecutable(std::unique_ptr<DeviceExecutable> code);

} // namespace hjx
