// SPDX-License-Identifier: Apache-2.0
//
// The charts of a run, drawn from its metrics: loss, with the range of the steps that each drawn
// point stands for, and the learning rate.
#pragma once

#include "lib/Train/Chart.h"
#include "lib/Train/Metrics.h"

namespace hjx {

/// Returns the loss of "train" records averaged over at most `maxPoints` intervals with their
/// minimum and maximum, the loss of "validation" records, and a mark at the lowest of those.
Chart lossChart(const std::vector<MetricsRecord> &records, bool logY = false,
                size_t maxPoints = 400);

Chart learningRateChart(const std::vector<MetricsRecord> &records);

/// Writes loss.svg, loss-log.svg and learning-rate.svg into `folder`.
absl::Status writeRunCharts(const std::string &folder, const std::vector<MetricsRecord> &records);

} // namespace hjx
