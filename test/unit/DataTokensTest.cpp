// SPDX-License-Identifier: Apache-2.0
//
// Token streams from every front end, their hostile inputs, and the order of batches: each
// window exactly once an epoch, whatever the seed, the world size and the number of windows.
#include "TemporaryFolder.h"

#include "lib/Data/Batches.h"
#include "lib/Data/KeyedPermutation.h"
#include "lib/Data/RdataText.h"
#include "lib/Data/Safetensors.h"
#include "lib/Data/Tokenizer.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unistd.h>
#include <zlib.h>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;

std::string u32(uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

template <typename T> std::string raw(const std::vector<T> &values) {
  return std::string(bytesOf(values));
}

std::string shard(uint32_t magic, uint32_t version, uint32_t count, const std::string &data) {
  std::string out = u32(magic) + u32(version) + u32(count);
  out.resize(1024, '\0');
  return out + data;
}

std::vector<int32_t> readAll(const TokenSource &source) {
  std::vector<int32_t> out(source.numTokens());
  EXPECT_THAT(source.read(0, out), IsOk());
  return out;
}

class Tokens : public ::testing::Test {
protected:
  std::string writeTensor(const std::string &name, StoredType type, std::vector<int64_t> shape,
                          std::string_view bytes, const std::string &tensor = "tokens") {
    EXPECT_THAT(writeSafetensors(folder.path(name), {{tensor, type, std::move(shape), bytes}}),
                IsOk());
    return folder.path(name);
  }
  test::TemporaryFolder folder;
};

TEST_F(Tokens, EveryFrontEndGivesTheSameStream) {
  std::vector<int32_t> want = {104, 106, 120, 33, 10};
  std::vector<uint16_t> u16(want.begin(), want.end());
  std::vector<uint32_t> u32s(want.begin(), want.end());
  std::vector<std::string> paths = {
      writeTensor("a.safetensors", StoredType::U16, {5}, bytesOf(u16)),
      writeTensor("b.safetensors", StoredType::U32, {5}, bytesOf(u32s)),
      writeTensor("c.safetensors", StoredType::I32, {5}, bytesOf(want)),
      folder.write("d.bin", shard(20240520, 1, 5, raw(u16))),
      folder.write("e.bin", shard(20240801, 7, 5, raw(u32s))),
      folder.write("f.bin", raw(u16)),
      folder.write("g.txt", "hjx!\n"),
  };
  for (const std::string &path : paths) {
    auto source = TokenSource::open(path);
    ASSERT_THAT(source, IsOk()) << path;
    EXPECT_EQ(readAll(*source), want) << path;
    std::vector<int32_t> middle(2);
    ASSERT_THAT(source->read(2, middle), IsOk());
    EXPECT_THAT(middle, ElementsAre(120, 33));
  }
}

TEST_F(Tokens, TextGoesThroughTheTokenizer) {
  class Doubler final : public Tokenizer {
  public:
    const std::string &name() const override { return name_; }
    int32_t vocabSize() const override { return 512; }
    std::optional<int32_t> endOfText() const override { return std::nullopt; }
    absl::StatusOr<std::vector<int32_t>> encode(std::string_view text,
                                                SpecialTokens) const override {
      std::vector<int32_t> ids;
      for (unsigned char c : text)
        ids.push_back(2 * c);
      return ids;
    }
    absl::StatusOr<std::string_view> tokenBytes(int32_t) const override { return ""; }
    std::string name_ = "doubler";
  } doubler;
  TokenSourceOptions options;
  options.tokenizer = &doubler;
  auto source = TokenSource::open(folder.write("a.txt", "ab"), options);
  ASSERT_THAT(source, IsOk());
  EXPECT_THAT(readAll(*source), ElementsAre(194, 196));
}

TEST_F(Tokens, ShardsJoinInNameOrderAndWindowsCrossThem) {
  std::vector<uint16_t> first = {1, 2, 3}, second = {4}, third = {5, 6};
  folder.write("s_000.bin", shard(20240520, 1, 3, raw(first)));
  folder.write("s_002.bin", shard(20240520, 1, 2, raw(third)));
  folder.write("s_001.bin", shard(20240520, 1, 1, raw(second)));
  auto source = TokenSource::open(folder.path("s_*.bin"));
  ASSERT_THAT(source, IsOk());
  EXPECT_THAT(readAll(*source), ElementsAre(1, 2, 3, 4, 5, 6));
  std::vector<int32_t> window(4);
  ASSERT_THAT(source->read(2, window), IsOk());
  EXPECT_THAT(window, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(TokenSource::open(folder.path("t_*.bin")), FailsWith("a pattern that matches files"));
}

TEST_F(Tokens, StartAndMaximumCutTheStream) {
  std::string path = folder.write("a.txt", "0123456789");
  auto open = [&](uint64_t start, uint64_t maximum) {
    TokenSourceOptions options;
    options.startToken = start;
    options.maxTokens = maximum;
    return TokenSource::open(path, options);
  };
  EXPECT_THAT(readAll(*open(3, 4)), ElementsAre('3', '4', '5', '6'));
  EXPECT_EQ(open(8, 100)->numTokens(), 2u);
  EXPECT_EQ(open(10, UINT64_MAX)->numTokens(), 0u);
  EXPECT_THAT(open(11, 1), FailsWith("a start within its 10 tokens, got 11"));
  std::vector<int32_t> one(1);
  EXPECT_FALSE(open(3, 4)->read(4, one).ok()) << "reads past the cut";
  EXPECT_FALSE(open(3, 4)->read(UINT64_MAX, one).ok());
}

TEST_F(Tokens, TailIsHeldOut) {
  TokenSource source = TokenSource::fromTokens({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto split = source.splitTail(0.2);
  ASSERT_THAT(split, IsOk());
  EXPECT_EQ(split->train.numTokens(), 8u);
  EXPECT_THAT(readAll(split->validation), ElementsAre(8, 9));
  for (double bad : {0.0, 1.0, -1.0, std::nan("")})
    EXPECT_THAT(source.splitTail(bad), FailsWith("a number between 0 and 1"));
}

TEST_F(Tokens, OffsetsAreSixtyFourBits) {
  // A sparse file of 5 GB: offsets through a 32-bit int would read the hole.
  std::string path = folder.path("big.bin");
  const uint64_t tokens = 2'500'000'000;
  std::vector<uint16_t> tail = {41, 42, 43};
  std::ofstream(path, std::ios::binary) << "";
  std::filesystem::resize_file(path, 2 * tokens - 6);
  std::ofstream(path, std::ios::binary | std::ios::app) << raw(tail);
  auto source = TokenSource::open(path);
  ASSERT_THAT(source, IsOk());
  ASSERT_EQ(source->numTokens(), tokens);
  std::vector<int32_t> out(4);
  ASSERT_THAT(source->read(tokens - 4, out), IsOk());
  EXPECT_THAT(out, ElementsAre(0, 41, 42, 43));
  auto stream = BatchStream::create(*source, {1024, 1});
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(stream->numWindows(), (tokens - 1) / 1024);
}

TEST_F(Tokens, Hostile16TokenTensors) {
  std::vector<int32_t> ids = {1, -1, 70000, 2};
  EXPECT_THAT(
      TokenSource::open(writeTensor("a.safetensors", StoredType::I32, {2, 2}, bytesOf(ids))),
      FailsWith("rank 1 and type U16, U32 or I32, got I32[2,2]"));
  EXPECT_THAT(TokenSource::open(writeTensor("b.safetensors", StoredType::F32, {4}, bytesOf(ids))),
              FailsWith("got F32[4]"));
  EXPECT_THAT(
      TokenSource::open(writeTensor("c.safetensors", StoredType::I32, {4}, bytesOf(ids), "token")),
      FailsWith("did you mean 'token'?"));
  std::string path = writeTensor("d.safetensors", StoredType::I32, {4}, bytesOf(ids));
  TokenSourceOptions options;
  options.vocabSize = 50257;
  auto source = TokenSource::open(path, options);
  ASSERT_THAT(source, IsOk());
  std::vector<int32_t> one(1);
  EXPECT_THAT(source->read(0, one), IsOk());
  EXPECT_THAT(source->read(1, one), FailsWith("token ids below 50257, got -1 at position 1"));
  EXPECT_THAT(source->read(2, one), FailsWith("got 70000 at position 2"));
  source = TokenSource::open(path);
  EXPECT_THAT(source->read(1, one), FailsWith("token ids below 2147483648, got -1"));
  EXPECT_THAT(source->read(2, one), IsOk()) << "without a vocabulary any id is legal";
}

TEST_F(Tokens, HostileShards) {
  std::string data(6, 'x');
  auto open = [&](const std::string &bytes, TokenFormat format) {
    TokenSourceOptions options;
    options.format = format;
    return TokenSource::open(folder.write("h.bin", bytes), options);
  };
  EXPECT_THAT(open(shard(20240520, 1, 3, data), TokenFormat::LlmC), IsOk());
  EXPECT_THAT(open(shard(20240520, 1, 4, data), TokenFormat::LlmC),
              FailsWith("4 tokens, as the header says, got 6 bytes of data"));
  EXPECT_THAT(open(shard(20240520, 1, 0xffffffff, data), TokenFormat::LlmC),
              FailsWith("4294967295 tokens"));
  EXPECT_THAT(open(shard(20240520, 2, 3, data), TokenFormat::LlmC),
              FailsWith("magic 20240520, version 2"));
  EXPECT_THAT(open(shard(20240801, 7, 3, data), TokenFormat::LlmC), FailsWith("3 tokens"));
  EXPECT_THAT(open(shard(20240326, 3, 3, data), TokenFormat::LlmC), FailsWith("magic 20240326"));
  EXPECT_THAT(open("short", TokenFormat::LlmC),
              FailsWith("an llm.c header of 1024 bytes, got 5 bytes"));
  EXPECT_THAT(open("odd", TokenFormat::Uint16), FailsWith("an even number of bytes"));
  EXPECT_THAT(TokenSource::open(folder.write("h.dat", "x")), FailsWith("a name ending in"));
  EXPECT_THAT(parseTokenFormat("unit16"), FailsWith("did you mean 'uint16'?"));
  EXPECT_EQ(*parseTokenFormat("bytes"), TokenFormat::Bytes);
}

TEST_F(Tokens, FileShrinksWhileOpen) {
  std::string path = folder.write("a.bin", std::string(1000, 'x'));
  auto source = TokenSource::open(path);
  ASSERT_THAT(source, IsOk());
  ASSERT_EQ(::truncate(path.c_str(), 10), 0);
  std::vector<int32_t> out(20);
  EXPECT_THAT(source->read(0, out), FailsWith("got an end at byte 10"));
}

TEST(KeyedPermutation, IsABijectionForEverySize) {
  for (uint64_t size = 1; size <= 300; ++size)
    for (uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      KeyedPermutation permute(size, seed, size % 3);
      std::vector<bool> hit(size, false);
      for (uint64_t i = 0; i < size; ++i) {
        uint64_t image = permute(i);
        ASSERT_LT(image, size);
        ASSERT_FALSE(hit[image]) << "size " << size << " seed " << seed;
        hit[image] = true;
      }
    }
}

TEST(KeyedPermutation, WorksAtLargeSizes) {
  for (uint64_t size : {(uint64_t{1} << 40) + 1, ~uint64_t{0}}) {
    KeyedPermutation permute(size, 5, 0);
    std::set<uint64_t> images;
    for (uint64_t i = 0; i < 1000; ++i)
      images.insert(permute(size - 1 - i));
    EXPECT_EQ(images.size(), 1000u);
    EXPECT_LT(*images.rbegin(), size);
  }
}

TEST(KeyedPermutation, EveryPlaceIsEquallyLikely) {
  // Chi-squared over where window 0 of 10 lands for 10,000 seeds; 9 degrees of freedom put the
  // one-in-a-million point at 44.
  std::vector<double> counts(10, 0);
  for (uint64_t seed = 0; seed < 10'000; ++seed)
    ++counts[KeyedPermutation(10, seed, 0)(0)];
  double chi = 0;
  for (double count : counts)
    chi += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi, 44);
}

TEST(KeyedPermutation, OrderIsFrozen) {
  // From a second implementation; a change here would reshuffle every run that is resumed.
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < 10; ++i)
    order.push_back(KeyedPermutation(10, 42, 0)(i));
  EXPECT_THAT(order, ElementsAre(2, 7, 3, 6, 4, 1, 9, 0, 5, 8));
  EXPECT_EQ(KeyedPermutation(uint64_t{1} << 40, 42, 3)(123456789), 847455447260u);
}

TEST(Batches, RowsAreWindowsShiftedByOne) {
  std::vector<int32_t> tokens(14);
  std::iota(tokens.begin(), tokens.end(), 0);
  auto stream =
      BatchStream::create(TokenSource::fromTokens(tokens), {.windowTokens = 3, .batch = 2});
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(stream->numWindows(), 4u); // 13 needed, one token over
  EXPECT_EQ(stream->numFullBatches(), 2u);
  Batch batch;
  ASSERT_THAT(stream->read(0, 0, batch), IsOk());
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_THAT(stream->read(1, 0, batch), IsOk());
  EXPECT_THAT(batch.inputs, ElementsAre(6, 7, 8, 9, 10, 11));
  ASSERT_THAT(stream->read(2, 0, batch), IsOk());
  EXPECT_THAT(batch.inputs, ElementsAre(0, 1, 2, 3, 4, 5)) << "the next epoch begins again";
}

TEST(Batches, EveryWindowExactlyOnceAnEpochAcrossRanksAndAccumulation) {
  for (WindowOrder order : {WindowOrder::Sequential, WindowOrder::Shuffled})
    for (uint64_t windows : {1, 7, 12, 24, 31}) {
      std::vector<int32_t> tokens(windows * 2 + 1);
      std::iota(tokens.begin(), tokens.end(), 0);
      TokenSource source = TokenSource::fromTokens(tokens);
      std::vector<uint64_t> served;
      for (uint64_t step = 0; step < windows; ++step) // 12 windows a step: exactly 12 epochs
        for (uint64_t micro = 0; micro < 2; ++micro)
          for (uint64_t rank = 0; rank < 3; ++rank) {
            auto stream = BatchStream::create(source, {2, 2, 2, 3, rank}, order, 9);
            ASSERT_THAT(stream, IsOk());
            Batch batch;
            ASSERT_THAT(stream->read(step, micro, batch), IsOk());
            for (size_t row = 0; row < 2; ++row) {
              EXPECT_EQ(batch.targets[2 * row], batch.inputs[2 * row] + 1);
              served.push_back(static_cast<uint64_t>(batch.inputs[2 * row]) / 2);
            }
          }
      ASSERT_EQ(served.size(), 12 * windows);
      std::set<std::vector<uint64_t>> orders;
      for (size_t epoch = 0; epoch < 12; ++epoch) {
        std::vector<uint64_t> once(served.begin() + static_cast<long>(epoch * windows),
                                   served.begin() + static_cast<long>((epoch + 1) * windows));
        orders.insert(once);
        std::sort(once.begin(), once.end());
        for (uint64_t w = 0; w < windows; ++w)
          ASSERT_EQ(once[w], w) << windows << " windows, epoch " << epoch;
      }
      if (windows >= 12) {
        EXPECT_EQ(orders.size(), order == WindowOrder::Shuffled ? 12u : 1u)
            << "epochs repeat an order";
      }
    }
}

TEST(Batches, BadLayouts) {
  TokenSource source = TokenSource::fromTokens({1, 2, 3, 4});
  EXPECT_THAT(BatchStream::create(source, {0, 1}), FailsWith("a positive window length"));
  EXPECT_THAT(BatchStream::create(source, {1, 0}), FailsWith("a positive batch size"));
  EXPECT_THAT(BatchStream::create(source, {1, 1, 1, 2, 2}),
              FailsWith("a rank below the world size 2"));
  EXPECT_THAT(BatchStream::create(source, {4, 1}),
              FailsWith("at least 4 + 1 tokens for one window, got 4"));
  EXPECT_THAT(BatchStream::create(TokenSource::fromTokens({}), {1, 1}), FailsWith("got 0"));
}

TEST(Batches, GoldenStepCounts) {
  const uint64_t perStep =
      BatchLayout{.windowTokens = 1024, .batch = 6, .accumulate = 16}.tokensPerStep();
  EXPECT_EQ(perStep, 98'304u);
  EXPECT_EQ(stepsForTokens(3'260'190'720, perStep), 33'165u);
  EXPECT_EQ(33'165 * perStep, 3'260'252'160u);
  EXPECT_EQ(stepsForTokens(92'160'000, perStep), 938u);
  EXPECT_EQ(938 * perStep, 92'209'152u);
  EXPECT_EQ(stepsForTokens(perStep, perStep), 1u);
}

std::string be(uint32_t value) {
  std::string out = u32(value);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string vectorOf(const std::vector<std::string> &lines) {
  std::string out = "X\n" + be(3) + be(0x40201) + be(0x30500) + be(5) + "UTF-8" + be(16) +
                    be(static_cast<uint32_t>(lines.size()));
  for (const std::string &line : lines)
    out += be(0x40009) + be(static_cast<uint32_t>(line.size())) + line;
  return out;
}

std::string record(const std::string &contents) {
  std::string packed(compressBound(contents.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef *>(packed.data()), &size,
           reinterpret_cast<const Bytef *>(contents.data()), contents.size());
  return be(static_cast<uint32_t>(contents.size())) + packed.substr(0, size);
}

TEST(RdataText, JoinsTheLinesOfAllRecords) {
  auto text = textOfRdata(record(vectorOf({"EMMA", "", "by"})) + record(vectorOf({"\xc2\xa3"})));
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text, "EMMA\n\nby\n\xc2\xa3\n");
}

TEST(RdataText, HostileDatabases) {
  const std::string good = record(vectorOf({"a", "b"}));
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_THAT(textOfRdata(good.substr(0, n)), FailsWith("Rdata: ")) << n;
  std::string vector = vectorOf({"a"});
  EXPECT_THAT(textOfRdata(be(0xffffffff) + good.substr(4)), FailsWith("records of at most"));
  EXPECT_THAT(textOfRdata(be(1000) + good.substr(4)), FailsWith("got a shorter one"));
  EXPECT_THAT(textOfRdata(be(3) + good.substr(4)), FailsWith("got a longer, damaged or cut one"));
  EXPECT_THAT(textOfRdata(record(vector + "x")), FailsWith("the end of a record"));
  EXPECT_THAT(textOfRdata(record("RDX3\n" + vector)), FailsWith("XDR serialisation of version 3"));
  EXPECT_THAT(textOfRdata(record(vector.substr(0, 23) + be(19) + be(0))),
              FailsWith("a character vector"));
  EXPECT_THAT(textOfRdata(record(vector.substr(0, 23) + be(16) + be(0xffffffff))),
              FailsWith("4294967295 strings, got 0"));
  EXPECT_THAT(textOfRdata(record(vector.substr(0, 31) + be(9) + be(0xffffffff))),
              FailsWith("1 strings, got 0"));
}

} // namespace
} // namespace hjx
