// SPDX-License-Identifier: Apache-2.0
//
// The driver API's tensor maps.
#include "runtime/ptxsim/Driver.h"
#include "runtime/ptxsim/TensorMap.h"

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

HJX_CUDA_API cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                                    const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                    const uint32_t *elementStrides, int interleave, int swizzle,
                                    int /*promotion*/, int fill) {
  return guarded([&](Device &device) -> CUresult {
    if (device.settings.computeCapability < 90)
      return fail(NotSupported, "tensor maps need a device of compute capability 9.0");
    if (!map || reinterpret_cast<uintptr_t>(map) % 64)
      return fail(InvalidValue, "tensor map: expected 128 bytes at a multiple of 64");
    absl::StatusOr<TensorMap> encoded =
        encodeTensorMap(type, rank, reinterpret_cast<uint64_t>(address), dims, strides, box,
                        elementStrides, interleave, swizzle, fill);
    if (!encoded.ok())
      return fail(absl::IsUnimplemented(encoded.status()) ? NotSupported : InvalidValue,
                  std::string(encoded.status().message()));
    std::memcpy(map, &*encoded, sizeof(TensorMap));
    return Success;
  });
}
