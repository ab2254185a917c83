// SPDX-License-Identifier: Apache-2.0
//
// What remains after the header is parsed: the arithmetic of offsets, and writing.
#include "lib/Data/Safetensors.h"

#include "lib/Data/SafetensorsHeader.h"
#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <new>
#include <numeric>

namespace hjx {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr const char *kDamaged = "the file is damaged or incomplete; fetch it again";

uint64_t decodeU64(const char *bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Checks that the tensors, sorted by offset, tile [0, dataBytes) exactly.
absl::Status checkOffsets(const std::string &subject, const std::vector<TensorInfo> &tensors,
                          uint64_t dataBytes) {
  uint64_t position = 0;
  for (const TensorInfo &tensor : tensors) {
    std::string where = absl::StrCat(subject, ": tensor '", printable(tensor.name), "'");
    if (tensor.begin != position)
      return badInput(where,
                      absl::StrCat("data from byte ", position, ", where the one before ends"),
                      absl::StrCat("byte ", tensor.begin),
                      "tensors may neither overlap nor leave holes; write the file again");
    if (tensor.end < tensor.begin || tensor.end > dataBytes)
      return badInput(where, absl::StrCat("an end between ", tensor.begin, " and ", dataBytes),
                      absl::StrCat(tensor.end), kDamaged);
    std::string type = describeTensor(tensor.type, tensor.shape);
    std::optional<uint64_t> size = storedSizeBytes(tensor.type, tensor.shape);
    if (!size)
      return badInput(where, "a shape of less than 2^64 bits that fills whole bytes", type,
                      kDamaged);
    if (*size != tensor.sizeBytes())
      return badInput(where, absl::StrCat(*size, " bytes for ", type),
                      absl::StrCat(tensor.sizeBytes()), kDamaged);
    position = tensor.end;
  }
  if (position != dataBytes)
    return badInput(subject, absl::StrCat(position, " bytes of tensor data"),
                    absl::StrCat(dataBytes),
                    "the file has bytes that no tensor owns; it is damaged or two files in one");
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  HJX_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  const std::string subject = absl::StrCat("safetensors: ", path);
  const uint64_t fileBytes = file.sizeBytes();
  if (fileBytes < 8)
    return badInput(subject, "at least 8 bytes", absl::StrCat(fileBytes), kDamaged);
  char lengthBytes[8];
  HJX_RETURN_IF_ERROR(file.read(0, lengthBytes));
  uint64_t headerBytes = decodeU64(lengthBytes);
  if (headerBytes > kMaxHeaderBytes)
    return badInput(subject, absl::StrCat("a header of at most ", kMaxHeaderBytes, " bytes"),
                    absl::StrCat(headerBytes), "check that this is a safetensors file");
  if (headerBytes > fileBytes - 8)
    return badInput(subject, absl::StrCat("a header within the ", fileBytes, " bytes of the file"),
                    absl::StrCat(headerBytes, " bytes of header"), kDamaged);

  std::string json(headerBytes, '\0');
  HJX_RETURN_IF_ERROR(file.read(8, json));
  HJX_ASSIGN_OR_RETURN(SafetensorsHeader header, parseSafetensorsHeader(subject, json));

  SafetensorsFile result(std::move(file));
  result.dataStart_ = 8 + headerBytes;
  result.tensors_ = std::move(header.tensors);
  result.metadata_ = std::move(header.metadata);
  std::vector<TensorInfo> &tensors = result.tensors_;

  result.byName_.resize(tensors.size());
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo &a, const TensorInfo &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::iota(result.byName_.begin(), result.byName_.end(), 0u);
  std::sort(result.byName_.begin(), result.byName_.end(),
            [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[result.byName_[i]].name == tensors[result.byName_[i - 1]].name)
      return badInput(subject, "each tensor name once",
                      absl::StrCat("'", printable(tensors[result.byName_[i]].name), "' twice"),
                      "rename one of the two and write the file again");
  HJX_RETURN_IF_ERROR(checkOffsets(subject, tensors, fileBytes - result.dataStart_));
  return result;
}

const TensorInfo *SafetensorsFile::find(std::string_view name) const {
  auto it = std::lower_bound(
      byName_.begin(), byName_.end(), name,
      [&](uint32_t index, std::string_view wanted) { return tensors_[index].name < wanted; });
  return it != byName_.end() && tensors_[*it].name == name ? &tensors_[*it] : nullptr;
}

absl::StatusOr<const TensorInfo *> SafetensorsFile::get(std::string_view name) const {
  if (const TensorInfo *tensor = find(name))
    return tensor;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(tensors_.size(), 10'000); ++i)
    names.push_back(tensors_[i].name);
  std::string nearest = nearestName(name, names);
  return badInput(absl::StrCat("safetensors: ", path()),
                  absl::StrCat("a tensor '", printable(name), "'"),
                  absl::StrCat(tensors_.size(), " tensors without it"),
                  nearest.empty() ? "check that this is the right file"
                                  : absl::StrCat("did you mean '", printable(nearest), "'?"));
}

absl::Status SafetensorsFile::read(const TensorInfo &tensor, uint64_t offsetBytes,
                                   std::span<char> out) const {
  if (offsetBytes > tensor.sizeBytes() || out.size() > tensor.sizeBytes() - offsetBytes)
    return absl::OutOfRangeError(
        absl::StrCat("safetensors: ", path(), ": tensor '", printable(tensor.name), "' has ",
                     tensor.sizeBytes(), " bytes, wanted ", out.size(), " from ", offsetBytes));
  return file_.read(dataStart_ + tensor.begin + offsetBytes, out);
}

absl::StatusOr<HostTensor> SafetensorsFile::load(std::string_view name) const {
  HJX_ASSIGN_OR_RETURN(const TensorInfo *info, get(name));
  std::string subject =
      absl::StrCat("safetensors: ", path(), ": tensor '", printable(info->name), "'");
  if (!isLoadable(info->type))
    return badInput(
        subject, "an element type of hjx",
        absl::StrCat(std::string(storedTypeName(info->type)), ", known but unsupported"),
        "convert it to F32, F16 or BF16");
  HostTensor tensor{info->type, info->shape, {}};
  try {
    tensor.bytes.resize(info->sizeBytes());
  } catch (const std::bad_alloc &) {
    return absl::ResourceExhaustedError(
        absl::StrCat(subject, ": out of memory, wanted ", info->sizeBytes(), " bytes"));
  }
  HJX_RETURN_IF_ERROR(read(*info, 0, tensor.bytes));
  return tensor;
}

absl::Status writeSafetensors(const std::string &path, std::vector<TensorView> tensors,
                              const std::map<std::string, std::string> &metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorView &a, const TensorView &b) {
    unsigned aBits = storedTypeBits(a.type), bBits = storedTypeBits(b.type);
    return aBits != bBits ? aBits > bBits : a.name < b.name;
  });
  const std::string subject = absl::StrCat("safetensors: ", path);
  for (const auto &[key, value] : metadata)
    if (!isValidUtf8(key) || !isValidUtf8(value))
      return badInput(subject, "UTF-8 in metadata", absl::StrCat("'", printable(key), "'"),
                      "encode binary values, for example in hexadecimal");
  // Entry by entry, because an ordered JSON object looks names up by linear search.
  std::string json = "{";
  if (!metadata.empty())
    json += absl::StrCat("\"__metadata__\":", nlohmann::json(metadata).dump());
  std::vector<std::string_view> names;
  uint64_t position = 0;
  for (const TensorView &tensor : tensors) {
    std::string where = absl::StrCat(subject, ": tensor '", printable(tensor.name), "'");
    if (!isValidUtf8(tensor.name) || tensor.name == "__metadata__")
      return badInput(where, "a UTF-8 name other than __metadata__", "this name", "rename it");
    if (!parseSafetensorsType(storedTypeName(tensor.type)))
      return badInput(where, "a type that safetensors has",
                      std::string(storedTypeName(tensor.type)), "split it into two real tensors");
    std::optional<uint64_t> size = storedSizeBytes(tensor.type, tensor.shape);
    if (!size || *size != tensor.bytes.size())
      return badInput(where,
                      absl::StrCat("the bytes of ", describeTensor(tensor.type, tensor.shape)),
                      absl::StrCat(tensor.bytes.size(), " bytes"), "pass the whole tensor");
    nlohmann::ordered_json entry = {{"dtype", storedTypeName(tensor.type)},
                                    {"shape", tensor.shape},
                                    {"data_offsets", {position, position + *size}}};
    absl::StrAppend(&json, json.size() > 1 ? "," : "", nlohmann::json(tensor.name).dump(), ":",
                    entry.dump());
    position += *size;
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  if (auto twin = std::adjacent_find(names.begin(), names.end()); twin != names.end())
    return badInput(subject, "each tensor name once",
                    absl::StrCat("'", printable(*twin), "' twice"), "rename one of the two");

  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(json.size() >> (8 * i));
  HJX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  HJX_RETURN_IF_ERROR(file.write(length));
  HJX_RETURN_IF_ERROR(file.write(json));
  for (const TensorView &tensor : tensors)
    HJX_RETURN_IF_ERROR(file.write(tensor.bytes));
  return file.commit();
}

} // namespace hjx
