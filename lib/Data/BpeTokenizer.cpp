// SPDX-License-Identifier: Apache-2.0
//
// Loading with every check, and merging with a heap.
#include "lib/Data/BpeTokenizer.h"

#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Data/PieceSplitter.h"
#include "lib/Data/Utf8.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <queue>

namespace hjx {
namespace {

constexpr uint64_t kMaxFileBytes = 256u << 20;
constexpr std::string_view kOpenAiVocabulary =
    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783";
constexpr std::string_view kOpenAiMerges =
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5";

/// Returns the bytes that `token` spells. Only markers contain characters outside the alphabet
/// of 256; those stand for themselves.
std::string spelledBytes(std::string_view token) {
  static const std::array<int, 0x144> kByteOf = [] {
    std::array<int, 0x144> byteOf;
    byteOf.fill(-1);
    int next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
      byteOf[static_cast<size_t>(printable ? byte : next++)] = byte;
    }
    return byteOf;
  }();
  std::string bytes;
  for (size_t i = 0; i < token.size();) {
    auto lead = static_cast<unsigned char>(token[i]);
    size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    size_t code = length == 1   ? lead
                  : length == 2 ? (lead & 0x1fu) << 6 | (token[i + 1] & 0x3f)
                                : kByteOf.size();
    if (code < kByteOf.size() && kByteOf[code] >= 0)
      bytes.push_back(static_cast<char>(kByteOf[code]));
    else
      bytes.append(token.substr(i, length));
    i += length;
  }
  return bytes;
}

class BpeTokenizer final : public Tokenizer {
public:
  const std::string &name() const override { return name_; }
  int32_t vocabSize() const override { return static_cast<int32_t>(bytes_.size()); }
  std::optional<int32_t> endOfText() const override {
    for (const auto &[text, id] : specials_)
      if (text == "<|endoftext|>")
        return id;
    return std::nullopt;
  }

  absl::StatusOr<std::vector<int32_t>> encode(std::string_view text,
                                              SpecialTokens special) const override;

  absl::StatusOr<std::string_view> tokenBytes(int32_t id) const override {
    if (id < 0 || id >= vocabSize())
      return badInput(absl::StrCat("tokenizer ", name_), absl::StrCat("ids below ", vocabSize()),
                      absl::StrCat(id), "use the tokenizer that made the ids");
    return std::string_view(bytes_[static_cast<size_t>(id)]);
  }

  absl::Status load(std::string_view vocabularyJson, std::string_view merges);

private:
  struct Merge {
    int32_t rank;
    int32_t id;
  };
  static uint64_t pairKey(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }

  absl::Status loadVocabulary(std::string_view json,
                              absl::flat_hash_map<std::string, int32_t> &ids);
  absl::Status loadMerges(std::string_view text,
                          const absl::flat_hash_map<std::string, int32_t> &ids);
  absl::Status encodeText(std::string_view text, std::vector<int32_t> &out) const;
  void mergePiece(std::string_view piece, std::vector<int32_t> &out) const;

  std::string name_;
  PieceSplitter splitter_;
  std::vector<std::string> bytes_; ///< by id
  std::array<int32_t, 256> byteIds_;
  absl::flat_hash_map<uint64_t, Merge> merges_;
  std::vector<std::pair<std::string, int32_t>> specials_; ///< longest first
};

absl::Status BpeTokenizer::loadVocabulary(std::string_view text,
                                          absl::flat_hash_map<std::string, int32_t> &ids) {
  auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return badInput("tokenizer: encoder.json", "one JSON object from tokens to ids",
                    json.is_discarded() ? "a syntax error" : json.type_name(),
                    "take the file of GPT-2");
  bytes_.resize(json.size());
  std::vector<bool> seen(json.size(), false);
  for (const auto &[token, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= json.size() || seen[id.get<size_t>()])
      return badInput("tokenizer: encoder.json",
                      absl::StrCat("the ids 0 to ", json.size() - 1, ", each once"),
                      absl::StrCat("'", printable(token), "': ", printable(id.dump())),
                      "take the file of GPT-2");
    seen[id.get<size_t>()] = true;
    bytes_[id.get<size_t>()] = spelledBytes(token);
    ids.emplace(token, id.get<int32_t>());
  }
  return absl::OkStatus();
}

absl::Status BpeTokenizer::loadMerges(std::string_view text,
                                      const absl::flat_hash_map<std::string, int32_t> &ids) {
  std::vector<bool> reachable(bytes_.size(), false);
  byteIds_.fill(-1);
  for (const auto &[token, id] : ids)
    if (const std::string &bytes = bytes_[static_cast<size_t>(id)]; bytes.size() == 1) {
      byteIds_[static_cast<unsigned char>(bytes[0])] = id;
      reachable[static_cast<size_t>(id)] = true;
    }
  for (size_t byte = 0; byte < 256; ++byte)
    if (byteIds_[byte] < 0)
      return badInput("tokenizer: encoder.json", "a token for each of the 256 bytes",
                      absl::StrCat("none for byte ", byte), "take the file of GPT-2");

  int32_t rank = 0;
  for (size_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.ends_with('\r'))
      pair.remove_suffix(1);
    // Only the first line can be a comment: "# #" is a merge.
    if ((line == 1 && pair.starts_with("#version")) || (pair.empty() && text.empty()))
      continue;
    size_t blank = pair.find(' ');
    std::string left(pair.substr(0, blank));
    std::string right(blank == std::string_view::npos ? "" : pair.substr(blank + 1));
    auto leftId = ids.find(left), rightId = ids.find(right), id = ids.find(left + right);
    auto known = [&](auto it) {
      return it != ids.end() && reachable[static_cast<size_t>(it->second)];
    };
    if (blank == std::string_view::npos || !known(leftId) || !known(rightId) || id == ids.end())
      return badInput(absl::StrCat("tokenizer: vocab.bpe line ", line),
                      "two earlier tokens whose concatenation is in encoder.json",
                      absl::StrCat("'", printable(pair), "'"),
                      "take vocab.bpe and encoder.json from the same model");
    reachable[static_cast<size_t>(id->second)] = true;
    merges_.try_emplace(pairKey(leftId->second, rightId->second), Merge{rank++, id->second});
  }
  for (const auto &[token, id] : ids)
    if (!reachable[static_cast<size_t>(id)] && !token.empty())
      specials_.emplace_back(token, id);
  std::sort(specials_.begin(), specials_.end(), [](const auto &a, const auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
  return absl::OkStatus();
}

absl::Status BpeTokenizer::load(std::string_view vocabularyJson, std::string_view merges) {
  absl::flat_hash_map<std::string, int32_t> ids;
  HJX_RETURN_IF_ERROR(loadVocabulary(vocabularyJson, ids));
  HJX_RETURN_IF_ERROR(loadMerges(merges, ids));
  name_ =
      absl::StrCat("gpt2:", sha256Hex(sha256Hex(vocabularyJson) + sha256Hex(merges)).substr(0, 16));
  return absl::OkStatus();
}

void BpeTokenizer::mergePiece(std::string_view piece, std::vector<int32_t> &out) const {
  // Tokens form a linked list over the byte positions where they begin.
  struct Token {
    int32_t id; ///< -1 once merged into its left neighbour
    int32_t previous, next;
  };
  struct Candidate {
    int32_t rank, left, leftId, rightId;
    bool operator>(const Candidate &other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  const auto size = static_cast<int32_t>(piece.size());
  std::vector<Token> tokens(piece.size());
  for (int32_t i = 0; i < size; ++i)
    tokens[i] = {byteIds_[static_cast<unsigned char>(piece[i])], i - 1, i + 1};

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
  auto consider = [&](int32_t left) {
    if (left < 0 || tokens[left].next >= size)
      return;
    int32_t leftId = tokens[left].id, rightId = tokens[tokens[left].next].id;
    if (auto merge = merges_.find(pairKey(leftId, rightId)); merge != merges_.end())
      heap.push({merge->second.rank, left, leftId, rightId});
  };
  for (int32_t i = 0; i + 1 < size; ++i)
    consider(i);
  while (!heap.empty()) {
    Candidate best = heap.top();
    heap.pop();
    Token &left = tokens[best.left];
    // Either side may have been merged away since the pair was found.
    if (left.id != best.leftId || left.next >= size || tokens[left.next].id != best.rightId)
      continue;
    Token &right = tokens[left.next];
    left.id = merges_.find(pairKey(best.leftId, best.rightId))->second.id;
    left.next = right.next;
    right.id = -1;
    if (left.next < size)
      tokens[left.next].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
  for (int32_t i = 0; i < size; i = tokens[i].next)
    out.push_back(tokens[i].id);
}

absl::Status BpeTokenizer::encodeText(std::string_view text, std::vector<int32_t> &out) const {
  HJX_ASSIGN_OR_RETURN(std::vector<std::string_view> pieces, splitter_.split(text));
  // Words repeat: remember where in `out` each distinct piece was first spelled.
  absl::flat_hash_map<absl::string_view, std::pair<size_t, size_t>> spelled;
  for (std::string_view piece : pieces) {
    auto [it, isNew] = spelled.try_emplace(absl::string_view(piece.data(), piece.size()));
    auto &[begin, end] = it->second;
    if (isNew) {
      begin = out.size();
      mergePiece(piece, out);
      end = out.size();
    } else {
      for (size_t i = begin; i < end; ++i)
        out.push_back(out[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int32_t>> BpeTokenizer::encode(std::string_view text,
                                                          SpecialTokens special) const {
  if (Utf8Prefix prefix = scanUtf8(text); prefix.badBytes)
    return badInput(absl::StrCat("tokenizer ", name_), "text in UTF-8",
                    absl::StrCat("the bytes '",
                                 printable(text.substr(prefix.validBytes, prefix.badBytes)),
                                 "' at byte ", prefix.validBytes),
                    "convert the text to UTF-8, or use the tokenizer \"bytes\"");
  if (text.size() > static_cast<size_t>(INT32_MAX))
    return badInput(absl::StrCat("tokenizer ", name_), "less than 2 GiB of text at once",
                    absl::StrCat(text.size(), " bytes"), "encode the documents one by one");
  std::vector<int32_t> out;
  if (special == SpecialTokens::AsText || specials_.empty()) {
    HJX_RETURN_IF_ERROR(encodeText(text, out));
    return out;
  }
  // The next occurrence of each marker is searched again only once it has been passed.
  std::vector<size_t> next(specials_.size(), 0);
  for (size_t at = 0; at < text.size();) {
    size_t nearest = text.size(), which = 0;
    for (size_t s = 0; s < specials_.size(); ++s) {
      if (next[s] <= at && next[s] != std::string_view::npos)
        next[s] = text.find(specials_[s].first, at);
      if (next[s] < nearest) {
        nearest = next[s];
        which = s;
      }
    }
    HJX_RETURN_IF_ERROR(encodeText(text.substr(at, nearest - at), out));
    at = nearest;
    if (at < text.size()) {
      out.push_back(specials_[which].second);
      at += specials_[which].first.size();
    }
  }
  return out;
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> parseBpeTokenizer(std::string_view vocabularyJson,
                                                             std::string_view merges) {
  auto tokenizer = std::make_unique<BpeTokenizer>();
  HJX_RETURN_IF_ERROR(tokenizer->load(vocabularyJson, merges));
  return tokenizer;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> openBpeTokenizer(const std::string &vocabularyPath,
                                                            const std::string &mergesPath,
                                                            std::vector<std::string> *warnings) {
  HJX_ASSIGN_OR_RETURN(std::string vocabulary, readFile(vocabularyPath, kMaxFileBytes));
  HJX_ASSIGN_OR_RETURN(std::string merges, readFile(mergesPath, kMaxFileBytes));
  if (warnings)
    for (const auto &[path, contents, expected] :
         {std::tuple(&vocabularyPath, &vocabulary, kOpenAiVocabulary),
          std::tuple(&mergesPath, &merges, kOpenAiMerges)})
      if (std::string hash = sha256Hex(*contents); hash != expected)
        warnings->push_back(absl::StrCat(*path, ": expected sha-256 ", std::string(expected),
                                         ", got ", hash, ": ids differ from OpenAI's GPT-2"));
  return parseBpeTokenizer(vocabulary, merges);
}

} // namespace hjx
