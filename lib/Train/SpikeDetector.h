// SPDX-License-Identifier: Apache-2.0
//
// How unusual a loss or a gradient norm is, in standard deviations of the last steps. The window
// belongs to the checkpoint, so that a resumed run judges as the unbroken one would.
// Source: llm.c outlier_detector.h, whose NaN scores passed for ordinary ones; here a non-finite
// value has no score and never enters the window.
#pragma once

#include "lib/Train/Config.h"

#include <deque>
#include <optional>

namespace hjx {

class SpikeDetector {
public:
  explicit SpikeDetector(size_t window = 128) : window_(window) {}

  /// Returns (value - mean) / deviation over the window before it; nothing until the window is
  /// full, when all its values are equal, or for a non-finite value. Then adds the value.
  std::optional<double> observe(double value);

  Json state() const;
  absl::Status restore(const Json &state);

private:
  size_t window_;
  std::deque<double> values_;
};

} // namespace hjx
