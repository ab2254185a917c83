// SPDX-License-Identifier: Apache-2.0
//
// Thin layer over POSIX calls: every return value checked, every message led by the path.
#include "lib/Data/File.h"

#include "absl/strings/str_cat.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hjx {

absl::StatusOr<InputFile> InputFile::open(const std::string &path) {
  // O_NONBLOCK keeps a fifo from holding the open forever; regular files ignore it.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return systemError(path, "cannot open", errno);
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    absl::Status status = systemError(path, "cannot stat", errno);
    ::close(fd);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return badInput(path, "a regular file",
                    S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe",
                    "name a file; to read a stream, save it to a file first");
  }
  return InputFile(path, fd, static_cast<uint64_t>(info.st_size));
}

InputFile::InputFile(InputFile &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)),
      sizeBytes_(other.sizeBytes_) {}

InputFile &InputFile::operator=(InputFile &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(sizeBytes_, other.sizeBytes_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

absl::Status InputFile::read(uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    ssize_t count = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return systemError(path_, absl::StrCat("cannot read at byte ", offset), errno);
    }
    if (count == 0)
      return absl::DataLossError(absl::StrCat(
          path_, ": expected ", sizeBytes_, " bytes, as when it was opened, got an end at byte ",
          offset, "\n  help: another process shortened the file; replace files by renaming"));
    offset += static_cast<uint64_t>(count);
    out = out.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> readFile(const std::string &path, uint64_t maxBytes) {
  HJX_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  if (file.sizeBytes() > maxBytes)
    return badInput(path, absl::StrCat("at most ", maxBytes, " bytes"),
                    absl::StrCat(file.sizeBytes()),
                    "split the file, or check that it is the right one");
  std::string text(file.sizeBytes(), '\0');
  HJX_RETURN_IF_ERROR(file.read(0, text));
  return text;
}

absl::StatusOr<AtomicFile> AtomicFile::create(const std::string &path) {
  // Own names instead of mkstemp: that would force mode 0600 on the finished file.
  static std::atomic<unsigned> serial{0};
  std::string temporaryPath;
  int fd;
  do {
    temporaryPath = absl::StrCat(path, ".tmp-", ::getpid(), "-", serial++);
    fd = ::open(temporaryPath.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0)
    return systemError(path, "cannot create", errno);
  return AtomicFile(path, std::move(temporaryPath), fd);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path_(std::move(other.path_)), temporaryPath_(std::move(other.temporaryPath_)),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  ::unlink(temporaryPath_.c_str());
}

absl::Status AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return systemError(path_, "cannot write", errno);
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::commit() {
  if (::fsync(fd_) != 0)
    return systemError(path_, "cannot sync", errno);
  if (::rename(temporaryPath_.c_str(), path_.c_str()) != 0)
    return systemError(path_, "cannot rename into place", errno);
  ::close(std::exchange(fd_, -1));
  return syncDirectory(std::filesystem::path(path_).parent_path().string());
}

absl::Status writeFileAtomically(const std::string &path, std::string_view bytes) {
  HJX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  HJX_RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

absl::Status syncDirectory(const std::string &path) {
  const std::string &target = path.empty() ? "." : path;
  int fd = ::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return systemError(target, "cannot open directory", errno);
  // Some file systems refuse to sync a directory; their renames are then as durable as they get.
  bool failed = ::fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP;
  int error = errno;
  ::close(fd);
  return failed ? systemError(target, "cannot sync directory", error) : absl::OkStatus();
}

} // namespace hjx
