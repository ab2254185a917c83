// SPDX-License-Identifier: Apache-2.0
//
// The Feistel network. Changing a constant here changes the data order of every seed, and with
// it every resumed run; a golden test holds them.
#include "lib/Data/KeyedPermutation.h"

#include <utility>

namespace hjx {
namespace {

/// The finaliser of SplitMix64: every input bit reaches every output bit.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

KeyedPermutation::KeyedPermutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size_(size), halfBits_(1) {
  while (halfBits_ < 32 && (uint64_t{1} << (2 * halfBits_)) < size)
    ++halfBits_;
  for (int round = 0; round < kRounds; ++round)
    roundKeys_[static_cast<std::size_t>(round)] =
        mix(mix(mix(seed) ^ epoch) ^ static_cast<uint64_t>(round));
}

uint64_t KeyedPermutation::operator()(uint64_t index) const {
  const uint64_t mask = (uint64_t{1} << halfBits_) - 1;
  do {
    uint64_t left = index >> halfBits_, right = index & mask;
    for (uint64_t key : roundKeys_)
      left = std::exchange(right, left ^ (mix(right ^ key) & mask));
    index = left << halfBits_ | right;
  } while (index >= size_);
  return index;
}

} // namespace hjx
