// SPDX-License-Identifier: Apache-2.0
//
// The devices of this process, by backend:
//
//   cpu     the processor, as cpu:0, and as cpu:1, ... if asked for: places with memory of
//           their own account that share the threads, to test programs of several devices
//   cuda    what NVIDIA's driver shows
//   sim     simulated CUDA devices (docs/ptxsim.md), all of one architecture
//
// Each backend is there, or says why it is not. Nothing stands in for another one: a
// program that names cuda:0 on a machine without it gets an error.
#pragma once

#include "runtime/Device.h"

namespace hjx {

struct BackendInfo {
  std::string name;
  /// Why there is no device: UNAVAILABLE, with a remedy.
  absl::Status status;
  std::vector<DeviceInfo> devices; ///< empty if and only if the status is an error
};

/// All backends that hjx knows, in the order above. Opens no device, but the drivers.
std::vector<BackendInfo> listBackends();

/// The devices of all backends that are there.
std::vector<DeviceInfo> listDevices();

/// The first device of the processor, "cpu:0".
RuntimeDevice &cpuDevice();

/// Returns the device of that name: "cuda:1"; "cpu", "cuda" and "sim" are the first of theirs.
/// "sim:sm_90" is the first simulated one, which then has that architecture; all of a process have
/// the one that HJX_PTXSIM_ARCH names, or that was asked for when the first was opened. A device
/// lives as long as the process; the first call that names it makes its context.
///
/// Errors: NOT_FOUND for a name of no device, with the names there are; UNAVAILABLE for a backend
///         that is not there, see BackendInfo; FAILED_PRECONDITION for a second architecture.
absl::StatusOr<RuntimeDevice *> openDevice(const std::string &name);

/// Sets how many devices "cpu" or "sim" has, in place of HJX_NUM_CPU_DEVICES or HJX_PTXSIM_DEVICES.
///
/// Errors: FAILED_PRECONDITION if one beyond that number, or any simulated one, is open;
///         INVALID_ARGUMENT for another backend or number.
absl::Status setNumDevices(const std::string &backend, int count);

} // namespace hjx
