// SPDX-License-Identifier: Apache-2.0
//
// What the parts of a CUDA device share: its context, and how errors of the driver read. They name
// what was tried, and what the driver calls the reason.
#pragma once

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include "absl/strings/string_view.h"

namespace hjx {

/// What to do about an error of work that was launched before: the driver does not say which.
constexpr absl::string_view kFindTheKernel = "run with CUDA_LAUNCH_BLOCKING=1 to have the kernel and its place named, under "
                                             "compute-sanitizer the access";

struct CudaContext {
  std::shared_ptr<const cuda::Driver> driver;
  std::string label; ///< of the device: "cuda:0"
  cuda::CUcontext context = nullptr;

  /// Makes the context current on the calling thread: threads come and go, and other libraries set
  /// theirs.
  absl::Status enter() const;
  absl::Status check(cuda::CUresult result, absl::string_view tried, absl::string_view remedy = "") const;

  absl::StatusOr<cuda::CUstream> makeStream() const;
  absl::Status launch(cuda::CUstream stream, const Kernel &kernel, const LaunchShape &shape, void **arguments) const;
};

/// Records into a stream of its own: what other threads ask of the device's stream stays out of it.
absl::StatusOr<std::unique_ptr<LaunchGraph>>
recordCudaGraph(const CudaContext &cuda, absl::FunctionRef<absl::Status(LaunchRecorder &)> work);
absl::Status replayCudaGraph(const CudaContext &cuda, cuda::CUstream stream, const LaunchGraph &graph);

absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateCudaStaging(const CudaContext &cuda, int64_t sizeBytes);
/// Copies in `copies`; what comes later in `work` waits for that.
absl::StatusOr<DeviceSpan> copyAheadInCuda(const CudaContext &cuda, cuda::CUstream copies, cuda::CUstream work, void *to,
                                           StagingBuffer &from);
absl::StatusOr<std::unique_ptr<DeviceEvent>> markCudaStream(const CudaContext &cuda, cuda::CUstream stream);
absl::StatusOr<int64_t> nanosecondsBetweenCuda(const CudaContext &cuda, const DeviceEvent &from, const DeviceEvent &to);

absl::Status encodeCudaTensorMap(const CudaContext &cuda, const TensorMap &map, void *to);

} // namespace hjx
