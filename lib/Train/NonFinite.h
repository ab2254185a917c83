// SPDX-License-Identifier: Apache-2.0
//
// What happens when a loss or a gradient norm is NaN or infinite.
//
// The compiled step applies no update when either is not finite (a select inside the graph, so
// parameters never see a NaN); the host decides here whether the run goes on. The default ends
// it at once: a run that nobody watches must not continue on a rule that nobody chose. With
// maxConsecutiveSkips = n, up to n bad steps in a row are skipped and the next one ends it.
// Unlike optax's apply_if_finite, the limit never lets a bad update through.
#pragma once

#include "lib/Data/HostTensor.h"
#include "lib/Train/Config.h"

namespace hjx {

enum class NonFiniteAction { Apply, Skip, Abort };

class NonFiniteGuard {
public:
  explicit NonFiniteGuard(int64_t maxConsecutiveSkips = 0)
      : maxConsecutiveSkips_(maxConsecutiveSkips) {}

  NonFiniteAction observe(double loss, double gradientNorm);

  int64_t consecutive() const { return consecutive_; }
  int64_t skipped() const { return skipped_; }

  /// For checkpoints: counts survive a restart.
  Json state() const;
  absl::Status restore(const Json &state);

private:
  int64_t maxConsecutiveSkips_;
  int64_t consecutive_ = 0;
  int64_t skipped_ = 0;
};

struct NonFiniteTensor {
  std::string name;
  uint64_t numNan = 0, numInfinite = 0;
  uint64_t firstIndex = 0; ///< row-major
};

/// Returns the floating-point tensors that hold a NaN or an infinity: the first question after a
/// loss has gone bad.
std::vector<NonFiniteTensor> findNonFinite(std::span<const TensorView> tensors);

/// "h.3.mlp.c_fc.weight: 12 NaN, 0 infinite, first at element 4096"
std::string describe(const NonFiniteTensor &tensor);

} // namespace hjx
