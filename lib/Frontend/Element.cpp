// SPDX-License-Identifier: Apache-2.0
//
// Single elements of host memory, for reading results and writing literals. The
// numbers of programs are never computed here.
#include "lib/Frontend/ArrayImpl.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace hjx;
using namespace hjx::detail;

static float fromBfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

static uint16_t toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  // Half of the last kept place, and one more when that place is odd.
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds to odd, so that a second rounding to fewer bits is right.
static float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest))
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1)
    return nearest;
  bool tooLarge = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(tooLarge ? bits - 1 : bits + 1);
}

template <typename T>
static T load(const std::byte *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(std::byte *data, int64_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

Literal detail::readElement(const std::byte *data, DType type, int64_t i) {
  switch (type) {
  case DType::bool_:
    return load<uint8_t>(data, i) != 0;
  case DType::int8:
    return int64_t(load<int8_t>(data, i));
  case DType::int16:
    return int64_t(load<int16_t>(data, i));
  case DType::int32:
    return int64_t(load<int32_t>(data, i));
  case DType::int64:
    return load<int64_t>(data, i);
  case DType::uint8:
    return uint64_t(load<uint8_t>(data, i));
  case DType::uint16:
    return uint64_t(load<uint16_t>(data, i));
  case DType::uint32:
    return uint64_t(load<uint32_t>(data, i));
  case DType::uint64:
  case DType::key:
    return load<uint64_t>(data, i);
  case DType::float16:
    return double(static_cast<float>(load<_Float16>(data, i)));
  case DType::bfloat16:
    return double(fromBfloat16(load<uint16_t>(data, i)));
  case DType::float32:
    return double(load<float>(data, i));
  case DType::float64:
    return load<double>(data, i);
  }
  return false;
}

/// An integer literal as T, if T holds it.
template <typename T>
static bool storeInteger(std::byte *data, int64_t index, const Literal &value) {
  auto storeIfFits = [&](auto number) {
    if (!std::in_range<T>(number))
      return false;
    store<T>(data, index, static_cast<T>(number));
    return true;
  };
  if (auto *b = std::get_if<bool>(&value))
    return storeIfFits(int64_t(*b));
  if (auto *i = std::get_if<int64_t>(&value))
    return storeIfFits(*i);
  if (auto *u = std::get_if<uint64_t>(&value))
    return storeIfFits(*u);
  return false; // A float becomes an integer only by astype.
}

bool detail::writeElement(std::byte *data, DType type, int64_t i, Literal value) {
  double number = std::visit([](auto v) { return static_cast<double>(v); }, value);
  switch (type) {
  case DType::bool_:
    store<uint8_t>(data, i, number != 0);
    return true;
  case DType::int8:
    return storeInteger<int8_t>(data, i, value);
  case DType::int16:
    return storeInteger<int16_t>(data, i, value);
  case DType::int32:
    return storeInteger<int32_t>(data, i, value);
  case DType::int64:
    return storeInteger<int64_t>(data, i, value);
  case DType::uint8:
    return storeInteger<uint8_t>(data, i, value);
  case DType::uint16:
    return storeInteger<uint16_t>(data, i, value);
  case DType::uint32:
    return storeInteger<uint32_t>(data, i, value);
  case DType::uint64:
  case DType::key:
    return storeInteger<uint64_t>(data, i, value);
  case DType::float16:
    store<_Float16>(data, i, static_cast<_Float16>(roundToOdd(number)));
    return true;
  case DType::bfloat16:
    store<uint16_t>(data, i, toBfloat16(roundToOdd(number)));
    return true;
  case DType::float32:
    store<float>(data, i, static_cast<float>(number));
    return true;
  case DType::float64:
    store<double>(data, i, number);
    return true;
  }
  return false;
}
