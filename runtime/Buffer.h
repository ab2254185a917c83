// SPDX-License-Identifier: Apache-2.0
//
// A span of host memory with an owner, or without one. Compiled code reads and
// writes buffers of the caller and one arena; both are Buffers, aligned to a
// cache line, so that aligned vector accesses and the absence of false sharing
// can be taken for granted.
//
// Or a part of a file: a data set larger than the memory is a Buffer like others, of
// which the pages that are read are brought in, and dropped again when memory is short.
// Such a buffer lies as the file has it (`isAligned`).
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

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

  /// Returns `sizeBytes` of a file from byte `offset` on. Writes to it stay in this process: the file
  /// is never changed. The file must keep its length as long as the buffer lives: reading behind the
  /// end of one that was shortened is a SIGBUS. Who replaces a file by renaming does no harm.
  ///
  /// Errors: NOT_FOUND, PERMISSION_DENIED or what else the system says, with the path;
  ///         INVALID_ARGUMENT for what is no regular file; OUT_OF_RANGE for a file that is too short.
  /// Cost:   none but address space; a page is read when it is first touched.
  static absl::StatusOr<Buffer> map(const std::string &path, int64_t offset, int64_t sizeBytes);

  /// Returns a view of memory that somebody else keeps alive.
  static Buffer borrow(void *data, int64_t sizeBytes);

  /// Never null, also for an empty buffer that was allocated or borrowed.
  void *data() const { return memory; }
  int64_t sizeBytes() const { return size; }
  bool isOwner() const { return owner != Owner::None; }
  bool isMapped() const { return owner == Owner::Mapping; }
  /// Whether compiled code may have it: always, but for a part of a file.
  bool isAligned() const { return reinterpret_cast<uintptr_t>(memory) % kAlignment == 0; }
  explicit operator bool() const { return memory != nullptr; }

  /// Gives the memory away: whoever takes it calls std::free. The buffer must have allocated it.
  void *release() {
    owner = Owner::None;
    return memory;
  }

  template <typename T> T *as() const { return static_cast<T *>(memory); }

private:
  enum class Owner : uint8_t { None, Heap, Mapping };
  Buffer(void *memory, int64_t size, Owner owner) : memory(memory), size(size), owner(owner) {}

  void *memory = nullptr;
  int64_t size = 0;
  Owner owner = Owner::None;
};

} // namespace hjx
