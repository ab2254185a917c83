// SPDX-License-Identifier: Apache-2.0
//
// The descriptor of a tensor in global memory that bulk tensor copies take: 128 bytes that
// cuTensorMapEncodeTiled fills, and that a program hands on unseen. NVIDIA's layout is
// not documented; this is our own.
#pragma once

#include "runtime/Status.h"

#include <array>
#include <cstdint>

namespace hjx::ptxsim {

constexpr unsigned kMaxRank = 5;

struct TensorMap {
  static constexpr uint32_t kMagic = 0x74786A68;

  uint32_t magic = kMagic;
  uint8_t type, rank, elementBytes;
  uint8_t swizzle;   ///< log2 of the rows' 16-byte chunks that trade places: 0, 1, 2 or 3
  uint8_t fillsNan;
  uint8_t padding[7] = {};
  uint64_t address;
  std::array<uint64_t, kMaxRank> dims;
  std::array<uint64_t, kMaxRank - 1> strides; ///< in bytes, of dimension 1 and up
  std::array<uint16_t, kMaxRank> box;
  uint8_t unused[22] = {};

  /// Whether f32 become tf32 on the way to shared memory.
  bool rounds() const { return type == 11 || type == 12; }
  uint64_t rowBytes() const { return uint64_t(box[0]) * elementBytes; }
  uint64_t numRows() const;
  uint64_t boxBytes() const { return rowBytes() * numRows(); }
};
static_assert(sizeof(TensorMap) == 128);

/// Where a byte of shared memory lies when rows of (16 << swizzle) bytes are swizzled: the number
/// of its 16-byte chunk is flipped by the address bits from 7 on.
inline uint32_t swizzled(uint32_t offset, unsigned swizzle) {
  return offset ^ ((offset >> 7 & ((1u << swizzle) - 1)) << 4);
}

/// As cuTensorMapEncodeTiled.
/// Errors: InvalidArgument, when NVIDIA's driver refuses these as well; Unimplemented for element
///         strides and interleaved layouts.
absl::StatusOr<TensorMap> encodeTensorMap(int type, uint32_t rank, uint64_t address,
                                          const uint64_t *dims, const uint64_t *strides,
                                          const uint32_t *box, const uint32_t *elementStrides,
                                          int interleave, int swizzle, int fill);

} // namespace hjx::ptxsim
