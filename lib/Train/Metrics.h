// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a run, one JSON object a line:
//
//   {"step":120,"kind":"train","loss":3.2,"grad_norm":0.8,"learning_rate":0.0006}
//
// When a run resumes at step s, records after s are cut: the file reads as if the run had never
// stopped. JSON has no NaN; non-finite values are the strings "NaN", "Infinity", "-Infinity".
#pragma once

#include "lib/Train/AppendFile.h"

#include <optional>

namespace hjx {

struct MetricsRecord {
  int64_t step = 0;
  std::string kind; ///< "train", "validation", ...
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> value(std::string_view name) const;
};

class MetricsLog {
public:
  /// Opens `path` for appending, after cutting records beyond `lastStep` (-1 cuts all) and a torn
  /// last line. A malformed line elsewhere is an error and leaves the file as it is.
  static absl::StatusOr<MetricsLog> open(const std::string &path, int64_t lastStep);
  absl::Status append(const MetricsRecord &record);

private:
  explicit MetricsLog(AppendFile file) : file_(std::move(file)) {}

  AppendFile file_;
};

/// Reads all records of a file; a torn last line is ignored.
absl::StatusOr<std::vector<MetricsRecord>> readMetrics(const std::string &path);

/// Returns the records as CSV: step, kind, then every name that occurs, in order of appearance.
std::string metricsToCsv(const std::vector<MetricsRecord> &records);

} // namespace hjx
