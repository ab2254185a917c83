// SPDX-License-Identifier: Apache-2.0
//
// The table of stored element types.
#include "lib/Data/StoredType.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <iterator>

namespace hjx {
namespace {

struct Row {
  std::string_view name;
  unsigned bits;
};

constexpr Row kRows[] = {
    {"BOOL", 8},    {"U8", 8},      {"I8", 8},      {"U16", 16},        {"I16", 16},
    {"U32", 32},    {"I32", 32},    {"U64", 64},    {"I64", 64},        {"F16", 16},
    {"BF16", 16},   {"F32", 32},    {"F64", 64},    {"C64", 64},        {"C128", 128},
    {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},
};
static_assert(std::size(kRows) == static_cast<size_t>(StoredType::F4) + 1);

const Row &row(StoredType type) { return kRows[static_cast<size_t>(type)]; }

} // namespace

std::string_view storedTypeName(StoredType type) { return row(type).name; }
unsigned storedTypeBits(StoredType type) { return row(type).bits; }
bool isLoadable(StoredType type) { return type <= StoredType::C128; }

std::optional<ElementType> elementTypeOf(StoredType type) {
  switch (type) {
  case StoredType::Bool:
    return ElementType::I1;
  case StoredType::U8:
  case StoredType::I8:
    return ElementType::I8;
  case StoredType::U16:
  case StoredType::I16:
    return ElementType::I16;
  case StoredType::U32:
  case StoredType::I32:
    return ElementType::I32;
  case StoredType::U64:
  case StoredType::I64:
    return ElementType::I64;
  case StoredType::F16:
    return ElementType::F16;
  case StoredType::BF16:
    return ElementType::BF16;
  case StoredType::F32:
    return ElementType::F32;
  case StoredType::F64:
    return ElementType::F64;
  default:
    return std::nullopt;
  }
}

std::optional<StoredType> parseSafetensorsType(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    auto type = static_cast<StoredType>(i);
    if (kRows[i].name == name && type != StoredType::C128) // npy only
      return type;
  }
  return std::nullopt;
}

std::optional<uint64_t> numElements(std::span<const int64_t> shape) {
  uint64_t product = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(product, static_cast<uint64_t>(dim), &product))
      return std::nullopt;
  return product;
}

std::optional<uint64_t> storedSizeBytes(StoredType type, std::span<const int64_t> shape) {
  std::optional<uint64_t> count = numElements(shape);
  uint64_t bits;
  if (!count || __builtin_mul_overflow(*count, uint64_t{storedTypeBits(type)}, &bits) || bits % 8)
    return std::nullopt;
  return bits / 8;
}

std::string describeTensor(StoredType type, std::span<const int64_t> shape) {
  return absl::StrCat(std::string(storedTypeName(type)), "[", absl::StrJoin(shape, ","), "]");
}

} // namespace hjx
