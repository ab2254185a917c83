// SPDX-License-Identifier: Apache-2.0
//
// Memory of arrays, on a device. Arrays of one storage (reshapes) share it; what a
// program reads elsewhere is a copy, which is a transfer that somebody pays for.
#pragma once

#include "runtime/Backends.h"
#include "runtime/Buffer.h"

#include <memory>

namespace hjx::detail {

class Memory {
public:
  explicit Memory(DeviceBuffer buffer)
      : place(buffer.device()), start(buffer.data()), size(buffer.sizeBytes()), owned(std::move(buffer)) {}
  /// Of the host, such as a part of a file; `keeper` owns what the buffer only borrows.
  explicit Memory(Buffer buffer, std::shared_ptr<const void> keeper = nullptr)
      : place(&cpuDevice()), start(buffer.data()), size(buffer.sizeBytes()), ofHost(std::move(buffer)), keeper(std::move(keeper)) {}

  RuntimeDevice &device() const { return *place; }
  /// On the device: the host may read it only if isOnHost().
  void *data() const { return start; }
  int64_t sizeBytes() const { return size; }
  bool isOnHost() const { return place->kind() == DeviceKind::Cpu; }
  /// Compiled code may read it where it lies. A part of a file lies as the file has it.
  bool isAligned() const { return reinterpret_cast<uintptr_t>(start) % Buffer::kAlignment == 0; }
  /// False for what is another's.
  bool isWritable() const { return !keeper; }

  template <typename T> T *as() const { return static_cast<T *>(start); }

private:
  RuntimeDevice *place;
  void *start;
  int64_t size;
  DeviceBuffer owned;
  Buffer ofHost;
  std::shared_ptr<const void> keeper;
};

using Storage = std::shared_ptr<Memory>;

} // namespace hjx::detail
