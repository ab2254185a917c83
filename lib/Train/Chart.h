// SPDX-License-Identifier: Apache-2.0
//
// A line chart as one self-contained SVG: no fonts, scripts or style sheets from elsewhere, so
// the file can be mailed, committed, and opened in any browser years later.
//
// It draws whatever it is given: nothing, one point, NaNs (a gap in the line), infinities (left
// out), equal values, 1e-300 beside 1e300. On a logarithmic axis values of 0 or less are gaps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hjx {

struct ChartSeries {
  std::string name;
  std::vector<double> x, y;
  /// When not empty, as long as y: the band from low to high is shaded.
  std::vector<double> low, high;
  bool dots = false; ///< mark each point
};

struct ChartMark {
  double x, y;
  std::string text;
};

struct Chart {
  std::string title, xLabel, yLabel;
  bool logY = false;
  std::vector<ChartSeries> series;
  std::optional<ChartMark> mark;
};

std::string renderSvg(const Chart &chart);

/// Returns positions for about `target` ticks inside [low, high] at steps of 1, 2 or 5 times a
/// power of ten.
std::vector<double> linearTicks(double low, double high, int target);
/// Returns powers of ten inside [low, high], with 2 and 5 times them when those are few.
std::vector<double> logTicks(double low, double high);

/// Returns `text` escaped for XML; what XML cannot hold becomes U+FFFD.
std::string escapeXml(std::string_view text);

} // namespace hjx
