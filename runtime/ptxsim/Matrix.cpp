// SPDX-License-Identifier: Apache-2.0
//
// Products of small matrices; see the header. A block of the result stays in vector
// registers: 8 rows of 8 columns, or 4 of 16.
#include "runtime/ptxsim/Matrix.h"

#include "runtime/ptxsim/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hjx::ptxsim {

std::optional<Element> elementOf(std::optional<Type> type) {
  switch (type.value_or(Type::Pred)) {
  case Type::F16: return Element::F16;
  case Type::BF16: return Element::BF16;
  case Type::TF32: return Element::TF32;
  case Type::S8: return Element::S8;
  case Type::U8: return Element::U8;
  default: return std::nullopt;
  }
}

void widen(Element element, const uint8_t *from, unsigned sizeBytes, float *to) {
  if (element == Element::F16) {
    for (unsigned at = 0; at < sizeBytes; at += 16) {
      _Float16 part[8];
      std::memcpy(part, from + at, 16);
      for (unsigned k = 0; k < 8; ++k)
        to[at / 2 + k] = part[k];
    }
  } else if (element == Element::BF16) {
    for (unsigned at = 0; at < sizeBytes; at += 16) {
      uint16_t part[8];
      std::memcpy(part, from + at, 16);
      for (unsigned k = 0; k < 8; ++k)
        to[at / 2 + k] = BF16::widen(part[k]);
    }
  } else {
    for (unsigned at = 0; at < sizeBytes; at += 4) {
      uint32_t bits;
      std::memcpy(&bits, from + at, 4);
      to[at / 4] = std::bit_cast<float>(bits & 0xFFFFE000);
    }
  }
}

void widen(Element element, const uint8_t *from, unsigned sizeBytes, int32_t *to) {
  for (unsigned at = 0; at < sizeBytes; ++at)
    to[at] = element == Element::S8 ? int32_t(int8_t(from[at])) : int32_t(from[at]);
}

// Eight columns at once. Spelled out, because no compiler finds them in the loops.
using Lanes = float __attribute__((vector_size(32)));

static Lanes fuse(Lanes a, Lanes b, Lanes c) {
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
  for (unsigned lane = 0; lane < 8; ++lane)
    c[lane] = std::fma(a[lane], b[lane], c[lane]);
  return c;
#endif
}

static Lanes load(const float *from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

template <unsigned kRows, unsigned kVectors>
static void multiplyBlock(const float *a, const float *b, float *d, unsigned n, unsigned k) {
  Lanes sum[kRows][kVectors];
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned vector = 0; vector < kVectors; ++vector)
      sum[row][vector] = load(d + row * n + 8 * vector);
  for (unsigned at = 0; at < k; ++at) {
    Lanes rhs[kVectors];
    for (unsigned vector = 0; vector < kVectors; ++vector)
      rhs[vector] = load(b + at * n + 8 * vector);
    for (unsigned row = 0; row < kRows; ++row) {
      float x = a[row * k + at];
      Lanes lhs = {x, x, x, x, x, x, x, x};
      for (unsigned vector = 0; vector < kVectors; ++vector)
        sum[row][vector] = fuse(lhs, rhs[vector], sum[row][vector]);
    }
  }
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned vector = 0; vector < kVectors; ++vector)
      std::memcpy(d + row * n + 8 * vector, &sum[row][vector], sizeof(Lanes));
}

void multiply(const float *a, const float *b, float *d, unsigned n, unsigned k) {
  unsigned column = 0;
  for (; column + 16 <= n; column += 16)
    for (unsigned row = 0; row < 16; row += 4)
      multiplyBlock<4, 2>(a + row * k, b + column, d + row * n + column, n, k);
  if (column < n)
    for (unsigned row = 0; row < 16; row += 8)
      multiplyBlock<8, 1>(a + row * k, b + column, d + row * n + column, n, k);
}

void multiply(const int32_t *a, const int32_t *b, int32_t *d, unsigned n, unsigned k,
              bool saturate) {
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < n; column += 8) {
      // At most 32 products of 16 bits: only the last addition can overflow.
      int32_t sum[8] = {};
      for (unsigned at = 0; at < k; ++at)
        for (unsigned c = 0; c < 8; ++c)
          sum[c] += a[row * k + at] * b[at * n + column + c];
      int32_t *to = d + row * n + column;
      for (unsigned c = 0; c < 8; ++c) {
        int64_t exact = int64_t(to[c]) + sum[c];
        if (saturate)
          exact = std::clamp<int64_t>(exact, std::numeric_limits<int32_t>::min(),
                                      std::numeric_limits<int32_t>::max());
        to[c] = int32_t(exact);
      }
    }
}

} // namespace hjx::ptxsim
