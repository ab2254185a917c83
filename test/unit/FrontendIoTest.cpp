// SPDX-License-Identifier: Apache-2.0
//
// Arrays from files: mapped, on the host, as large as they like; and files that are not what they
// should be.
#include "lib/Data/Npy.h"
#include "lib/Data/Safetensors.h"
#include "test/unit/FrontendTesting.h"
#include "test/unit/ResidentMemory.h"
#include "test/unit/TemporaryFolder.h"

#include <hjx/io.h>

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

using namespace hjx;
using hjx::testing::messageOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

class FrontendIo : public ::testing::Test {
protected:
  std::string path(const std::string &name) const { return folder.path(name); }
  std::string write(const std::string &name, std::string_view bytes) { return folder.write(name, std::string(bytes)); }
  /// A .npy file with that header and data.
  std::string writeNpyText(const std::string &name, std::string header, std::string_view data) {
    header += "\n";
    std::string prefix("\x93NUMPY\x01\x00", 8);
    prefix += static_cast<char>(header.size());
    prefix += '\0';
    return write(name, prefix + header + std::string(data));
  }

  test::TemporaryFolder folder;
};

std::string floats(std::vector<float> values) { return std::string(bytesOf(values)); }

} // namespace

TEST_F(FrontendIo, NumPyFiles) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(writeNpy(path("a.npy"), {"", StoredType::F32, {2, 3}, bytesOf(values)}).ok());
  Array a = load_npy(path("a.npy"));
  EXPECT_EQ(a.shape(), Shape({2, 3}));
  EXPECT_EQ(a.dtype(), float32);
  EXPECT_TRUE(a.committed());
  EXPECT_EQ(a.device().backend(), "cpu");
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT((a + 1).to_vector<float>(), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_EQ(jit([](Array x) { return sum(x); })(a).item<float>(), 21);
}

TEST_F(FrontendIo, SafetensorsFiles) {
  std::vector<float> weights = {1, 2};
  std::vector<int64_t> steps = {7};
  std::vector<uint8_t> odd = {9, 8, 7};
  ASSERT_TRUE(writeSafetensors(path("m.safetensors"), {{"w", StoredType::F32, {2}, bytesOf(weights)},
                                                       {"odd", StoredType::U8, {3}, bytesOf(odd)},
                                                       {"step", StoredType::I64, {}, bytesOf(steps)}})
                  .ok());
  std::map<std::string, Array> all = load_safetensors(path("m.safetensors"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all["w"].to_vector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(all["step"].item<int64_t>(), 7);
  EXPECT_EQ(all["step"].ndim(), 0);
  // Where the file has it is not where compiled code may read it.
  EXPECT_THAT((all["odd"] + all["odd"]).to_vector<uint8_t>(), ElementsAre(18, 16, 14));
  EXPECT_THAT(load_safetensors(path("m.safetensors"), "w").to_vector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(messageOf([&] { load_safetensors(path("m.safetensors"), "W"); }),
              AllOf(HasSubstr("FrontendIoTest.cpp:"), HasSubstr("load_safetensors: safetensors: "), HasSubstr("did you mean 'w'?")));
}

TEST_F(FrontendIo, FilesOfMereNumbers) {
  write("raw", "head" + floats({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(from_file(path("raw"), float32, {2, 3}, 4).to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(from_file(path("raw"), float32, {-1, 2}, 4).shape(), Shape({3, 2}));
  EXPECT_EQ(from_file(path("raw"), uint8, {-1}).size(), 28);
  EXPECT_EQ(from_file(path("raw"), float32, {0}).size(), 0);
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), float32, {8}); }),
              HasSubstr("expected 32 bytes from byte 0, got a file of 28\n  help: the file is incomplete"));
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), float64, {-1}); }),
              HasSubstr("expected a multiple of 8 bytes for f64[-1], got 28\n  help: check type and shape"));
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), uint8, {-1, -1}); }), HasSubstr("expected sizes that are not negative"));
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), uint8, {0, -1}); }), HasSubstr("expected sizes of at least 1 beside the -1, got [0,-1]"));
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), uint8, {1}, 29); }), HasSubstr("expected an offset from 0 to 28, got 29"));
  EXPECT_THAT(messageOf([&] { from_file(path("raw"), DType::key, {1}); }), HasSubstr("expected a type of numbers or bools, got key"));
  EXPECT_THAT(messageOf([&] { from_file(path("none"), uint8, {1}); }), HasSubstr("cannot open: No such file"));
  EXPECT_THAT(messageOf([&] { from_file(::testing::TempDir(), uint8, {1}); }), HasSubstr("expected a regular file, got a directory"));
}

// What is not as a compiler would lay it out, or is gone by the time it is read.
TEST_F(FrontendIo, OddFiles) {
  write("odd", "x" + floats({1, 2, 3}));
  Array odd = from_file(path("odd"), float32, {3}, 1);
  std::filesystem::remove(path("odd")); // What is mapped stays.
  EXPECT_THAT(odd.to_vector<double>(), ElementsAre(1, 2, 3));
  EXPECT_THAT((odd * odd).to_vector<float>(), ElementsAre(1, 4, 9));
  EXPECT_THAT((odd[{Slice(1, 3)}] + 1).to_vector<float>(), ElementsAre(3, 4));
  EXPECT_EQ(odd[-1].item<float>(), 3);
  EXPECT_THAT((device_put(odd, device("sim")) + 1).to_vector<float>(), ElementsAre(2, 3, 4));
  write("empty", "");
  EXPECT_EQ(from_file(path("empty"), float32, {-1}).shape(), Shape({0}));
  EXPECT_EQ((from_file(path("empty"), float32, {-1, 4}) + 1).shape(), Shape({0, 4}));
  EXPECT_THAT(messageOf([&] { load_npy(path("empty")); }), HasSubstr("expected the magic bytes"));
  EXPECT_THAT(messageOf([&] { load_safetensors(path("empty")); }), HasSubstr("expected at least 8 bytes, got 0"));
  // Any byte but 0 is true, as in NumPy.
  Array bools = from_file(write("bools", std::string("\0\1\2\xff", 4)), bool_, {4});
  EXPECT_THAT(bools.to_vector<bool>(), ElementsAre(false, true, true, true));
  EXPECT_TRUE(bools[2].item<bool>() == true);
  EXPECT_THAT(bools.astype(int32).to_vector<int>(), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT((bools == array({true, true, true, true})).to_vector<bool>(), ElementsAre(false, true, true, true));
  EXPECT_EQ(sum(where(bools, 1, 0)).item<int>(), 3);
  EXPECT_EQ(to_string(bools), "[False  True  True  True]");
}

// A data set that is larger than the memory: made, sliced and indexed, it costs its parts.
TEST_F(FrontendIo, TwentyGigabytes) {
  constexpr int64_t kSize = int64_t(20) << 30;
  std::string file = write("tokens", "");
  ASSERT_EQ(::truncate(file.c_str(), kSize), 0);
  int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  uint16_t here[] = {11, 12, 13};
  ASSERT_EQ(::pwrite(fd, here, sizeof here, kSize / 2), ssize_t(sizeof here));
  ::close(fd);
  from_file(file, uint16, {-1})[{Slice(0, 8)}].to_vector<uint16_t>(); // What is compiled once.
  int64_t before = test::residentBytes();
  Transfers moved = device("cpu").transfers();
  Array tokens = from_file(file, uint16, {-1});
  EXPECT_EQ(tokens.size(), kSize / 2);
  EXPECT_THAT((tokens[{Slice(kSize / 4, kSize / 4 + 3)}].to_vector<uint16_t>()), ElementsAre(11, 12, 13));
  EXPECT_EQ((tokens[kSize / 4 + 1].item<uint16_t>()), 12);
  EXPECT_EQ((tokens[-1].item<uint16_t>()), 0);
  EXPECT_LT(test::residentBytes() - before, 1 << 20);
  EXPECT_LT(device("cpu").transfers().host_to_device.bytes - moved.host_to_device.bytes, 100);
}

TEST_F(FrontendIo, DamagedAndForeignFiles) {
  struct Row {
    const char *header;
    std::string data;
    const char *message;
  };
  for (const Row &row : {
           Row{"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", floats({1, 2}),
               "expected an array in C order, got one in Fortran order\n  help: save numpy.ascontiguousarray(a)"},
           Row{"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", floats({1, 2}), "little-endian"},
           Row{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", floats({1, 2}),
               "expected an element type of hjx, got C64\n  help: convert it to F32"},
           Row{"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "", "object arrays hold pickled code"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", floats({1, 2}), "expected the data of F32[3], got 8 bytes"},
           Row{"{'descr': '<f4'", "", "header: expected"},
       })
    EXPECT_THAT(messageOf([&] { load_npy(writeNpyText("bad.npy", row.header, row.data)); }),
                AllOf(HasSubstr("load_npy: npy: " + path("bad.npy")), HasSubstr(row.message)))
        << row.header;
  // Of one dimension the orders are the same.
  EXPECT_THAT(load_npy(writeNpyText("f.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", floats({1, 2}))).to_vector<float>(),
              ElementsAre(1, 2));
  EXPECT_THAT(messageOf([&] { load_npy(write("magic.npy", "PK\x03\x04 an archive")); }), HasSubstr("expected the magic bytes"));
  EXPECT_THAT(messageOf([&] { load_npy(path("none.npy")); }),
              HasSubstr("cannot open: No such file or directory\n  help: check the path, and the rights of the file"));
  EXPECT_THAT(messageOf([&] { load_safetensors(write("short.safetensors", "1234")); }), HasSubstr("expected at least 8 bytes, got 4"));
  std::string header = R"({"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  EXPECT_THAT(messageOf([&] { load_safetensors(write("f8.safetensors", text + header + "ab")); }),
              HasSubstr("tensor 'x': expected an element type of hjx, got F8"));
  EXPECT_THAT(messageOf([&] { load_safetensors(write("cut.safetensors", text + header + "a")); }), HasSubstr("the file is damaged"));
}
