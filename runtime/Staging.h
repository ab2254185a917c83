// SPDX-License-Identifier: Apache-2.0
//
// What copies beside the work of a device need: host memory that the device reads by itself, and
// points in time. Copies from ordinary memory wait for the device (RuntimeDevice::copyToDevice); from a
// staging buffer the next batch travels while this step's kernels run (RuntimeDevice::copyAhead).
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <memory>

namespace hjx {

/// Host memory that stays where it is (page-locked), freed with the object.
class StagingBuffer {
public:
  virtual ~StagingBuffer() = default;
  StagingBuffer(const StagingBuffer &) = delete;
  StagingBuffer &operator=(const StagingBuffer &) = delete;

  /// Waits until the last copy from it is done; then the host may write to `data`.
  virtual absl::Status acquire() = 0;
  void *data() const { return memory; }
  int64_t sizeBytes() const { return size; }

protected:
  StagingBuffer(void *memory, int64_t size) : memory(memory), size(size) {}
  void *memory;
  int64_t size;
};

/// A point in the work of a device: see RuntimeDevice::mark.
class DeviceEvent {
public:
  virtual ~DeviceEvent() = default;
};

struct DeviceSpan {
  std::unique_ptr<DeviceEvent> begin, end;
};

} // namespace hjx
