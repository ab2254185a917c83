// SPDX-License-Identifier: Apache-2.0
//
// Learning rates as functions of the step, on the host: the rate is a scalar input of the
// compiled step, so changing it never compiles anything.
//
// One meaning of the numbers for all kinds: `totalSteps` is the length of the whole schedule and
// INCLUDES the warm-up. (Sibling libraries disagree: optax's decay_steps includes the warm-up in
// warmup_cosine_decay_schedule and not in cosine_decay_schedule.) The update of step 0 uses
// exactly `initial` when there is a warm-up; from totalSteps on, the rate is `final`.
//
//   constant       initial ~> peak over the warm-up, then peak
//   linear         ... then a straight line to final at totalSteps
//   warmup_cosine  ... then final + (peak - final) (1 + cos(pi x)) / 2 ^ exponent
//   wsd            ... then peak to stableFraction of totalSteps, then falls as 1 - sqrt(x)
//
// Source: optax schedules; llm.c schedulers.h for wsd.
#pragma once

#include "lib/Train/Config.h"

namespace hjx {

enum class ScheduleKind { Constant, Linear, WarmupCosine, Wsd };

struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double initial = 0;
  double peak = 1e-3;
  double final = 0;
  int64_t warmupSteps = 0;
  int64_t totalSteps = 0;      ///< warm-up included; not used by constant
  double exponent = 1;         ///< of warmup_cosine
  double stableFraction = 0.8; ///< of wsd: where the fall begins
};

/// Returns the rate of update `step`, counted from 0.
double learningRate(const Schedule &schedule, int64_t step);

/// Errors: a negative or non-finite rate, a warm-up longer than the schedule, fractions outside 0
/// to 1.
absl::Status checkSchedule(const Schedule &schedule);

/// The keys of a schedule in a configuration, with their defaults.
Json scheduleDefaults();
/// Reads a merged configuration of that form; an unknown kind is an error. `total_steps` 0 means
/// `runSteps`.
absl::StatusOr<Schedule> scheduleFromConfig(const Json &config, int64_t runSteps);

} // namespace hjx
