// SPDX-License-Identifier: Apache-2.0
//
// Front ends build segments; reading is one loop over them.
#include "lib/Data/Tokens.h"

#include "lib/Data/File.h"
#include "lib/Data/Safetensors.h"
#include "lib/Data/Tokenizer.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <glob.h>

namespace hjx {
namespace {

constexpr uint64_t kLlmCHeaderBytes = 256 * 4;
constexpr uint32_t kLlmCMagicU16 = 20240520; // version 1
constexpr uint32_t kLlmCMagicU32 = 20240801; // version 7, Llama 3

constexpr std::pair<std::string_view, TokenFormat> kFormats[] = {
    {"auto", TokenFormat::Auto},   {"safetensors", TokenFormat::Safetensors},
    {"llmc", TokenFormat::LlmC},   {"uint16", TokenFormat::Uint16},
    {"bytes", TokenFormat::Bytes}, {"text", TokenFormat::Text},
};

std::string subjectOf(const std::string &path) { return absl::StrCat("tokens: ", path); }

uint32_t decodeU32(const char *bytes) {
  auto b = reinterpret_cast<const unsigned char *>(bytes);
  return b[0] | b[1] << 8 | b[2] << 16 | uint32_t{b[3]} << 24;
}

absl::StatusOr<std::vector<std::string>> matchingPaths(const std::string &pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return std::vector<std::string>{pattern};
  glob_t found{};
  int failed = ::glob(pattern.c_str(), 0, nullptr, &found); // sorted by name
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (failed ? 0 : found.gl_pathc));
  ::globfree(&found);
  if (paths.empty())
    return badInput(subjectOf(pattern), "a pattern that matches files", "no match",
                    "check the folder; quote the pattern so that the shell leaves it alone");
  return paths;
}

} // namespace

absl::StatusOr<TokenFormat> parseTokenFormat(std::string_view name) {
  std::vector<std::string> names;
  for (const auto &[spelling, format] : kFormats) {
    if (spelling == name)
      return format;
    names.emplace_back(spelling);
  }
  std::string nearest = nearestName(name, names);
  return badInput("token format", "auto, safetensors, llmc, uint16, bytes or text",
                  absl::StrCat("'", printable(name), "'"),
                  nearest.empty() ? "use auto to go by the file's name"
                                  : absl::StrCat("did you mean '", nearest, "'?"));
}

absl::StatusOr<TokenSource::Segment> TokenSource::openSafetensors(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(SafetensorsFile opened, SafetensorsFile::open(path));
  auto file = std::make_shared<const SafetensorsFile>(std::move(opened));
  HJX_ASSIGN_OR_RETURN(const TensorInfo *tensor, file->get("tokens"));
  bool usable = tensor->type == StoredType::U16 || tensor->type == StoredType::U32 ||
                tensor->type == StoredType::I32;
  if (!usable || tensor->shape.size() != 1)
    return badInput(subjectOf(path), "tensor 'tokens' of rank 1 and type U16, U32 or I32",
                    describeTensor(tensor->type, tensor->shape),
                    "write the file with hjx-tokenize, or flatten and convert the tensor");
  auto readBytes = [file, tensor](uint64_t offset, std::span<char> out) {
    return file->read(*tensor, offset, out);
  };
  return Segment{path, readBytes, storedTypeBits(tensor->type) / 8,
                 static_cast<uint64_t>(tensor->shape[0])};
}

absl::StatusOr<TokenSource::Segment> TokenSource::openLlmC(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(InputFile opened, InputFile::open(path));
  auto file = std::make_shared<const InputFile>(std::move(opened));
  if (file->sizeBytes() < kLlmCHeaderBytes)
    return badInput(subjectOf(path), "an llm.c header of 1024 bytes",
                    absl::StrCat(file->sizeBytes(), " bytes"),
                    "for a headerless file use the format uint16");
  char header[12];
  HJX_RETURN_IF_ERROR(file->read(0, header));
  uint32_t magic = decodeU32(header), version = decodeU32(header + 4);
  bool wide = magic == kLlmCMagicU32;
  if ((!wide && magic != kLlmCMagicU16) || version != (wide ? 7 : 1))
    return badInput(subjectOf(path),
                    "llm.c magic 20240520 with version 1, or 20240801 with version 7",
                    absl::StrCat("magic ", magic, ", version ", version),
                    "name a token shard; for a headerless file use the format uint16");
  unsigned width = wide ? 4 : 2;
  uint64_t dataBytes = file->sizeBytes() - kLlmCHeaderBytes, count = decodeU32(header + 8);
  if (dataBytes != count * width)
    return badInput(subjectOf(path), absl::StrCat(count, " tokens, as the header says"),
                    absl::StrCat(dataBytes, " bytes of data"),
                    "the shard is incomplete; make or fetch it again");
  auto readBytes = [file](uint64_t offset, std::span<char> out) {
    return file->read(kLlmCHeaderBytes + offset, out);
  };
  return Segment{path, readBytes, width, count};
}

absl::StatusOr<TokenSource::Segment> TokenSource::openRaw(const std::string &path,
                                                          unsigned widthBytes) {
  HJX_ASSIGN_OR_RETURN(InputFile opened, InputFile::open(path));
  auto file = std::make_shared<const InputFile>(std::move(opened));
  if (file->sizeBytes() % widthBytes)
    return badInput(subjectOf(path), "an even number of bytes for uint16 tokens",
                    absl::StrCat(file->sizeBytes()),
                    "the file is incomplete, or text: use the format bytes or text");
  auto readBytes = [file](uint64_t offset, std::span<char> out) { return file->read(offset, out); };
  return Segment{path, readBytes, widthBytes, file->sizeBytes() / widthBytes};
}

TokenSource::Segment TokenSource::inMemory(std::string path, std::vector<int32_t> tokens) {
  auto shared = std::make_shared<const std::vector<int32_t>>(std::move(tokens));
  auto readBytes = [shared](uint64_t offset, std::span<char> out) {
    std::memcpy(out.data(), reinterpret_cast<const char *>(shared->data()) + offset, out.size());
    return absl::OkStatus();
  };
  return Segment{std::move(path), readBytes, 4, shared->size()};
}

absl::StatusOr<TokenSource::Segment> TokenSource::openText(const std::string &path,
                                                           const Tokenizer &tokenizer) {
  HJX_ASSIGN_OR_RETURN(std::string text, readFile(path));
  absl::StatusOr<std::vector<int32_t>> tokens = tokenizer.encode(text);
  if (!tokens.ok())
    return absl::Status(tokens.status().code(),
                        absl::StrCat(path, ": ", std::string(tokens.status().message())));
  return inMemory(path, *std::move(tokens));
}

absl::StatusOr<TokenSource::Segment> TokenSource::openSegment(const std::string &path,
                                                              const TokenSourceOptions &options) {
  TokenFormat format = options.format;
  if (format == TokenFormat::Auto) {
    std::string_view name = path;
    if (name.ends_with(".safetensors")) {
      format = TokenFormat::Safetensors;
    } else if (name.ends_with(".txt")) {
      format = TokenFormat::Text;
    } else if (name.ends_with(".bin")) {
      format = TokenFormat::Uint16;
      HJX_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
      char magic[4];
      if (file.sizeBytes() >= kLlmCHeaderBytes) {
        HJX_RETURN_IF_ERROR(file.read(0, magic));
        if (uint32_t m = decodeU32(magic); m == kLlmCMagicU16 || m == kLlmCMagicU32)
          format = TokenFormat::LlmC;
      }
    } else {
      return badInput(subjectOf(path), "a name ending in .safetensors, .bin or .txt",
                      "another name", "say the format: safetensors, llmc, uint16, bytes or text");
    }
  }
  switch (format) {
  case TokenFormat::Safetensors:
    return openSafetensors(path);
  case TokenFormat::LlmC:
    return openLlmC(path);
  case TokenFormat::Uint16:
    return openRaw(path, 2);
  case TokenFormat::Text:
    if (options.tokenizer && options.tokenizer->name() != "bytes")
      return openText(path, *options.tokenizer);
    [[fallthrough]]; // bytes need no encoding, so they are read in place
  case TokenFormat::Bytes:
  case TokenFormat::Auto:
    break;
  }
  return openRaw(path, 1);
}

TokenSource TokenSource::ofSegments(std::vector<Segment> segments, int64_t vocabSize) {
  TokenSource source;
  for (Segment &segment : segments) {
    segment.firstToken = source.numTokens_;
    source.numTokens_ += segment.numTokens;
  }
  source.segments_ = std::make_shared<const std::vector<Segment>>(std::move(segments));
  source.vocabSize_ = vocabSize;
  return source;
}

absl::StatusOr<TokenSource> TokenSource::open(const std::string &pattern,
                                              const TokenSourceOptions &options) {
  HJX_ASSIGN_OR_RETURN(std::vector<std::string> paths, matchingPaths(pattern));
  std::vector<Segment> segments;
  for (const std::string &path : paths) {
    HJX_ASSIGN_OR_RETURN(Segment segment, openSegment(path, options));
    segments.push_back(std::move(segment));
  }
  TokenSource source = ofSegments(std::move(segments), options.vocabSize);
  if (options.startToken > source.numTokens())
    return badInput(subjectOf(pattern),
                    absl::StrCat("a start within its ", source.numTokens(), " tokens"),
                    absl::StrCat(options.startToken), "lower start_token, or name more files");
  return source.slice(options.startToken, options.maxTokens);
}

TokenSource TokenSource::fromTokens(std::vector<int32_t> tokens) {
  return ofSegments({inMemory("memory", std::move(tokens))}, 0);
}

absl::Status TokenSource::read(uint64_t first, std::span<int32_t> out) const {
  if (first > numTokens_ || out.size() > numTokens_ - first)
    return absl::OutOfRangeError(absl::StrCat("tokens: wanted ", out.size(), " from ", first,
                                              ", the stream has ", numTokens_));
  uint64_t position = first_ + first;
  auto segment = std::upper_bound(segments_->begin(), segments_->end(), position,
                                  [](uint64_t p, const Segment &s) { return p < s.firstToken; });
  std::vector<char> bytes;
  for (--segment; !out.empty(); ++segment) {
    uint64_t local = position - segment->firstToken;
    size_t count = std::min<uint64_t>(out.size(), segment->numTokens - local);
    const unsigned width = segment->widthBytes;
    bytes.resize(count * width);
    HJX_RETURN_IF_ERROR(segment->readBytes(local * width, bytes));
    const uint64_t limit = vocabSize_ > 0 ? static_cast<uint64_t>(vocabSize_) : uint64_t{1} << 31;
    for (size_t i = 0; i < count; ++i) {
      uint32_t id = 0;
      std::memcpy(&id, bytes.data() + i * width, width); // little-endian, as the host is
      if (id >= limit)
        return badInput(
            subjectOf(segment->path), absl::StrCat("token ids below ", limit),
            // A negative I32 is shown as what it was.
            absl::StrCat(id > INT32_MAX ? int64_t{static_cast<int32_t>(id)} : int64_t{id},
                         " at position ", local + i),
            "use the vocabulary that the file was made with");
      out[i] = static_cast<int32_t>(id);
    }
    out = out.subspan(count);
    position += count;
  }
  return absl::OkStatus();
}

TokenSource TokenSource::slice(uint64_t first, uint64_t count) const {
  TokenSource result = *this;
  first = std::min(first, numTokens_);
  result.first_ += first;
  result.numTokens_ = std::min(count, numTokens_ - first);
  return result;
}

absl::StatusOr<TokenSource::Split> TokenSource::splitTail(double tailFraction) const {
  if (!(tailFraction > 0 && tailFraction < 1))
    return badInput("validation fraction", "a number between 0 and 1", absl::StrCat(tailFraction),
                    "0.1 holds out the last tenth");
  auto tail = static_cast<uint64_t>(static_cast<double>(numTokens_) * tailFraction);
  return Split{slice(0, numTokens_ - tail), slice(numTokens_ - tail, tail)};
}

} // namespace hjx
