// SPDX-License-Identifier: Apache-2.0
//
// From records to series.
#include "lib/Train/RunCharts.h"

#include "lib/Data/File.h"
#include "lib/Train/RunningMean.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hjx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ChartSeries seriesOf(const std::vector<MetricsRecord> &records, const std::string &kind,
                     const std::string &value, const std::string &name) {
  ChartSeries series;
  series.name = name;
  for (const MetricsRecord &record : records)
    if (record.kind == kind)
      if (std::optional<double> y = record.value(value)) {
        series.x.push_back(static_cast<double>(record.step));
        series.y.push_back(*y);
      }
  return series;
}

/// Replaces runs of neighbouring points by their mean and range. Non-finite points are left out of
/// a mean; an interval of nothing else stays a gap.
ChartSeries condense(const ChartSeries &series, size_t maxPoints) {
  ChartSeries out;
  out.name = series.name;
  const size_t n = series.y.size(), run = (n + maxPoints - 1) / maxPoints;
  for (size_t begin = 0; begin < n; begin += run) {
    size_t end = std::min(n, begin + run);
    RunningMean x, y;
    double low = kNan, high = kNan;
    for (size_t i = begin; i < end; ++i) {
      x.add(series.x[i]);
      if (!std::isfinite(series.y[i]))
        continue;
      y.add(series.y[i]);
      low = std::fmin(low, series.y[i]);
      high = std::fmax(high, series.y[i]);
    }
    out.x.push_back(x.value());
    out.y.push_back(y.count() ? y.value() : kNan);
    out.low.push_back(low);
    out.high.push_back(high);
  }
  return out;
}

} // namespace

Chart lossChart(const std::vector<MetricsRecord> &records, bool logY, size_t maxPoints) {
  Chart chart{"Loss", "step", "cross-entropy, nats per token", logY, {}, {}};
  ChartSeries train = seriesOf(records, "train", "loss", "training");
  ChartSeries validation = seriesOf(records, "validation", "loss", "validation");
  chart.series.push_back(condense(train, std::max<size_t>(maxPoints, 1)));
  if (train.y.size() > maxPoints)
    chart.series[0].name = "training: mean, minimum to maximum";
  for (size_t i = 0; i < validation.y.size(); ++i)
    if (std::isfinite(validation.y[i]) && (!chart.mark || validation.y[i] < chart.mark->y))
      chart.mark =
          ChartMark{validation.x[i], validation.y[i],
                    absl::StrFormat("best %.4f at %.0f", validation.y[i], validation.x[i])};
  if (!validation.y.empty()) {
    validation.dots = validation.y.size() <= 100;
    chart.series.push_back(std::move(validation));
  }
  return chart;
}

Chart learningRateChart(const std::vector<MetricsRecord> &records) {
  Chart chart{"Learning rate", "step", "learning rate", false, {}, {}};
  chart.series.push_back(seriesOf(records, "train", "learning_rate", "learning rate"));
  return chart;
}

absl::Status writeRunCharts(const std::string &folder, const std::vector<MetricsRecord> &records) {
  HJX_RETURN_IF_ERROR(writeFileAtomically(folder + "/loss.svg", renderSvg(lossChart(records))));
  HJX_RETURN_IF_ERROR(
      writeFileAtomically(folder + "/loss-log.svg", renderSvg(lossChart(records, true))));
  return writeFileAtomically(folder + "/learning-rate.svg", renderSvg(learningRateChart(records)));
}

} // namespace hjx
