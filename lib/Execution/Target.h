// SPDX-License-Identifier: Apache-2.0
//
// What machine a program is compiled for, as users spell it:
//
//   cpu, cpu:1        the processor of this process, as one device or another (HJX_NUM_CPU_DEVICES)
//   cuda, cuda:1      a CUDA device of this machine
//   sim, sim:1        a simulated CUDA device
//   sim:sm_80         the first one, of that architecture
//   ptx:sm_80         text for devices of that architecture or a later one; nothing runs
//   ptx:sm_90a        text for devices of that architecture alone, with what only it has
//
// An architecture is that of ptx, or of the device that was opened.
#pragma once

#include "runtime/Backends.h"

#include <string_view>

namespace hjx {

struct Target {
  enum class Kind { Cpu, Cuda, Ptx };
  Kind kind = Kind::Cpu;
  std::string device = "cpu:0"; ///< for openDevice; of Ptx: none
  std::string chip;   ///< Ptx: "sm_80"

  /// Errors: INVALID_ARGUMENT that lists what is valid.
  static absl::StatusOr<Target> parse(std::string_view text);

  /// Opens the device that programs for this target run on.
  /// Errors: those of openDevice; INVALID_ARGUMENT for Ptx, which has none.
  absl::StatusOr<RuntimeDevice *> open() const;
};

/// The architectures that code is generated for, each better than those before it where it runs: what
/// ends with an `a` does on devices of that compute capability, the others on later ones, too.
constexpr const char *kChips[] = {"sm_80", "sm_90", "sm_90a"};

/// The last of kChips whose code `device` runs.
/// Errors: INVALID_ARGUMENT for a device that is no CUDA device, or older than all of them.
absl::StatusOr<std::string> chipFor(const DeviceInfo &device);

} // namespace hjx
