// SPDX-License-Identifier: Apache-2.0
//
// The element types that exist at run time, and their storage. Unsigned types
// are a matter of the compiler: at this level an integer is a bag of bits.
#pragma once

#include "absl/strings/string_view.h"

#include <cstdint>

namespace hjx {

/// I1 is stored as one byte per element, 0 or 1.
enum class ElementType : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

constexpr int64_t sizeBytes(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

/// MLIR's spelling: "i1", "bf16", "f32".
constexpr absl::string_view name(ElementType type) {
  constexpr absl::string_view names[] = {"i1",  "i8",   "i16", "i32", "i64",
                                         "f16", "bf16", "f32", "f64"};
  return names[static_cast<uint8_t>(type)];
}

} // namespace hjx
