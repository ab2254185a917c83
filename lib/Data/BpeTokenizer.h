// SPDX-License-Identifier: Apache-2.0
//
// GPT-2's byte-pair encoding.
//
// Text is cut into pieces by a pattern (words with their leading blank, numbers, punctuation,
// runs of blanks); inside a piece, the adjacent pair of tokens with the lowest rank is merged,
// again and again, starting from bytes. With merges "l o", "lo w", the piece "low" becomes
// l o w -> lo w -> low. A heap of candidate pairs makes a piece of n bytes cost O(n log n):
// the usual rescan is quadratic, and 100 kB of one letter would then hold a server for minutes.
//
// The files spell bytes as characters: printable bytes as themselves, the other 68 as
// U+0100 + n (a blank is U+0120).
// Source: openai/gpt-2 src/encoder.py; openai/tiktoken for bytes instead of characters.
#pragma once

#include "lib/Data/Tokenizer.h"

namespace hjx {

/// Reads encoder.json (token -> id) and vocab.bpe (one merge a line, in rank order).
/// Errors: a file that is not of that form; ids that are not 0..n-1; a byte without a token; a
/// merge of tokens that do not exist yet.
absl::StatusOr<std::unique_ptr<Tokenizer>> openBpeTokenizer(const std::string &vocabularyPath,
                                                            const std::string &mergesPath,
                                                            std::vector<std::string> *warnings);

/// The same from the contents of the two files.
absl::StatusOr<std::unique_ptr<Tokenizer>> parseBpeTokenizer(std::string_view vocabularyJson,
                                                             std::string_view merges);

} // namespace hjx
