// SPDX-License-Identifier: Apache-2.0
//
// Rate limiting and layout.
#include "lib/Train/Progress.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hjx {

ProgressOptions standardErrorProgress() {
  ProgressOptions options;
  options.terminal = ::isatty(STDERR_FILENO) == 1;
  options.intervalSeconds = options.terminal ? 0.1 : 10;
  winsize size{};
  if (options.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.columns = size.ws_col;
  options.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  options.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return options;
}

Progress::Progress(ProgressOptions options, int64_t startStep, int64_t totalSteps)
    : options_(std::move(options)), startStep_(startStep), totalSteps_(totalSteps),
      done_(startStep) {}

double Progress::stepsPerSecond() const {
  int64_t steps = done_ - startStep_ - 1;
  double elapsed = now_ - firstDoneAt_;
  return steps > 0 && elapsed > 0 ? static_cast<double>(steps) / elapsed : std::nan("");
}

void Progress::update(int64_t doneSteps, uint64_t tokensPerStep, double loss) {
  bool first = done_ == startStep_;
  done_ = doneSteps;
  tokensPerStep_ = tokensPerStep;
  loss_ = loss;
  now_ = options_.seconds();
  if (first)
    firstDoneAt_ = now_;
  if (first || now_ - drawnAt_ >= options_.intervalSeconds)
    draw();
}

void Progress::note(std::string_view text) {
  options_.write(absl::StrCat(options_.terminal ? "\r\x1b[K" : "", std::string(text), "\n"));
  if (options_.terminal && drawn_ >= 0)
    draw();
}

void Progress::finish() {
  if (done_ != drawn_ && done_ != startStep_)
    draw();
  if (options_.terminal && drawn_ >= 0)
    options_.write("\n");
  drawn_ = -1;
}

std::string Progress::status() const {
  std::string out = absl::StrFormat("loss %.4f", loss_);
  double rate = stepsPerSecond();
  if (std::isfinite(rate)) {
    absl::StrAppend(&out, "  ",
                    rate < 1 ? absl::StrFormat("%.2f s/step", 1 / rate)
                             : absl::StrFormat("%.1f steps/s", rate));
    absl::StrAppend(&out, "  ", formatCount(rate * static_cast<double>(tokensPerStep_)),
                    " tok/s  ETA ",
                    formatDuration(static_cast<double>(totalSteps_ - done_) / rate));
  }
  return out;
}

void Progress::draw() {
  drawn_ = done_;
  drawnAt_ = now_;
  std::string count = absl::StrCat(done_, "/", totalSteps_);
  if (!options_.terminal) {
    options_.write(absl::StrCat("step ", count, "  ", status(), "\n"));
    return;
  }
  std::string tail = absl::StrCat("] ", status());
  int width = options_.columns - 1 - static_cast<int>(count.size() + tail.size()) - 2;
  std::string row;
  if (width >= 5) {
    width = std::min(width, 40);
    double fraction =
        totalSteps_ > 0 ? static_cast<double>(done_) / static_cast<double>(totalSteps_) : 1;
    auto filled = static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * width);
    std::string bar(filled, '=');
    if (filled < static_cast<size_t>(width))
      bar += '>';
    bar.resize(static_cast<size_t>(width), ' ');
    row = absl::StrCat(count, " [", bar, tail);
  } else {
    row = absl::StrCat(count, "  ", status());
  }
  // A row that wrapped could not be redrawn in place.
  row.resize(std::min(row.size(), static_cast<size_t>(std::max(options_.columns - 1, 1))));
  options_.write(absl::StrCat("\r", row, "\x1b[K"));
}

std::string formatDuration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9)
    return "?";
  auto s = static_cast<int64_t>(std::llround(seconds));
  if (s < 60)
    return absl::StrCat(s, "s");
  if (s < 3600)
    return absl::StrFormat("%dm%02ds", s / 60, s % 60);
  if (s < 86400)
    return absl::StrFormat("%dh%02dm", s / 3600, s / 60 % 60);
  return absl::StrFormat("%dd%02dh", s / 86400, s / 3600 % 24);
}

std::string formatCount(double count) {
  for (auto [limit, unit, name] :
       {std::tuple(1e9, 1e9, "G"), std::tuple(1e6, 1e6, "M"), std::tuple(1e3, 1e3, "k")})
    if (count >= limit)
      return absl::StrFormat("%.3g%s", count / unit, name);
  return absl::StrFormat("%.0f", count);
}

} // namespace hjx
