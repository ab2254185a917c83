// SPDX-License-Identifier: Apache-2.0
//
// Calls into libmd and libxxhash.
#include "lib/Data/Digest.h"

#include <sys/types.h>

#include <sha256.h>
#include <xxhash.h>

namespace hjx {

std::string sha256Hex(std::string_view bytes) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), hex);
  return hex;
}

uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

} // namespace hjx
