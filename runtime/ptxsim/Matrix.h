// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of tensor cores: products of small matrices whose elements are narrower
// than their sums.
//
// What is computed. Floats: d = c; then, for k = 0, 1, ...: d = round(d + a[k] * b[k]), the
// product exact, the sum rounded to nearest in f32. A tensor core adds several products at
// once and truncates what falls off the end; NVIDIA documents neither the number nor the
// digits, so results agree with a device's to the last bits and no further. An f16 sum is
// rounded once, at the end. Integers are exact.
#pragma once

#include "runtime/ptxsim/Types.h"

#include <cstdint>
#include <optional>

namespace hjx::ptxsim {

enum class Element : uint8_t { F16, BF16, TF32, S8, U8 };

constexpr unsigned sizeOf(Element element) {
  return element == Element::TF32 ? 4 : element == Element::F16 || element == Element::BF16 ? 2 : 1;
}

/// What PTX calls `type`; nothing if tensor cores do not multiply it.
std::optional<Element> elementOf(std::optional<Type> type);

/// The elements in `sizeBytes` bytes (a multiple of 16), one after the other, as float or int32_t.
/// Of a tf32, the 13 lowest bits are ignored.
void widen(Element element, const uint8_t *from, unsigned sizeBytes, float *to);
void widen(Element element, const uint8_t *from, unsigned sizeBytes, int32_t *to);

/// d[16][n] += a[16][k] * b[k][n], all by rows; n is a multiple of 8.
void multiply(const float *a, const float *b, float *d, unsigned n, unsigned k);
/// Wraps around, or with `saturate` stops at the ends.
void multiply(const int32_t *a, const int32_t *b, int32_t *d, unsigned n, unsigned k, bool saturate);

/// 8 rows of `columns` numbers to `columns` rows of 8, which are `stride` apart.
template <typename T> void transpose(const T *from, unsigned columns, T *to, unsigned stride) {
  for (unsigned column = 0; column < columns; ++column)
    for (unsigned row = 0; row < 8; ++row)
      to[column * stride + row] = from[row * columns + column];
}

} // namespace hjx::ptxsim
