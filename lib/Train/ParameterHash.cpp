// SPDX-License-Identifier: Apache-2.0
//
// Hashes and their comparison.
#include "lib/Train/ParameterHash.h"

#include "lib/Data/Digest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace hjx {

std::vector<TensorHash> hashTensors(std::span<const TensorView> tensors) {
  std::vector<TensorHash> hashes;
  for (const TensorView &tensor : tensors)
    hashes.push_back({tensor.name, xxh3(tensor.bytes)});
  std::sort(hashes.begin(), hashes.end(),
            [](const TensorHash &a, const TensorHash &b) { return a.name < b.name; });
  return hashes;
}

uint64_t combinedHash(const std::vector<TensorHash> &hashes) {
  std::string all;
  for (const TensorHash &entry : hashes)
    absl::StrAppend(&all, entry.name, "=", formatHash(entry.hash), "\n");
  return xxh3(all);
}

std::vector<std::string> unchangedTensors(const std::vector<TensorHash> &before,
                                          const std::vector<TensorHash> &after) {
  std::vector<std::string> names;
  auto it = before.begin();
  for (const TensorHash &entry : after) {
    while (it != before.end() && it->name < entry.name)
      ++it;
    if (it != before.end() && it->name == entry.name && it->hash == entry.hash)
      names.push_back(entry.name);
  }
  return names;
}

std::string formatHash(uint64_t hash) { return absl::StrFormat("%016x", hash); }

} // namespace hjx
