// SPDX-License-Identifier: Apache-2.0
//
// O_APPEND and write.
#include "lib/Train/AppendFile.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hjx {

absl::StatusOr<AppendFile> AppendFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return systemError(path, "cannot open for appending", errno);
  return AppendFile(path, fd);
}

AppendFile::AppendFile(AppendFile &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

AppendFile::~AppendFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

absl::Status AppendFile::append(std::string_view record) {
  while (!record.empty()) {
    ssize_t count = ::write(fd_, record.data(), record.size());
    if (count < 0 && errno != EINTR)
      return systemError(path_, "cannot write", errno);
    record.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

} // namespace hjx
