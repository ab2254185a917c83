// SPDX-License-Identifier: Apache-2.0
//
// In which order the windows of a token stream are served: as they lie, or shuffled by a keyed
// permutation that can be computed at any index.
//
// Nothing is stored and nothing advances: the window at serial number g is a function of
// (seed, g), so a resumed run needs only its step number, and every epoch serves every window
// exactly once. The permutation is a Feistel network on the smallest even number of bits that
// holds the window numbers, walked until it lands inside (a permutation of a superset, followed
// along its cycles, permutes the set); the superset is at most four times larger, so a walk
// takes four applications at most on average. With 10 windows on 4 bits, seed 42, epoch 0:
//
//   8 -> 11 -> 15 -> 5: when window 8's turn comes, window 5 is served
//
// Choices not taken: drawing with replacement (nanoGPT; no epochs, some text never seen), and a
// stored shuffled list (llm.c; 8 bytes a window in every checkpoint).
// Source: Black & Rogaway 2002, "Ciphers with arbitrary finite domains".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hjx {

/// A pseudorandom permutation of [0, size).
class KeyedPermutation {
public:
  KeyedPermutation(uint64_t size, uint64_t seed, uint64_t epoch);

  /// Returns the image of `index`, which must be below size.
  uint64_t operator()(uint64_t index) const;

private:
  static constexpr int kRounds = 8;

  uint64_t size_;
  unsigned halfBits_;
  std::array<uint64_t, kRounds> roundKeys_;
};

} // namespace hjx
