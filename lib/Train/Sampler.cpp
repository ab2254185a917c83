// SPDX-License-Identifier: Apache-2.0
//
// Filter, exponentiate, walk the cumulative sum.
#include "lib/Train/Sampler.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace hjx {

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bdau};
  uint32_t a = counter[0] + keys[0], b = counter[1] + keys[1];
  for (uint32_t round = 0; round < 20; ++round) {
    a += b;
    b = std::rotl(b, kRotations[round % 8]) ^ a;
    if (round % 4 == 3) {
      uint32_t injection = round / 4 + 1;
      a += keys[injection % 3];
      b += keys[(injection + 1) % 3] + injection;
    }
  }
  return {a, b};
}

absl::StatusOr<Sampler> Sampler::create(const SamplingOptions &options) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
    return badInput("sampling: temperature", "a number of 0 or more",
                    absl::StrCat(options.temperature),
                    "0 is greedy, 1 samples from the model's own distribution");
  if (options.topK < 0)
    return badInput("sampling: top_k", "0 or more", absl::StrCat(options.topK),
                    "0 keeps every token");
  if (!(options.topP > 0 && options.topP <= 1))
    return badInput("sampling: top_p", "a number above 0, at most 1", absl::StrCat(options.topP),
                    "1 keeps every token");
  return Sampler(options);
}

absl::StatusOr<int32_t> Sampler::sample(std::span<const float> logits, uint64_t position) const {
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      return badInput("sampling", "logits that are finite or -infinity",
                      absl::StrCat(logits[i], " for token ", i),
                      "the parameters are damaged; look for the first non-finite tensor");
  auto best = std::max_element(logits.begin(), logits.end());
  if (best == logits.end() || !std::isfinite(*best))
    return badInput("sampling", "at least one finite logit",
                    absl::StrCat(logits.size(), " of -infinity"), "check the mask");
  if (options_.temperature == 0)
    return static_cast<int32_t>(best - logits.begin());

  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  auto higher = [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] != logits[static_cast<size_t>(b)]
               ? logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]
               : a < b;
  };
  size_t keep = ids.size();
  if (options_.topK > 0)
    keep = std::min<size_t>(keep, static_cast<size_t>(options_.topK));
  if (options_.topP < 1)
    std::partial_sort(ids.begin(), ids.begin() + static_cast<long>(keep), ids.end(), higher);
  else if (keep < ids.size())
    std::nth_element(ids.begin(), ids.begin() + static_cast<long>(keep), ids.end(), higher);
  ids.resize(keep);
  if (options_.topP == 1)
    std::sort(ids.begin(), ids.end()); // nth_element promises no order, and the walk needs one

  std::vector<double> weights(ids.size());
  double total = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    double distance = double{logits[static_cast<size_t>(ids[i])]} - double{*best};
    total += weights[i] = std::exp(distance / options_.temperature);
  }
  if (options_.topP < 1) {
    double reached = 0;
    size_t count = 0;
    while (count < weights.size() && reached < options_.topP * total)
      reached += weights[count++];
    weights.resize(count);
    total = reached;
  }
  auto half = [](uint64_t value, int shift) { return static_cast<uint32_t>(value >> shift); };
  auto bits = threefry2x32({half(options_.seed, 32), half(options_.seed, 0)},
                           {half(position, 32), half(position, 0)});
  double uniform = static_cast<double>((uint64_t{bits[0]} << 32 | bits[1]) >> 11) * 0x1p-53;
  double rest = uniform * total;
  size_t chosen = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0)
      continue; // rounding must not choose what has no probability
    chosen = i;
    if (rest < weights[i])
      break;
    rest -= weights[i];
  }
  return ids[chosen];
}

} // namespace hjx
