// SPDX-License-Identifier: Apache-2.0
//
// Scales, ticks, paths.
#include "lib/Train/Chart.h"

#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>

namespace hjx {
namespace {

constexpr double kWidth = 900, kHeight = 520;
constexpr double kLeft = 84, kRight = 24, kTop = 48, kBottom = 60;
// Okabe and Ito's colours: distinct for the colour-blind too.
constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                    "#cc79a7", "#e69f00", "#56b4e9"};

/// Maps values to pixels. It works in coordinates: values, or their logarithms, kept so far inside
/// the doubles that ranges and paddings stay finite.
class Scale {
public:
  Scale(bool logarithmic, double from, double to)
      : logarithmic_(logarithmic), from_(from), to_(to) {}

  bool usable(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }

  void include(double value) {
    if (!usable(value))
      return;
    double at = coordinate(value);
    low_ = any_ ? std::min(low_, at) : at;
    high_ = any_ ? std::max(high_, at) : at;
    any_ = true;
  }

  /// Ends inclusion: gives an empty or flat range some width, and air to the others.
  void settle(double padding) {
    if (!any_)
      high_ = 1;
    double magnitude = std::max(std::fabs(low_), std::fabs(high_));
    double air = padding * (high_ - low_);
    if (logarithmic_ && high_ - low_ < 0.1)
      air = 0.1; // a quarter to either side of one value
    else if (high_ - low_ <= 1e-9 * magnitude)
      air = magnitude > 0 ? 0.05 * magnitude : 1;
    low_ -= air;
    high_ += air;
  }

  double operator()(double value) const {
    return from_ + (to_ - from_) * ((coordinate(value) - low_) / (high_ - low_));
  }

  std::vector<double> ticks() const {
    if (!logarithmic_)
      return linearTicks(low_, high_, 6);
    return logTicks(std::pow(10, std::max(low_, -300.0)), std::pow(10, std::min(high_, 300.0)));
  }

private:
  double coordinate(double value) const {
    if (logarithmic_)
      return std::log10(std::clamp(value, 1e-300, 1e300));
    return std::fabs(value) < 1e-300 ? 0 : std::clamp(value, -1e300, 1e300);
  }

  bool logarithmic_;
  double from_, to_;
  double low_ = 0, high_ = 0;
  bool any_ = false;
};

/// Labels with as many digits as tell neighbours apart.
std::string tickLabel(double value, double step) {
  if (value == 0)
    return "0";
  double magnitude = std::fabs(value);
  int digits = static_cast<int>(std::ceil(std::log10(magnitude) - std::log10(step))) + 1;
  return absl::StrFormat("%.*g", std::clamp(digits, 6, 15), value);
}

std::string line(double x1, double y1, double x2, double y2, const char *colour) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                         x1, y1, x2, y2, colour);
}

std::string text(double x, double y, const char *anchor, const std::string &attributes,
                 std::string_view content) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y,
                         anchor, attributes, escapeXml(content));
}

std::string dot(double x, double y, double radius, const char *colour) {
  return absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius,
                         colour);
}

class Renderer {
public:
  explicit Renderer(const Chart &chart)
      : chart_(chart), x_(false, kLeft, kWidth - kRight), y_(chart.logY, kHeight - kBottom, kTop) {
    for (const ChartSeries &series : chart.series)
      for (size_t i = 0; i < size(series); ++i) {
        if (!std::isfinite(series.x[i]))
          continue;
        bool drawn = y_.usable(series.y[i]);
        y_.include(series.y[i]);
        if (band(series)) {
          y_.include(series.low[i]);
          y_.include(series.high[i]);
          drawn |= y_.usable(series.low[i]) && y_.usable(series.high[i]);
        }
        if (drawn)
          x_.include(series.x[i]);
        empty_ &= !drawn;
      }
    x_.settle(0);
    y_.settle(0.05);
  }

  std::string render() {
    out_ =
        absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                        "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"13\">\n"
                        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                        kWidth, kHeight, kWidth, kHeight);
    axes();
    for (size_t i = 0; i < chart_.series.size(); ++i)
      drawBand(chart_.series[i], colour(i));
    for (size_t i = 0; i < chart_.series.size(); ++i)
      drawLine(chart_.series[i], colour(i));
    if (empty_)
      out_ += text((kLeft + kWidth - kRight) / 2, (kTop + kHeight - kBottom) / 2, "middle",
                   " fill=\"#888888\"", "no data");
    drawMark();
    legend();
    return out_ + "</svg>\n";
  }

private:
  static size_t size(const ChartSeries &series) {
    return std::min(series.x.size(), series.y.size());
  }
  static bool band(const ChartSeries &series) {
    return series.low.size() >= size(series) && series.high.size() >= size(series);
  }
  static const char *colour(size_t i) { return kColours[i % std::size(kColours)]; }

  void axes() {
    const double right = kWidth - kRight, bottom = kHeight - kBottom;
    std::vector<double> xs = x_.ticks(), ys = y_.ticks();
    for (double tick : ys) {
      out_ += line(kLeft, y_(tick), right, y_(tick), "#e4e4e4");
      out_ += text(kLeft - 8, y_(tick) + 4, "end", "", tickLabel(tick, step(ys, tick)));
    }
    for (double tick : xs) {
      out_ += line(x_(tick), bottom, x_(tick), bottom + 5, "#333333");
      out_ += text(x_(tick), bottom + 20, "middle", "", tickLabel(tick, step(xs, tick)));
    }
    out_ += line(kLeft, bottom, right, bottom, "#333333");
    out_ += line(kLeft, kTop, kLeft, bottom, "#333333");
    out_ += text(kWidth / 2, 26, "middle", " font-size=\"17\"", chart_.title);
    out_ += text((kLeft + right) / 2, kHeight - 14, "middle", "", chart_.xLabel);
    double middle = (kTop + bottom) / 2;
    out_ +=
        text(20, middle, "middle", absl::StrFormat(" transform=\"rotate(-90 20 %.1f)\"", middle),
             chart_.logY ? chart_.yLabel + " (log)" : chart_.yLabel);
  }

  double step(const std::vector<double> &ticks, double tick) const {
    if (chart_.logY || ticks.size() < 2)
      return std::max(std::fabs(tick), 1e-307);
    return ticks[1] - ticks[0];
  }

  void drawBand(const ChartSeries &series, const char *colour) {
    if (!band(series))
      return;
    auto inside = [&](size_t i) {
      return std::isfinite(series.x[i]) && y_.usable(series.low[i]) && y_.usable(series.high[i]);
    };
    for (size_t i = 0, n = size(series); i < n;) {
      size_t begin = i;
      while (i < n && inside(i))
        ++i;
      if (i - begin >= 2) {
        std::string points;
        for (size_t p = begin; p < i; ++p)
          absl::StrAppendFormat(&points, "%.1f,%.1f ", x_(series.x[p]), y_(series.high[p]));
        for (size_t p = i; p-- > begin;)
          absl::StrAppendFormat(&points, "%.1f,%.1f ", x_(series.x[p]), y_(series.low[p]));
        absl::StrAppendFormat(&out_, "<polygon points=\"%s\" fill=\"%s\" fill-opacity=\"0.18\"/>\n",
                              points, colour);
      }
      i = std::max(i, begin + 1);
    }
  }

  void drawLine(const ChartSeries &series, const char *colour) {
    auto inside = [&](size_t i) { return std::isfinite(series.x[i]) && y_.usable(series.y[i]); };
    for (size_t i = 0, n = size(series); i < n;) {
      size_t begin = i;
      std::string points;
      for (; i < n && inside(i); ++i) {
        absl::StrAppendFormat(&points, "%.1f,%.1f ", x_(series.x[i]), y_(series.y[i]));
        if (series.dots)
          out_ += dot(x_(series.x[i]), y_(series.y[i]), 2.5, colour);
      }
      if (i - begin >= 2)
        absl::StrAppendFormat(&out_,
                              "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" "
                              "stroke-width=\"1.8\" stroke-linejoin=\"round\"/>\n",
                              points, colour);
      else if (i - begin == 1 && !series.dots) // a line of one point would be invisible
        out_ += dot(x_(series.x[begin]), y_(series.y[begin]), 2.5, colour);
      i = std::max(i, begin + 1);
    }
  }

  void drawMark() {
    if (!chart_.mark || empty_ || !std::isfinite(chart_.mark->x) || !y_.usable(chart_.mark->y))
      return;
    double x = std::clamp(x_(chart_.mark->x), kLeft, kWidth - kRight);
    double y = std::clamp(y_(chart_.mark->y), kTop, kHeight - kBottom);
    absl::StrAppendFormat(
        &out_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"none\" stroke=\"#000000\"/>\n", x,
        y);
    bool leftHalf = x < kWidth / 2;
    out_ +=
        text(leftHalf ? x + 9 : x - 9, y - 9, leftHalf ? "start" : "end",
             " paint-order=\"stroke\" stroke=\"white\" stroke-width=\"4\"", chart_.mark->text);
  }

  void legend() {
    double y = kTop + 14;
    for (size_t i = 0; i < chart_.series.size(); ++i, y += 20) {
      absl::StrAppendFormat(&out_,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"4\" fill=\"%s\"/>\n",
                            kWidth - kRight - 26, y - 6, colour(i));
      out_ += text(kWidth - kRight - 34, y, "end", "", chart_.series[i].name);
    }
  }

  const Chart &chart_;
  Scale x_, y_;
  bool empty_ = true;
  std::string out_;
};

} // namespace

std::string renderSvg(const Chart &chart) { return Renderer(chart).render(); }

std::vector<double> linearTicks(double low, double high, int target) {
  double rough = (high - low) / target;
  double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (double factor : {2.0, 5.0, 10.0})
    if (rough > step * 1.0001)
      step = power * factor;
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9);
       k * step <= high + 1e-9 * step && ticks.size() < 100; ++k)
    ticks.push_back(k * step + 0.0); // + 0.0: no negative zero
  return ticks;
}

std::vector<double> logTicks(double low, double high) {
  int first = static_cast<int>(std::floor(std::log10(low)));
  int last = static_cast<int>(std::ceil(std::log10(high)));
  double decades = std::log10(high) - std::log10(low);
  if (decades < 0.7) // less than a few ticks of 1, 2, 5
    return linearTicks(low, high, 6);
  int stride = std::max(1, static_cast<int>(std::ceil(decades / 10)));
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += stride)
    for (double factor : {1.0, 2.0, 5.0}) {
      double tick = factor * std::pow(10, exponent);
      if ((factor == 1 || decades < 3) && tick >= low && tick <= high)
        ticks.push_back(tick);
    }
  return ticks;
}

std::string escapeXml(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    Utf8Prefix prefix = scanUtf8(text);
    for (size_t i = 0; i < prefix.validBytes; ++i) {
      char c = text[i];
      std::string_view three = text.substr(i, 3);
      if (c == '&')
        out += "&amp;";
      else if (c == '<')
        out += "&lt;";
      else if (c == '>')
        out += "&gt;";
      else if (c == '"')
        out += "&quot;";
      else if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n')
        out += kReplacement;
      else if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") { // not characters of XML
        out += kReplacement;
        i += 2;
      } else
        out += c;
    }
    if (prefix.badBytes)
      out += kReplacement;
    text.remove_prefix(prefix.validBytes + prefix.badBytes);
  }
  return out;
}

} // namespace hjx
