// SPDX-License-Identifier: Apache-2.0
//
// A state machine over nlohmann's SAX events. The lexer rejects invalid UTF-8, lone
// surrogates, NULs and trailing text; numbers arrive typed, so that -1, 1.5 and 1e30 are
// refused by the event they come in, and integers above 64 bits arrive as floats.
#include "lib/Data/SafetensorsHeader.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace hjx {
namespace {

// Far above any real model (an 8-way split GPT-3 has under two thousand tensors a file), and
// low enough that the tables stay below the size of the largest legal header.
constexpr size_t kMaxTensors = 1'000'000;
constexpr size_t kMaxMetadata = 65'536;
constexpr size_t kMaxRank = 64;

class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
public:
  HeaderReader(std::string subject, SafetensorsHeader &header)
      : subject_(std::move(subject)), header_(header) {}

  absl::Status takeError() { return std::move(error_); }

  bool start_object(size_t) override {
    switch (at_) {
    case At::Start:
      return go(At::Name);
    case At::Tensor:
      if (header_.tensors.size() == kMaxTensors)
        return fail(subject_, absl::StrCat("at most ", kMaxTensors, " tensors"), "more",
                    "split the model over several files");
      header_.tensors.push_back({std::move(name_), StoredType::U8, {}, 0, 0});
      hasType_ = hasShape_ = false;
      numOffsets_ = -1;
      return go(At::Field);
    case At::Metadata:
      return go(At::MetadataKey);
    default:
      return unexpected("an object");
    }
  }

  bool key(string_t &key) override {
    switch (at_) {
    case At::Name:
      if (key == "__metadata__") {
        if (seenMetadata_)
          return duplicate("__metadata__");
        seenMetadata_ = true;
        return go(At::Metadata);
      }
      name_ = std::move(key);
      return go(At::Tensor);
    case At::MetadataKey:
      if (header_.metadata.size() == kMaxMetadata)
        return fail(subject_, absl::StrCat("at most ", kMaxMetadata, " metadata entries"), "more",
                    "store large tables as tensors");
      metadataKey_ = std::move(key);
      return go(At::MetadataValue);
    case At::Field:
      return field(key);
    default:
      return unexpected("a key");
    }
  }

  bool end_object() override {
    switch (at_) {
    case At::Name:
      return go(At::Done);
    case At::MetadataKey:
      return go(At::Name);
    case At::Field:
      if (!hasType_ || !hasShape_ || numOffsets_ < 0)
        return fail(tensorSubject(), "the fields dtype, shape and data_offsets",
                    !hasType_    ? "no dtype"
                    : !hasShape_ ? "no shape"
                                 : "no data_offsets",
                    kRewrite);
      return go(At::Name);
    default:
      return unexpected("the end of an object");
    }
  }

  bool string(string_t &value) override {
    if (at_ == At::MetadataValue) {
      if (!header_.metadata.emplace(metadataKey_, std::move(value)).second)
        return duplicate(metadataKey_);
      return go(At::MetadataKey);
    }
    if (at_ == At::Type) {
      std::optional<StoredType> type = parseSafetensorsType(value);
      if (!type)
        return fail(tensorSubject(), "a safetensors dtype such as F32",
                    absl::StrCat("'", printable(value), "'"),
                    "convert the tensor to F32, F16 or BF16 with the program that wrote it");
      tensor().type = *type;
      return go(At::Field);
    }
    return unexpected("a string");
  }

  bool start_array(size_t) override {
    if (at_ == At::Shape)
      return go(At::ShapeElement);
    if (at_ == At::Offsets)
      return go(At::OffsetElement);
    return unexpected("an array");
  }

  bool end_array() override {
    if (at_ == At::OffsetElement && numOffsets_ != 2)
      return fail(tensorSubject(), "two data_offsets", absl::StrCat(numOffsets_), kRewrite);
    return go(At::Field); // the parser pairs brackets, so only arrays that we entered end here
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (at_ == At::ShapeElement) {
      if (tensor().shape.size() == kMaxRank)
        return fail(tensorSubject(), absl::StrCat("at most ", kMaxRank, " dimensions"), "more",
                    kRewrite);
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return fail(tensorSubject(), "dimensions below 2^63", absl::StrCat(value), kRewrite);
      tensor().shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (at_ == At::OffsetElement) {
      if (numOffsets_ == 2)
        return fail(tensorSubject(), "two data_offsets", "more", kRewrite);
      (numOffsets_++ == 0 ? tensor().begin : tensor().end) = value;
      return true;
    }
    return unexpected("a number");
  }

  bool number_integer(number_integer_t value) override {
    return unexpected(absl::StrCat("the negative number ", value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    return unexpected(absl::StrCat("the number ", printable(text, 24)));
  }
  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool binary(binary_t &) override { return unexpected("binary"); }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return fail(absl::StrCat(subject_, ": header"), "one JSON object in UTF-8",
                absl::StrCat("a syntax error at its byte ", position), kDamaged);
  }

private:
  enum class At {
    Start,
    Name,
    Metadata,
    MetadataKey,
    MetadataValue,
    Tensor,
    Field,
    Type,
    Shape,
    ShapeElement,
    Offsets,
    OffsetElement,
    Done,
  };
  static constexpr const char *kRewrite = "write the file again with a current safetensors library";
  static constexpr const char *kDamaged = "the file is damaged or no safetensors; fetch it again";

  bool field(const std::string &key) {
    if (key == "dtype") {
      if (std::exchange(hasType_, true))
        return duplicate("dtype");
      return go(At::Type);
    }
    if (key == "shape") {
      if (std::exchange(hasShape_, true))
        return duplicate("shape");
      return go(At::Shape);
    }
    if (key == "data_offsets") {
      if (numOffsets_ >= 0)
        return duplicate("data_offsets");
      numOffsets_ = 0;
      return go(At::Offsets);
    }
    return fail(tensorSubject(), "the fields dtype, shape and data_offsets",
                absl::StrCat("'", printable(key), "'"), kRewrite);
  }

  std::string expectation() const {
    switch (at_) {
    case At::Start:
      return "an object of tensors";
    case At::Metadata:
      return "an object of strings as __metadata__";
    case At::MetadataValue:
      return absl::StrCat("a string as metadata value of '", printable(metadataKey_), "'");
    case At::Tensor:
      return absl::StrCat("an object for tensor '", printable(name_), "'");
    case At::Type:
      return "a string as dtype";
    case At::Shape:
      return "an array as shape";
    case At::Offsets:
      return "an array as data_offsets";
    case At::ShapeElement:
    case At::OffsetElement:
      return "unsigned integers below 2^64";
    default:
      return "the end";
    }
  }

  TensorInfo &tensor() { return header_.tensors.back(); }
  std::string tensorSubject() {
    return absl::StrCat(subject_, ": tensor '", printable(tensor().name), "'");
  }
  bool go(At next) {
    at_ = next;
    return true;
  }
  bool unexpected(std::string_view got) {
    bool inTensor = at_ >= At::Field && at_ != At::Done;
    return fail(inTensor ? tensorSubject() : subject_, expectation(), got, kRewrite);
  }
  bool duplicate(std::string_view key) {
    return fail(subject_, "each key once", absl::StrCat("'", printable(key), "' twice"), kRewrite);
  }
  bool fail(std::string_view subject, std::string_view expected, std::string_view got,
            std::string_view remedy) {
    error_ = badInput(subject, expected, got, remedy);
    return false;
  }

  std::string subject_;
  SafetensorsHeader &header_;
  absl::Status error_;
  At at_ = At::Start;
  std::string name_, metadataKey_;
  bool seenMetadata_ = false, hasType_ = false, hasShape_ = false;
  int numOffsets_ = -1; ///< -1 before the field is seen
};

} // namespace

absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view subject,
                                                         std::string_view json) {
  // The parser would skip a byte order mark, which the format does not allow.
  size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{')
    return badInput(absl::StrCat(std::string(subject), ": header"), "'{' as its first byte",
                    first == std::string_view::npos
                        ? std::string("blanks only")
                        : absl::StrCat("'", printable(json.substr(first, 1)), "'"),
                    "check that this is a safetensors file");
  // It would also take a NUL for the end of the text and leave the rest unread.
  if (size_t nul = json.find('\0'); nul != std::string_view::npos)
    return badInput(absl::StrCat(std::string(subject), ": header"), "one JSON object in UTF-8",
                    absl::StrCat("a NUL at its byte ", nul),
                    "pad headers with spaces; write the file again");
  SafetensorsHeader header;
  HeaderReader reader(std::string(subject), header);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader))
    return reader.takeError();
  return header;
}

} // namespace hjx
