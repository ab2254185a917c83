// SPDX-License-Identifier: Apache-2.0
//
// A mean that never holds a sum, so it cannot overflow where its values do not:
// a <- a + (x - a) / (n + 1), as optax's MultiSteps accumulates. 1, 2, 3, 4 pass through
// 1, 1.5, 2, 2.5.
#pragma once

#include <cstdint>

namespace hjx {

class RunningMean {
public:
  void add(double value) { mean_ += (value - mean_) / static_cast<double>(++count_); }
  uint64_t count() const { return count_; }
  /// The mean so far; 0 of nothing.
  double value() const { return mean_; }

private:
  double mean_ = 0;
  uint64_t count_ = 0;
};

} // namespace hjx
