// SPDX-License-Identifier: Apache-2.0
//
// Text to token ids and back.
//
// Two tokenizers: bytes (256 ids, needs no files) and GPT-2's byte-pair encoding, read from
// OpenAI's two files. Markers such as <|endoftext|> are ordinary text unless the caller asks
// for them: text from strangers must not be able to end a document.
#pragma once

#include "lib/Data/Status.h"

#include <memory>
#include <optional>
#include <span>

namespace hjx {

enum class SpecialTokens { AsText, Recognised };

/// Immutable after construction; all functions may be called from several threads.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// "bytes", or "gpt2:" and the first digits of the hash of its files. Stored with token files
  /// and checkpoints: equal names mean equal ids.
  virtual const std::string &name() const = 0;
  virtual int32_t vocabSize() const = 0;
  /// The id that separates documents, where the vocabulary has one.
  virtual std::optional<int32_t> endOfText() const = 0;

  virtual absl::StatusOr<std::vector<int32_t>>
  encode(std::string_view text, SpecialTokens special = SpecialTokens::AsText) const = 0;

  /// Returns the bytes of one token, which may be part of a character.
  virtual absl::StatusOr<std::string_view> tokenBytes(int32_t id) const = 0;

  /// Returns the concatenated bytes of `ids`.
  absl::StatusOr<std::string> decode(std::span<const int32_t> ids) const;
};

/// Id = byte.
std::unique_ptr<Tokenizer> makeByteTokenizer();

/// Returns the tokenizer that `spec` names: "bytes", or a folder with encoder.json and vocab.bpe
/// (or, as Hugging Face calls them, vocab.json and merges.txt). `warnings`, when given, receives
/// a line for each file that is not OpenAI's original.
absl::StatusOr<std::unique_ptr<Tokenizer>>
openTokenizer(const std::string &spec, std::vector<std::string> *warnings = nullptr);

/// Turns a stream of ids into text that is whole at every moment: it holds back up to three
/// bytes of an unfinished character, and replaces what can never become one by U+FFFD.
class StreamingDecoder {
public:
  explicit StreamingDecoder(const Tokenizer &tokenizer) : tokenizer_(tokenizer) {}

  /// Returns the text that became complete with `id`.
  absl::StatusOr<std::string> push(int32_t id);
  /// Returns what is left at the end.
  std::string finish();

private:
  const Tokenizer &tokenizer_;
  std::string pending_;
};

} // namespace hjx
