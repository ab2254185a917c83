// SPDX-License-Identifier: Apache-2.0
//
// The header is a Python literal; a parser for exactly the dict that NumPy writes (any key
// order, any spacing) is smaller than any general one and leaves nothing to exploit.
#include "lib/Data/Npy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <charconv>
#include <new>

namespace hjx {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeaderBytes = 65'536; // NumPy itself refuses more than 10,000
constexpr size_t kMaxRank = 64;

struct TypeRow {
  std::string_view descr;
  StoredType type;
};
constexpr TypeRow kTypes[] = {
    {"|b1", StoredType::Bool}, {"|u1", StoredType::U8},    {"|i1", StoredType::I8},
    {"<u2", StoredType::U16},  {"<i2", StoredType::I16},   {"<u4", StoredType::U32},
    {"<i4", StoredType::I32},  {"<u8", StoredType::U64},   {"<i8", StoredType::I64},
    {"<f2", StoredType::F16},  {"<f4", StoredType::F32},   {"<f8", StoredType::F64},
    {"<c8", StoredType::C64},  {"<c16", StoredType::C128},
};

struct Header {
  StoredType type;
  bool fortranOrder;
  std::vector<int64_t> shape;
};

class LiteralParser {
public:
  LiteralParser(std::string subject, std::string_view text)
      : subject_(std::move(subject)), text_(text) {}

  absl::StatusOr<Header> parse() {
    std::string descr;
    Header header{};
    bool seenDescr = false, seenOrder = false, seenShape = false;
    HJX_RETURN_IF_ERROR(expect('{'));
    while (!take('}')) {
      std::string key;
      HJX_RETURN_IF_ERROR(string(key));
      HJX_RETURN_IF_ERROR(expect(':'));
      bool *seen = key == "descr"           ? &seenDescr
                   : key == "fortran_order" ? &seenOrder
                   : key == "shape"         ? &seenShape
                                            : nullptr;
      if (!seen || std::exchange(*seen, true))
        return bad("the keys descr, fortran_order and shape, each once",
                   absl::StrCat("'", printable(key), "'"));
      if (seen == &seenDescr)
        HJX_RETURN_IF_ERROR(descrValue(descr));
      else if (seen == &seenOrder)
        HJX_RETURN_IF_ERROR(boolean(header.fortranOrder));
      else
        HJX_RETURN_IF_ERROR(tuple(header.shape));
      if (!take(',')) {
        HJX_RETURN_IF_ERROR(expect('}'));
        break;
      }
    }
    skipBlanks();
    if (at_ != text_.size())
      return bad("the end of the header", rest());
    if (!seenDescr || !seenOrder || !seenShape)
      return bad("the keys descr, fortran_order and shape",
                 absl::StrCat("no ", !seenDescr   ? "descr"
                                     : !seenOrder ? "fortran_order"
                                                  : "shape"));
    HJX_RETURN_IF_ERROR(findType(descr, header.type));
    return header;
  }

private:
  absl::Status findType(const std::string &descr, StoredType &type) {
    for (const TypeRow &row : kTypes)
      // One-byte types have no byte order; some writers say '<' all the same.
      if (row.descr == descr || (row.descr[0] == '|' && row.descr.substr(1) == descr.substr(1))) {
        type = row.type;
        return absl::OkStatus();
      }
    const char *remedy = "convert the array with .astype() before saving it";
    if (descr.starts_with('>'))
      remedy = "save the array in little-endian order: a.astype(a.dtype.newbyteorder('<'))";
    else if (descr.find('O') != std::string::npos)
      remedy = "object arrays hold pickled code; save plain numbers";
    else if (descr.find('V') != std::string::npos)
      remedy = "NumPy has no bfloat16; save it as safetensors, or as float32";
    return badInput(subject_, "a plain little-endian number type such as '<f4'",
                    absl::StrCat("'", printable(descr), "'"), remedy);
  }

  void skipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(char c) {
    skipBlanks();
    if (at_ == text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  absl::Status expect(char c) {
    return take(c) ? absl::OkStatus() : bad(absl::StrCat("'", std::string(1, c), "'"), rest());
  }
  absl::Status string(std::string &out) {
    skipBlanks();
    char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      return bad("a string", rest());
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos)
      return bad("a closing quote", "none");
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return absl::OkStatus();
  }
  absl::Status descrValue(std::string &out) {
    skipBlanks();
    if (at_ < text_.size() && text_[at_] == '[')
      return badInput(subject_, "an array of numbers", "a structured array",
                      "save each field as an array of its own");
    return string(out);
  }
  absl::Status boolean(bool &out) {
    skipBlanks();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        out = word == "True";
        return absl::OkStatus();
      }
    return bad("True or False", rest());
  }
  absl::Status tuple(std::vector<int64_t> &out) {
    HJX_RETURN_IF_ERROR(expect('('));
    while (!take(')')) {
      skipBlanks();
      int64_t dim = -1;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0)
        return bad("dimensions from 0 to 2^63-1", rest());
      if (out.size() == kMaxRank)
        return bad(absl::StrCat("at most ", kMaxRank, " dimensions"), "more");
      out.push_back(dim);
      at_ = static_cast<size_t>(end - text_.data());
      if (!take(',')) {
        HJX_RETURN_IF_ERROR(expect(')'));
        break;
      }
    }
    return absl::OkStatus();
  }

  std::string rest() const {
    return at_ == text_.size() ? "the end of the header"
                               : absl::StrCat("'", printable(text_.substr(at_), 20), "'");
  }
  absl::Status bad(std::string_view expected, std::string_view got) const {
    return badInput(subject_, expected, got, "write the array again with numpy.save");
  }

  std::string subject_;
  std::string_view text_;
  size_t at_ = 0;
};

/// Reorders column-major `bytes` of `shape` to row-major.
std::string rowMajor(const std::string &bytes, const std::vector<int64_t> &shape,
                     size_t elementBytes) {
  std::string out(bytes.size(), '\0');
  std::vector<uint64_t> strides(shape.size()), index(shape.size(), 0);
  uint64_t stride = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<uint64_t>(shape[d]);
  }
  uint64_t source = 0;
  for (size_t offset = 0; offset < bytes.size(); offset += elementBytes) {
    std::memcpy(out.data() + offset, bytes.data() + source * elementBytes, elementBytes);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < static_cast<uint64_t>(shape[d]))
        break;
      source -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

} // namespace

absl::StatusOr<NpyLayout> readNpyLayout(const InputFile &file) {
  const std::string subject = absl::StrCat("npy: ", file.path());
  const uint64_t fileBytes = file.sizeBytes();
  char prefix[12] = {};
  HJX_RETURN_IF_ERROR(file.read(0, std::span(prefix, std::min<uint64_t>(fileBytes, 12))));
  if (std::string_view(prefix, kMagic.size()) != kMagic)
    return badInput(subject, "the magic bytes \\x93NUMPY",
                    absl::StrCat("'", printable({prefix, std::min<uint64_t>(fileBytes, 6)}), "'"),
                    "check that the file was written by numpy.save");
  int major = static_cast<unsigned char>(prefix[6]);
  if (major < 1 || major > 3)
    return badInput(subject, "format version 1, 2 or 3", absl::StrCat(major),
                    "write the array again with numpy.save");
  uint64_t lengthBytes = major == 1 ? 2 : 4, headerBytes = 0;
  for (uint64_t i = lengthBytes; i-- > 0;)
    headerBytes = headerBytes << 8 | static_cast<unsigned char>(prefix[8 + i]);
  const uint64_t headerStart = 8 + lengthBytes;
  if (headerBytes > kMaxHeaderBytes)
    return badInput(subject, absl::StrCat("a header of at most ", kMaxHeaderBytes, " bytes"),
                    absl::StrCat(headerBytes), "save plain arrays, without structured types");
  if (headerStart + headerBytes > fileBytes)
    return badInput(subject, absl::StrCat("a header of ", headerBytes, " bytes"),
                    absl::StrCat("a file of ", fileBytes),
                    "the file is incomplete; fetch it again");
  std::string text(headerBytes, '\0');
  HJX_RETURN_IF_ERROR(file.read(headerStart, text));
  HJX_ASSIGN_OR_RETURN(Header header,
                       LiteralParser(absl::StrCat(subject, ": header"), text).parse());

  const uint64_t dataStart = headerStart + headerBytes;
  std::optional<uint64_t> size = storedSizeBytes(header.type, header.shape);
  if (!size || *size != fileBytes - dataStart)
    return badInput(subject,
                    absl::StrCat("the data of ", describeTensor(header.type, header.shape)),
                    absl::StrCat(fileBytes - dataStart, " bytes"),
                    "the file is damaged or incomplete; fetch it again");
  return NpyLayout{header.type, std::move(header.shape), header.fortranOrder, dataStart, *size};
}

absl::StatusOr<HostTensor> readNpy(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  HJX_ASSIGN_OR_RETURN(NpyLayout layout, readNpyLayout(file));
  HostTensor tensor{layout.type, std::move(layout.shape), {}};
  try {
    tensor.bytes.resize(layout.sizeBytes);
  } catch (const std::bad_alloc &) {
    return absl::ResourceExhaustedError(
        absl::StrCat("npy: ", path, ": out of memory, wanted ", layout.sizeBytes, " bytes"));
  }
  HJX_RETURN_IF_ERROR(file.read(layout.dataStart, tensor.bytes));
  if (layout.fortranOrder && tensor.shape.size() > 1)
    tensor.bytes = rowMajor(tensor.bytes, tensor.shape, storedTypeBits(tensor.type) / 8);
  return tensor;
}

absl::Status writeNpy(const std::string &path, const TensorView &tensor, int major) {
  const std::string subject = absl::StrCat("npy: ", path);
  if (major < 1 || major > 3)
    return badInput(subject, "format version 1, 2 or 3", absl::StrCat(major), "use version 1");
  std::string_view descr;
  for (const TypeRow &row : kTypes)
    if (row.type == tensor.type)
      descr = row.descr;
  if (descr.empty())
    return badInput(subject, "a type that NumPy has", std::string(storedTypeName(tensor.type)),
                    "write it as safetensors, or convert it to F32 first");
  std::optional<uint64_t> size = storedSizeBytes(tensor.type, tensor.shape);
  if (!size || *size != tensor.bytes.size())
    return badInput(subject,
                    absl::StrCat("the bytes of ", describeTensor(tensor.type, tensor.shape)),
                    absl::StrCat(tensor.bytes.size(), " bytes"), "pass the whole tensor");

  std::string header =
      absl::StrCat("{'descr': '", std::string(descr), "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(tensor.shape, ", "), tensor.shape.size() == 1 ? ",), }" : "), }");
  const size_t prefixBytes = major == 1 ? 10 : 12;
  // NumPy pads so that the data begins at a multiple of 64; the header ends in a newline.
  header.append(63 - (prefixBytes + header.size()) % 64, ' ');
  header.push_back('\n');
  std::string prefix = absl::StrCat(std::string(kMagic), std::string(1, static_cast<char>(major)),
                                    std::string(1, '\0'));
  for (size_t i = 0; i < prefixBytes - 8; ++i)
    prefix.push_back(static_cast<char>(header.size() >> (8 * i)));
  HJX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  HJX_RETURN_IF_ERROR(file.write(prefix));
  HJX_RETURN_IF_ERROR(file.write(header));
  HJX_RETURN_IF_ERROR(file.write(tensor.bytes));
  return file.commit();
}

} // namespace hjx
