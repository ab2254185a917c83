// SPDX-License-Identifier: Apache-2.0
//
// The calls of one program with a point in the device's work between any two launches: what each
// kernel took. Launches are single then, and a call waits for the work before it; the times are
// read when the next call begins, or somebody asks, so that work beside the kernels stays visible.
#pragma once

#include "runtime/Launcher.h"
#include "runtime/Trace.h"

#include <map>

namespace hjx {

/// What the calls of one kernel took, in all runs so far.
struct KernelTime {
  std::string name;
  int64_t timeNs = 0, numCalls = 0;
};

/// A point of a device's work whose time the host knows.
struct DeviceClock {
  std::unique_ptr<DeviceEvent> event;
  int64_t hostNs = 0;

  /// Waits for the device's work.
  static absl::StatusOr<DeviceClock> start(RuntimeDevice &device);
  /// The host's time at `event`.
  absl::StatusOr<int64_t> at(RuntimeDevice &device, const DeviceEvent &event) const;
};

/// Threads: may be used by several threads at once; calls in flight are timed one after the other.
class TimedCalls {
public:
  /// With a `trace`, kernels are rows of it, too.
  TimedCalls(LoadedCode &code, Trace *trace) : code(code), trace(trace) {}

  absl::Status run(absl::FunctionRef<void(Launcher &)> hostCode);

  /// Waits for the last call. The longest first.
  absl::StatusOr<std::vector<KernelTime>> times();

private:
  class TimedLauncher;
  absl::Status collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  LoadedCode &code;
  Trace *trace;
  absl::Mutex mutex;
  DeviceClock clock ABSL_GUARDED_BY(mutex);
  /// Launches of the last call, each with the point behind it.
  std::vector<std::pair<std::string, std::unique_ptr<DeviceEvent>>> launches ABSL_GUARDED_BY(mutex);
  std::map<std::string, KernelTime> kernels ABSL_GUARDED_BY(mutex);
};

} // namespace hjx
