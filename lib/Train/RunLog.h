// SPDX-License-Identifier: Apache-2.0
//
// run.log: what happened and when, for people. Numbers go to the metrics instead.
//
//   2026-03-01T12:00:05Z saved checkpoint step-00000100
#pragma once

#include "lib/Train/AppendFile.h"

namespace hjx {

/// Returns the present time in UTC as 2026-03-01T12:00:05Z.
std::string utcNow();

class RunLog {
public:
  /// Opens for appending; a resumed run continues the same log.
  static absl::StatusOr<RunLog> open(const std::string &path);

  /// Appends a time-stamped entry; further lines of `text` are indented, control characters are
  /// escaped.
  absl::Status write(std::string_view text);

private:
  explicit RunLog(AppendFile file) : file_(std::move(file)) {}

  AppendFile file_;
};

} // namespace hjx
