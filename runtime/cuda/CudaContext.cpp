// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/CudaContext.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

using namespace hjx::cuda;

namespace hjx {

absl::Status CudaContext::enter() const { return check(driver->cuCtxSetCurrent(context), "entering its context"); }

absl::Status CudaContext::check(CUresult result, absl::string_view tried, absl::string_view remedy) const {
  if (result == CUDA_SUCCESS)
    return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(label, ": ", tried, ": ", driver->describe(result), "\n  help: ",
                   remedy.empty() ? "see the system's log (dmesg) for the driver's own words" : remedy));
}

absl::StatusOr<CUstream> CudaContext::makeStream() const {
  // Not the default stream: that one waits for every other stream of the process.
  CUstream stream = nullptr;
  HJX_RETURN_IF_ERROR(
      check(driver->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "making a stream"));
  return stream;
}

absl::Status CudaContext::launch(CUstream stream, const Kernel &kernel, const LaunchShape &shape,
                                 void **arguments) const {
  CUresult result = driver->cuLaunchKernel(
      static_cast<CUfunction>(kernel.function), shape.gridX, shape.gridY, shape.gridZ, shape.blockX,
      shape.blockY, shape.blockZ, shape.sharedBytes, stream, arguments, nullptr);
  if (result == CUDA_SUCCESS) // The message is for failures alone: a step has many launches.
    return absl::OkStatus();
  return check(result, absl::StrFormat("launching '%s' on %dx%dx%d blocks of %dx%dx%d threads "
                                       "with %d bytes of shared memory",
                                       kernel.name, shape.gridX, shape.gridY, shape.gridZ,
                                       shape.blockX, shape.blockY, shape.blockZ, shape.sharedBytes));
}

} // namespace hjx
