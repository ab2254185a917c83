// SPDX-License-Identifier: Apache-2.0
//
// Every length is checked against what is left before it is used.
#include "lib/Data/RdataText.h"

#include "absl/strings/str_cat.h"

#include <zlib.h>

namespace hjx {
namespace {

constexpr uint64_t kMaxRecordBytes = 64u << 20;
constexpr uint32_t kCharacterVector = 16, kString = 9; // SEXP types, the low byte of flags

absl::Status bad(std::string_view expected, std::string_view got) {
  return badInput("Rdata", expected, got,
                  "take Rdata.rdb from Debian's r-cran-janeaustenr 1.0.0 (dpkg-deb -x)");
}

/// Takes big-endian numbers and bytes from the front of a view.
class Cursor {
public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool take(size_t count, std::string_view &out) {
    if (count > bytes_.size())
      return false;
    out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return true;
  }
  bool take(uint32_t &out) {
    std::string_view four;
    if (!take(4, four))
      return false;
    out = 0;
    for (unsigned char c : four)
      out = out << 8 | c;
    return true;
  }
  std::string_view rest() const { return bytes_; }

private:
  std::string_view bytes_;
};

/// Inflates the zlib stream at the front of `stream` to exactly `rawBytes`; advances past it.
absl::StatusOr<std::string> inflateRecord(Cursor &database, uint32_t rawBytes) {
  if (rawBytes > kMaxRecordBytes)
    return bad(absl::StrCat("records of at most ", kMaxRecordBytes, " bytes"),
               absl::StrCat(rawBytes));
  std::string_view input = database.rest();
  std::string raw(rawBytes, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK)
    return absl::ResourceExhaustedError("Rdata: zlib: out of memory");
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(input.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(input.size(), UINT32_MAX));
  stream.next_out = reinterpret_cast<Bytef *>(raw.data());
  stream.avail_out = rawBytes;
  int result = inflate(&stream, Z_FINISH);
  size_t used = input.size() - stream.avail_in;
  bool exact = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!exact)
    return bad(absl::StrCat("a zlib stream of ", rawBytes, " bytes"),
               result == Z_STREAM_END ? "a shorter one" : "a longer, damaged or cut one");
  std::string_view skipped;
  database.take(used, skipped);
  return raw;
}

absl::Status appendLines(Cursor record, std::string &text) {
  std::string_view magic, encoding;
  uint32_t encodingBytes, flags, count;
  if (!record.take(14, magic) || !magic.starts_with(std::string_view("X\n\0\0\0\3", 6)))
    return bad("an XDR serialisation of version 3", absl::StrCat("'", printable(magic), "'"));
  if (!record.take(encodingBytes) || !record.take(encodingBytes, encoding) || encoding != "UTF-8")
    return bad("the encoding UTF-8", absl::StrCat("'", printable(encoding), "'"));
  if (!record.take(flags) || (flags & 0xff) != kCharacterVector || !record.take(count))
    return bad("a character vector", "another R value");
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t size;
    std::string_view line;
    if (!record.take(flags) || (flags & 0xff) != kString || !record.take(size) ||
        !record.take(size, line)) // a missing value has size -1, which is always too long
      return bad(absl::StrCat(count, " strings"), absl::StrCat(i));
    text.append(line).push_back('\n');
  }
  if (!record.rest().empty())
    return bad("the end of a record", absl::StrCat(record.rest().size(), " bytes more"));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::string> textOfRdata(std::string_view database) {
  Cursor cursor(database);
  std::string text;
  do {
    uint32_t rawBytes;
    if (!cursor.take(rawBytes))
      return bad("a record", absl::StrCat(cursor.rest().size(), " bytes"));
    HJX_ASSIGN_OR_RETURN(std::string raw, inflateRecord(cursor, rawBytes));
    HJX_RETURN_IF_ERROR(appendLines(Cursor(raw), text));
  } while (!cursor.rest().empty());
  return text;
}

} // namespace hjx
