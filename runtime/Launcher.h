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
  /// `places`, of each kernel in its program, are for messages.
  LoadedCode(RuntimeDevice &device, std::unique_ptr<DeviceModule> module, std::vector<std::string> places = {})
      : device(device), module(std::move(module)), places(std::move(places)) {}

  RuntimeDevice &device;
  const std::unique_ptr<DeviceModule> module;
  const std::vector<std::string> places;

  /// The device's copy of `data`, made at the first call unless that `mayCopy` nothing.
  absl::StatusOr<void *> constant(const void *data, int64_t sizeBytes, bool mayCopy = true);

private:
  absl::Mutex mutex;
  absl::flat_hash_map<const void *, DeviceBuffer> constants ABSL_GUARDED_BY(mutex);
};

/// Belongs to one thread.
class Launcher {
public:
  /// With a `recorder`, launches go there, and what a graph cannot hold is an error: to read, and to
  /// copy a constant to the device.
  explicit Launcher(LoadedCode &code, LaunchRecorder *recorder = nullptr) : code(code), recorder(recorder) {}
  virtual ~Launcher() = default;

  void launch(int64_t kernel, const LaunchShape &shape, void **arguments);

  /// Writes the 128 bytes that kernels take for `map`; after an error, nothing.
  void encode(const TensorMap &map, void *to);

  /// Waits for the work so far and copies to the host. After an error the host sees zeros, with
  /// which loops over device conditions end.
  void read(const void *from, int64_t sizeBytes, void *to);

  /// Null after an error.
  void *constant(const void *data, int64_t sizeBytes);

  const absl::Status &status() const { return firstError; }

protected:
  /// Asks for a run of the kernel.
  virtual absl::Status ask(const Kernel &kernel, const LaunchShape &shape, void **arguments);

private:
  LoadedCode &code;
  LaunchRecorder *recorder;
  absl::Status firstError;
};

} // namespace hjx
