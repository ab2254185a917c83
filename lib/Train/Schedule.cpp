// SPDX-License-Identifier: Apache-2.0
//
// The four curves.
#include "lib/Train/Schedule.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hjx {
namespace {

constexpr std::pair<const char *, ScheduleKind> kKinds[] = {
    {"constant", ScheduleKind::Constant},
    {"linear", ScheduleKind::Linear},
    {"warmup_cosine", ScheduleKind::WarmupCosine},
    {"wsd", ScheduleKind::Wsd},
};

/// Returns how far `step` lies between `begin` and `end`, from 0 to 1.
double progress(int64_t step, double begin, double end) {
  return std::clamp((static_cast<double>(step) - begin) / (end - begin), 0.0, 1.0);
}

} // namespace

double learningRate(const Schedule &s, int64_t step) {
  const auto warmup = static_cast<double>(s.warmupSteps), total = static_cast<double>(s.totalSteps);
  if (step < s.warmupSteps)
    return s.initial + (s.peak - s.initial) * progress(step, 0, warmup);
  if (s.kind != ScheduleKind::Constant && step >= s.totalSteps)
    return s.final;
  switch (s.kind) {
  case ScheduleKind::Constant:
    return s.peak;
  case ScheduleKind::Linear:
    return s.peak + (s.final - s.peak) * progress(step, warmup, total);
  case ScheduleKind::WarmupCosine: {
    double cosine = 0.5 * (1 + std::cos(std::numbers::pi * progress(step, warmup, total)));
    return s.final + (s.peak - s.final) * std::pow(cosine, s.exponent);
  }
  case ScheduleKind::Wsd: {
    double fall = std::max(warmup, s.stableFraction * total);
    return fall >= total
               ? s.peak
               : s.final + (s.peak - s.final) * (1 - std::sqrt(progress(step, fall, total)));
  }
  }
  return s.peak;
}

absl::Status checkSchedule(const Schedule &s) {
  for (auto [name, rate] :
       {std::pair("initial", s.initial), std::pair("peak", s.peak), std::pair("final", s.final)})
    if (!std::isfinite(rate) || rate < 0)
      return badInput(absl::StrCat("schedule: ", name), "a rate of 0 or more", absl::StrCat(rate),
                      "typical peaks lie between 1e-5 and 1e-2");
  if (s.warmupSteps < 0)
    return badInput("schedule: warmup_steps", "0 or more", absl::StrCat(s.warmupSteps),
                    "0 starts at the peak");
  if (s.kind != ScheduleKind::Constant && s.totalSteps <= s.warmupSteps)
    return badInput(
        "schedule: total_steps",
        absl::StrCat("more than the ", s.warmupSteps, " steps of warm-up, which it includes"),
        absl::StrCat(s.totalSteps), "set it to the number of steps of the run");
  if (!(s.stableFraction >= 0 && s.stableFraction <= 1))
    return badInput("schedule: stable_fraction", "a number from 0 to 1",
                    absl::StrCat(s.stableFraction), "0.8 lets the rate fall over the last fifth");
  if (!(s.exponent > 0) || !std::isfinite(s.exponent))
    return badInput("schedule: exponent", "a positive number", absl::StrCat(s.exponent), "use 1");
  return absl::OkStatus();
}

Json scheduleDefaults() {
  Schedule s;
  return {{"kind", "warmup_cosine"}, {"initial", s.initial},
          {"peak", s.peak},          {"final", s.peak / 10},
          {"warmup_steps", 0},       {"total_steps", 0},
          {"exponent", s.exponent},  {"stable_fraction", s.stableFraction}};
}

absl::StatusOr<Schedule> scheduleFromConfig(const Json &config, int64_t runSteps) {
  Schedule s;
  std::string kind = config.at("kind").get<std::string>();
  std::vector<std::string> names;
  bool known = false;
  for (const auto &[name, value] : kKinds) {
    names.emplace_back(name);
    if (kind == name) {
      s.kind = value;
      known = true;
    }
  }
  if (!known) {
    std::string nearest = nearestName(kind, names);
    return badInput("schedule: kind", "constant, linear, warmup_cosine or wsd",
                    absl::StrCat("'", printable(kind), "'"),
                    nearest.empty() ? "warmup_cosine is the usual one"
                                    : absl::StrCat("did you mean '", nearest, "'?"));
  }
  s.initial = config.at("initial").get<double>();
  s.peak = config.at("peak").get<double>();
  s.final = config.at("final").get<double>();
  s.warmupSteps = config.at("warmup_steps").get<int64_t>();
  s.totalSteps = config.at("total_steps").get<int64_t>();
  if (s.totalSteps == 0)
    s.totalSteps = runSteps;
  s.exponent = config.at("exponent").get<double>();
  s.stableFraction = config.at("stable_fraction").get<double>();
  HJX_RETURN_IF_ERROR(checkSchedule(s));
  return s;
}

} // namespace hjx
