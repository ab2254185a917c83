// SPDX-License-Identifier: Apache-2.0
//
// The processor as a device, or as one of several: each has its own count of memory, and
// a limit of its own if there is one.
#pragma once

#include "runtime/Device.h"

namespace hjx {

/// `limitBytes` 0: what the machine has.
DeviceInfo describeCpuDevice(int index, int64_t limitBytes);
std::unique_ptr<RuntimeDevice> makeCpuDevice(int index, int64_t limitBytes);

} // namespace hjx
