// SPDX-License-Identifier: Apache-2.0
//
// The driver API's memory pools. Allocations of a stream are done at once, in the order of the
// calls, and what is freed is gone: a pool keeps no memory back, only its attributes.
#include "runtime/ptxsim/Driver.h"

#include "absl/strings/str_cat.h"

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

extern "C" CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t sizeBytes);
extern "C" CUresult cuMemFree_v2(CUdeviceptr pointer);

namespace {

bool isPool(MemoryPool *pool) { return pool == &state().defaultPool || state().pools.count(pool); }

// CUmemPool_attribute: 1 to 3 are int switches of reuse, 4 the threshold of release; then bytes
// reserved (now, at most) and used.
bool isSwitch(int attribute) { return attribute >= 1 && attribute <= 3; }

CUresult refuseInCapture(CUstream stream) {
  if (!captureOf(stream))
    return Success;
  captureOf(stream)->isBroken = true;
  return fail(CaptureUnsupported, "the simulated device records no allocations in graphs");
}

} // namespace

HJX_CUDA_API cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t sizeBytes, MemoryPool *pool,
                                     CUstream stream) {
  CUresult result = guarded([&](Device &) -> CUresult {
    return isPool(pool) && isStream(stream) ? refuseInCapture(stream) : CUresult(InvalidHandle);
  });
  return result ? result : cuMemAlloc_v2(pointer, sizeBytes);
}

HJX_CUDA_API cuMemAllocAsync(CUdeviceptr *pointer, size_t sizeBytes, CUstream stream) {
  return cuMemAllocFromPoolAsync(pointer, sizeBytes, state().currentPool, stream);
}

HJX_CUDA_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  CUresult result = guarded([&](Device &) -> CUresult {
    return isStream(stream) ? refuseInCapture(stream) : CUresult(InvalidHandle);
  });
  return result ? result : cuMemFree_v2(pointer);
}

HJX_CUDA_API cuDeviceGetDefaultMemPool(MemoryPool **pool, CUdevice) {
  return initialized([&](Device &) {
    *pool = &state().defaultPool;
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetMemPool(MemoryPool **pool, CUdevice) {
  return initialized([&](Device &) {
    *pool = state().currentPool;
    return Success;
  });
}

HJX_CUDA_API cuDeviceSetMemPool(CUdevice, MemoryPool *pool) {
  return initialized([&](Device &) -> CUresult {
    if (!isPool(pool))
      return InvalidHandle;
    state().currentPool = pool;
    return Success;
  });
}

HJX_CUDA_API cuMemPoolCreate(MemoryPool **pool, const void *properties) {
  return guarded([&](Device &) -> CUresult {
    if (!pool || !properties)
      return InvalidValue;
    *pool = new MemoryPool;
    state().pools.insert(*pool);
    return Success;
  });
}

HJX_CUDA_API cuMemPoolDestroy(MemoryPool *pool) {
  return initialized([&](Device &) -> CUresult {
    if (!state().pools.erase(pool))
      return InvalidHandle;
    if (state().currentPool == pool)
      state().currentPool = &state().defaultPool;
    delete pool;
    return Success;
  });
}

HJX_CUDA_API cuMemPoolSetAttribute(MemoryPool *pool, int attribute, const void *value) {
  return guarded([&](Device &) -> CUresult {
    if (!isPool(pool) || !value)
      return InvalidHandle;
    if (attribute < 1 || attribute > 8 || attribute == 5 || attribute == 7)
      return fail(InvalidValue, absl::StrCat("memory pool: attribute ", attribute, " cannot be set"));
    pool->attributes[attribute] =
        isSwitch(attribute) ? *static_cast<const int *>(value) : *static_cast<const uint64_t *>(value);
    return Success;
  });
}

HJX_CUDA_API cuMemPoolGetAttribute(MemoryPool *pool, int attribute, void *value) {
  return guarded([&](Device &device) -> CUresult {
    if (!isPool(pool) || !value)
      return InvalidHandle;
    if (attribute < 1 || attribute > 8)
      return InvalidValue;
    if (isSwitch(attribute))
      *static_cast<int *>(value) = pool->attributes.count(attribute) ? int(pool->attributes[attribute]) : 1;
    else
      *static_cast<uint64_t *>(value) = attribute == 4 ? pool->attributes[attribute] : device.memory.used();
    return Success;
  });
}

HJX_CUDA_API cuMemPoolTrimTo(MemoryPool *pool, size_t) {
  return guarded([&](Device &) -> CUresult { return isPool(pool) ? Success : InvalidHandle; });
}
