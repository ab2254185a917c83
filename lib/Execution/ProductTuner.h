// SPDX-License-Identifier: Apache-2.0
//
// Tiles of matrix products by measurement (HJX_AUTOTUNE): what the model of ProductCost.h ranks near the top is timed on
// the device, and the winners are kept on disk, where later compilations for such a device find them.
//
//   <HJX_CACHE_DIR>/<SHA-256 of the next line>.schedules                     (CacheFile.h)
//     hjx 0.1.0 (LLVM 22.1.0), sm_80, NVIDIA A100-SXM4-80GB, 108 multiprocessors, driver 12040
//     matmul_bf16_f32_64x64x32_n8_n8_2_mma 1024x768x3072 0f3a9c0d1e2b4a58 = 128x128 split 2
//
// So a compilation is a function of the program and of this file. (idea: the autotuners of Triton and of XLA, whose
// results are kept in the same way.)
#pragma once

#include "runtime/Device.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace hjx {

/// What was measured on devices of one kind.
class ScheduleCache {
public:
  /// By product (MeasurableProduct::name): its schedule, as ProductSchedule spells it.
  using Schedules = std::map<std::string, std::string>;

  /// For code for `chip` on such a device, in `folder`; "" keeps nothing.
  ScheduleCache(const std::string &folder, const std::string &chip, const DeviceInfo &device);

  /// Where it is, or "".
  const std::string &path() const { return file; }
  /// What is known. A file that cannot be read is named on standard error, and counts as empty.
  Schedules read() const;
  /// Adds to what is there now. That it cannot be written is said on standard error.
  void add(Schedules measured) const;

private:
  absl::StatusOr<Schedules> load() const;

  std::string file, key;
};

/// Gives each product of `module`, which is between the two halves of the kernel pipeline (LowerOptions::onGpuFunctions),
/// the schedule that is best on `device`: what `cache` says, and else what is measured now. Says on standard error how many
/// were measured.
///
/// Errors: those of compiling a product alone, and of the device. What does not fit into its memory, and a candidate whose
///         result is not the model's, is left out.
/// Cost:   nothing to speak of when the cache knows all; else up to a second or two for each product.
absl::Status tuneProducts(mlir::ModuleOp module, const std::string &chip, RuntimeDevice &device, const ScheduleCache &cache);

} // namespace hjx
