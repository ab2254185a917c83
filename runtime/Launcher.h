// SPDX-License-Identifier: Apache-2.0
//
// One run of a program on a device: what its host code launches through. The code
// is compiled and calls plain C (hjx_rt_launch and hjx_rt_read in Abi.h), which has
// no place for a status: the launcher keeps the first error, does nothing after it,
// and whoever started the run asks for it.
#pragma once

#include "runtime/Device.h"

namespace hjx {

/// Belongs to one thread.
class Launcher {
public:
  Launcher(Device &device, const DeviceModule &module) : device(device), module(module) {}

  void launch(int64_t kernel, const LaunchShape &shape, void **arguments);

  /// Waits for the work so far and copies to the host. After an error the host sees zeros, with
  /// which loops over device conditions end.
  void read(const void *from, int64_t sizeBytes, void *to);

  const absl::Status &status() const { return firstError; }

private:
  Device &device;
  const DeviceModule &module;
  absl::Status firstError;
};

} // namespace hjx
