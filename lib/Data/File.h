// SPDX-License-Identifier: Apache-2.0
//
// Reading at an offset, and replacing a file as one event.
//
// Why not mmap: a mapped file that another process truncates kills the reader with
// SIGBUS at some later load, and a size check before each copy only narrows the race.
// pread() serves the same page cache, costs one call per token window or tensor, and
// turns the same accident into an error. Callers always receive a copy in memory of
// their own, so the alignment of data inside a file never matters either.
#pragma once

#include "lib/Data/Status.h"

#include <span>

namespace hjx {

/// A regular file open for reading at any offset. Reads are const and thread-safe.
class InputFile {
public:
  static absl::StatusOr<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) noexcept;
  ~InputFile();

  const std::string &path() const { return path_; }
  /// The size when the file was opened.
  uint64_t sizeBytes() const { return sizeBytes_; }

  /// Fills `out` from `offset`. A file that has become shorter is a data-loss error.
  absl::Status read(uint64_t offset, std::span<char> out) const;

private:
  InputFile(std::string path, int fd, uint64_t sizeBytes)
      : path_(std::move(path)), fd_(fd), sizeBytes_(sizeBytes) {}

  std::string path_;
  int fd_;
  uint64_t sizeBytes_;
};

/// Returns the whole of a file of at most `maxBytes`.
absl::StatusOr<std::string> readFile(const std::string &path, uint64_t maxBytes = 1ull << 40);

/// A file that appears under its name only when complete: it is written under a temporary
/// name beside it, synced, and renamed over the target. Readers that hold the old file keep
/// the old contents. Destroyed before commit(), it leaves nothing behind.
class AtomicFile {
public:
  static absl::StatusOr<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  absl::Status write(std::string_view bytes);
  /// Makes the contents durable and visible.
  absl::Status commit();

private:
  AtomicFile(std::string path, std::string temporaryPath, int fd)
      : path_(std::move(path)), temporaryPath_(std::move(temporaryPath)), fd_(fd) {}

  std::string path_;
  std::string temporaryPath_;
  int fd_;
};

/// Replaces `path` by `bytes` through an AtomicFile.
absl::Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Makes renames and new names inside `path` durable.
absl::Status syncDirectory(const std::string &path);

} // namespace hjx
