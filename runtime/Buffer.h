// SPDX-License-Identifier: Apache-2.0
//
// A span of host memory with an owner, or without one. Compiled code reads and
// writes buffers of the caller and one arena; both are Buffers, aligned to a
// cache line, so that aligned vector accesses and the absence of false sharing
// can be taken for granted.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace hjx {

class Buffer {
public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  ~Buffer();
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Returns uninitialised memory of `sizeBytes`, aligned to kAlignment.
  ///
  /// Errors: RESOURCE_EXHAUSTED when the system has no such block;
  ///         INVALID_ARGUMENT for a negative size.
  /// Cost:   pages are touched by the first writer, not here.
  static absl::StatusOr<Buffer> allocate(int64_t sizeBytes);

  /// Returns a view of memory that somebody else keeps alive.
  static Buffer borrow(void *data, int64_t sizeBytes);

  /// Never null, also for an empty buffer that was allocated or borrowed.
  void *data() const { return memory; }
  int64_t sizeBytes() const { return size; }
  bool isOwner() const { return owner; }
  explicit operator bool() const { return memory != nullptr; }

  /// Gives the memory away: whoever takes it calls std::free. The buffer must be its owner.
  void *release() {
    owner = false;
    return memory;
  }

  template <typename T> T *as() const { return static_cast<T *>(memory); }

private:
  Buffer(void *memory, int64_t size, bool owner) : memory(memory), size(size), owner(owner) {}

  void *memory = nullptr;
  int64_t size = 0;
  bool owner = false;
};

} // namespace hjx
