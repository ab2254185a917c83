// SPDX-License-Identifier: Apache-2.0
//
// Time stamps and indentation.
#include "lib/Train/RunLog.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hjx {

std::string utcNow() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
}

absl::StatusOr<RunLog> RunLog::open(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(AppendFile file, AppendFile::open(path));
  return RunLog(std::move(file));
}

absl::Status RunLog::write(std::string_view text) {
  std::string indented = absl::StrReplaceAll(printableText(text), {{"\n", "\n    "}});
  return file_.append(absl::StrCat(utcNow(), " ", indented, "\n"));
}

} // namespace hjx
