// SPDX-License-Identifier: Apache-2.0
#include "runtime/CpuDevice.h"

#include "runtime/Buffer.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace hjx {

/// What the kernel could give, page cache and swap counted: more than this would end the process,
/// or another one, only once the pages are touched.
static int64_t availableBytes() {
  long long memory = -1, swap = 0;
  if (std::FILE *file = std::fopen("/proc/meminfo", "re")) {
    char line[128];
    while (std::fgets(line, sizeof line, file)) {
      std::sscanf(line, "MemAvailable: %lld", &memory);
      std::sscanf(line, "SwapFree: %lld", &swap);
    }
    std::fclose(file);
  }
  if (memory < 0)
    return int64_t{sysconf(_SC_AVPHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return (memory + swap) * 1024;
}

DeviceInfo describeCpuDevice(int index, int64_t limitBytes) {
  int64_t physical = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return {DeviceKind::Cpu, absl::StrCat("cpu:", index), "the processor of this machine", 0,
          limitBytes > 0 ? std::min(physical, limitBytes) : physical};
}

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
  CpuDevice(int index, int64_t limit) : RuntimeDevice(describeCpuDevice(index, limit)) { limitBytes = limit; }

  absl::StatusOr<int64_t> freeBytes() const override {
    int64_t available = availableBytes();
    return limitBytes > 0 ? std::clamp<int64_t>(limitBytes - bytesAllocated(), 0, available) : available;
  }
  std::optional<int64_t> largestFreeBytes() const override { return *freeBytes(); } // pages need no neighbours

  absl::Status copyOnDevice(void *to, const void *from, int64_t sizeBytes) override {
    std::memcpy(to, from, static_cast<size_t>(sizeBytes));
    return absl::OkStatus();
  }
  absl::Status fill(void *to, uint8_t value, int64_t sizeBytes) override {
    std::memset(to, value, static_cast<size_t>(sizeBytes));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> loadModule(const std::string &, absl::Span<const std::string>) override {
    return noKernels();
  }
  absl::Status launch(const Kernel &, const LaunchShape &, void **) override { return noKernels(); }
  absl::StatusOr<std::unique_ptr<LaunchGraph>>
  record(absl::FunctionRef<absl::Status(LaunchRecorder &)>) override {
    return noKernels();
  }
  absl::Status replay(const LaunchGraph &) override { return noKernels(); }
  absl::Status encode(const TensorMap &, void *) override { return noKernels(); }
  absl::Status synchronize() override { return absl::OkStatus(); }

  absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateStaging(int64_t sizeBytes) override {
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(sizeBytes));
    return std::make_unique<CpuStagingBuffer>(std::move(buffer));
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> mark() override { return std::make_unique<CpuEvent>(); }
  absl::StatusOr<int64_t> nanosecondsBetween(const DeviceEvent &from, const DeviceEvent &to) override {
    return std::chrono::nanoseconds(static_cast<const CpuEvent &>(to).time - static_cast<const CpuEvent &>(from).time)
        .count();
  }

protected:
  absl::StatusOr<void *> allocateMemory(int64_t sizeBytes) override {
    // Looking costs some microseconds, and only large blocks can be what brings a machine down.
    constexpr int64_t kLooksFrom = 64 << 20;
    if (sizeBytes >= kLooksFrom && sizeBytes > availableBytes())
      return absl::ResourceExhaustedError("");
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(sizeBytes));
    return buffer.release();
  }
  void freeMemory(void *memory) override { std::free(memory); }
  absl::StatusOr<DeviceSpan> writeAhead(void *to, StagingBuffer &from) override {
    DeviceSpan span{std::make_unique<CpuEvent>(), nullptr};
    HJX_RETURN_IF_ERROR(copyOnDevice(to, from.data(), from.sizeBytes()));
    span.end = std::make_unique<CpuEvent>();
    return span;
  }
  absl::Status writeMemory(void *to, const void *from, int64_t sizeBytes) override {
    return copyOnDevice(to, from, sizeBytes);
  }
  absl::Status readMemory(void *to, const void *from, int64_t sizeBytes) override {
    return copyOnDevice(to, from, sizeBytes);
  }

private:
  absl::Status noKernels() const {
    return absl::UnimplementedError(
        absl::StrCat(name(), ": expected a program for the processor, got kernels of a cuda device\n"
                             "  help: open a cuda device, or compile for cpu"));
  }
};

} // namespace

std::unique_ptr<RuntimeDevice> makeCpuDevice(int index, int64_t limitBytes) {
  return std::make_unique<CpuDevice>(index, limitBytes);
}

} // namespace hjx
