// SPDX-License-Identifier: Apache-2.0
//
// The driver API of libcuda, as far as hjx and its neighbours use it, over the simulated device:
// initialisation, errors, devices and contexts. Error codes are CUDA's; where the simulated device
// knows more than a code says, cuGetErrorString carries it until the next such error.
#include "runtime/ptxsim/Driver.h"

#include "absl/strings/str_cat.h"

#include <cstdio>

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

namespace {

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
    {IllegalState, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {CaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {GraphUpdateFailure, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
};

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

State &driver::state() {
  static auto *instance = new State;
  return *instance;
}

CUresult driver::fail(CUresult code, absl::string_view detail) {
  for (const ErrorEntry &entry : kErrors)
    if (entry.code == code)
      state().details[code] = absl::StrCat(entry.text, ": ", detail);
  state().hasDetail = true;
  return code;
}

static thread_local int currentOrdinal = 0;

Device *driver::deviceAt(CUdevice ordinal) {
  State &s = state();
  return ordinal >= 0 && size_t(ordinal) < s.devices.size() ? s.devices[size_t(ordinal)].get() : nullptr;
}

Device *driver::current() {
  Device *device = deviceAt(currentOrdinal);
  return device ? device : deviceAt(0); // hjxPtxsimConfigure may have left fewer.
}

Device *driver::deviceOf(CUcontext context) {
  for (const std::unique_ptr<Device> &device : state().devices)
    if (device.get() == context)
      return device.get();
  return nullptr;
}

// The device's fault shows at every call that works on it.
CUresult driver::health() {
  if (!current())
    return NotInitialized;
  if (const std::optional<Finding> &fault = current()->fault())
    return fail(CUresult(fault->kind), fault->text);
  return Success;
}

bool driver::isStream(CUstream stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2 || state().streams.count(stream);
}

/// Tells programs that know of it that these devices take PTX text alone.
extern "C" __attribute__((visibility("default"))) bool hjxIsSimulated() { return true; }

static void makeDevices() {
  State &s = state();
  s.devices.clear();
  for (s.settings.ordinal = 0; s.settings.ordinal < s.settings.numDevices; ++s.settings.ordinal)
    s.devices.push_back(std::make_unique<Device>(s.settings));
  s.retained.assign(s.devices.size(), 0);
}

/// No function of CUDA: makes other devices than the environment said, as long as no context is
/// retained. Returns 0 if it did.
HJX_CUDA_API hjxPtxsimConfigure(unsigned capability, int numDevices) {
  return initialized([&](Device &) -> CUresult {
    for (unsigned count : state().retained)
      if (count)
        return IllegalState;
    state().settings.computeCapability = capability;
    state().settings.numDevices = numDevices;
    makeDevices();
    return Success;
  });
}

HJX_CUDA_API cuInit(unsigned flags) {
  std::lock_guard lock(state().mutex);
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("x86-64-v3")) {
    std::fprintf(stderr, "ptxsim: this processor has no AVX2 and FMA, which the library needs\n");
    return NotSupported;
  }
#endif
  if (state().devices.empty()) {
    state().settings = Settings::fromEnvironment();
    makeDevices();
  }
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
    *count = int(state().devices.size());
    return Success;
  });
}

HJX_CUDA_API cuDeviceGet(CUdevice *device, int ordinal) {
  return onDevice(ordinal, [&](Device &) {
    *device = ordinal;
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetName(char *name, int sizeBytes, CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &device) {
    std::snprintf(name, size_t(sizeBytes), "%s", device.name().c_str());
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetAttribute(int *value, int which, CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &device) {
    bool known = false;
    *value = attribute(device, which, known);
    return known ? Success : InvalidValue;
  });
}

HJX_CUDA_API cuDeviceTotalMem_v2(size_t *sizeBytes, CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &device) {
    *sizeBytes = device.memory.total();
    return Success;
  });
}

HJX_CUDA_API cuDeviceGetUuid_v2(void *uuid, CUdevice ordinal) {
  char text[17];
  std::snprintf(text, sizeof text, "hjx simulated %02d", ordinal);
  std::memcpy(uuid, text, 16);
  return Success;
}

HJX_CUDA_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &device) {
    ++state().retained[size_t(ordinal)];
    *context = &device;
    return Success;
  });
}

HJX_CUDA_API cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &device) {
    device.reset();
    state().details.clear();
    return Success;
  });
}

// As with a real driver, the last release frees everything and makes the device well again.
HJX_CUDA_API cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return onDevice(ordinal, [&](Device &) -> CUresult {
    unsigned &retained = state().retained[size_t(ordinal)];
    if (retained == 0)
      return InvalidContext;
    return --retained ? CUresult(Success) : cuDevicePrimaryCtxReset_v2(ordinal);
  });
}

HJX_CUDA_API cuCtxSetCurrent(CUcontext context) {
  return initialized([&](Device &) -> CUresult {
    Device *device = context ? deviceOf(context) : deviceAt(0);
    if (!device)
      return InvalidContext;
    currentOrdinal = device->settings.ordinal;
    return Success;
  });
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
