// SPDX-License-Identifier: Apache-2.0
//
// How lib/Data and lib/Train report bad input: an absl::Status whose message reads
//
//   safetensors: model.safetensors: tensor 'wte': expected 8 bytes for F32[2], got 4
//     help: the file is damaged; fetch it again
//
// subject first, then what was expected and what came, then one remedy. Everything
// that a file can choose (names, dtypes, text) passes through printable() on its way
// into a message: a tensor name must not be able to drive the reader's terminal.
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hjx {

/// Returns "subject: expected X, got Y\n  help: remedy" as an invalid-argument status.
absl::Status badInput(std::string_view subject, std::string_view expected, std::string_view got,
                      std::string_view remedy);

/// Returns a status for a failed system call: "subject: what: <strerror>".
absl::Status systemError(std::string_view subject, std::string_view what, int errorNumber);

/// Returns `text` safe to echo: printable ASCII as it is, quotes, backslashes and all other bytes
/// as escapes, and no more than `maxBytes` of input, with "..." when cut.
std::string printable(std::string_view text, size_t maxBytes = 80);

/// Returns running text safe for a terminal or a log: UTF-8 as it is, but control characters
/// (C0 other than newline and tab, DEL, C1) and ill-formed bytes as \xNN.
std::string printableText(std::string_view text);

/// Returns the entry of `candidates` nearest to `word` in edit distance, or "" when none is near.
std::string nearestName(std::string_view word, const std::vector<std::string> &candidates);

} // namespace hjx
