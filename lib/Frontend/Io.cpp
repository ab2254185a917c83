// SPDX-License-Identifier: Apache-2.0
//
// Parts of files as arrays: the formats are lib/Data's, the memory is Buffer::map's.
#include "lib/Data/Npy.h"
#include "lib/Data/Safetensors.h"
#include "lib/Frontend/ArrayImpl.h"

#include <hjx/io.h>

#include "absl/strings/str_cat.h"

using namespace hjx;
using namespace hjx::detail;

/// Throws the message of a status, whose remedy is its own.
[[noreturn]] static void failWith(const absl::Status &status, const char *op, Where where) {
  std::string message(status.message());
  constexpr std::string_view kHelp = "\n  help: ";
  size_t at = message.find(kHelp);
  if (at == message.npos)
    fail(where, op, message, "check the path, and the rights of the file");
  fail(where, op, message.substr(0, at), message.substr(at + kHelp.size()));
}

template <typename T> static T valueOf(absl::StatusOr<T> value, const char *op, Where where) {
  if (!value.ok())
    failWith(value.status(), op, where);
  return *std::move(value);
}

static DType dtypeOf(StoredType type, const std::string &subject, const char *op, Where where) {
  switch (type) {
  case StoredType::Bool:
    return DType::bool_;
  case StoredType::U8:
    return DType::uint8;
  case StoredType::I8:
    return DType::int8;
  case StoredType::U16:
    return DType::uint16;
  case StoredType::I16:
    return DType::int16;
  case StoredType::U32:
    return DType::uint32;
  case StoredType::I32:
    return DType::int32;
  case StoredType::U64:
    return DType::uint64;
  case StoredType::I64:
    return DType::int64;
  case StoredType::F16:
    return DType::float16;
  case StoredType::BF16:
    return DType::bfloat16;
  case StoredType::F32:
    return DType::float32;
  case StoredType::F64:
    return DType::float64;
  default:
    fail(where, op, absl::StrCat(subject, ": expected an element type of hjx, got ", std::string(storedTypeName(type))),
         "convert it to F32, F16 or BF16");
  }
}

static Array mapped(const std::string &path, uint64_t offset, DType type, const Shape &shape, const char *op, Where where) {
  int64_t sizeBytes = shape.size() * item_size(type);
  Buffer buffer = valueOf(Buffer::map(path, static_cast<int64_t>(offset), sizeBytes), op, where);
  return makeConcrete({type, shape}, std::make_shared<Memory>(std::move(buffer)), where, /*isCommitted=*/true);
}

Array hjx::load_npy(const std::string &path, Where where) {
  constexpr const char *kOp = "load_npy";
  InputFile file = valueOf(InputFile::open(path), kOp, where);
  NpyLayout layout = valueOf(readNpyLayout(file), kOp, where);
  if (layout.fortranOrder && layout.shape.size() > 1)
    fail(where, kOp, absl::StrCat("npy: ", path, ": expected an array in C order, got one in Fortran order"),
         "save numpy.ascontiguousarray(a)");
  return mapped(path, layout.dataStart, dtypeOf(layout.type, absl::StrCat("npy: ", path), kOp, where), layout.shape, kOp, where);
}

static Array mapped(const SafetensorsFile &file, const TensorInfo &info, Where where) {
  constexpr const char *kOp = "load_safetensors";
  std::string subject = absl::StrCat("safetensors: ", file.path(), ": tensor '", printable(info.name), "'");
  return mapped(file.path(), file.offsetOf(info), dtypeOf(info.type, subject, kOp, where), info.shape, kOp, where);
}

std::map<std::string, Array> hjx::load_safetensors(const std::string &path, Where where) {
  SafetensorsFile file = valueOf(SafetensorsFile::open(path), "load_safetensors", where);
  std::map<std::string, Array> arrays;
  for (const TensorInfo &info : file.tensors())
    arrays.emplace(info.name, mapped(file, info, where));
  return arrays;
}

Array hjx::load_safetensors(const std::string &path, const std::string &name, Where where) {
  SafetensorsFile file = valueOf(SafetensorsFile::open(path), "load_safetensors", where);
  return mapped(file, *valueOf(file.get(name), "load_safetensors", where), where);
}

/// The sizes with the -1 replaced, for a file with `restBytes` behind the offset.
static Shape complete(const std::string &path, DType type, const Shape &shape, int64_t restBytes, const char *op, Where where) {
  std::vector<int64_t> sizes = shape.vec();
  auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open == sizes.end())
    return shape;
  *open = 1;
  checkShape(sizes, op, where); // A second -1 is found here.
  int64_t unit = Shape(sizes).size() * item_size(type);
  if (unit == 0)
    fail(where, op, absl::StrCat(path, ": expected sizes of at least 1 beside the -1, got ", to_string(shape)), "give all sizes");
  if (restBytes % unit != 0)
    fail(where, op,
         absl::StrCat(path, ": expected a multiple of ", unit, " bytes for ", short_name(type), to_string(shape), ", got ", restBytes),
         "check type and shape, and whether the file begins with a header: then say its bytes as offset");
  *open = restBytes / unit;
  return sizes;
}

Array hjx::from_file(const std::string &path, DType type, const Shape &shape, int64_t offset, Where where) {
  constexpr const char *kOp = "from_file";
  if (type == DType::key)
    fail(where, kOp, "expected a type of numbers or bools, got key", "read uint32 words, and make keys with random::wrap_key_data");
  auto fileBytes = static_cast<int64_t>(valueOf(InputFile::open(path), kOp, where).sizeBytes());
  if (offset < 0 || offset > fileBytes)
    fail(where, kOp, absl::StrCat(path, ": expected an offset from 0 to ", fileBytes, ", got ", offset), "it counts bytes");
  Shape whole = complete(path, type, shape, fileBytes - offset, kOp, where);
  checkShape(whole, kOp, where);
  return mapped(path, static_cast<uint64_t>(offset), type, whole, kOp, where);
}
