// SPDX-License-Identifier: Apache-2.0
//
// Two digests for two purposes: SHA-256 (libmd) where a file must be the file that is meant,
// XXH3-64 (libxxhash) where a run prints a short fingerprint of many gigabytes of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hjx {

/// Returns the SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256Hex(std::string_view bytes);

/// Returns XXH3-64 of `bytes` with seed 0: stable across machines and versions.
uint64_t xxh3(std::string_view bytes);

} // namespace hjx
