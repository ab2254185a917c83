// SPDX-License-Identifier: Apache-2.0
//
// The scalar types and state spaces of PTX, as far as instructions name them.
#pragma once

#include "absl/strings/string_view.h"

#include <cstdint>
#include <optional>

namespace hjx::ptxsim {

enum class Type : uint8_t {
  Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64,
  F16, F16x2, BF16, BF16x2, TF32, U16x2, S16x2, F32, F64,
};

/// Cluster: shared memory of any block of the cluster.
enum class Space : uint8_t { Generic, Global, Const, Shared, Local, Param, Cluster };

/// Size in memory and in a register; 0 for predicates, which are one mask a warp.
constexpr unsigned sizeOf(Type type) {
  switch (type) {
  case Type::Pred: return 0;
  case Type::B8: case Type::U8: case Type::S8: return 1;
  case Type::B16: case Type::U16: case Type::S16: case Type::F16: case Type::BF16: return 2;
  case Type::B64: case Type::U64: case Type::S64: case Type::F64: return 8;
  case Type::B128: return 16;
  default: return 4;
  }
}

constexpr bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}

constexpr bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::TF32 || type == Type::F32 ||
         type == Type::F64 || type == Type::F16x2 || type == Type::BF16x2;
}

/// `f32` -> F32; nothing for a word that is no type.
inline std::optional<Type> parseType(absl::string_view word) {
  struct Entry { absl::string_view name; Type type; };
  static constexpr Entry entries[] = {
      {"pred", Type::Pred}, {"b8", Type::B8}, {"b16", Type::B16}, {"b32", Type::B32},
      {"b64", Type::B64}, {"b128", Type::B128}, {"u8", Type::U8}, {"u16", Type::U16},
      {"u32", Type::U32}, {"u64", Type::U64}, {"s8", Type::S8}, {"s16", Type::S16},
      {"s32", Type::S32}, {"s64", Type::S64}, {"f16", Type::F16}, {"f16x2", Type::F16x2},
      {"bf16", Type::BF16}, {"bf16x2", Type::BF16x2}, {"tf32", Type::TF32},
      {"u16x2", Type::U16x2}, {"s16x2", Type::S16x2}, {"f32", Type::F32}, {"f64", Type::F64}};
  for (const Entry &entry : entries)
    if (entry.name == word)
      return entry.type;
  return std::nullopt;
}

inline std::optional<Space> parseSpace(absl::string_view word) {
  if (word == "global") return Space::Global;
  if (word == "const") return Space::Const;
  if (word == "shared" || word == "shared::cta") return Space::Shared;
  if (word == "shared::cluster") return Space::Cluster;
  if (word == "local") return Space::Local;
  if (word == "param" || word == "param::entry" || word == "param::func") return Space::Param;
  return std::nullopt;
}

} // namespace hjx::ptxsim
