// SPDX-License-Identifier: Apache-2.0
//
// The part of NVIDIA's driver API that hjx calls, declared here and found by
// dlopen: hjx builds, and its tests run, where no CUDA is installed. A library
// named by HJX_CUDA_DRIVER may stand in for libcuda.so.1: the simulated device is
// one.
//
// Members have the names of the symbols, suffixes included. cuda.h hides the
// suffixes behind macros; the bare names are entries of CUDA 3 with other
// signatures. Every one of these is in CUDA 12.0 and later, which is also what the
// emitted PTX (version 8.0) needs.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace hjx::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NOT_READY = 600,
};
enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};
enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};
enum CUjit_option : int { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };
enum : unsigned { CU_STREAM_NON_BLOCKING = 1 };
enum : unsigned { CU_EVENT_DEFAULT = 0 };
enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1 };
enum : int {
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0, ///< zeros
};

/// F(name, parameters) for each function.
#define HJX_CUDA_FUNCTIONS(F)                                                                      \
  F(cuInit, (unsigned flags))                                                                      \
  F(cuDriverGetVersion, (int *version))                                                            \
  F(cuGetErrorName, (CUresult error, const char **text))                                           \
  F(cuGetErrorString, (CUresult error, const char **text))                                         \
  F(cuDeviceGetCount, (int *count))                                                                \
  F(cuDeviceGet, (CUdevice *device, int ordinal))                                                  \
  F(cuDeviceGetName, (char *name, int sizeBytes, CUdevice device))                                 \
  F(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))             \
  F(cuDeviceTotalMem_v2, (size_t *sizeBytes, CUdevice device))                                     \
  F(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))                               \
  F(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                               \
  F(cuCtxSetCurrent, (CUcontext context))                                                          \
  F(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned numOptions,                 \
                         CUjit_option *options, void **values))                                    \
  F(cuModuleUnload, (CUmodule module))                                                             \
  F(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name))                \
  F(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))         \
  F(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))          \
  F(cuLaunchKernel, (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,          \
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,      \
                     CUstream stream, void **arguments, void **extra))                             \
  F(cuMemAlloc_v2, (CUdeviceptr *pointer, size_t sizeBytes))                                       \
  F(cuMemFree_v2, (CUdeviceptr pointer))                                                           \
  F(cuMemGetInfo_v2, (size_t *freeBytes, size_t *totalBytes))                                      \
  F(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t sizeBytes, CUstream stream))   \
  F(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t sizeBytes, CUstream stream))         \
  F(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t sizeBytes, CUstream stream))   \
  F(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, \
                        size_t sizeBytes, CUstream stream))                                        \
  F(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t sizeBytes, CUstream stream))     \
  F(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority))                 \
  F(cuStreamDestroy_v2, (CUstream stream))                                                         \
  F(cuStreamQuery, (CUstream stream))                                                              \
  F(cuStreamSynchronize, (CUstream stream))                                                        \
  F(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                           \
  F(cuEventCreate, (CUevent * event, unsigned flags))                                              \
  F(cuEventRecord, (CUevent event, CUstream stream))                                               \
  F(cuEventSynchronize, (CUevent event))                                                           \
  F(cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end))                         \
  F(cuEventDestroy_v2, (CUevent event))                                                            \
  F(cuMemHostAlloc, (void **pointer, size_t sizeBytes, unsigned flags))                            \
  F(cuMemFreeHost, (void *pointer))                                                                \
  F(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                          \
  F(cuStreamEndCapture, (CUstream stream, CUgraph *graph))                                         \
  F(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags))     \
  F(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                            \
  F(cuGraphExecDestroy, (CUgraphExec exec))                                                        \
  F(cuGraphDestroy, (CUgraph graph))                                                               \
  F(cuTensorMapEncodeTiled, (void *map, int element, unsigned rank, void *data,                    \
                             const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,  \
                             const uint32_t *elementStrides, int interleave, int swizzle,          \
                             int promotion, int fill))

/// A driver library that was loaded and initialised. It stays loaded: drivers do not survive dlclose.
struct Driver {
#define HJX_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;
  HJX_CUDA_FUNCTIONS(HJX_CUDA_MEMBER)
#undef HJX_CUDA_MEMBER

  std::string path;
  bool isSimulated = false; ///< the devices execute PTX text, and no machine code
  int numDevices = 0; ///< 0 only after an error of `open`

  /// Loads `path`, checks that it is new enough, initialises it and counts the devices.
  ///
  /// Errors: UNAVAILABLE that says which of these failed and what to do: the library is missing,
  ///         a function is, the driver is older than CUDA 12.0, it refuses to start, or it sees
  ///         no device.
  static absl::StatusOr<std::shared_ptr<const Driver>> open(const std::string &path);

  /// The driver of the process: HJX_CUDA_DRIVER, else libcuda.so.1. Opened at the first call.
  static const absl::StatusOr<std::shared_ptr<const Driver>> &global();

  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
  std::string describe(CUresult result) const;
};

} // namespace hjx::cuda
