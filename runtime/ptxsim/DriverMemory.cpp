// SPDX-License-Identifier: Apache-2.0
//
// The driver API's memory: allocations, copies and fills.
#include "runtime/ptxsim/Driver.h"

#include "absl/strings/str_cat.h"

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

namespace {

/// The allocation that holds [address, address + size), or null with the words of the error.
const Allocation *memoryAt(const Device &device, CUdeviceptr address, size_t size,
                           const char *what) {
  const Allocation *allocation = device.memory.find(address);
  if (allocation && allocation->contains(address, size))
    return allocation;
  fail(InvalidValue, absl::StrCat(what, " of ", size, " bytes at 0x", absl::Hex(address),
                                  " is not within an allocation"));
  return nullptr;
}

CUresult copyToDevice(CUdeviceptr to, const void *from, size_t size) {
  return guarded([&](Device &device) -> CUresult {
    const Allocation *at = size ? memoryAt(device, to, size, "copy to the device") : nullptr;
    if (!at)
      return size ? InvalidValue : Success;
    std::memcpy(at->at(to), from, size);
    at->setWritten(to, size);
    return Success;
  });
}

CUresult copyToHost(void *to, CUdeviceptr from, size_t size) {
  return guarded([&](Device &device) -> CUresult {
    const Allocation *at = size ? memoryAt(device, from, size, "copy from the device") : nullptr;
    if (!at)
      return size ? InvalidValue : Success;
    std::memcpy(to, at->at(from), size);
    return Success;
  });
}

// What was never written stays so in the copy.
CUresult copyOnDevice(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return guarded([&](Device &device) -> CUresult {
    if (!size)
      return Success;
    const Allocation *target = memoryAt(device, to, size, "copy to");
    const Allocation *source = target ? memoryAt(device, from, size, "copy from") : nullptr;
    if (!source)
      return InvalidValue;
    std::memmove(target->at(to), source->at(from), size);
    target->copyWritten(to, *source, from, size);
    return Success;
  });
}

// Of memories that each belong to one device.
CUresult copyBetween(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t size) {
  return guarded([&](Device &) -> CUresult {
    Device *target = deviceOf(toContext), *source = deviceOf(fromContext);
    if (!target || !source)
      return InvalidContext;
    if (!size)
      return Success;
    const Allocation *targetAt = memoryAt(*target, to, size, "copy to another device");
    const Allocation *sourceAt = targetAt ? memoryAt(*source, from, size, "copy from another device") : nullptr;
    if (!sourceAt)
      return InvalidValue;
    std::memmove(targetAt->at(to), sourceAt->at(from), size);
    targetAt->copyWritten(to, *sourceAt, from, size);
    return Success;
  });
}

CUresult fill(CUdeviceptr to, const void *value, size_t width, size_t count) {
  return guarded([&](Device &device) -> CUresult {
    size_t size = width * count;
    const Allocation *at = size ? memoryAt(device, to, size, "fill") : nullptr;
    if (!at)
      return size ? InvalidValue : Success;
    for (size_t index = 0; index < count; ++index)
      std::memcpy(at->at(to) + index * width, value, width);
    at->setWritten(to, size);
    return Success;
  });
}

} // namespace

HJX_CUDA_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t sizeBytes) {
  return guarded([&](Device &device) -> CUresult {
    if (!sizeBytes)
      return InvalidValue;
    *pointer = device.memory.allocate(sizeBytes);
    return *pointer ? Success : OutOfMemory;
  });
}

HJX_CUDA_API cuMemFree_v2(CUdeviceptr pointer) {
  return guarded([&](Device &device) -> CUresult {
    if (pointer && !device.memory.free(pointer))
      return fail(InvalidValue, absl::StrCat("0x", absl::Hex(pointer), " is no allocation"));
    return Success;
  });
}

HJX_CUDA_API cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  return guarded([&](Device &device) {
    *totalBytes = device.memory.total();
    *freeBytes = *totalBytes - device.memory.used();
    return Success;
  });
}

HJX_CUDA_API cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *sizeBytes, CUdeviceptr pointer) {
  return guarded([&](Device &device) -> CUresult {
    const Allocation *at = memoryAt(device, pointer, 1, "address");
    if (!at)
      return InvalidValue;
    if (base)
      *base = at->begin;
    if (sizeBytes)
      *sizeBytes = at->end - at->begin;
    return Success;
  });
}

HJX_CUDA_API cuMemHostAlloc(void **pointer, size_t sizeBytes, unsigned) {
  return guarded([&](Device &) {
    auto memory = std::make_unique<char[]>(sizeBytes);
    *pointer = memory.get();
    state().hostMemory[*pointer] = std::move(memory);
    return Success;
  });
}

HJX_CUDA_API cuMemFreeHost(void *pointer) {
  return initialized([&](Device &) { return state().hostMemory.erase(pointer) ? Success : InvalidValue; });
}

HJX_CUDA_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t sizeBytes,
                                  CUstream stream) {
  return enqueue(stream, 1, [=] { return copyToDevice(to, from, sizeBytes); });
}
HJX_CUDA_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t sizeBytes) {
  return copyToDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t sizeBytes, CUstream stream) {
  return enqueue(stream, 1, [=] { return copyToHost(to, from, sizeBytes); });
}
HJX_CUDA_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t sizeBytes) {
  return copyToHost(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t sizeBytes,
                                  CUstream stream) {
  return enqueue(stream, 1, [=] { return copyOnDevice(to, from, sizeBytes); });
}
HJX_CUDA_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t sizeBytes) {
  return copyOnDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                               size_t sizeBytes, CUstream stream) {
  return enqueue(stream, 1, [=] { return copyBetween(to, toContext, from, fromContext, sizeBytes); });
}
HJX_CUDA_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return enqueue(stream, 2, [=] { return fill(to, &value, 1, count); });
}
HJX_CUDA_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, &value, 1, count);
}
HJX_CUDA_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return enqueue(stream, 2, [=] { return fill(to, &value, 4, count); });
}
HJX_CUDA_API cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, &value, 4, count);
}
