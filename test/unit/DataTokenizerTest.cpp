// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers: the algorithm on small hand-made merges and against the textbook rescan on random
// ones; the golden ids of GPT-2 when HJX_GPT2_BPE_DIR names a folder with its two files.
#include "TemporaryFolder.h"

#include "lib/Data/BpeTokenizer.h"
#include "lib/Data/Digest.h"
#include "lib/Data/PieceSplitter.h"
#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <random>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// How the files spell a byte.
std::string spell(const std::string &bytes) {
  std::string out;
  for (unsigned char byte : bytes) {
    int code = byte;
    if (!((byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173))) {
      code = 0x100;
      for (int b = 0; b < byte; ++b)
        code += !((b >= 33 && b <= 126) || (b >= 161 && b != 173));
    }
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return out;
}

struct Files {
  std::string vocabulary, merges;
};

/// 256 bytes in byte order (ids 0-255), then one token a merge, then <|endoftext|>.
Files makeFiles(const std::vector<std::pair<std::string, std::string>> &merges) {
  nlohmann::json vocabulary;
  int id = 0;
  for (int byte = 0; byte < 256; ++byte)
    vocabulary[spell(std::string(1, static_cast<char>(byte)))] = id++;
  std::string lines = "#version: 0.2\n";
  for (const auto &[left, right] : merges) {
    auto [it, isNew] = vocabulary.emplace(spell(left + right), id);
    id += isNew;
    lines += spell(left) + " " + spell(right) + "\n";
  }
  vocabulary["<|endoftext|>"] = id;
  return {vocabulary.dump(), lines};
}

std::unique_ptr<Tokenizer> makeBpe(const std::vector<std::pair<std::string, std::string>> &merges) {
  Files files = makeFiles(merges);
  auto tokenizer = parseBpeTokenizer(files.vocabulary, files.merges);
  EXPECT_THAT(tokenizer, IsOk());
  return *std::move(tokenizer);
}

TEST(ByteTokenizer, IsTheIdentityOnBytes) {
  auto bytes = makeByteTokenizer();
  std::string all;
  for (int i = 255; i >= 0; --i)
    all += static_cast<char>(i);
  auto ids = bytes->encode(all);
  ASSERT_THAT(ids, IsOk());
  EXPECT_EQ(ids->front(), 255);
  EXPECT_EQ(ids->back(), 0);
  EXPECT_EQ(*bytes->decode(*ids), all);
  EXPECT_EQ(bytes->vocabSize(), 256);
  EXPECT_FALSE(bytes->endOfText().has_value());
  EXPECT_THAT(bytes->decode(std::vector<int32_t>{256}), FailsWith("ids from 0 to 255, got 256"));
  EXPECT_THAT(bytes->decode(std::vector<int32_t>{-1}), FailsWith("ids from 0 to 255, got -1"));
}

TEST(BpeTokenizer, MergesByRankNotByPosition) {
  // 256 "lo", 257 "low", 258 "ow" comes too late to matter, 259 " l" 260 "##"
  auto bpe = makeBpe({{"l", "o"}, {"lo", "w"}, {"o", "w"}, {" ", "l"}, {"#", "#"}});
  EXPECT_EQ(bpe->vocabSize(), 256 + 5 + 1);
  EXPECT_THAT(*bpe->encode("low"), ElementsAre(257));
  EXPECT_THAT(*bpe->encode("ow"), ElementsAre(258));
  EXPECT_THAT(*bpe->encode("blow"), ElementsAre('b', 257));
  // "lo" outranks " l", so the blank stays alone.
  EXPECT_THAT(*bpe->encode(" low"), ElementsAre(' ', 257));
  EXPECT_THAT(*bpe->encode(" lw"), ElementsAre(259, 'w'));
  // The merge "# #" is no comment; three signs merge from the left.
  EXPECT_THAT(*bpe->encode("###"), ElementsAre(260, '#'));
  EXPECT_THAT(*bpe->encode(""), IsEmpty());
}

TEST(BpeTokenizer, OverlappingPairsMergeFromTheLeft) {
  auto bpe = makeBpe({{"a", "a"}, {"aa", "a"}});
  EXPECT_THAT(*bpe->encode("aa"), ElementsAre(256));
  EXPECT_THAT(*bpe->encode("aaa"), ElementsAre(257));
  EXPECT_THAT(*bpe->encode("aaaa"), ElementsAre(256, 256));
  EXPECT_THAT(*bpe->encode("aaaaa"), ElementsAre(256, 257));
}

TEST(BpeTokenizer, DecodesNonAsciiAndKeepsPartialCharacters) {
  auto bpe = makeBpe({{"\xc3", "\xa9"}, {" ", "\xc3\xa9"}});
  EXPECT_THAT(*bpe->encode("\xc3\xa9 \xc3\xa9"), ElementsAre(256, 257));
  EXPECT_EQ(*bpe->decode(std::vector<int32_t>{257, 0xc3}), " \xc3\xa9\xc3");
  EXPECT_THAT(bpe->encode("ab\xc3"), FailsWith("the bytes '\\xc3' at byte 2"));
  EXPECT_THAT(bpe->encode("a\xed\xa0\x80"), FailsWith("text in UTF-8"));
}

TEST(BpeTokenizer, MarkersAreTextUnlessAskedFor) {
  auto bpe = makeBpe({{"<", "|"}});
  std::string text = "a<|endoftext|>b<|endoftext|>";
  int32_t marker = *bpe->endOfText();
  EXPECT_EQ(marker, 257);
  EXPECT_THAT(*bpe->encode(text, SpecialTokens::Recognised), ElementsAre('a', marker, 'b', marker));
  auto plain = bpe->encode(text);
  EXPECT_THAT(*plain, ::testing::Not(::testing::Contains(marker)));
  EXPECT_EQ(*bpe->decode(*plain), text);
  EXPECT_EQ(*bpe->decode(std::vector<int32_t>{marker}), "<|endoftext|>");
  EXPECT_THAT(*bpe->encode("x", SpecialTokens::Recognised), ElementsAre('x'));
}

TEST(BpeTokenizer, AgreesWithTheTextbookRescanOnRandomMerges) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::string> tokens = {"a", "b", "c"};
    std::vector<std::pair<std::string, std::string>> merges;
    std::map<std::pair<std::string, std::string>, size_t> ranks;
    for (int i = 0; i < 12; ++i) {
      auto pair = std::pair(tokens[random() % tokens.size()], tokens[random() % tokens.size()]);
      if (pair.first.size() + pair.second.size() > 9 || ranks.contains(pair))
        continue;
      ranks[pair] = merges.size();
      merges.push_back(pair);
      tokens.push_back(pair.first + pair.second);
    }
    auto bpe = makeBpe(merges);
    for (int piece = 0; piece < 40; ++piece) {
      std::string text;
      for (size_t n = random() % 40; n > 0; --n)
        text += static_cast<char>('a' + random() % 3);
      std::vector<std::string> want;
      for (char c : text)
        want.emplace_back(1, c);
      while (true) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i + 1 < want.size(); ++i)
          if (auto it = ranks.find({want[i], want[i + 1]}); it != ranks.end())
            best = std::min(best, it->second);
        if (best == SIZE_MAX)
          break;
        for (size_t i = 0; i + 1 < want.size(); ++i)
          if (std::pair(want[i], want[i + 1]) == merges[best]) {
            want[i] += want[i + 1];
            want.erase(want.begin() + static_cast<long>(i) + 1);
          }
      }
      std::vector<std::string> got;
      std::vector<int32_t> ids = *bpe->encode(text);
      for (int32_t id : ids)
        got.emplace_back(*bpe->tokenBytes(id));
      ASSERT_EQ(got, want) << text;
    }
  }
}

TEST(BpeTokenizer, LongPiecesAreNotQuadratic) {
  auto bpe = makeBpe({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}});
  std::string text(1'000'000, 'a');
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(bpe->encode(text)->size(), 125'000u);
  // The rescan needs hours for this; the margin is for loaded machines and sanitizers.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(BpeTokenizer, BadFiles) {
  Files good = makeFiles({{"l", "o"}});
  EXPECT_THAT(parseBpeTokenizer("{", good.merges), FailsWith("a syntax error"));
  EXPECT_THAT(parseBpeTokenizer("[]", good.merges), FailsWith("got array"));
  EXPECT_THAT(parseBpeTokenizer("{\"a\": 0}", good.merges),
              FailsWith("a token for each of the 256"));
  EXPECT_THAT(parseBpeTokenizer("{\"a\": 1}", good.merges), FailsWith("the ids 0 to 0, each once"));
  EXPECT_THAT(parseBpeTokenizer("{\"a\": -1}", good.merges), FailsWith("'a': -1"));
  EXPECT_THAT(parseBpeTokenizer("{\"a\": 0, \"b\": 0}", good.merges), FailsWith("each once"));
  EXPECT_THAT(parseBpeTokenizer(std::string(100'000, '['), ""), FailsWith("a syntax error"));
  EXPECT_THAT(parseBpeTokenizer(good.vocabulary, "#version: 0.2\nl o\nlo w\n"),
              FailsWith("vocab.bpe line 3: expected two earlier tokens"));
  EXPECT_THAT(parseBpeTokenizer(good.vocabulary, "lo l\nl o\n"), FailsWith("line 1"));
  EXPECT_THAT(parseBpeTokenizer(good.vocabulary, "l\n"), FailsWith("line 1"));
  EXPECT_THAT(parseBpeTokenizer(good.vocabulary, "l o\n\nl o\n"), FailsWith("line 2"));
  EXPECT_THAT(parseBpeTokenizer(good.vocabulary, "l o\r\n"), IsOk());
}

TEST(Tokenizer, ChosenByNameWithHashWarnings) {
  test::TemporaryFolder folder;
  EXPECT_EQ((*openTokenizer("bytes"))->name(), "bytes");
  EXPECT_THAT(openTokenizer(folder.path("")),
              FailsWith("a folder with encoder.json and vocab.bpe"));
  Files files = makeFiles({{"l", "o"}});
  folder.write("vocab.json", files.vocabulary);
  folder.write("merges.txt", files.merges);
  std::vector<std::string> warnings;
  auto tokenizer = openTokenizer(folder.path(""), &warnings);
  ASSERT_THAT(tokenizer, IsOk());
  EXPECT_THAT((*tokenizer)->name(), ::testing::StartsWith("gpt2:"));
  EXPECT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0], ::testing::HasSubstr("expected sha-256 19613966"));
}

TEST(PieceSplitter, FollowsThePattern) {
  PieceSplitter splitter;
  auto split = [&](const char *text) {
    std::vector<std::string> out;
    std::vector<std::string_view> pieces = *splitter.split(text);
    for (std::string_view piece : pieces)
      out.emplace_back(piece);
    return out;
  };
  EXPECT_THAT(split("I'm  two   spaces\n\nx"),
              ElementsAre("I", "'m", " ", " two", "  ", " spaces", "\n", "\n", "x"));
  EXPECT_THAT(split("a1 b2!? c"), ElementsAre("a", "1", " b", "2", "!?", " c"));
  EXPECT_THAT(split("I'M we'll'"), ElementsAre("I", "'", "M", " we", "'ll", "'"));
  EXPECT_THAT(split("end   "), ElementsAre("end", "   "));
  EXPECT_THAT(split("\xc3\xa9t\xc3\xa9 \xd9\xa3"), ElementsAre("\xc3\xa9t\xc3\xa9", " \xd9\xa3"));
  // U+00A0, U+0085, U+2003 and U+3000 are white space; U+180E and U+200B are not.
  EXPECT_THAT(split("\xc2\xa0\xc2\x85\xe2\x80\x83\xe3\x80\x80"),
              ElementsAre("\xc2\xa0\xc2\x85\xe2\x80\x83\xe3\x80\x80"));
  EXPECT_THAT(split("  \xe1\xa0\x8e"), ElementsAre(" ", " \xe1\xa0\x8e"));
  EXPECT_THAT(split("  \xe2\x80\x8b"), ElementsAre(" ", " \xe2\x80\x8b"));
}

TEST(StreamingDecoder, HoldsBackUnfinishedCharacters) {
  auto bytes = makeByteTokenizer();
  StreamingDecoder decoder(*bytes);
  std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", out;
  for (char c : text) {
    auto part = decoder.push(static_cast<unsigned char>(c));
    ASSERT_THAT(part, IsOk());
    EXPECT_TRUE(isValidUtf8(*part));
    out += *part;
  }
  EXPECT_EQ(out, text);
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamingDecoder, ReplacesWhatCanNeverBecomeACharacter) {
  auto bytes = makeByteTokenizer();
  StreamingDecoder decoder(*bytes);
  std::string out;
  for (unsigned char c : std::string("\x80"
                                     "a\xc3"
                                     "b\xe2\x82"
                                     "c\xff\xf0\x9f"))
    out += *decoder.push(c);
  out += decoder.finish();
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(out, r + "a" + r + "b" + r + "c" + r + r);
  EXPECT_THAT(decoder.push(256), FailsWith("ids from 0 to 255"));
}

TEST(Utf8, FollowsTheTableOfTheStandard) {
  EXPECT_TRUE(isValidUtf8(
      "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
  for (const char *bad :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xe2\x28\xa1"})
    EXPECT_FALSE(isValidUtf8(bad)) << bad;
  EXPECT_TRUE(scanUtf8("a\xf0\x9f\x98").unfinished);
  EXPECT_EQ(scanUtf8("a\xf0\x9f\x98").validBytes, 1u);
  EXPECT_FALSE(scanUtf8("\xf0\x9f"
                        "a")
                   .unfinished);
}

TEST(Digest, Sha256VectorsOfNist) {
  EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, Xxh3OfNothingIsThePublishedConstant) {
  EXPECT_EQ(xxh3(""), 0x2d06800538d394c2u);
  EXPECT_NE(xxh3("a"), xxh3("b"));
}

class Gpt2Tokenizer : public ::testing::Test {
protected:
  void SetUp() override {
    const char *folder = std::getenv("HJX_GPT2_BPE_DIR");
    if (!folder)
      GTEST_SKIP() << "did not run: set HJX_GPT2_BPE_DIR to a folder with GPT-2's encoder.json and "
                      "vocab.bpe";
    auto opened = openTokenizer(folder, &warnings);
    ASSERT_THAT(opened, IsOk());
    gpt2 = *std::move(opened);
  }
  std::unique_ptr<Tokenizer> gpt2;
  std::vector<std::string> warnings;
};

TEST_F(Gpt2Tokenizer, GoldenIds) {
  EXPECT_THAT(warnings, IsEmpty()) << "these are not OpenAI's files";
  EXPECT_EQ(gpt2->vocabSize(), 50257);
  EXPECT_EQ(gpt2->endOfText(), 50256);
  EXPECT_THAT(*gpt2->encode("Hello world"), ElementsAre(15496, 995));
  EXPECT_THAT(*gpt2->encode(" Hello world"), ElementsAre(18435, 995));
  EXPECT_THAT(*gpt2->encode("I'm  two   spaces\n\nx"),
              ElementsAre(40, 1101, 220, 734, 220, 220, 9029, 198, 198, 87));
  EXPECT_THAT(*gpt2->encode("<|endoftext|>", SpecialTokens::Recognised), ElementsAre(50256));
  EXPECT_EQ(*gpt2->decode(*gpt2->encode("<|endoftext|>")), "<|endoftext|>");
}

TEST_F(Gpt2Tokenizer, BytesHaveTheDocumentedIds) {
  EXPECT_THAT(*gpt2->tokenBytes(0), "!");
  EXPECT_THAT(*gpt2->tokenBytes(93), "~");
  EXPECT_THAT(*gpt2->tokenBytes(94), "\xa1");
  EXPECT_THAT(*gpt2->tokenBytes(188), std::string_view("\0", 1));
  EXPECT_THAT(*gpt2->tokenBytes(255), "\xad");
  EXPECT_THAT(*gpt2->tokenBytes(220), " ");
}

TEST_F(Gpt2Tokenizer, WholeCorpusHasTheKnownHash) {
  const char *path = std::getenv("HJX_AUSTEN_TXT");
  if (!path)
    GTEST_SKIP() << "did not run: set HJX_AUSTEN_TXT to what `hjx-tokenize extract-austen` writes";
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto ids = gpt2->encode(text);
  ASSERT_THAT(ids, IsOk());
  EXPECT_EQ(ids->size(), 993'328u);
  std::string tokens;
  for (int32_t id : *ids) {
    tokens += static_cast<char>(id);
    tokens += static_cast<char>(id >> 8);
  }
  EXPECT_EQ(sha256Hex(tokens), "7df7cfa9c3002e0b3e0a634a9f11ba1116778e79aab4bb218856957c4f0d6423");
  EXPECT_EQ(*gpt2->decode(*ids), text);
}

} // namespace
} // namespace hjx
