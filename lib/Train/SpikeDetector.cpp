// SPDX-License-Identifier: Apache-2.0
//
// The window is short, so mean and deviation are computed afresh: running sums would drift, and
// a run resumed from the window's values would drift differently.
#include "lib/Train/SpikeDetector.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace hjx {

std::optional<double> SpikeDetector::observe(double value) {
  if (!std::isfinite(value))
    return std::nullopt;
  std::optional<double> score;
  if (values_.size() == window_) {
    double n = static_cast<double>(window_), mean = 0, variance = 0;
    for (double v : values_)
      mean += v / n;
    for (double v : values_)
      variance += (v - mean) * (v - mean) / n;
    if (variance > 0)
      score = (value - mean) / std::sqrt(variance);
    values_.pop_front();
  }
  values_.push_back(value);
  return score;
}

Json SpikeDetector::state() const { return Json(values_); }

absl::Status SpikeDetector::restore(const Json &state) {
  bool good = state.is_array() && state.size() <= window_ &&
              std::all_of(state.begin(), state.end(), [](const Json &v) { return v.is_number(); });
  if (!good)
    return badInput("checkpoint: spike window", absl::StrCat("at most ", window_, " numbers"),
                    printable(state.dump(), 60), "resume from another checkpoint");
  values_ = state.get<std::deque<double>>();
  return absl::OkStatus();
}

} // namespace hjx
