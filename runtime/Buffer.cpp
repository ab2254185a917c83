// SPDX-License-Identifier: Apache-2.0
//
// Large blocks ask the kernel for huge pages: a step touches every byte of its
// arena, and page faults and TLB misses are a visible part of it otherwise.
#include "runtime/Buffer.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace hjx;

static constexpr int64_t kHugePageBytes = 2 << 20;
// What an empty buffer points to: a pointer that may be compared and aligned.
alignas(Buffer::kAlignment) static char emptyStorage[Buffer::kAlignment];

Buffer::~Buffer() {
  if (owner)
    std::free(memory);
}

Buffer::Buffer(Buffer &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)), size(std::exchange(other.size, 0)),
      owner(std::exchange(other.owner, false)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(size, other.size);
  std::swap(owner, other.owner);
  return *this;
}

absl::StatusOr<Buffer> Buffer::allocate(int64_t sizeBytes) {
  if (sizeBytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("cpu: expected a buffer size of at least 0, got ", sizeBytes));
  if (sizeBytes == 0)
    return Buffer(emptyStorage, 0, /*owner=*/false);
  bool huge = sizeBytes >= kHugePageBytes;
  size_t alignment = huge ? kHugePageBytes : kAlignment;
  // aligned_alloc wants a multiple of the alignment.
  size_t rounded = (static_cast<size_t>(sizeBytes) + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, rounded) != 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("cpu: out of memory, wanted ", sizeBytes, " bytes"));
#ifdef __linux__
  if (huge)
    madvise(memory, rounded, MADV_HUGEPAGE); // A hint: failure changes nothing.
#endif
  return Buffer(memory, sizeBytes, /*owner=*/true);
}

Buffer Buffer::borrow(void *data, int64_t sizeBytes) {
  return Buffer(data ? data : emptyStorage, sizeBytes, /*owner=*/false);
}
