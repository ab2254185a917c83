// SPDX-License-Identifier: Apache-2.0
//
// Text to token files and back, outside the training run: encode once, train many times.
//
//   hjx-tokenize encode --tokenizer=bytes --out=train.safetensors austen.txt
//   hjx-tokenize encode --validation_fraction=0.1 --out=train.safetensors \
//                       --validation_out=validation.safetensors austen.txt
//   hjx-tokenize decode --tokenizer=gpt2-bpe/ train.safetensors > text
//   hjx-tokenize extract-austen --out=austen.txt Rdata.rdb
#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Data/RdataText.h"
#include "lib/Data/Safetensors.h"
#include "lib/Data/Tokenizer.h"
#include "lib/Data/Tokens.h"

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdio>

ABSL_FLAG(std::string, tokenizer, "bytes",
          "\"bytes\", or a folder with GPT-2's encoder.json and vocab.bpe");
ABSL_FLAG(std::string, out, "", "file to write");
ABSL_FLAG(std::string, validation_out, "validation.safetensors",
          "file for the held-out tail, with --validation_fraction");
ABSL_FLAG(double, validation_fraction, 0, "share of the tokens, at the end, to hold out");
ABSL_FLAG(std::string, end_of_text, "none",
          "where to put <|endoftext|> around each input file: none, before or after");
ABSL_FLAG(bool, special_tokens, false, "treat markers such as <|endoftext|> in the text as tokens");

namespace hjx {
namespace {

constexpr char kUsage[] =
    "hjx-tokenize encode [--tokenizer=bytes|FOLDER] --out=FILE.safetensors TEXT...\n"
    "       hjx-tokenize decode [--tokenizer=bytes|FOLDER] TOKENS\n"
    "       hjx-tokenize extract-austen --out=austen.txt Rdata.rdb";

absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizerFromFlags() {
  std::vector<std::string> warnings;
  auto tokenizer = openTokenizer(absl::GetFlag(FLAGS_tokenizer), &warnings);
  for (const std::string &warning : warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return tokenizer;
}

absl::StatusOr<std::string> outPath() {
  std::string out = absl::GetFlag(FLAGS_out);
  if (out.empty())
    return badInput("hjx-tokenize", "--out=FILE", "none", "name the file to write");
  return out;
}

absl::Status writeTokens(const std::string &path, std::span<const int32_t> ids,
                         const Tokenizer &tokenizer) {
  std::map<std::string, std::string> metadata = {
      {"tokenizer", tokenizer.name()}, {"vocab_size", absl::StrCat(tokenizer.vocabSize())}};
  TensorView tokens{"tokens", StoredType::I32, {static_cast<int64_t>(ids.size())}, bytesOf(ids)};
  std::vector<uint16_t> narrow;
  if (tokenizer.vocabSize() <= 65536) {
    narrow.assign(ids.begin(), ids.end());
    tokens.type = StoredType::U16;
    tokens.bytes = bytesOf(narrow);
  }
  HJX_RETURN_IF_ERROR(writeSafetensors(path, {tokens}, metadata));
  std::fprintf(stderr, "%s: %zu tokens\n", path.c_str(), ids.size());
  return absl::OkStatus();
}

absl::Status encode(const std::vector<std::string> &inputs) {
  HJX_ASSIGN_OR_RETURN(std::string out, outPath());
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, tokenizerFromFlags());
  std::string place = absl::GetFlag(FLAGS_end_of_text);
  if (place != "none" && place != "before" && place != "after")
    return badInput("--end_of_text", "none, before or after",
                    absl::StrCat("'", printable(place), "'"),
                    "GPT-2's data has it after each document");
  if (place != "none" && !tokenizer->endOfText())
    return badInput("--end_of_text", "a tokenizer with <|endoftext|>", tokenizer->name(),
                    "use --end_of_text=none");
  double fraction = absl::GetFlag(FLAGS_validation_fraction);
  if (!(fraction >= 0 && fraction < 1))
    return badInput("--validation_fraction", "a number from 0 to below 1", absl::StrCat(fraction),
                    "0.1 holds out the last tenth");

  SpecialTokens special =
      absl::GetFlag(FLAGS_special_tokens) ? SpecialTokens::Recognised : SpecialTokens::AsText;
  std::vector<int32_t> ids;
  for (const std::string &path : inputs) {
    HJX_ASSIGN_OR_RETURN(std::string text, readFile(path));
    auto encoded = tokenizer->encode(text, special);
    if (!encoded.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", std::string(encoded.status().message())));
    if (place == "before")
      ids.push_back(*tokenizer->endOfText());
    ids.insert(ids.end(), encoded->begin(), encoded->end());
    if (place == "after")
      ids.push_back(*tokenizer->endOfText());
  }
  auto heldOut = static_cast<size_t>(static_cast<double>(ids.size()) * fraction);
  std::span<const int32_t> all(ids);
  if (fraction > 0)
    HJX_RETURN_IF_ERROR(
        writeTokens(absl::GetFlag(FLAGS_validation_out), all.last(heldOut), *tokenizer));
  return writeTokens(out, all.first(ids.size() - heldOut), *tokenizer);
}

absl::Status decode(const std::vector<std::string> &inputs) {
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, tokenizerFromFlags());
  TokenSourceOptions options;
  options.vocabSize = tokenizer->vocabSize();
  for (const std::string &path : inputs) {
    HJX_ASSIGN_OR_RETURN(TokenSource source, TokenSource::open(path, options));
    std::vector<int32_t> chunk;
    for (uint64_t at = 0; at < source.numTokens(); at += chunk.size()) {
      chunk.resize(std::min<uint64_t>(source.numTokens() - at, 65536));
      HJX_RETURN_IF_ERROR(source.read(at, chunk));
      HJX_ASSIGN_OR_RETURN(std::string text, tokenizer->decode(chunk));
      if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
        return systemError("standard output", "cannot write", errno);
    }
  }
  return absl::OkStatus();
}

absl::Status extractAusten(const std::vector<std::string> &inputs) {
  HJX_ASSIGN_OR_RETURN(std::string out, outPath());
  if (inputs.size() != 1)
    return badInput(
        "extract-austen", "one Rdata.rdb", absl::StrCat(inputs.size(), " files"),
        "apt-get download r-cran-janeaustenr && dpkg-deb -x r-cran-janeaustenr*.deb DIR");
  HJX_ASSIGN_OR_RETURN(std::string database, readFile(inputs[0], 64u << 20));
  HJX_ASSIGN_OR_RETURN(std::string text, textOfRdata(database));
  if (std::string hash = sha256Hex(text); hash != kAustenSha256)
    return badInput(absl::StrCat("extract-austen: ", inputs[0]),
                    absl::StrCat("text with sha-256 ", std::string(kAustenSha256)), hash,
                    "take Rdata.rdb from Debian's r-cran-janeaustenr 1.0.0");
  return writeFileAtomically(out, text);
}

absl::Status run(const std::vector<std::string> &arguments) {
  std::string verb = arguments.empty() ? "" : arguments[0];
  std::vector<std::string> inputs(arguments.begin() + !arguments.empty(), arguments.end());
  if (verb != "encode" && verb != "decode" && verb != "extract-austen")
    return badInput("hjx-tokenize", "encode, decode or extract-austen",
                    absl::StrCat("'", printable(verb), "'"), absl::StrCat("usage: ", kUsage));
  if (inputs.empty())
    return badInput(absl::StrCat("hjx-tokenize ", verb), "at least one input file", "none",
                    absl::StrCat("usage: ", kUsage));
  return verb == "encode"   ? encode(inputs)
         : verb == "decode" ? decode(inputs)
                            : extractAusten(inputs);
}

} // namespace
} // namespace hjx

int main(int argc, char **argv) {
  absl::SetProgramUsageMessage(hjx::kUsage);
  std::vector<std::string> arguments;
  for (char *argument : absl::ParseCommandLine(argc, argv))
    arguments.push_back(argument);
  arguments.erase(arguments.begin());
  absl::Status status = hjx::run(arguments);
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
