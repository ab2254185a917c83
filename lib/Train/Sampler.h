// SPDX-License-Identifier: Apache-2.0
//
// Choosing the next token from logits.
//
// The random number of position i is Threefry-2x32 of (seed, i): there is no generator state, so
// a sample drawn in the middle of training changes nothing in the training, and the same prompt,
// seed and parameters give the same text.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; Holtzman et al. 2020
// for top-p.
#pragma once

#include "lib/Data/Status.h"

#include <array>
#include <span>

namespace hjx {

struct SamplingOptions {
  double temperature = 1; ///< 0 is greedy: the highest logit, the first of equals
  int64_t topK = 0;       ///< keep so many of the highest; 0 keeps all
  double topP = 1;        ///< then keep the fewest whose probability reaches this
  uint64_t seed = 0;
};

class Sampler {
public:
  /// Errors: a negative temperature or topK, a topP outside (0, 1].
  static absl::StatusOr<Sampler> create(const SamplingOptions &options);

  /// Returns the token for position `position`. A logit of -infinity is never chosen.
  /// Errors: no logits, a NaN or +infinity among them, all of them -infinity.
  absl::StatusOr<int32_t> sample(std::span<const float> logits, uint64_t position) const;

private:
  explicit Sampler(const SamplingOptions &options) : options_(options) {}
  SamplingOptions options_;
};

/// Threefry-2x32 with 20 rounds, as JAX's default generator.
std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);

} // namespace hjx
