// SPDX-License-Identifier: Apache-2.0
//
// Training batches as a pure function of the step.
//
// A stream of N tokens holds W = (N - 1) / T windows; window w is the T + 1 tokens from w T, so
// neighbours share one: the last target of one is the first input of the next. The micro-batch
// of (step, micro, rank) has serial number (step * accumulate + micro) * world + rank; its rows
// are the windows at serial numbers serial * B ... serial * B + B - 1, counted on over epochs.
#pragma once

#include "lib/Data/Tokens.h"

namespace hjx {

struct BatchLayout {
  uint64_t windowTokens = 0; ///< T
  uint64_t batch = 0;        ///< B: windows in a micro-batch
  uint64_t accumulate = 1;   ///< micro-batches in a step, on each rank
  uint64_t world = 1;
  uint64_t rank = 0;

  uint64_t tokensPerStep() const { return windowTokens * batch * accumulate * world; }
};

enum class WindowOrder { Sequential, Shuffled };

/// Row-major [B, T] each; targets[b, t] is the token after inputs[b, t].
struct Batch {
  std::vector<int32_t> inputs, targets;
};

class BatchStream {
public:
  /// Errors: a zero in the layout, rank >= world, fewer tokens than one window needs.
  static absl::StatusOr<BatchStream> create(TokenSource source, BatchLayout layout,
                                            WindowOrder order = WindowOrder::Sequential,
                                            uint64_t seed = 0);

  const BatchLayout &layout() const { return layout_; }
  uint64_t numWindows() const { return numWindows_; }
  /// Micro-batches with no window repeated: the size of a validation pass.
  uint64_t numFullBatches() const { return numWindows_ / layout_.batch; }

  /// Returns the window at serial number `serial`, over all epochs.
  uint64_t windowAt(uint64_t serial) const;

  absl::Status read(uint64_t step, uint64_t micro, Batch &out) const;

private:
  BatchStream(TokenSource source, BatchLayout layout, WindowOrder order, uint64_t seed)
      : source_(std::move(source)), layout_(layout), order_(order), seed_(seed) {}

  TokenSource source_;
  BatchLayout layout_;
  WindowOrder order_;
  uint64_t seed_;
  uint64_t numWindows_ = 0;
};

/// Returns how many steps see at least `minTokens` tokens: the quotient, rounded up.
uint64_t stepsForTokens(uint64_t minTokens, uint64_t tokensPerStep);

} // namespace hjx
