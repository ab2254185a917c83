// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 as bit patterns. Arithmetic is done in float, which has more than twice
// the digits of either, so that rounding twice equals rounding once; products that are
// summed go through "round to odd", which has this property for any input.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hjx::ptxsim {

/// The double nearest to x towards 0, with its last bit set if it is not exact.
inline float roundToOdd(double x) {
  auto result = static_cast<float>(x);
  if (static_cast<double>(result) == x || x != x)
    return result;
  auto bits = std::bit_cast<uint32_t>(result);
  if (std::fabs(static_cast<double>(result)) > std::fabs(x))
    --bits;
  return std::bit_cast<float>(bits | 1);
}

/// a * b + c to odd, when a * b is exact in double.
inline float fmaToOdd(float a, float b, float c) {
  double product = double(a) * b, sum = product + c;
  // Knuth's exact error of the sum.
  double part = sum - product, error = (product - (sum - part)) + (c - part);
  if (error != 0 && std::isfinite(sum)) {
    auto bits = std::bit_cast<uint64_t>(sum);
    if (std::signbit(error) != std::signbit(sum))
      --bits;
    sum = std::bit_cast<double>(bits | 1);
  }
  return roundToOdd(sum);
}

struct F16 {
  static constexpr uint16_t kNan = 0x7FFF, kLargest = 0x7BFF;
  static float widen(uint16_t bits) { return std::bit_cast<_Float16>(bits); }
  static uint16_t round(float x) {
    return x != x ? kNan : std::bit_cast<uint16_t>(static_cast<_Float16>(x));
  }
};

struct BF16 {
  static constexpr uint16_t kNan = 0x7FFF, kLargest = 0x7F7F;
  static float widen(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
  static uint16_t round(float x) {
    if (x != x)
      return kNan;
    auto bits = std::bit_cast<uint32_t>(x);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  }
};

} // namespace hjx::ptxsim
