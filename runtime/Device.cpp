// SPDX-License-Identifier: Apache-2.0
//
// The processor as a device, and the devices of the process.
#include "runtime/Device.h"

#include "runtime/Buffer.h"
#include "runtime/cuda/CudaDevice.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace hjx {

DeviceBuffer::~DeviceBuffer() {
  if (size > 0)
    owner->freeMemory(memory);
}

absl::StatusOr<DeviceBuffer> RuntimeDevice::allocate(int64_t sizeBytes) {
  if (sizeBytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": expected a buffer size of at least 0, got ", sizeBytes));
  if (sizeBytes == 0)
    return DeviceBuffer(this, Buffer::borrow(nullptr, 0).data(), 0);
  HJX_ASSIGN_OR_RETURN(void *memory, allocateMemory(sizeBytes));
  return DeviceBuffer(this, memory, sizeBytes);
}

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

namespace {

struct CpuEvent : DeviceEvent {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

class CpuStagingBuffer : public StagingBuffer {
public:
  explicit CpuStagingBuffer(Buffer buffer)
      : StagingBuffer(buffer.data(), buffer.sizeBytes()), buffer(std::move(buffer)) {}
  absl::Status acquire() override { return absl::OkStatus(); }

private:
  Buffer buffer;
};

class CpuDevice : public RuntimeDevice {
public:
  CpuDevice()
      : RuntimeDevice({DeviceKind::Cpu, "cpu", "the processor of this machine", 0,
                pageBytes(_SC_PHYS_PAGES)}) {}

  absl::StatusOr<int64_t> freeBytes() const override { return pageBytes(_SC_AVPHYS_PAGES); }

  absl::Status copyToDevice(void *to, const void *from, int64_t sizeBytes) override {
    return copyOnDevice(to, from, sizeBytes);
  }
  absl::Status copyToHost(void *to, const void *from, int64_t sizeBytes) override {
    return copyOnDevice(to, from, sizeBytes);
  }
  absl::Status copyOnDevice(void *to, const void *from, int64_t sizeBytes) override {
    std::memcpy(to, from, static_cast<size_t>(sizeBytes));
    return absl::OkStatus();
  }
  absl::Status fill(void *to, uint8_t value, int64_t sizeBytes) override {
    std::memset(to, value, static_cast<size_t>(sizeBytes));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>>
  loadModule(const std::string &, absl::Span<const std::string>) override {
    return noKernels();
  }
  absl::Status launch(const Kernel &, const LaunchShape &, void **) override {
    return noKernels();
  }
  absl::StatusOr<std::unique_ptr<LaunchGraph>>
  record(absl::FunctionRef<absl::Status(LaunchRecorder &)>) override {
    return noKernels();
  }
  absl::Status replay(const LaunchGraph &) override { return noKernels(); }
  absl::Status synchronize() override { return absl::OkStatus(); }

  absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateStaging(int64_t sizeBytes) override {
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(sizeBytes));
    return std::make_unique<CpuStagingBuffer>(std::move(buffer));
  }
  absl::StatusOr<DeviceSpan> copyAhead(void *to, StagingBuffer &from) override {
    DeviceSpan span{std::make_unique<CpuEvent>(), nullptr};
    HJX_RETURN_IF_ERROR(copyOnDevice(to, from.data(), from.sizeBytes()));
    span.end = std::make_unique<CpuEvent>();
    return span;
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> mark() override { return std::make_unique<CpuEvent>(); }
  absl::StatusOr<int64_t> nanosecondsBetween(const DeviceEvent &from, const DeviceEvent &to) override {
    return std::chrono::nanoseconds(static_cast<const CpuEvent &>(to).time - static_cast<const CpuEvent &>(from).time)
        .count();
  }

protected:
  absl::StatusOr<void *> allocateMemory(int64_t sizeBytes) override {
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(sizeBytes));
    return buffer.release();
  }
  void freeMemory(void *memory) override { std::free(memory); }

private:
  static int64_t pageBytes(int pages) {
    return int64_t{sysconf(pages)} * int64_t{sysconf(_SC_PAGESIZE)};
  }
  static absl::Status noKernels() {
    return absl::UnimplementedError(
        "cpu: expected a program for the processor, got kernels of a cuda device\n"
        "  help: open a cuda device, or compile for cpu");
  }
};

} // namespace

RuntimeDevice &cpuDevice() {
  static auto *device = new CpuDevice; // Leaked: buffers may die after statics do.
  return *device;
}

//===----------------------------------------------------------------------===//
// The devices of the process
//===----------------------------------------------------------------------===//

std::vector<DeviceInfo> listDevices() {
  std::vector<DeviceInfo> devices = {cpuDevice().info()};
  if (cuda::Driver::global().ok())
    for (int i = 0; i < (*cuda::Driver::global())->numDevices; ++i)
      devices.push_back(describeCudaDevice(**cuda::Driver::global(), i));
  return devices;
}

static absl::StatusOr<RuntimeDevice *> openCudaDevice(int ordinal) {
  static absl::Mutex mutex;
  static auto *opened = new absl::flat_hash_map<int, std::unique_ptr<RuntimeDevice>>;
  absl::MutexLock lock(&mutex);
  std::unique_ptr<RuntimeDevice> &slot = (*opened)[ordinal];
  if (!slot) {
    HJX_ASSIGN_OR_RETURN(slot, makeCudaDevice(*cuda::Driver::global(), ordinal));
  }
  return slot.get();
}

// libhjx-ptxsim.so, where a build or an installation has it: in ../lib or beside the program, else
// where the loader looks.
static std::string simulatorPath() {
  constexpr const char *kName = "libhjx-ptxsim.so";
  std::error_code ignored;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char *folder : {"../lib", "."}) {
    std::filesystem::path path = program.parent_path() / folder / kName;
    if (std::filesystem::exists(path, ignored))
      return path.lexically_normal().string();
  }
  return kName;
}

// "sim:sm_80". The simulated device reads what it is from the environment, once a process.
static absl::StatusOr<RuntimeDevice *> openSimulatedDevice(const std::string &name) {
  static absl::Mutex mutex;
  static auto *opened = new std::unique_ptr<RuntimeDevice>;
  absl::MutexLock lock(&mutex);
  std::string chip = name.substr(4);
  if (!*opened) {
    setenv("HJX_PTXSIM_ARCH", chip.c_str(), 1);
    absl::StatusOr<std::shared_ptr<const cuda::Driver>> driver = cuda::Driver::open(simulatorPath());
    HJX_RETURN_IF_ERROR(driver.status());
    HJX_ASSIGN_OR_RETURN(*opened, makeCudaDevice(*driver, 0, name));
  }
  if (std::string is = absl::StrCat("sm_", (*opened)->info().computeCapability); is != chip)
    return absl::InvalidArgumentError(absl::StrCat(
        "device ", name, ": expected ", is, ", which the simulated device of this process is, got ", chip,
        "\n  help: use one simulated architecture a process"));
  return opened->get();
}

absl::StatusOr<RuntimeDevice *> openDevice(const std::string &name) {
  if (name == "cpu")
    return &cpuDevice();
  if (name.rfind("sim:", 0) == 0)
    return openSimulatedDevice(name);
  if (name.rfind("cuda", 0) == 0)
    HJX_RETURN_IF_ERROR(cuda::Driver::global().status());
  std::vector<std::string> names;
  for (const DeviceInfo &info : listDevices()) {
    if (info.name == (name == "cuda" ? "cuda:0" : name))
      return openCudaDevice(static_cast<int>(names.size()) - 1); // The processor is the first.
    names.push_back(info.name);
  }
  return absl::NotFoundError(absl::StrCat("device: expected one of ", absl::StrJoin(names, ", "),
                                          ", got '", name, "'\n  help: number devices from 0"));
}

} // namespace hjx
