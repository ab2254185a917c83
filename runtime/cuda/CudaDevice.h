// SPDX-License-Identifier: Apache-2.0
//
// A CUDA device behind the interface RuntimeDevice: the primary context (the one that
// other libraries in the process use, too), and one stream of its own.
#pragma once

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

namespace hjx {

/// Asks the driver; nothing is opened. What it does not answer is left empty.
DeviceInfo describeCudaDevice(const cuda::Driver &driver, int ordinal);

/// Retains the primary context of a device, until the object dies. `name`: what it is called; empty:
/// "cuda:<ordinal>".
/// Errors: UNAVAILABLE with the driver's name and text of what it refused.
absl::StatusOr<std::unique_ptr<RuntimeDevice>> makeCudaDevice(std::shared_ptr<const cuda::Driver> driver,
                                                              int ordinal, const std::string &name = "");

} // namespace hjx
