// SPDX-License-Identifier: Apache-2.0
//
// One run of a program on a device: what its host code launches through. The code
// is compiled and calls plain C (hjx_rt_launch and others in Abi.h), which has no
// place for a status: the launcher keeps the first error, does nothing after it, and
// whoever started the run asks for it.
#pragma once

#include "runtime/Device.h"

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace hjx {

/// A program's kernels on a device, and the constants that its host code has asked for.
/// Threads: may be used by several threads at once.
class LoadedCode {
public:
  LoadedCode(RuntimeDevice &device, std::unique_ptr<DeviceModule> module)
      : device(device), module(std::move(module)) {}

  RuntimeDevice &device;
  const std::unique_ptr<DeviceModule> module;

  /// The device's copy of `data`, made at the first call.
  absl::StatusOr<void *> constant(const void *data, int64_t sizeBytes);

private:
  absl::Mutex mutex;
  absl::flat_hash_map<const void *, DeviceBuffer> constants ABSL_GUARDED_BY(mutex);
};

/// Belongs to one thread.
class Launcher {
public:
  explicit Launcher(LoadedCode &code) : code(code) {}

  void launch(int64_t kernel, const LaunchShape &shape, void **arguments);

  /// Waits for the work so far and copies to the host. After an error the host sees zeros, with
  /// which loops over device conditions end.
  void read(const void *from, int64_t sizeBytes, void *to);

  /// Null after an error.
  void *constant(const void *data, int64_t sizeBytes);

  const absl::Status &status() const { return firstError; }

private:
  LoadedCode &code;
  absl::Status firstError;
};

} // namespace hjx
