// SPDX-License-Identifier: Apache-2.0
//
// Large blocks ask the kernel for huge pages: a step touches every byte of its
// arena, and page faults and TLB misses are a visible part of it otherwise.
#include "runtime/Buffer.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace hjx;

static constexpr int64_t kHugePageBytes = 2 << 20;
// What an empty buffer points to: a pointer that may be compared and aligned.
alignas(Buffer::kAlignment) static char emptyStorage[Buffer::kAlignment];

/// The begin of the page of an address.
static char *pageOf(void *address) {
  static const auto pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return static_cast<char *>(address) - reinterpret_cast<uintptr_t>(address) % pageBytes;
}

Buffer::~Buffer() {
  if (owner == Owner::Heap)
    std::free(memory);
  if (owner == Owner::Mapping) {
    char *begin = pageOf(memory);
    ::munmap(begin, static_cast<size_t>(as<char>() + size - begin));
  }
}

Buffer::Buffer(Buffer &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)), size(std::exchange(other.size, 0)),
      owner(std::exchange(other.owner, Owner::None)) {}

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
    return Buffer(emptyStorage, 0, Owner::None);
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
  return Buffer(memory, sizeBytes, Owner::Heap);
}

absl::StatusOr<Buffer> Buffer::map(const std::string &path, int64_t offset, int64_t sizeBytes) {
  auto failed = [&](const char *what) {
    int error = errno;
    return absl::Status(absl::ErrnoToStatusCode(error), absl::StrCat(path, ": ", what, ": ", std::strerror(error)));
  };
  if (offset < 0 || sizeBytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected an offset and a size of at least 0, got ", offset, " and ", sizeBytes));
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // A fifo must not hold us forever.
  if (fd < 0)
    return failed("cannot open");
  struct FileCloser {
    int fd;
    ~FileCloser() { ::close(fd); } // The mapping stays.
  } closer{fd};
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return failed("cannot stat");
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a regular file, got ", S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe",
                     "\n  help: name a file; to read a stream, save it to a file first"));
  if (offset > info.st_size || sizeBytes > info.st_size - offset)
    return absl::OutOfRangeError(absl::StrCat(path, ": expected ", sizeBytes, " bytes from byte ", offset, ", got a file of ",
                                              info.st_size, "\n  help: the file is incomplete, or is not of this type and shape"));
  if (sizeBytes == 0)
    return Buffer(emptyStorage, 0, Owner::None);
  int64_t inPage = offset % sysconf(_SC_PAGESIZE);
  // Private and writable: an array that a program updates in place is updated in memory alone. Without
  // a reservation, or the size of the file would count as memory in use.
  void *begin = ::mmap(nullptr, static_cast<size_t>(inPage + sizeBytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_NORESERVE, fd, offset - inPage);
  if (begin == MAP_FAILED)
    return failed("cannot map");
  return Buffer(static_cast<char *>(begin) + inPage, sizeBytes, Owner::Mapping);
}

Buffer Buffer::borrow(void *data, int64_t sizeBytes) {
  return Buffer(data ? data : emptyStorage, sizeBytes, Owner::None);
}
