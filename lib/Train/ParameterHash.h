// SPDX-License-Identifier: Apache-2.0
//
// A fingerprint of parameters: XXH3-64 of each tensor's bytes. Two uses: proof that a resumed run
// equals an unbroken one bit by bit, and the question whether a step changed anything at all.
#pragma once

#include "lib/Data/HostTensor.h"

namespace hjx {

struct TensorHash {
  std::string name;
  uint64_t hash;
};

/// Returns the hash of each tensor, sorted by name.
std::vector<TensorHash> hashTensors(std::span<const TensorView> tensors);

/// Returns one hash for all: of names, hashes and their order.
uint64_t combinedHash(const std::vector<TensorHash> &hashes);

/// Returns the names whose hash is the same in both: parameters that a step did not change.
std::vector<std::string> unchangedTensors(const std::vector<TensorHash> &before,
                                          const std::vector<TensorHash> &after);

/// 16 hexadecimal digits.
std::string formatHash(uint64_t hash);

} // namespace hjx
