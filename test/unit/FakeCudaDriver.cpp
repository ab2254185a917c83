// SPDX-License-Identifier: Apache-2.0
//
// Declared by runtime/cuda/Driver.h, so signatures cannot drift apart.
#include "test/unit/FakeCudaDriver.h"

#include "runtime/cuda/Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace hjx::cuda;

extern "C" {
#define DECLARE(name, parameters) __attribute__((visibility("default"))) CUresult name parameters;
HJX_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
__attribute__((visibility("default"))) FakeCuda *fakeCuda() {
  static FakeCuda state;
  return &state;
}
}

static CUresult failure(const char *name) {
  auto found = fakeCuda()->failures.find(name);
  return found == fakeCuda()->failures.end() ? CUDA_SUCCESS : found->second;
}

template <typename... Args> static CUresult record(const char *name, Args... args) {
  std::string call = name;
  ((call += " " + std::to_string(args)), ...);
  fakeCuda()->calls.push_back(call);
  return failure(name);
}

// Handles are small numbers that nothing may look into.
template <typename Handle> static Handle handle(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

CUresult cuInit(unsigned) { return failure("cuInit"); }
CUresult cuDriverGetVersion(int *version) {
  *version = fakeCuda()->version;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char **text) {
  if (error == 999)
    return 1; // One that this driver has no name for.
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "as the test asked";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = fakeCuda()->numDevices;
  return failure("cuDeviceGetCount");
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return failure("cuDeviceGet");
}
CUresult cuDeviceGetName(char *name, int sizeBytes, CUdevice device) {
  std::snprintf(name, static_cast<size_t>(sizeBytes), "Fake %d", device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 1000;
    break;
  }
  return failure("cuDeviceGetAttribute");
}
CUresult cuDeviceTotalMem_v2(size_t *sizeBytes, CUdevice) {
  *sizeBytes = size_t(3) << 30;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = handle<CUcontext>(static_cast<uintptr_t>(device) + 1);
  CUresult result = record("cuDevicePrimaryCtxRetain", device);
  fakeCuda()->numLive += result == CUDA_SUCCESS;
  return result;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  --fakeCuda()->numLive;
  return record("cuDevicePrimaryCtxRelease_v2", device);
}
CUresult cuCtxSetCurrent(CUcontext) { return failure("cuCtxSetCurrent"); }
CUresult cuModuleLoadDataEx(CUmodule *module, const void *, unsigned numOptions,
                            CUjit_option *options, void **values) {
  CUresult result = record("cuModuleLoadDataEx");
  if (result != CUDA_SUCCESS) {
    if (numOptions == 2 && options[0] == CU_JIT_ERROR_LOG_BUFFER)
      std::snprintf(static_cast<char *>(values[0]), reinterpret_cast<uintptr_t>(values[1]), "%s",
                    fakeCuda()->jitLog.c_str());
    return result;
  }
  *module = handle<CUmodule>(7);
  ++fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) {
  --fakeCuda()->numLive;
  return record("cuModuleUnload");
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  auto found = fakeCuda()->kernels.find(name);
  if (found == fakeCuda()->kernels.end())
    return 500;
  *function = handle<CUfunction>(
      static_cast<uintptr_t>(1 + std::distance(fakeCuda()->kernels.begin(), found)));
  return failure("cuModuleGetFunction");
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 100 : 0;
  return failure("cuFuncGetAttribute");
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return record("cuFuncSetAttribute", reinterpret_cast<uintptr_t>(function),
                static_cast<int>(attribute), value);
}
CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        CUstream, void **arguments, void **) {
  return record("cuLaunchKernel", reinterpret_cast<uintptr_t>(function), gridX, gridY, gridZ,
                blockX, blockY, blockZ, sharedBytes, *static_cast<int *>(arguments[0]));
}
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t sizeBytes) {
  CUresult result = record("cuMemAlloc_v2", sizeBytes);
  if (result != CUDA_SUCCESS)
    return result;
  *pointer = reinterpret_cast<CUdeviceptr>(std::malloc(sizeBytes));
  ++fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  --fakeCuda()->numLive;
  return record("cuMemFree_v2");
}
CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  *freeBytes = size_t(12) << 20;
  *totalBytes = size_t(3) << 30;
  return failure("cuMemGetInfo_v2");
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t sizeBytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), from, sizeBytes);
  return record("cuMemcpyHtoDAsync_v2", sizeBytes);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t sizeBytes, CUstream) {
  std::memcpy(to, reinterpret_cast<void *>(from), sizeBytes);
  return record("cuMemcpyDtoHAsync_v2", sizeBytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t sizeBytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), sizeBytes);
  return record("cuMemcpyDtoDAsync_v2", sizeBytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                           size_t sizeBytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), sizeBytes);
  return record("cuMemcpyPeerAsync", reinterpret_cast<uintptr_t>(toContext), reinterpret_cast<uintptr_t>(fromContext),
                sizeBytes);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t sizeBytes, CUstream) {
  std::memset(reinterpret_cast<void *>(to), value, sizeBytes);
  return record("cuMemsetD8Async", static_cast<int>(value), sizeBytes);
}
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  *stream = handle<CUstream>(9);
  CUresult result = record("cuStreamCreateWithPriority", flags);
  fakeCuda()->numLive += result == CUDA_SUCCESS;
  return result;
}
CUresult cuStreamDestroy_v2(CUstream) {
  --fakeCuda()->numLive;
  return record("cuStreamDestroy_v2");
}
CUresult cuStreamQuery(CUstream) { return record("cuStreamQuery"); }
CUresult cuStreamSynchronize(CUstream) { return record("cuStreamSynchronize"); }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return record("cuStreamWaitEvent"); }
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = handle<CUevent>(3);
  CUresult result = failure("cuEventCreate");
  fakeCuda()->numLive += result == CUDA_SUCCESS;
  return result;
}
CUresult cuEventRecord(CUevent, CUstream) { return record("cuEventRecord"); }
CUresult cuEventSynchronize(CUevent) { return record("cuEventSynchronize"); }
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 1.5f;
  return failure("cuEventElapsedTime");
}
CUresult cuEventDestroy_v2(CUevent) {
  --fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void **pointer, size_t sizeBytes, unsigned) {
  CUresult result = record("cuMemHostAlloc", sizeBytes);
  if (result != CUDA_SUCCESS)
    return result;
  *pointer = std::malloc(sizeBytes);
  ++fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *pointer) {
  std::free(pointer);
  --fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode mode) {
  return record("cuStreamBeginCapture_v2", static_cast<int>(mode));
}
CUresult cuStreamEndCapture(CUstream, CUgraph *graph) {
  CUresult result = record("cuStreamEndCapture");
  if (result != CUDA_SUCCESS)
    return result;
  *graph = handle<CUgraph>(11);
  ++fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph, unsigned long long) {
  CUresult result = record("cuGraphInstantiateWithFlags");
  if (result != CUDA_SUCCESS)
    return result;
  *exec = handle<CUgraphExec>(12);
  ++fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return record("cuGraphLaunch"); }
CUresult cuGraphExecDestroy(CUgraphExec) {
  --fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph) {
  --fakeCuda()->numLive;
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(void *map, int element, unsigned rank, void *, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle,
                                int, int) {
  std::memset(map, 0xAB, 128);
  return record("cuTensorMapEncodeTiled", element, rank, sizes[0], sizes[1], strides[0], box[0], box[1], swizzle);
}
