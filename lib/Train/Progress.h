// SPDX-License-Identifier: Apache-2.0
//
// What a person sees while a run goes on: one bar that redraws itself on a terminal, plain lines
// at a calmer rate in a file or pipe.
//
//   120/1000 [===>                      ] loss 3.1416  12.3 steps/s  50.4k tok/s  ETA 1m12s
//   step 120/1000  loss 3.1416  12.3 steps/s  50.4k tok/s  ETA 1m12s
//
// Rates are of this session alone; the first step, which pays for compilation, is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hjx {

struct ProgressOptions {
  bool terminal = false;
  int columns = 100;
  double intervalSeconds = 10;
  std::function<void(std::string_view)> write;
  std::function<double()> seconds; ///< a steady clock
};

/// Standard error, as a bar or as lines depending on what it is.
ProgressOptions standardErrorProgress();

class Progress {
public:
  /// Steps startStep .. totalSteps remain.
  Progress(ProgressOptions options, int64_t startStep, int64_t totalSteps);

  /// Reports that `doneSteps` steps are complete, and the tokens of one step.
  void update(int64_t doneSteps, uint64_t tokensPerStep, double loss);
  /// Prints a line of its own, above the bar.
  void note(std::string_view text);
  /// Shows the last state whatever the interval, and ends the bar's line.
  void finish();

  double stepsPerSecond() const;

private:
  std::string status() const;
  void draw();

  ProgressOptions options_;
  int64_t startStep_, totalSteps_;
  int64_t done_;
  uint64_t tokensPerStep_ = 0;
  double loss_ = 0;
  double now_ = 0;
  double firstDoneAt_ = 0; ///< when the first step of this session was complete
  double drawnAt_ = 0;
  int64_t drawn_ = -1; ///< the step last shown
};

/// "1m12s", "3h05m", "2d04h"; "?" when not finite.
std::string formatDuration(double seconds);
/// "950", "50.4k", "1.25M".
std::string formatCount(double count);

} // namespace hjx
