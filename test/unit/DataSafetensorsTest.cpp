// SPDX-License-Identifier: Apache-2.0
//
// Round trips of the safetensors container, and every hostile input that is known to have
// hurt a reader: each must give one clean error, without a crash or a large allocation.
#include "TemporaryFolder.h"

#include "lib/Data/Safetensors.h"

#include "absl/strings/str_cat.h"

#include <sys/resource.h>
#include <unistd.h>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string u64(uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

std::string file(const std::string &json, const std::string &data = "") {
  return u64(json.size()) + json + data;
}

std::string entry(const std::string &name, const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":[", shape,
                      "],\"data_offsets\":[", offsets, "]}");
}

class Safetensors : public ::testing::Test {
protected:
  absl::StatusOr<SafetensorsFile> open(const std::string &bytes) {
    return SafetensorsFile::open(folder.write("x.safetensors", bytes));
  }
  test::TemporaryFolder folder;
};

TEST_F(Safetensors, RoundTripKeepsEveryTypeShapeAndMetadata) {
  std::vector<float> wte = {1.5f, -2, 3, 4, 5, 6};
  std::vector<uint16_t> tokens = {7, 65535, 0};
  std::vector<double> scalar = {0.25};
  std::vector<TensorView> tensors = {
      {"tokens", StoredType::U16, {3}, bytesOf(tokens)},
      {"wte", StoredType::F32, {2, 3}, bytesOf(wte)},
      {"scalar", StoredType::F64, {}, bytesOf(scalar)},
      {"empty", StoredType::BF16, {4, 0}, {}},
  };
  std::string path = folder.path("a.safetensors");
  ASSERT_THAT(writeSafetensors(path, tensors, {{"format", "hjx"}, {"note", "\"quoted\" é"}}),
              IsOk());

  auto opened = SafetensorsFile::open(path);
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->metadata().at("note"), "\"quoted\" é");
  EXPECT_EQ(opened->metadata().size(), 2u);
  // Largest element first, then by name; so data is aligned without holes.
  std::vector<std::string> names;
  for (const TensorInfo &tensor : opened->tensors())
    names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("scalar", "wte", "empty", "tokens"));
  auto loaded = opened->load("wte");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->as<float>(), wte);
  EXPECT_THAT(loaded->shape, ElementsAre(2, 3));
  EXPECT_EQ(opened->load("tokens")->as<uint16_t>(), tokens);
  EXPECT_EQ(opened->load("scalar")->as<double>(), scalar);
  EXPECT_EQ(opened->load("empty")->bytes, "");
  EXPECT_EQ(folder.size(), 1u) << "a temporary file was left behind";
}

TEST_F(Safetensors, WriterAlignsDataToEightBytes) {
  std::vector<double> one = {1};
  for (const char *name : {"a", "ab", "abc", "abcd", "abcde"}) {
    std::string path = folder.path("a.safetensors");
    ASSERT_THAT(writeSafetensors(path, {{name, StoredType::F64, {1}, bytesOf(one)}}), IsOk());
    EXPECT_EQ(std::filesystem::file_size(path) % 8, 0u) << name;
  }
}

TEST_F(Safetensors, ReplacingAFileKeepsOpenReadersIntact) {
  std::vector<float> before = {1, 2}, after = {3, 4};
  std::string path = folder.path("a.safetensors");
  ASSERT_THAT(writeSafetensors(path, {{"x", StoredType::F32, {2}, bytesOf(before)}}), IsOk());
  auto reader = SafetensorsFile::open(path);
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(writeSafetensors(path, {{"x", StoredType::F32, {2}, bytesOf(after)}}), IsOk());
  EXPECT_EQ(reader->load("x")->as<float>(), before);
  EXPECT_EQ(SafetensorsFile::open(path)->load("x")->as<float>(), after);
}

TEST_F(Safetensors, FailedWriteLeavesTheOldFileAndNoTemporary) {
  std::vector<float> values = {1, 2};
  std::string path = folder.path("a.safetensors");
  ASSERT_THAT(writeSafetensors(path, {{"x", StoredType::F32, {2}, bytesOf(values)}}), IsOk());
  EXPECT_THAT(writeSafetensors(path, {{"x", StoredType::F32, {3}, bytesOf(values)}}),
              FailsWith("expected the bytes of F32[3], got 8 bytes"));
  EXPECT_THAT(SafetensorsFile::open(path), IsOk());
  EXPECT_EQ(folder.size(), 1u);
}

TEST_F(Safetensors, WriterRefusesWhatAReaderWouldRefuse) {
  std::vector<float> v = {1};
  TensorView x{"x", StoredType::F32, {1}, bytesOf(v)};
  std::string path = folder.path("a.safetensors");
  EXPECT_THAT(writeSafetensors(path, {x, x}), FailsWith("'x' twice"));
  x.name = "\xff";
  EXPECT_THAT(writeSafetensors(path, {x}), FailsWith("a UTF-8 name"));
  x.name = "__metadata__";
  EXPECT_THAT(writeSafetensors(path, {x}), FailsWith("a UTF-8 name"));
  EXPECT_THAT(writeSafetensors(path, {}, {{"k", "\xc3"}}), FailsWith("UTF-8 in metadata"));
  std::vector<double> complex = {1, 2};
  EXPECT_THAT(writeSafetensors(path, {{"z", StoredType::C128, {1}, bytesOf(complex)}}),
              FailsWith("a type that safetensors has, got C128"));
}

TEST_F(Safetensors, ReadsUnalignedAndSpacePaddedAndBlankLedHeaders) {
  float value = 1.25f;
  std::string data(reinterpret_cast<char *>(&value), 4);
  for (const char *padding : {"", " ", "  ", "       "}) {
    auto opened =
        open(file(absl::StrCat("\n {", entry("x", "F32", "1", "0,4"), "}", padding), data));
    ASSERT_THAT(opened, IsOk()) << padding;
    EXPECT_EQ(opened->load("x")->as<float>(), std::vector<float>{1.25f});
  }
}

TEST_F(Safetensors, RuntimeTypesHaveTheSameStorage) {
  for (int i = 0; i <= static_cast<int>(StoredType::F4); ++i) {
    auto type = static_cast<StoredType>(i);
    std::optional<ElementType> element = elementTypeOf(type);
    if (element)
      EXPECT_EQ(sizeBytes(*element) * 8, storedTypeBits(type)) << storedTypeName(type);
    bool complex = type == StoredType::C64 || type == StoredType::C128;
    EXPECT_EQ(element.has_value(), isLoadable(type) && !complex) << storedTypeName(type);
  }
}

TEST_F(Safetensors, EmptyFileOfTensorsIsLegal) {
  auto opened = open(file("{}"));
  ASSERT_THAT(opened, IsOk());
  EXPECT_TRUE(opened->tensors().empty());
}

// The numbers below are those of the list of hostile inputs in docs: B.1 of the research notes.

TEST_F(Safetensors, Hostile01HeaderLength) {
  EXPECT_THAT(open(u64(~uint64_t{0}) + "{}"), FailsWith("a header of at most 100000000 bytes"));
  EXPECT_THAT(open(u64(100'000'001) + "{}"), FailsWith("a header of at most 100000000 bytes"));
  EXPECT_THAT(open(u64(3) + "{}"), FailsWith("a header within the 10 bytes of the file"));
  EXPECT_THAT(open(u64(0)), FailsWith("'{' as its first byte"));
}

TEST_F(Safetensors, Hostile02TinyFiles) {
  for (size_t n = 0; n < 8; ++n)
    EXPECT_THAT(open(std::string(n, '\0')),
                FailsWith(absl::StrCat("expected at least 8 bytes, got ", n)));
}

TEST_F(Safetensors, Hostile03ManyEntriesAndDeepNesting) {
  auto peakKiB = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  long before = peakKiB();
  std::string deep = "{\"x\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(open(file(deep)), FailsWith("an object for tensor 'x', got an array"));
  EXPECT_THAT(open(file(std::string(100'000, '{'))), FailsWith("a syntax error at its byte"));
  EXPECT_THAT(open(file(std::string(100'000, '['))), FailsWith("'{' as its first byte"));

  std::string many = "{\"__metadata__\":{";
  for (int i = 0; i < 10'000'000; ++i)
    many += i ? ",\"\":\"\"" : "\"\":\"\"";
  EXPECT_THAT(open(file(many + "}}")), FailsWith("each key once"));
  many = "{\"__metadata__\":{";
  for (int i = 0; i < 1'000'000; ++i)
    absl::StrAppend(&many, i ? "," : "", "\"", i, "\":\"\"");
  EXPECT_THAT(open(file(many + "}}")), FailsWith("at most 65536 metadata entries"));
  many = "{";
  for (int i = 0; i < 1'000'001; ++i)
    absl::StrAppend(&many, i ? "," : "", entry(absl::StrCat(i), "U8", "0", "0,0"));
  EXPECT_THAT(open(file(many + "}")), FailsWith("at most 1000000 tensors"));
  many = "{\"x\":{\"shape\":[1";
  for (int i = 0; i < 10'000'000; ++i)
    many += ",1";
  EXPECT_THAT(open(file(many + "]}}")), FailsWith("at most 64 dimensions"));
  long limitKiB = 600 * 1024;
#if __has_feature(address_sanitizer)
  limitKiB += 256 * 1024; // freed memory that the sanitizer holds back
#endif
  EXPECT_LT(peakKiB() - before, limitKiB) << "memory beyond a small multiple of the header";
}

TEST_F(Safetensors, Hostile04ManyNamesOnTheSameBytes) {
  std::string json =
      "{" + entry("a", "F32", "1", "0,4") + "," + entry("b", "F32", "1", "0,4") + "}";
  EXPECT_THAT(open(file(json, "1234")), FailsWith("tensor 'b': expected data from byte 4"));
}

TEST_F(Safetensors, Hostile05Offsets) {
  EXPECT_THAT(open(file("{" + entry("a", "F32", "1", "0,8") + "}", "1234")),
              FailsWith("an end between 0 and 4, got 8"));
  EXPECT_THAT(
      open(file("{" + entry("a", "U8", "0", "0,0") + "," + entry("b", "F32", "1", "4,0") + "}",
                "1234")),
      FailsWith("expected data from byte 0"));
  EXPECT_THAT(
      open(file("{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "4,2") + "}",
                "12345678")),
      FailsWith("an end between 4 and 8, got 2"));
  EXPECT_THAT(open(file("{" + entry("a", "U8", "1", "0,18446744073709551615") + "}", "1")),
              FailsWith("an end between 0 and 1"));
  EXPECT_THAT(open(file("{" + entry("a", "U8", "1", "0") + "}", "1")),
              FailsWith("two data_offsets, got 1"));
  EXPECT_THAT(open(file("{" + entry("a", "U8", "1", "0,1,1") + "}", "1")),
              FailsWith("two data_offsets, got more"));
}

TEST_F(Safetensors, Hostile06ProductOverflow) {
  std::string huge = "4294967296";
  std::string dims = huge;
  for (int i = 1; i < 64; ++i)
    dims += "," + huge;
  EXPECT_THAT(open(file("{" + entry("a", "U8", "2,18446744073709551614", "0,4") + "}", "1234")),
              FailsWith("dimensions below 2^63"));
  EXPECT_THAT(open(file("{" + entry("a", "U8", "2,9223372036854775807", "0,4") + "}", "1234")),
              FailsWith("a shape of less than 2^64 bits"));
  EXPECT_THAT(open(file("{" + entry("a", "U8", dims, "0,0") + "}")),
              FailsWith("a shape of less than 2^64 bits"));
  EXPECT_THAT(open(file("{" + entry("a", "F4", "3", "0,2") + "}", "12")),
              FailsWith("fills whole bytes"));
}

TEST_F(Safetensors, Hostile07SizeMismatch) {
  EXPECT_THAT(open(file("{" + entry("a", "F32", "2", "0,4") + "}", "1234")),
              FailsWith("expected 8 bytes for F32[2], got 4"));
}

TEST_F(Safetensors, Hostile08Holes) {
  EXPECT_THAT(open(file("{" + entry("a", "U8", "2", "1,3") + "}", "123")),
              FailsWith("expected data from byte 0"));
  EXPECT_THAT(
      open(file("{" + entry("a", "U8", "1", "0,1") + "," + entry("b", "U8", "1", "2,3") + "}",
                "123")),
      FailsWith("expected data from byte 1"));
}

TEST_F(Safetensors, Hostile09TrailingBytes) {
  EXPECT_THAT(open(file("{" + entry("a", "U8", "1", "0,1") + "}", "1PK\x03\x04")),
              FailsWith("expected 1 bytes of tensor data, got 5"));
}

TEST_F(Safetensors, Hostile10Truncated) {
  std::string whole = file("{" + entry("a", "F32", "2", "0,8") + "}", "12345678");
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_THAT(open(whole.substr(0, n)), FailsWith("safetensors: ")) << n;
}

TEST_F(Safetensors, Hostile11BadText) {
  for (const std::string &json :
       {std::string("{\"\xff\":{}}"), std::string("{\"\\ud800\":{}}"), std::string("{}\0", 3),
        std::string("{}\0{}", 5), std::string("{} x"), std::string("{"),
        std::string("{\"a\":{\"dtype\":\"U8\"")})
    EXPECT_THAT(open(file(json)), FailsWith("one JSON object in UTF-8")) << json;
  EXPECT_THAT(open(file("\xef\xbb\xbf{}")), FailsWith("'{' as its first byte"));
  EXPECT_THAT(open(file("[]")), FailsWith("'{' as its first byte"));
}

TEST_F(Safetensors, Hostile12Numbers) {
  for (const char *bad :
       {"-1", "1.5", "1e30", "18446744073709551616", "\"1\"", "null", "true", "[1]"}) {
    EXPECT_THAT(open(file("{" + entry("a", "U8", bad, "0,1") + "}", "1")),
                FailsWith("tensor 'a': expected unsigned integers below 2^64"))
        << bad;
    EXPECT_THAT(open(file("{" + entry("a", "U8", "1", std::string("0,") + bad) + "}", "1")),
                FailsWith("tensor 'a': expected unsigned integers below 2^64"))
        << bad;
  }
}

TEST_F(Safetensors, Hostile13MetadataValues) {
  for (const char *bad : {"1", "null", "{}", "[]", "true"})
    EXPECT_THAT(open(file(absl::StrCat("{\"__metadata__\":{\"k\":", bad, "}}"))),
                FailsWith("a string as metadata value of 'k'"));
  EXPECT_THAT(open(file("{\"__metadata__\":[]}")), FailsWith("an object of strings"));
}

TEST_F(Safetensors, Hostile14Duplicates) {
  std::string a = entry("a", "U8", "1", "0,1"), again = entry("a", "U8", "1", "1,2");
  EXPECT_THAT(open(file("{" + a + "," + again + "}", "12")), FailsWith("'a' twice"));
  EXPECT_THAT(open(file("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}")),
              FailsWith("'dtype' twice"));
  EXPECT_THAT(open(file("{\"__metadata__\":{},\"__metadata__\":{}}")),
              FailsWith("'__metadata__' twice"));
}

TEST_F(Safetensors, Hostile15Types) {
  EXPECT_THAT(open(file("{" + entry("a", "F33", "1", "0,4") + "}", "1234")),
              FailsWith("a safetensors dtype such as F32, got 'F33'"));
  auto opened = open(file(
      "{" + entry("a", "F8_E4M3", "2", "0,2") + "," + entry("b", "U8", "1", "2,3") + "}", "123"));
  ASSERT_THAT(opened, IsOk()) << "the other tensors of such a file stay readable";
  EXPECT_THAT(opened->load("a"), FailsWith("F8_E4M3, known but unsupported"));
  EXPECT_EQ(opened->load("b")->bytes, "3");
}

TEST_F(Safetensors, Hostile17FileShrinksWhileOpen) {
  std::string path =
      folder.write("s.safetensors",
                   file("{" + entry("a", "F32", "1024", "0,4096") + "}", std::string(4096, 'x')));
  auto opened = SafetensorsFile::open(path);
  ASSERT_THAT(opened, IsOk());
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  EXPECT_THAT(opened->load("a"), FailsWith("as when it was opened, got an end at byte 100"));
}

TEST_F(Safetensors, Hostile18NamesAreEchoedHarmlessly) {
  auto opened = open(file(
      "{" + entry("../../etc/\\u001b]0;owned\\u0007\\u009b31m", "F8_E5M2", "1", "0,1") + "}", "1"));
  ASSERT_THAT(opened, IsOk());
  absl::Status status = opened->load(opened->tensors()[0].name).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("'../../etc/\\x1b]0;owned\\x07\\xc2\\x9b31m'"));
  for (char c : status.message())
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
  std::string longName(5000, 'n');
  EXPECT_LT(
      open(file("{" + entry(longName, "F32", "2", "0,1") + "}", "1")).status().message().size(),
      400u);
}

TEST_F(Safetensors, MissingTensorOffersTheNearestName) {
  auto opened = open(file("{" + entry("wte.weight", "U8", "1", "0,1") + "}", "1"));
  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT(opened->load("wte.wieght"), FailsWith("did you mean 'wte.weight'?"));
  EXPECT_THAT(opened->load("lm_head"), FailsWith("check that this is the right file"));
}

TEST_F(Safetensors, NotAFile) {
  EXPECT_EQ(SafetensorsFile::open(folder.path("none")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(SafetensorsFile::open(folder.path("")), FailsWith("a regular file, got a directory"));
  EXPECT_THAT(SafetensorsFile::open("/dev/zero"), FailsWith("got a device or pipe"));
}

TEST_F(Safetensors, ReadChecksItsBounds) {
  auto opened = open(file("{" + entry("a", "U8", "4", "0,4") + "}", "1234"));
  ASSERT_THAT(opened, IsOk());
  const TensorInfo &a = *opened->find("a");
  char out[4];
  EXPECT_THAT(opened->read(a, 2, std::span(out, 2)), IsOk());
  EXPECT_EQ(std::string(out, 2), "34");
  EXPECT_THAT(opened->read(a, 3, std::span(out, 2)), Not(IsOk()));
  EXPECT_THAT(opened->read(a, ~uint64_t{0}, std::span(out, 2)), Not(IsOk()));
}

} // namespace
} // namespace hjx
