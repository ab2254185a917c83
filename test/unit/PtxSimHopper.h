// SPDX-License-Identifier: Apache-2.0
//
// The simulated device as an sm_90, with what hjx's table of the driver does not have.
#pragma once

#include "test/unit/PtxSimTest.h"

#include <cstdlib>

namespace hjx::ptxsim::test {

struct alignas(64) TensorMapBytes {
  uint8_t bytes[128];
};
enum class Swizzle { None, Bytes32, Bytes64, Bytes128 };

class PtxSimHopper : public PtxSim {
protected:
  static void SetUpTestSuite() { setenv("HJX_PTXSIM_ARCH", "sm_90", 1); }

  /// cuTensorMapEncodeTiled of rows side by side; `type` is CUDA's number.
  int encode(TensorMapBytes &map, int type, CUdeviceptr address, std::vector<uint64_t> dims,
             std::vector<uint64_t> strides, std::vector<uint32_t> box, Swizzle swizzle) {
    using Encode = CUresult (*)(void *, int, unsigned, void *, const uint64_t *, const uint64_t *,
                                const uint32_t *, const uint32_t *, int, int, int, int);
    std::vector<uint32_t> ones(dims.size(), 1);
    return reinterpret_cast<Encode>(find("cuTensorMapEncodeTiled"))(
        &map, type, dims.size(), reinterpret_cast<void *>(address), dims.data(), strides.data(), box.data(),
        ones.data(), 0, int(swizzle), 0, 0);
  }
};

} // namespace hjx::ptxsim::test
