// SPDX-License-Identifier: Apache-2.0
//
// A file that grows by whole records: each append is one write to the kernel, nothing is held
// back in the process, so a killed run loses at most a torn last record.
#pragma once

#include "lib/Data/Status.h"

namespace hjx {

class AppendFile {
public:
  static absl::StatusOr<AppendFile> open(const std::string &path);
  AppendFile(AppendFile &&other) noexcept;
  AppendFile &operator=(AppendFile &&) = delete;
  ~AppendFile();

  absl::Status append(std::string_view record);

private:
  AppendFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
};

} // namespace hjx
