// SPDX-License-Identifier: Apache-2.0
//
// The one question about UTF-8 that is asked here: where does the valid part end, and is what
// follows broken or merely unfinished? (Unicode 15, table 3-7: no overlong forms, no surrogates.)
#pragma once

#include <cstddef>
#include <string_view>

namespace hjx {

struct Utf8Prefix {
  size_t validBytes; ///< complete, well-formed characters from the start
  size_t badBytes;   ///< length of the ill-formed part after them; 0 at the end of the text
  bool unfinished;   ///< the bad part reaches the end and more bytes could complete it
};

Utf8Prefix scanUtf8(std::string_view text);

inline bool isValidUtf8(std::string_view text) { return scanUtf8(text).badBytes == 0; }

} // namespace hjx
