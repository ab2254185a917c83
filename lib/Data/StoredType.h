// SPDX-License-Identifier: Apache-2.0
//
// Element types as files name them, one table for safetensors and npy. The list is the
// safetensors list, because a header must be checked even where a type cannot be used:
// the sub-byte and 8-bit float types are known (their sizes are) but not loadable.
#pragma once

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hjx {

enum class StoredType : uint8_t {
  Bool,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F16,
  BF16,
  F32,
  F64,
  C64,
  C128,
  // Known to safetensors, not usable in hjx:
  F8E4M3,
  F8E5M2,
  F8E8M0,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F6E2M3,
  F6E3M2,
  F4,
};

/// "F32", "BF16": the safetensors spelling, also used in messages.
std::string_view storedTypeName(StoredType type);
unsigned storedTypeBits(StoredType type);
/// Whether hjx has an element type for it.
bool isLoadable(StoredType type);
/// The runtime's type with the same storage: unsigned and signed integers share one, complex
/// numbers have none.
std::optional<ElementType> elementTypeOf(StoredType type);
/// Inverse of storedTypeName for the names that safetensors knows.
std::optional<StoredType> parseSafetensorsType(std::string_view name);

/// Returns the product of `shape`, or nothing when it exceeds 64 bits.
std::optional<uint64_t> numElements(std::span<const int64_t> shape);
/// Returns the size in whole bytes; nothing on overflow or when the bits do not fill bytes.
std::optional<uint64_t> storedSizeBytes(StoredType type, std::span<const int64_t> shape);

/// "F32[2,3]"
std::string describeTensor(StoredType type, std::span<const int64_t> shape);

} // namespace hjx
