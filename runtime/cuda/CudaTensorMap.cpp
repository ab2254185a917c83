// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps as the driver makes them.
#include "runtime/cuda/CudaContext.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

using namespace hjx::cuda;

namespace hjx {

// The driver counts axes from the fastest on.
absl::Status encodeCudaTensorMap(const CudaContext &cuda, const TensorMap &map, void *to) {
  size_t rank = map.sizes.size();
  auto describe = [&] {
    return absl::StrCat("making a tensor map of sizes ", absl::StrJoin(map.sizes, "x"), ", strides of ",
                        absl::StrJoin(map.strideBytes, ", "), " bytes and boxes of ",
                        absl::StrJoin(map.box, "x"));
  };
  if (rank < 1 || rank > TensorMap::kMostAxes)
    return absl::InvalidArgumentError(absl::StrCat(cuda.label, ": ", describe(), ": expected 1 to 5 axes"));
  uint64_t sizes[TensorMap::kMostAxes], strides[TensorMap::kMostAxes];
  uint32_t box[TensorMap::kMostAxes], ones[TensorMap::kMostAxes];
  for (size_t axis = 0; axis < rank; ++axis) {
    size_t from = rank - 1 - axis;
    sizes[axis] = static_cast<uint64_t>(map.sizes[from]);
    box[axis] = static_cast<uint32_t>(map.box[from]);
    ones[axis] = 1;
    if (axis > 0) // The fastest axis has no stride.
      strides[axis - 1] = static_cast<uint64_t>(map.strideBytes[from]);
  }
  CUresult result = cuda.driver->cuTensorMapEncodeTiled(
      to, static_cast<int>(map.element), static_cast<unsigned>(rank), const_cast<void *>(map.data),
      sizes, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? absl::OkStatus() : cuda.check(result, describe());
}

} // namespace hjx
