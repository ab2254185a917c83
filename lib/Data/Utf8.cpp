// SPDX-License-Identifier: Apache-2.0
//
// Table 3-7 of the Unicode standard as code: the second byte's range depends on the first.
#include "lib/Data/Utf8.h"

#include <utility>

namespace hjx {
namespace {

/// Returns the length that `lead` announces, 0 for a byte that cannot lead.
size_t sequenceLength(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead >= 0xc2 && lead <= 0xdf)
    return 2;
  if (lead >= 0xe0 && lead <= 0xef)
    return 3;
  if (lead >= 0xf0 && lead <= 0xf4)
    return 4;
  return 0;
}

std::pair<unsigned char, unsigned char> secondByteRange(unsigned char lead) {
  switch (lead) {
  case 0xe0:
    return {0xa0, 0xbf}; // no overlong three-byte forms
  case 0xed:
    return {0x80, 0x9f}; // no surrogates
  case 0xf0:
    return {0x90, 0xbf}; // no overlong four-byte forms
  case 0xf4:
    return {0x80, 0x8f}; // nothing above U+10FFFF
  default:
    return {0x80, 0xbf};
  }
}

} // namespace

Utf8Prefix scanUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    auto lead = static_cast<unsigned char>(text[i]);
    size_t length = sequenceLength(lead);
    if (length == 0)
      return {i, 1, false};
    auto [low, high] = secondByteRange(lead);
    size_t have = 1;
    for (; have < length && i + have < text.size(); ++have) {
      auto c = static_cast<unsigned char>(text[i + have]);
      if (c < low || c > high)
        return {i, have, false}; // the maximal well-formed start, as U+FFFD practice wants it
      low = 0x80, high = 0xbf;
    }
    if (have < length)
      return {i, have, true};
    i += length;
  }
  return {text.size(), 0, false};
}

} // namespace hjx
