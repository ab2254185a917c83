// SPDX-License-Identifier: Apache-2.0
//
// Page-locked memory and events. A copy ahead is in a stream of its own, and the device's stream
// waits for it from then on:
//
//   work     step 7 ......................... wait   step 8 ...
//   copies        copy of batch 8  event -----^
#include "runtime/cuda/CudaContext.h"

#include "absl/strings/str_cat.h"

#include <cmath>

using namespace hjx::cuda;

namespace hjx {
namespace {

struct CudaEvent : DeviceEvent {
  CudaEvent(const CudaContext &cuda, CUevent event) : cuda(cuda), event(event) {}
  ~CudaEvent() override {
    if (cuda.enter().ok())
      cuda.driver->cuEventDestroy_v2(event);
  }
  const CudaContext &cuda;
  const CUevent event;
};

class CudaStagingBuffer : public StagingBuffer {
public:
  CudaStagingBuffer(const CudaContext &cuda, void *memory, int64_t size, std::unique_ptr<DeviceEvent> copied)
      : StagingBuffer(memory, size), copied(std::move(copied)), cuda(cuda) {}
  ~CudaStagingBuffer() override {
    if (acquire().ok())
      cuda.driver->cuMemFreeHost(memory);
  }
  absl::Status acquire() override {
    HJX_RETURN_IF_ERROR(cuda.enter());
    return cuda.check(cuda.driver->cuEventSynchronize(static_cast<CudaEvent &>(*copied).event),
                      "waiting for a copy to it");
  }

  std::unique_ptr<DeviceEvent> copied; ///< recorded again with each copy

private:
  const CudaContext &cuda;
};

CUevent handleOf(const DeviceEvent &event) { return static_cast<const CudaEvent &>(event).event; }

} // namespace

absl::StatusOr<std::unique_ptr<DeviceEvent>> markCudaStream(const CudaContext &cuda, CUstream stream) {
  HJX_RETURN_IF_ERROR(cuda.enter());
  CUevent event = nullptr;
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventCreate(&event, CU_EVENT_DEFAULT), "making an event"));
  auto made = std::make_unique<CudaEvent>(cuda, event);
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventRecord(event, stream), "recording an event"));
  return made;
}

absl::StatusOr<int64_t> nanosecondsBetweenCuda(const CudaContext &cuda, const DeviceEvent &from,
                                               const DeviceEvent &to) {
  HJX_RETURN_IF_ERROR(cuda.enter());
  float milliseconds = 0;
  for (const DeviceEvent *event : {&from, &to})
    HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventSynchronize(handleOf(*event)), "waiting for an event"));
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventElapsedTime(&milliseconds, handleOf(from), handleOf(to)),
                                 "asking for the time between two events"));
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateCudaStaging(const CudaContext &cuda, int64_t sizeBytes) {
  HJX_RETURN_IF_ERROR(cuda.enter());
  if (sizeBytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(cuda.label, ": expected a staging buffer of at least 0 bytes, got ", sizeBytes));
  CUevent event = nullptr;
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventCreate(&event, CU_EVENT_DEFAULT), "making an event"));
  auto copied = std::make_unique<CudaEvent>(cuda, event); // Never recorded: it has happened.
  void *memory = nullptr;
  HJX_RETURN_IF_ERROR(
      cuda.check(cuda.driver->cuMemHostAlloc(&memory, static_cast<size_t>(std::max<int64_t>(sizeBytes, 1)), 0),
                 absl::StrCat("locking ", sizeBytes, " bytes of the host's memory for copies"),
                 "the limit of locked memory may be too low; see ulimit -l"));
  return std::make_unique<CudaStagingBuffer>(cuda, memory, sizeBytes, std::move(copied));
}

absl::StatusOr<DeviceSpan> copyAheadInCuda(const CudaContext &cuda, CUstream copies, CUstream work, void *to,
                                           StagingBuffer &from) {
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> begin, markCudaStream(cuda, copies));
  if (from.sizeBytes() > 0)
    HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(to), from.data(),
                                                                     static_cast<size_t>(from.sizeBytes()), copies),
                                   absl::StrCat("copying ", from.sizeBytes(), " bytes to it")));
  CUevent copied = handleOf(*static_cast<CudaStagingBuffer &>(from).copied);
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuEventRecord(copied, copies), "recording an event"));
  HJX_RETURN_IF_ERROR(cuda.check(cuda.driver->cuStreamWaitEvent(work, copied, 0), "waiting for a copy to it"));
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> end, markCudaStream(cuda, copies));
  return DeviceSpan{std::move(begin), std::move(end)};
}

} // namespace hjx
