// SPDX-License-Identifier: Apache-2.0
//
// A device with two streams: one for all its work, one for copies that overtake it.
#include "runtime/cuda/CudaDevice.h"

#include "runtime/Environment.h"
#include "runtime/cuda/CudaContext.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

using namespace hjx::cuda;

namespace hjx {

DeviceInfo describeCudaDevice(const Driver &driver, int ordinal) {
  DeviceInfo info{DeviceKind::Cuda, absl::StrCat("cuda:", ordinal), "", 0, 0};
  CUdevice device = 0;
  if (driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
    return info;
  char text[256] = {};
  if (driver.cuDeviceGetName(text, sizeof(text) - 1, device) == CUDA_SUCCESS)
    info.description = text;
  int major = 0, minor = 0;
  driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  info.computeCapability = 10 * major + minor;
  size_t total = 0;
  driver.cuDeviceTotalMem_v2(&total, device);
  info.totalBytes = static_cast<int64_t>(total);
  info.loadsCubins = !driver.isSimulated;
  driver.cuDriverGetVersion(&info.driverVersion);
  driver.cuDeviceGetAttribute(&info.numMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  return info;
}

namespace {

CUdeviceptr asCuda(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

class CudaModule : public DeviceModule {
public:
  CudaModule(std::shared_ptr<const Driver> driver, CUcontext context, CUmodule module)
      : driver(std::move(driver)), context(context), module(module) {}
  ~CudaModule() override {
    driver->cuCtxSetCurrent(context);
    driver->cuModuleUnload(module);
  }
  void add(std::string name, CUfunction function) {
    functions.push_back({std::move(name), function});
  }

private:
  std::shared_ptr<const Driver> driver;
  CUcontext context;
  CUmodule module;
};

class CudaDevice : public RuntimeDevice, CudaContext {
public:
  CudaDevice(std::shared_ptr<const Driver> driver, DeviceInfo info)
      : RuntimeDevice(info), CudaContext{std::move(driver), info.name} {}

  ~CudaDevice() override {
    for (CUstream one : {stream, copies})
      if (one)
        driver->cuStreamDestroy_v2(one);
    if (context)
      driver->cuDevicePrimaryCtxRelease_v2(device);
  }

  absl::Status open(int ordinal) {
    HJX_RETURN_IF_ERROR(check(driver->cuDeviceGet(&device, ordinal), "finding the device"));
    CUcontext newContext = nullptr; // A handle is a member only once there is something to give back.
    HJX_RETURN_IF_ERROR(check(driver->cuDevicePrimaryCtxRetain(&newContext, device),
                              "making its context",
                              "another process may have the device for itself; see nvidia-smi"));
    context = newContext;
    HJX_RETURN_IF_ERROR(enter());
    HJX_RETURN_IF_ERROR(
        check(driver->cuDeviceGetAttribute(
                  &maxSharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device),
              "asking for its shared memory"));
    HJX_ASSIGN_OR_RETURN(stream, makeStream());
    HJX_ASSIGN_OR_RETURN(copies, makeStream());
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> freeBytes() const override {
    HJX_RETURN_IF_ERROR(enter());
    size_t free = 0, total = 0;
    HJX_RETURN_IF_ERROR(check(driver->cuMemGetInfo_v2(&free, &total), "asking for its free memory"));
    return static_cast<int64_t>(free);
  }

  /// Of a real device nobody knows it without trying; the simulated one has no holes.
  std::optional<int64_t> largestFreeBytes() const override {
    absl::StatusOr<int64_t> free = driver->isSimulated ? freeBytes() : absl::UnknownError("");
    return free.ok() ? std::optional(*free) : std::nullopt;
  }

  absl::Status copyOnDevice(void *to, const void *from, int64_t sizeBytes) override {
    if (sizeBytes == 0)
      return absl::OkStatus();
    HJX_RETURN_IF_ERROR(enter());
    return check(driver->cuMemcpyDtoDAsync_v2(asCuda(to), asCuda(from),
                                              static_cast<size_t>(sizeBytes), stream),
                 absl::StrCat("copying ", sizeBytes, " bytes within it"));
  }

  absl::Status fill(void *to, uint8_t value, int64_t sizeBytes) override {
    if (sizeBytes == 0)
      return absl::OkStatus();
    HJX_RETURN_IF_ERROR(enter());
    return check(
        driver->cuMemsetD8Async(asCuda(to), value, static_cast<size_t>(sizeBytes), stream),
        absl::StrCat("filling ", sizeBytes, " bytes"));
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>>
  loadModule(const std::string &code, absl::Span<const std::string> kernels) override;

  absl::Status launch(const Kernel &kernel, const LaunchShape &shape, void **arguments) override {
    HJX_RETURN_IF_ERROR(enter());
    HJX_RETURN_IF_ERROR(CudaContext::launch(stream, kernel, shape, arguments));
    return isBlocking ? check(driver->cuStreamSynchronize(stream), absl::StrCat("running '", kernel.name, "'"),
                              "run under compute-sanitizer to find the access")
                      : absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<LaunchGraph>>
  record(absl::FunctionRef<absl::Status(LaunchRecorder &)> work) override {
    return recordCudaGraph(*this, work);
  }
  absl::Status replay(const LaunchGraph &graph) override { return replayCudaGraph(*this, stream, graph); }

  absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateStaging(int64_t sizeBytes) override {
    return allocateCudaStaging(*this, sizeBytes);
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> mark() override { return markCudaStream(*this, stream); }
  absl::StatusOr<int64_t> nanosecondsBetween(const DeviceEvent &from, const DeviceEvent &to) override {
    return nanosecondsBetweenCuda(*this, from, to);
  }

  absl::Status encode(const TensorMap &map, void *to) override { return encodeCudaTensorMap(*this, map, to); }

  bool isIdle() const override {
    return !enter().ok() || driver->cuStreamQuery(stream) != CUDA_ERROR_NOT_READY;
  }

  absl::Status synchronize() override {
    HJX_RETURN_IF_ERROR(enter());
    return check(driver->cuStreamSynchronize(stream), "running what was launched",
                 kFindTheKernel);
  }

protected:
  absl::StatusOr<void *> allocateMemory(int64_t sizeBytes) override {
    HJX_RETURN_IF_ERROR(enter());
    CUdeviceptr pointer = 0;
    CUresult result = driver->cuMemAlloc_v2(&pointer, static_cast<size_t>(sizeBytes));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
      return absl::ResourceExhaustedError(driver->describe(result));
    HJX_RETURN_IF_ERROR(check(result, absl::StrCat("allocating ", sizeBytes, " bytes")));
    return reinterpret_cast<void *>(pointer);
  }

  void freeMemory(void *memory) override {
    // cuMemFree waits for the work that may still use the memory. A device that failed says so
    // again here; whoever waited for its work has that error.
    if (enter().ok())
      driver->cuMemFree_v2(asCuda(memory));
  }

  absl::StatusOr<DeviceSpan> writeAhead(void *to, StagingBuffer &from) override {
    return copyAheadInCuda(*this, copies, stream, to, from);
  }
  absl::Status writeMemory(void *to, const void *from, int64_t sizeBytes) override {
    if (sizeBytes == 0)
      return absl::OkStatus();
    HJX_RETURN_IF_ERROR(enter());
    HJX_RETURN_IF_ERROR(
        check(driver->cuMemcpyHtoDAsync_v2(asCuda(to), from, static_cast<size_t>(sizeBytes), stream),
              absl::StrCat("copying ", sizeBytes, " bytes to it")));
    return synchronize(); // The driver may read `from` until then.
  }

  absl::Status readMemory(void *to, const void *from, int64_t sizeBytes) override {
    if (sizeBytes == 0)
      return synchronize();
    HJX_RETURN_IF_ERROR(enter());
    HJX_RETURN_IF_ERROR(
        check(driver->cuMemcpyDtoHAsync_v2(to, asCuda(from), static_cast<size_t>(sizeBytes), stream),
              absl::StrCat("copying ", sizeBytes, " bytes from it")));
    return synchronize();
  }

  absl::Status readPeer(void *to, RuntimeDevice &source, const void *from, int64_t sizeBytes) override {
    auto *peer = dynamic_cast<CudaDevice *>(&source);
    if (!peer || peer->driver != driver)
      return absl::UnimplementedError("devices of two drivers");
    HJX_RETURN_IF_ERROR(peer->synchronize()); // Its queue is not ours.
    HJX_RETURN_IF_ERROR(enter());
    HJX_RETURN_IF_ERROR(check(driver->cuMemcpyPeerAsync(asCuda(to), context, asCuda(from), peer->context,
                                                        static_cast<size_t>(sizeBytes), stream),
                              absl::StrCat("copying ", sizeBytes, " bytes from ", source.name())));
    return synchronize(); // The source may be freed after.
  }

private:
  CUdevice device = 0;
  CUstream stream = nullptr, copies = nullptr;
  int maxSharedBytes = 0;
  const bool isBlocking = cudaLaunchBlocking();
};

absl::StatusOr<std::unique_ptr<DeviceModule>>
CudaDevice::loadModule(const std::string &code, absl::Span<const std::string> kernels) {
  HJX_RETURN_IF_ERROR(enter());
  std::string log(8 << 10, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  CUmodule handle = nullptr;
  CUresult result = driver->cuModuleLoadDataEx(&handle, code.c_str(), 2, options, values);
  if (result != CUDA_SUCCESS)
    return absl::InvalidArgumentError(absl::StrCat(
        name(), ": loading device code: ", driver->describe(result), ": ",
        absl::StripAsciiWhitespace(log.c_str()), "\n  help: compile for an architecture that sm_",
        info().computeCapability, " runs, with a driver of CUDA 12.0 or newer"));
  auto module = std::make_unique<CudaModule>(driver, context, handle);
  for (const std::string &kernel : kernels) {
    CUfunction function = nullptr;
    if (CUresult result = driver->cuModuleGetFunction(&function, handle, kernel.c_str()))
      return absl::InvalidArgumentError(absl::StrCat(name(), ": device code has no kernel '", kernel,
                                                     "': ", driver->describe(result)));
    // Beyond 48 KiB a kernel must ask. All may have what the device has: it is a bound, not a size.
    int staticBytes = 0;
    HJX_RETURN_IF_ERROR(check(
        driver->cuFuncGetAttribute(&staticBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
        absl::StrCat("asking for the shared memory of '", kernel, "'")));
    HJX_RETURN_IF_ERROR(check(
        driver->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   maxSharedBytes - staticBytes),
        absl::StrCat("allowing '", kernel, "' all shared memory")));
    module->add(kernel, function);
  }
  return module;
}

} // namespace

absl::StatusOr<std::unique_ptr<RuntimeDevice>> makeCudaDevice(std::shared_ptr<const Driver> driver,
                                                              int ordinal, const std::string &name) {
  DeviceInfo info = describeCudaDevice(*driver, ordinal);
  if (!name.empty())
    info.name = name;
  auto device = std::make_unique<CudaDevice>(std::move(driver), std::move(info));
  HJX_RETURN_IF_ERROR(device->open(ordinal));
  return device;
}

} // namespace hjx
