// SPDX-License-Identifier: Apache-2.0
//
// Element types and how they combine.
//
// Promotion is JAX's lattice (docs: "JAX type promotion semantics"): two arrays
// of different types meet at their least upper bound, and a C++ number is weak:
// it takes the other operand's type whenever its kind allows. 64-bit types are
// always there; nothing becomes one by accident.
//
//   written in C++                      element type
//   2.0, 2.0f  (a scalar)               weak float: float32 when nothing decides
//   2, size_t(2)  (a scalar)            weak integer: int32 when nothing decides
//   true                                bool
//   array({{1.0, 2.0}, {3.0, 4.0}})     float32; of integers int32, of bools bool
//   array(std::vector<T>)               the type T itself: double is float64
#pragma once

#include <hjx/api.h>

#include <cstdint>
#include <type_traits>

namespace hjx {

enum class DType : uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  key, ///< random keys, see hjx/random.h
};

inline constexpr DType bool_ = DType::bool_;
inline constexpr DType int8 = DType::int8;
inline constexpr DType int16 = DType::int16;
inline constexpr DType int32 = DType::int32;
inline constexpr DType int64 = DType::int64;
inline constexpr DType uint8 = DType::uint8;
inline constexpr DType uint16 = DType::uint16;
inline constexpr DType uint32 = DType::uint32;
inline constexpr DType uint64 = DType::uint64;
inline constexpr DType float16 = DType::float16;
inline constexpr DType bfloat16 = DType::bfloat16;
inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;

constexpr bool is_floating(DType type) { return type >= DType::float16 && type <= DType::float64; }
constexpr bool is_unsigned(DType type) { return type >= DType::uint8 && type <= DType::uint64; }
constexpr bool is_integer(DType type) { return type >= DType::int8 && type <= DType::uint64; }

/// Bytes of one element; a bool takes one, a key eight.
HJX_API int item_size(DType type);

/// NumPy's name ("float32"), and the short one of messages ("f32").
HJX_API const char *name(DType type);
HJX_API const char *short_name(DType type);

/// The type that a binary operation of the two computes in.
HJX_API DType promote_types(DType lhs, DType rhs);

/// The element type that holds a C++ number exactly.
template <typename T>
  requires std::is_arithmetic_v<T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::bool_;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? DType::float32 : DType::float64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::int8
           : sizeof(T) == 2 ? DType::int16
           : sizeof(T) == 4 ? DType::int32
                            : DType::int64;
  else
    return sizeof(T) == 1   ? DType::uint8
           : sizeof(T) == 2 ? DType::uint16
           : sizeof(T) == 4 ? DType::uint32
                            : DType::uint64;
}

} // namespace hjx
