// SPDX-License-Identifier: Apache-2.0
//
// What happened when, on the host and on a device, as a file that chrome://tracing and Perfetto
// show: one row for each track.
#pragma once

#include "runtime/Status.h"

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hjx {

/// Threads: may be used by several threads at once.
class Trace {
public:
  /// Times are of hjx_rt_now_ns.
  void add(const std::string &track, const std::string &name, int64_t beginNs, int64_t durationNs);

  /// The events as JSON: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
  std::string json() const;

private:
  struct Event {
    std::string track, name;
    int64_t beginNs, durationNs;
  };
  mutable absl::Mutex mutex;
  std::vector<Event> events ABSL_GUARDED_BY(mutex);
};

} // namespace hjx
