// SPDX-License-Identifier: Apache-2.0
//
// The pattern in PCRE2. Its own \s differs from Unicode's White_Space, which the reference
// implementations use, by U+180E; so the class is spelled out. The branch \s+(?!\S) leaves the
// last blank of a run to the word that follows; the order of branches decides, not length.
#include "lib/Data/PieceSplitter.h"

#include "absl/strings/str_cat.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cassert>

namespace hjx {
namespace {

constexpr char kPattern[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+)"
                            R"(| ?[^\t-\r\x{85}\p{Z}\p{L}\p{N}]+)"
                            R"(|[\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}])|[\t-\r\x{85}\p{Z}]+)";

} // namespace

PieceSplitter::PieceSplitter() {
  int error;
  size_t at;
  code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), sizeof(kPattern) - 1,
                        PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &at, nullptr);
  assert(code_ && "the pattern is a constant of ours");
  // Without just-in-time support the interpreter gives the same result more slowly.
  pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
}

PieceSplitter::~PieceSplitter() { pcre2_code_free(code_); }

absl::StatusOr<std::vector<std::string_view>> PieceSplitter::split(std::string_view text) const {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  std::vector<std::string_view> pieces;
  for (size_t at = 0; at < text.size();) {
    int count = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                            PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (count < 0)
      return absl::InternalError(absl::StrCat("tokenizer: PCRE2 error ", count, " at byte ", at));
    size_t end = pcre2_get_ovector_pointer(match.get())[1];
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

} // namespace hjx
