// SPDX-License-Identifier: Apache-2.0
//
// The driver API of libcuda, as far as hjx and its neighbours use it, over the simulated
// device. One lock for everything: streams exist, but what is put into one is executed
// at once, in the order of the calls. Error codes are CUDA's; where the simulated device
// knows more than a code says, cuGetErrorString carries it until the next such error.
#include "runtime/ptxsim/Device.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>

using namespace hjx::ptxsim;

namespace {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = void *;
using CUmodule = LoadedModule *;
using CUfunction = LoadedFunction *;
struct Stream {};
struct Event {
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
};
using CUstream = Stream *;
using CUevent = Event *;

struct CUlaunchAttribute {
  int id;
  int padding;
  unsigned value[16];
};
struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned numAttributes;
};

enum : CUresult {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  NotSupported = 801,
};

struct ErrorEntry {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorEntry kErrors[] = {
    {Success, "CUDA_SUCCESS", "no error"},
    {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

/// All that the library holds. Never destroyed: a program may call the driver while it exits.
struct State {
  std::recursive_mutex mutex;
  std::unique_ptr<Device> device; ///< null before cuInit
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::map<void *, std::unique_ptr<char[]>> hostMemory;
  std::map<CUresult, std::string> details; ///< whole strings, for cuGetErrorString
  bool hasDetail = false;                  ///< the call in progress left one
  unsigned retained = 0;
};

State &state() {
  static auto *instance = new State;
  return *instance;
}

CUresult fail(CUresult code, absl::string_view detail) {
  for (const ErrorEntry &entry : kErrors)
    if (entry.code == code)
      state().details[code] = absl::StrCat(entry.text, ": ", detail);
  state().hasDetail = true;
  return code;
}

// The device's fault shows at every call that works on it.
CUresult health() {
  State &s = state();
  if (!s.device)
    return NotInitialized;
  if (const std::optional<Finding> &fault = s.device->fault())
    return fail(CUresult(fault->kind), fault->text);
  return Success;
}

/// Runs `body` under the lock when the library is initialised and the device well.
template <typename Body> CUresult guarded(Body body) {
  std::lock_guard lock(state().mutex);
  if (CUresult result = health())
    return result;
  state().hasDetail = false;
  CUresult result = body(*state().device);
  if (!state().hasDetail)
    state().details.erase(result);
  return result;
}

/// The same, but for calls that a broken device still answers.
template <typename Body> CUresult initialized(Body body) {
  std::lock_guard lock(state().mutex);
  return state().device ? body(*state().device) : CUresult(NotInitialized);
}

bool isStream(CUstream stream) {
  // 0, and the handles of the legacy and the per-thread default stream.
  return reinterpret_cast<uintptr_t>(stream) <= 2 || state().streams.count(stream);
}

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

CUresult streamOnly(CUstream stream) {
  return guarded([&](Device &) -> CUresult { return isStream(stream) ? Success : InvalidHandle; });
}

CUresult loadModule(CUmodule *module, const void *image, unsigned numOptions, const int *options,
                    void **values) {
  return guarded([&](Device &device) -> CUresult {
    if (!module || !image)
      return InvalidValue;
    const auto *bytes = static_cast<const unsigned char *>(image);
    if (bytes[0] == 0x7F || bytes[0] == 0x50)
      return fail(InvalidImage, "the simulated device takes PTX text, not a cubin or a fat binary");
    absl::StatusOr<LoadedModule *> loaded = device.load(static_cast<const char *>(image));
    if (loaded.ok()) {
      *module = *loaded;
      return Success;
    }
    // CU_JIT_ERROR_LOG_BUFFER = 5, ..._SIZE_BYTES = 6: in: room, out: used.
    char *log = nullptr;
    void **size = nullptr;
    for (unsigned index = 0; index < numOptions; ++index) {
      if (options[index] == 5)
        log = static_cast<char *>(values[index]);
      else if (options[index] == 6)
        size = &values[index];
    }
    std::string message(loaded.status().message());
    if (log && size) {
      size_t room = reinterpret_cast<uintptr_t>(*size);
      if (room)
        std::snprintf(log, room, "%s", message.c_str());
      *size = reinterpret_cast<void *>(std::min(room, message.size() + 1));
    }
    return fail(absl::IsUnimplemented(loaded.status())         ? NoBinaryForGpu
                : absl::IsResourceExhausted(loaded.status()) ? OutOfMemory
                                                             : InvalidPtx,
                message);
  });
}

CUresult launchKernel(CUfunction function, std::array<uint32_t, 3> grid,
                      std::array<uint32_t, 3> block, unsigned sharedBytes, CUstream stream,
                      void **arguments, void **extra) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function) || !isStream(stream))
      return InvalidHandle;
    const Kernel &kernel = function->kernel;
    std::vector<void *> unpacked;
    if (extra) {
      // CU_LAUNCH_PARAM_BUFFER_POINTER = 1, BUFFER_SIZE = 2, END = 0.
      auto *buffer = static_cast<uint8_t *>(nullptr);
      size_t size = 0;
      for (; *extra; extra += 2) {
        if (reinterpret_cast<uintptr_t>(extra[0]) == 1)
          buffer = static_cast<uint8_t *>(extra[1]);
        else if (reinterpret_cast<uintptr_t>(extra[0]) == 2)
          size = *static_cast<size_t *>(extra[1]);
      }
      if (arguments || !buffer || size != kernel.paramBytes)
        return fail(InvalidValue, absl::StrCat("kernel '", kernel.name, "': expected ",
                                               kernel.paramBytes, " bytes of arguments, got ", size));
      for (const Kernel::Param &param : kernel.params)
        unpacked.push_back(buffer + param.offset);
      arguments = unpacked.data();
    }
    absl::Status status = device.launch(*function, grid, block, sharedBytes, arguments);
    return status.ok() ? CUresult(Success) : fail(InvalidValue, std::string(status.message()));
  });
}

int attribute(const Device &device, int which, bool &known) {
  known = true;
  switch (which) {
  case 1: case 2: case 3: return 1024; // threads of a block, x, y
  case 4: return 64;
  case 5: return 0x7FFFFFFF; // blocks of a grid, x
  case 6: case 7: return 65535;
  case 8: return 49152; // shared memory of a block
  case 9: return 65536; // constant memory
  case 10: return 32;
  case 11: return 0x7FFFFFFF;
  case 12: case 82: return 65536; // registers
  case 13: return 1000000; // kHz; %clock counts nanoseconds
  case 16: return device.settings.numThreads; // multiprocessors
  case 36: return 1000000;
  case 37: return 64;
  case 38: return 40 << 20; // L2
  case 39: return 2048;
  case 41: case 115: case 31: return 1; // unified addresses, memory pools, concurrent kernels
  case 18: case 19: case 32: case 33: case 34: case 50: case 83: case 95: return 0;
  case 75: return int(device.settings.computeCapability / 10);
  case 76: return int(device.settings.computeCapability % 10);
  case 81: return int(device.maxSharedPerBlock()) + 1024;
  case 97: return int(device.maxSharedPerBlock());
  case 106: return 32;
  case 111: return 1024;
  default: known = false; return 0;
  }
}

} // namespace

#define HJX_CUDA_API extern "C" __attribute__((visibility("default"))) CUresult

// Initialisation, errors, device, context.

HJX_CUDA_API cuInit(unsigned flags) {
  std::lock_guard lock(state().mutex);
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("x86-64-v3")) {
    std::fprintf(stderr, "ptxsim: this processor has no AVX2 and FMA, which the library needs\n");
    return NotSupported;
  }
#endif
  if (!state().device)
    state().device = std::make_unique<Device>(Settings::fromEnvironment());
  return flags ? InvalidValue : Success;
}

HJX_CUDA_API cuDriverGetVersion(int *version) {
  *version = 13000;
  return Success;
}

HJX_CUDA_API cuGetErrorName(CUresult error, const char **text) {
  *text = nullptr;
  for (const ErrorEntry &entry : kErrors)
    if (entry.code == error)
      *text = entry.name;
  return *text ? Success : InvalidValue;
}

HJX_CUDA_API cuGetErrorString(CUresult error, const char **text) {
  std::lock_guard lock(state().mutex);
  *text = nullptr;
  for (const ErrorEntry &entry : kErrors)
    if (entry.code == error)
      *text = entry.text;
  if (auto detail = state().details.find(error); detail != state().details.end())
    *text = detail->second.c_str();
  return *text ? Success : InvalidValue;
}

HJX_CUDA_API cuDeviceGetCount(int *count) {
  return initialized([&](Device &) {
    *count = 1;
    return Success;
  });
}

HJX_CUDA_API cuDeviceGet(CUdevice *device, int ordinal) {
  return initialized([&](Device &) {
    *device = 0;
    return ordinal == 0 ? Success : InvalidDevice;
  });
}

HJX_CUDA_API cuDeviceGetName(char *name, int sizeBytes, CUdevice) {
  return initialized([&](Device &device) {
    std::snprintf(name, size_t(sizeBytes), "%s", device.name().c_str());
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetAttribute(int *value, int which, CUdevice) {
  return initialized([&](Device &device) {
    bool known = false;
    *value = attribute(device, which, known);
    return known ? Success : InvalidValue;
  });
}

HJX_CUDA_API cuDeviceTotalMem_v2(size_t *sizeBytes, CUdevice) {
  return initialized([&](Device &device) {
    *sizeBytes = device.memory.total();
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetUuid_v2(void *uuid, CUdevice) {
  std::memcpy(uuid, "hjx simulated 00", 16);
  return Success;
}

HJX_CUDA_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  return initialized([&](Device &device) {
    ++state().retained;
    *context = &device;
    return Success;
  });
}

HJX_CUDA_API cuDevicePrimaryCtxReset_v2(CUdevice) {
  return initialized([&](Device &device) {
    device.reset();
    state().details.clear();
    return Success;
  });
}

// As with a real driver, the last release frees everything and makes the device well again.
HJX_CUDA_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return initialized([&](Device &) -> CUresult {
    if (state().retained == 0)
      return InvalidContext;
    return --state().retained ? CUresult(Success) : cuDevicePrimaryCtxReset_v2(device);
  });
}

HJX_CUDA_API cuCtxSetCurrent(CUcontext) {
  return initialized([](Device &) { return Success; });
}

HJX_CUDA_API cuCtxGetCurrent(CUcontext *context) {
  return initialized([&](Device &device) {
    *context = &device;
    return Success;
  });
}

HJX_CUDA_API cuCtxSynchronize() {
  return guarded([](Device &) { return Success; });
}

// Modules and launches.

HJX_CUDA_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned numOptions,
                                int *options, void **values) {
  return loadModule(module, image, numOptions, options, values);
}

HJX_CUDA_API cuModuleLoadData(CUmodule *module, const void *image) {
  return loadModule(module, image, 0, nullptr, nullptr);
}

HJX_CUDA_API cuModuleUnload(CUmodule module) {
  return initialized([&](Device &device) { return device.unload(module) ? Success : InvalidHandle; });
}

HJX_CUDA_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(module))
      return InvalidHandle;
    auto found = module->functions.find(std::string(name));
    if (found == module->functions.end())
      return fail(NotFound, absl::StrCat("no kernel '", name, "' in the module"));
    *function = found->second.get();
    return Success;
  });
}

HJX_CUDA_API cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *sizeBytes, CUmodule module,
                                  const char *name) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(module))
      return InvalidHandle;
    auto found = module->symbols.find(std::string(name));
    if (found == module->symbols.end())
      return fail(NotFound, absl::StrCat("no variable '", name, "' in the module"));
    if (pointer)
      *pointer = found->second;
    if (sizeBytes)
      *sizeBytes = module->sizes.find(std::string(name))->second;
    return Success;
  });
}

HJX_CUDA_API cuFuncGetAttribute(int *value, int which, CUfunction function) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    const Kernel &kernel = function->kernel;
    switch (which) {
    case 0: // threads of a block
      *value = kernel.largestBlock[0]
                   ? int(kernel.largestBlock[0] * kernel.largestBlock[1] * kernel.largestBlock[2])
                   : 1024;
      return Success;
    case 1: *value = int(kernel.staticSharedBytes); return Success;
    case 2: *value = 0; return Success; // constant memory
    case 3: *value = int(kernel.localBytes); return Success;
    case 4: *value = 32; return Success; // registers, which PTX does not fix
    case 5: case 6: *value = int(device.settings.computeCapability); return Success;
    case 8: *value = int(function->largestDynamicShared); return Success;
    default: return InvalidValue;
    }
  });
}

HJX_CUDA_API cuFuncSetAttribute(CUfunction function, int which, int value) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    if (which == 9) // preferred carve-out: a hint
      return Success;
    if (which != 8 || value < 0)
      return InvalidValue;
    if (function->kernel.dynamicSharedOffset + unsigned(value) > device.maxSharedPerBlock())
      return fail(InvalidValue, absl::StrCat("expected at most ", device.maxSharedPerBlock(),
                                             " bytes of shared memory, got ", value));
    function->largestDynamicShared = unsigned(value);
    return Success;
  });
}

HJX_CUDA_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    if (index >= function->kernel.params.size())
      return InvalidValue;
    *offset = function->kernel.params[index].offset;
    if (size)
      *size = function->kernel.params[index].sizeBytes;
    return Success;
  });
}

HJX_CUDA_API cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                            unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                            CUstream stream, void **arguments, void **extra) {
  return launchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes,
                      stream, arguments, extra);
}

HJX_CUDA_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                              void **extra) {
  for (unsigned index = 0; index < config->numAttributes; ++index) {
    // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4; the others change when, not what.
    const CUlaunchAttribute &attribute = config->attributes[index];
    if (attribute.id == 4 && attribute.value[0] * attribute.value[1] * attribute.value[2] != 1) {
      std::lock_guard lock(state().mutex);
      return fail(NotSupported, "the simulated device has no clusters");
    }
  }
  return launchKernel(function, {config->gridX, config->gridY, config->gridZ},
                      {config->blockX, config->blockY, config->blockZ}, config->sharedBytes,
                      config->stream, arguments, extra);
}

HJX_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function,
                                                         int blockSize, size_t sharedBytes) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function) || blockSize < 1)
      return InvalidValue;
    size_t shared = std::max<size_t>(function->kernel.dynamicSharedOffset + sharedBytes, 1);
    *count = std::min<int>({32, 2048 / blockSize, int((device.maxSharedPerBlock() + 1024) / shared)});
    return Success;
  });
}

// Memory.

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

HJX_CUDA_API cuMemAllocAsync(CUdeviceptr *pointer, size_t sizeBytes, CUstream) {
  return cuMemAlloc_v2(pointer, sizeBytes);
}
HJX_CUDA_API cuMemFreeAsync(CUdeviceptr pointer, CUstream) { return cuMemFree_v2(pointer); }

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

HJX_CUDA_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t sizeBytes, CUstream) {
  return copyToDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t sizeBytes) {
  return copyToDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t sizeBytes, CUstream) {
  return copyToHost(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t sizeBytes) {
  return copyToHost(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t sizeBytes, CUstream) {
  return copyOnDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t sizeBytes) {
  return copyOnDevice(to, from, sizeBytes);
}
HJX_CUDA_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream) {
  return fill(to, &value, 1, count);
}
HJX_CUDA_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, &value, 1, count);
}
HJX_CUDA_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream) {
  return fill(to, &value, 4, count);
}
HJX_CUDA_API cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, &value, 4, count);
}

// Streams and events.

HJX_CUDA_API cuStreamCreateWithPriority(CUstream *stream, unsigned, int) {
  return guarded([&](Device &) {
    *stream = new Stream;
    state().streams.insert(*stream);
    return Success;
  });
}

HJX_CUDA_API cuStreamCreate(CUstream *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

HJX_CUDA_API cuStreamDestroy_v2(CUstream stream) {
  return initialized([&](Device &) -> CUresult {
    if (!state().streams.erase(stream))
      return InvalidHandle;
    delete stream;
    return Success;
  });
}

HJX_CUDA_API cuStreamSynchronize(CUstream stream) { return streamOnly(stream); }
HJX_CUDA_API cuStreamQuery(CUstream stream) { return streamOnly(stream); }

HJX_CUDA_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return guarded([&](Device &) -> CUresult {
    return isStream(stream) && state().events.count(event) ? Success : InvalidHandle;
  });
}

HJX_CUDA_API cuEventCreate(CUevent *event, unsigned) {
  return guarded([&](Device &) {
    *event = new Event;
    state().events.insert(*event);
    return Success;
  });
}

HJX_CUDA_API cuEventRecord(CUevent event, CUstream stream) {
  return guarded([&](Device &) -> CUresult {
    if (!state().events.count(event) || !isStream(stream))
      return InvalidHandle;
    *event = Event{true, std::chrono::steady_clock::now()};
    return Success;
  });
}

HJX_CUDA_API cuEventSynchronize(CUevent event) {
  return guarded([&](Device &) -> CUresult {
    return state().events.count(event) ? Success : InvalidHandle;
  });
}
HJX_CUDA_API cuEventQuery(CUevent event) { return cuEventSynchronize(event); }

HJX_CUDA_API cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return guarded([&](Device &) -> CUresult {
    if (!state().events.count(begin) || !state().events.count(end) || !begin->isRecorded ||
        !end->isRecorded)
      return InvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return Success;
  });
}

HJX_CUDA_API cuEventDestroy_v2(CUevent event) {
  return initialized([&](Device &) -> CUresult {
    if (!state().events.erase(event))
      return InvalidHandle;
    delete event;
    return Success;
  });
}
