// SPDX-License-Identifier: Apache-2.0
//
// .npy round trips in all versions, bytes that NumPy itself writes, and hostile headers.
#include "TemporaryFolder.h"

#include "lib/Data/Npy.h"

#include "absl/strings/str_cat.h"

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;

std::string npy(const std::string &dict, const std::string &data, int major = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  for (size_t i = 0; i < (major == 1 ? 2u : 4u); ++i)
    out += static_cast<char>(dict.size() >> (8 * i));
  return out + dict + data;
}

class Npy : public ::testing::Test {
protected:
  absl::StatusOr<HostTensor> readBytes(const std::string &bytes) {
    return readNpy(folder.write("x.npy", bytes));
  }
  test::TemporaryFolder folder;
};

TEST_F(Npy, RoundTripOfEveryTypeInEveryVersion) {
  std::string bytes(6 * 16, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * 37 + 1);
  for (int major : {1, 2, 3})
    for (StoredType type :
         {StoredType::Bool, StoredType::U8, StoredType::I8, StoredType::U16, StoredType::I16,
          StoredType::U32, StoredType::I32, StoredType::U64, StoredType::I64, StoredType::F16,
          StoredType::F32, StoredType::F64, StoredType::C64, StoredType::C128}) {
      std::string data = bytes.substr(0, 6 * storedTypeBits(type) / 8);
      std::string path = folder.path("a.npy");
      ASSERT_THAT(writeNpy(path, {"", type, {2, 3}, data}, major), IsOk());
      auto back = readNpy(path);
      ASSERT_THAT(back, IsOk());
      EXPECT_EQ(back->type, type);
      EXPECT_THAT(back->shape, ElementsAre(2, 3));
      EXPECT_EQ(back->bytes, data);
    }
}

TEST_F(Npy, WritesTheBytesThatNumPyWrites) {
  // numpy.save of numpy.array([1, 258], dtype='<i2')
  std::vector<int16_t> values = {1, 258};
  std::string path = folder.path("a.npy");
  ASSERT_THAT(writeNpy(path, {"", StoredType::I16, {2}, bytesOf(values)}), IsOk());
  std::string dict = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
  dict.append(128 - 10 - 1 - dict.size(), ' ');
  EXPECT_EQ(folder.read("a.npy"), npy(dict + "\n", std::string("\x01\x00\x02\x01", 4)));
}

TEST_F(Npy, ScalarsAndEmptyArrays) {
  std::vector<double> one = {2.5};
  std::string path = folder.path("a.npy");
  ASSERT_THAT(writeNpy(path, {"", StoredType::F64, {}, bytesOf(one)}), IsOk());
  EXPECT_TRUE(readNpy(path)->shape.empty());
  EXPECT_EQ(readNpy(path)->as<double>(), one);
  ASSERT_THAT(writeNpy(path, {"", StoredType::F32, {0, 7}, {}}), IsOk());
  EXPECT_THAT(readNpy(path)->shape, ElementsAre(0, 7));
}

TEST_F(Npy, FortranOrderBecomesRowMajor) {
  // shape (2, 3), columns first: a[i][j] = 10 i + j
  auto read = readBytes(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
                            std::string("\x00\x0a\x01\x0b\x02\x0c", 6)));
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->as<uint8_t>(), ElementsAre(0, 1, 2, 10, 11, 12));
  read = readBytes(npy("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 1, 2), }",
                       std::string("a\0b\0c\0d\0", 8)));
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->as<uint16_t>(), ElementsAre('a', 'c', 'b', 'd'));
}

TEST_F(Npy, AcceptsAnyKeyOrderAndSpacing) {
  auto read = readBytes(npy("{\"shape\":(1,),'fortran_order':False , 'descr':'<u1'}\n", "x"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->bytes, "x");
}

TEST_F(Npy, RefusesWhatIsNotAPlainArray) {
  auto withType = [&](const std::string &descr) {
    return readBytes(
        npy(absl::StrCat("{'descr': ", descr, ", 'fortran_order': False, 'shape': (1,), }"),
            std::string(8, '\0')));
  };
  EXPECT_THAT(withType("'>f8'"), FailsWith("little-endian order"));
  EXPECT_THAT(withType("'|O'"), FailsWith("pickled code"));
  EXPECT_THAT(withType("'<V2'"), FailsWith("NumPy has no bfloat16"));
  EXPECT_THAT(withType("'<U4'"), FailsWith("a plain little-endian number type"));
  EXPECT_THAT(withType("[('a', '<f4'), ('b', '<f4')]"), FailsWith("a structured array"));
  EXPECT_THAT(writeNpy(folder.path("a.npy"), {"", StoredType::BF16, {1}, "ab"}),
              FailsWith("a type that NumPy has, got BF16"));
  EXPECT_THAT(writeNpy(folder.path("a.npy"), {"", StoredType::F32, {2}, "abcd"}),
              FailsWith("the bytes of F32[2], got 4 bytes"));
}

TEST_F(Npy, HostileHeaders) {
  auto header = [&](const std::string &dict) { return readBytes(npy(dict, "1234")); };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  ASSERT_THAT(header(good), IsOk());
  EXPECT_THAT(header(good + "x"), FailsWith("the end of the header, got 'x'"));
  EXPECT_THAT(header(""), FailsWith("'{', got the end of the header"));
  EXPECT_THAT(header("{'descr': '<f4', 'shape': (1,), }"), FailsWith("no fortran_order"));
  EXPECT_THAT(header("{'descr': '<f4', 'descr': '<f4'}"), FailsWith("each once, got 'descr'"));
  EXPECT_THAT(header("{'exec': 1}"), FailsWith("got 'exec'"));
  EXPECT_THAT(header("{'descr': '<f4"), FailsWith("a closing quote"));
  for (const char *shape :
       {"(-1,)", "(1.5,)", "(9223372036854775808,)", "(x)", "1", "(1 1)", "(1,,)"})
    EXPECT_THAT(
        header(absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': ", shape, "}")),
        FailsWith("npy: "))
        << shape;
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(4294967296, 4294967296, 4294967296)}"),
              FailsWith("the data of F32[4294967296,4294967296,4294967296]"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"),
              FailsWith("True or False"));
  std::string ones;
  for (int i = 0; i < 65; ++i)
    ones += "1,";
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + ones + ")}"),
              FailsWith("at most 64 dimensions"));
}

TEST_F(Npy, HostileContainers) {
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::string whole = npy(dict, "12345678");
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_THAT(readBytes(whole.substr(0, n)), FailsWith("npy: ")) << n;
  EXPECT_THAT(readBytes(whole + "9"), FailsWith("the data of F32[2], got 9 bytes"));
  EXPECT_THAT(readBytes(npy(dict, "12345678", 4)), FailsWith("format version 1, 2 or 3, got 4"));
  std::string huge = "\x93NUMPY";
  huge += std::string("\x02\x00\xff\xff\xff\xff", 6);
  EXPECT_THAT(readBytes(huge), FailsWith("a header of at most 65536 bytes"));
  EXPECT_THAT(readBytes("\x1b[31m not an array"), FailsWith("'\\x1b[31m '"));
}

} // namespace
} // namespace hjx
