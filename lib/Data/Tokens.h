// SPDX-License-Identifier: Apache-2.0
//
// A stream of token ids at any 64-bit position, whatever file it comes from:
//
//   safetensors  one tensor "tokens" of rank 1, U16, U32 or I32
//   llm.c        shards with a 1024-byte header (magic 20240520: u16, 20240801: u32)
//   uint16       headerless .bin files of nanoGPT
//   bytes        any file, id = byte
//   text         UTF-8 through a tokenizer, encoded once into memory
//
// Several files (a glob pattern) form one stream in the order of their names; a window may
// cross from one shard into the next, so no shard loses its tail. Nothing but the text front
// end holds more than the tokens asked for. Ids are checked against the vocabulary when read.
#pragma once

#include "lib/Data/Status.h"

#include <functional>
#include <span>

namespace hjx {

class Tokenizer;

enum class TokenFormat { Auto, Safetensors, LlmC, Uint16, Bytes, Text };

/// Inverse of the names "auto", "safetensors", "llmc", "uint16", "bytes", "text".
absl::StatusOr<TokenFormat> parseTokenFormat(std::string_view name);

struct TokenSourceOptions {
  /// Auto: by the ending of the name (.safetensors, .bin, .txt), and llm.c's magic for .bin.
  TokenFormat format = TokenFormat::Auto;
  /// For text; null means bytes. Needed during open() only.
  const Tokenizer *tokenizer = nullptr;
  /// Ids must be below this; 0 accepts every id that fits an int32.
  int64_t vocabSize = 0;
  uint64_t startToken = 0;
  /// At most so many tokens, counted from startToken.
  uint64_t maxTokens = UINT64_MAX;
};

/// Cheap to copy; copies share the open files. Reads are thread-safe.
class TokenSource {
public:
  /// Opens one file or all that match a glob pattern.
  static absl::StatusOr<TokenSource> open(const std::string &pattern,
                                          const TokenSourceOptions &options = {});
  /// Wraps tokens in memory.
  static TokenSource fromTokens(std::vector<int32_t> tokens);

  uint64_t numTokens() const { return numTokens_; }

  /// Fills `out` with the tokens from position `first`.
  /// Errors: past the end; an id outside the vocabulary (with its position); a failed read.
  absl::Status read(uint64_t first, std::span<int32_t> out) const;

  /// Returns the stream [first, first + count), cut at the end of this one.
  TokenSource slice(uint64_t first, uint64_t count) const;

  struct Split;
  /// Splits into a head to train on and a tail of about `tailFraction` to validate on.
  absl::StatusOr<Split> splitTail(double tailFraction) const;

private:
  /// A run of equally stored tokens; where the bytes come from is behind `readBytes`.
  struct Segment {
    std::string path;
    std::function<absl::Status(uint64_t offsetBytes, std::span<char> out)> readBytes;
    unsigned widthBytes;
    uint64_t numTokens;
    uint64_t firstToken = 0; ///< position in the whole stream
  };

  static absl::StatusOr<Segment> openSegment(const std::string &path,
                                             const TokenSourceOptions &options);
  static absl::StatusOr<Segment> openSafetensors(const std::string &path);
  static absl::StatusOr<Segment> openLlmC(const std::string &path);
  static absl::StatusOr<Segment> openText(const std::string &path, const Tokenizer &tokenizer);
  static absl::StatusOr<Segment> openRaw(const std::string &path, unsigned widthBytes);
  static Segment inMemory(std::string path, std::vector<int32_t> tokens);
  static TokenSource ofSegments(std::vector<Segment> segments, int64_t vocabSize);

  std::shared_ptr<const std::vector<Segment>> segments_;
  uint64_t first_ = 0;
  uint64_t numTokens_ = 0;
  int64_t vocabSize_ = 0;
};

struct TokenSource::Split {
  TokenSource train, validation;
};

} // namespace hjx
