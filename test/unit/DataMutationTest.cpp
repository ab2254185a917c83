// SPDX-License-Identifier: Apache-2.0
//
// Every parser of foreign bytes against thousands of damaged copies of good input: each is either
// read or refused with a message. What the list of known hostile inputs does not foresee, a
// sanitizer build of this test may find. The mutations are a function of the seed.
#include "TemporaryFolder.h"

#include "lib/Data/Npy.h"
#include "lib/Data/RdataText.h"
#include "lib/Data/Safetensors.h"
#include "lib/Data/Tokens.h"

#include <zlib.h>

#include <random>

namespace hjx {
namespace {

/// Flips, inserts, deletes, repeats and truncates, one to four times.
std::string mutate(std::string bytes, std::mt19937 &random) {
  for (unsigned edits = 1 + random() % 4; edits > 0 && !bytes.empty(); --edits) {
    size_t at = random() % bytes.size();
    switch (random() % 6) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 2:
      bytes.insert(at, 1, "{}[]\",:0-9.eE\\\n\x00\xff"[random() % 17]);
      break;
    case 3:
      bytes.erase(at, 1 + random() % 8);
      break;
    case 4:
      bytes.insert(at, bytes.substr(at, 1 + random() % 32));
      break;
    case 5:
      bytes.resize(at);
      break;
    }
  }
  return bytes;
}

/// Feeds damaged copies of `good` to `parse`; the undamaged one must pass and some must not.
void expectRobust(const std::string &good, int trials,
                  const std::function<absl::Status(const std::string &)> &parse) {
  ASSERT_THAT(parse(good), test::IsOk());
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < trials; ++i) {
    absl::Status status = parse(mutate(good, random));
    refused += !status.ok();
    for (char c : status.message())
      ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << "unprintable in: " << status.message();
  }
  EXPECT_GT(refused, trials / 10);
}

TEST(Mutation, Safetensors) {
  test::TemporaryFolder folder;
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::string path = folder.path("a");
  ASSERT_THAT(writeSafetensors(path,
                               {{"w", StoredType::F32, {2, 3}, bytesOf(values)},
                                {"b", StoredType::U16, {3}, bytesOf(values).substr(0, 6)}},
                               {{"format", "x"}}),
              test::IsOk());
  expectRobust(folder.read("a"), 4000, [&](const std::string &bytes) {
    auto file = SafetensorsFile::open(folder.write("b", bytes));
    if (!file.ok())
      return file.status();
    for (const TensorInfo &tensor : file->tensors())
      if (absl::Status status = file->load(tensor.name).status(); !status.ok())
        return status;
    return absl::OkStatus();
  });
}

TEST(Mutation, Npy) {
  test::TemporaryFolder folder;
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  ASSERT_THAT(writeNpy(folder.path("a"), {"", StoredType::F32, {2, 3}, bytesOf(values)}),
              test::IsOk());
  expectRobust(folder.read("a"), 4000, [&](const std::string &bytes) {
    return readNpy(folder.write("b", bytes)).status();
  });
}

TEST(Mutation, TokenShards) {
  test::TemporaryFolder folder;
  std::vector<uint32_t> header(256, 0);
  header[0] = 20240520, header[1] = 1, header[2] = 3;
  std::string shard = std::string(bytesOf(header)) + "\1\1\1\1\1\1";
  TokenSourceOptions options;
  options.format = TokenFormat::LlmC;
  options.vocabSize = 300;
  expectRobust(shard, 2000, [&](const std::string &bytes) {
    auto source = TokenSource::open(folder.write("b", bytes), options);
    if (!source.ok())
      return source.status();
    std::vector<int32_t> out(source->numTokens());
    return source->read(0, out);
  });
}

TEST(Mutation, RdataDatabases) {
  std::string vector(
      "X\n\0\0\0\3\0\4\2\1\0\3\5\0\0\0\0\5UTF-8\0\0\0\x10\0\0\0\1\0\4\0\x09\0\0\0\2hi", 41);
  std::string packed(compressBound(vector.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef *>(packed.data()), &size,
           reinterpret_cast<const Bytef *>(vector.data()), vector.size());
  auto record = [](const std::string &raw, const std::string &stream) {
    return std::string("\0\0\0", 3) + static_cast<char>(raw.size()) + stream;
  };
  packed.resize(size);
  expectRobust(record(vector, packed), 4000,
               [](const std::string &bytes) { return textOfRdata(bytes).status(); });
  // And damage below the compression, which a flipped bit above rarely gets past.
  expectRobust(vector, 4000, [&](const std::string &raw) {
    std::string again(compressBound(raw.size()), '\0');
    uLongf bytes = again.size();
    compress(reinterpret_cast<Bytef *>(again.data()), &bytes,
             reinterpret_cast<const Bytef *>(raw.data()), raw.size());
    return textOfRdata(record(raw, again.substr(0, bytes))).status();
  });
}

} // namespace
} // namespace hjx
