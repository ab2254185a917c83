// SPDX-License-Identifier: Apache-2.0
//
// What a tensor map may be; see the header.
#include "runtime/ptxsim/TensorMap.h"

#include "absl/strings/str_cat.h"

namespace hjx::ptxsim {

uint64_t TensorMap::numRows() const {
  uint64_t rows = 1;
  for (unsigned axis = 1; axis < rank; ++axis)
    rows *= box[axis];
  return rows;
}

absl::StatusOr<TensorMap> encodeTensorMap(int type, uint32_t rank, uint64_t address,
                                          const uint64_t *dims, const uint64_t *strides,
                                          const uint32_t *box, const uint32_t *elementStrides,
                                          int interleave, int swizzle, int fill) {
  // CUtensorMapDataType, from UINT8 to TFLOAT32_FTZ.
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  auto refuse = [](auto... words) {
    return absl::InvalidArgumentError(absl::StrCat("tensor map: ", words...));
  };
  if (type < 0 || type >= int(std::size(bytes)))
    return refuse("unknown element type ", type);
  if (rank < 1 || rank > kMaxRank)
    return refuse("expected 1 to 5 dimensions, got ", rank);
  if (interleave != 0)
    return absl::UnimplementedError("tensor map: the simulated device knows no interleaved layouts");
  if (swizzle < 0 || swizzle > 3)
    return refuse("unknown swizzle ", swizzle);
  bool isFloat = type >= 6;
  if (fill < 0 || fill > 1 || (fill == 1 && !isFloat))
    return refuse("NaN fills floats only");
  if (address % 16)
    return refuse("expected an address that is a multiple of 16, got 0x", absl::Hex(address));
  TensorMap map;
  map.type = uint8_t(type);
  map.rank = uint8_t(rank);
  map.elementBytes = bytes[type];
  map.swizzle = uint8_t(swizzle);
  map.fillsNan = uint8_t(fill);
  map.address = address;
  map.dims.fill(1);
  map.strides.fill(0);
  map.box.fill(1);
  for (unsigned axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 1 || dims[axis] > uint64_t(1) << 32)
      return refuse("dimension ", axis, ": expected 1 to 2^32 elements, got ", dims[axis]);
    if (box[axis] < 1 || box[axis] > 256)
      return refuse("dimension ", axis, ": expected a box of 1 to 256 elements, got ", box[axis]);
    if (elementStrides[axis] < 1 || elementStrides[axis] > 8)
      return refuse("dimension ", axis, ": expected an element stride of 1 to 8, got ", elementStrides[axis]);
    if (elementStrides[axis] != 1)
      return absl::UnimplementedError("tensor map: the simulated device knows element strides of 1 only");
    map.dims[axis] = dims[axis];
    map.box[axis] = uint16_t(box[axis]);
    if (axis == 0)
      continue;
    uint64_t stride = strides[axis - 1];
    if (stride % 16 || stride >= uint64_t(1) << 40)
      return refuse("dimension ", axis, ": expected a stride that is a multiple of 16 below 2^40, got ", stride);
    map.strides[axis - 1] = stride;
  }
  uint64_t row = map.rowBytes();
  if (row % 16)
    return refuse("expected rows of the box of a multiple of 16 bytes, got ", row);
  if (swizzle && row > 16u << swizzle)
    return refuse("expected rows of the box of at most the swizzle's ", 16 << swizzle, " bytes, got ", row);
  if (swizzle && row != 16u << swizzle)
    return absl::UnimplementedError(absl::StrCat("tensor map: the simulated device knows rows of exactly the swizzle's ",
                                                 16 << swizzle, " bytes, got ", row));
  return map;
}

} // namespace hjx::ptxsim
