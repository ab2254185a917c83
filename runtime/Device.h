// SPDX-License-Identifier: Apache-2.0
//
// A place where programs run: memory, and the way into it and out of it.
//
//   HJX_ASSIGN_OR_RETURN(hjx::RuntimeDevice *device, hjx::openDevice("cuda:0"));
//   HJX_ASSIGN_OR_RETURN(hjx::DeviceBuffer buffer, device->allocate(1 << 20));
//   device->copyToDevice(buffer.data(), host, 1 << 20);
//
// Concept. A device is a queue: what is asked of it happens in the order of the
// calls, whatever threads they come from, and later than the call. Two calls wait:
// `copyToHost` and `synchronize`. So memory may be freed, or given to the next
// program, while the work that reads it is still to come, and the host runs ahead.
// Nothing moves between host and device unless one of the copies below is called; one of
// them, `copyAhead`, overtakes the work before it. The transfer guard of the thread is asked
// about each of them (runtime/TransferGuard.h).
//
// The processor is a device, too (kind Cpu), whose queue is always empty: code that
// holds its data in DeviceBuffers is the same code for both. It has no kernels: on
// it, the host code of a program does the work itself. There may be several of that
// kind, which share the processor but not what is counted of their memory. Which devices
// there are: runtime/Backends.h.
//
// Choices not taken: a stream per program (one arena per call in flight would not
// be enough, and kernels of one training step fill a device); a caching allocator
// (a program has one arena and asks once).
#pragma once

#include "runtime/LaunchGraph.h"
#include "runtime/Staging.h"
#include "runtime/Status.h"
#include "runtime/TransferGuard.h"

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hjx {

class RuntimeDevice;

enum class DeviceKind { Cpu, Cuda };

/// What can be said of a device before it is opened.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::Cpu; ///< Cuda: reached through the CUDA driver API, a simulated one, too
  std::string name;        ///< "cpu:0", "cuda:0", "sim:1": what openDevice takes
  std::string description; ///< "NVIDIA H200"
  int computeCapability = 0; ///< 10 * major + minor of a CUDA device, as in sm_90
  int64_t totalBytes = 0;
  bool loadsCubins = false; ///< beside PTX text: not a simulated device
  int numMultiprocessors = 0; ///< of a CUDA device
  int driverVersion = 0;      ///< of a CUDA device: 1000 * major + 10 * minor, as in 12040

  /// "cpu", "cuda", "sim": the name up to the colon.
  std::string backend() const { return name.substr(0, name.find(':')); }
};

struct TransferCount {
  int64_t copies = 0, bytes = 0;
};

/// What a device's memory is used for, and what was copied. A copy between two devices is counted by
/// the one that receives it; through the host, as the two copies that it is, each by its device.
struct DeviceStatistics {
  int64_t bytesInUse = 0, peakBytes = 0; ///< of DeviceBuffers
  int64_t numAllocations = 0, numLive = 0; ///< since the start of the process; now
  int64_t totalBytes = 0, freeBytes = 0;
  std::optional<int64_t> largestFreeBytes; ///< the largest block to be had, where that is known
  std::array<TransferCount, kNumTransferDirections> transfers = {};

  const TransferCount &count(TransferDirection direction) const { return transfers[static_cast<size_t>(direction)]; }
};

/// A span of a device's memory, freed with the object.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept { *this = std::move(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(owner, other.owner);
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    return *this;
  }

  /// On the device; only the processor's may be read by the host. Not null if allocated, not even
  /// when empty.
  void *data() const { return memory; }
  int64_t sizeBytes() const { return size; }
  RuntimeDevice *device() const { return owner; }

private:
  friend class RuntimeDevice;
  DeviceBuffer(RuntimeDevice *owner, void *memory, int64_t size)
      : owner(owner), memory(memory), size(size) {}

  RuntimeDevice *owner = nullptr;
  void *memory = nullptr;
  int64_t size = 0;
};

struct LaunchShape {
  uint32_t gridX = 1, gridY = 1, gridZ = 1;
  uint32_t blockX = 1, blockY = 1, blockZ = 1;
  uint32_t sharedBytes = 0; ///< dynamic, beside what the kernel declares
};

/// A matrix, or a batch of them, as the copies of sm_90 (TMA) take boxes from it. A device makes of
/// it the 128 bytes, at a multiple of 64, that a kernel gets by value.
struct TensorMap {
  /// The numbers are the driver's. Tf32 is f32 that is rounded on the way.
  enum class Element : int32_t { U8 = 0, F16 = 6, Bf16 = 9, Tf32 = 11 };
  static constexpr int64_t kSizeBytes = 128, kAlignment = 64, kMostAxes = 5;

  const void *data = nullptr; ///< on the device, at a multiple of 16
  Element element = Element::F16;
  /// Of each axis, the slowest first. The last one's elements are neighbours, and a box has 128
  /// bytes of them, which the copy swizzles; the other strides are multiples of 16 bytes.
  absl::Span<const int64_t> sizes, strideBytes, box;
};

/// A function of a DeviceModule.
struct Kernel {
  std::string name;
  void *function = nullptr; ///< the driver's
};

/// Device code, unloaded with the object: keep it until its last launch has run.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
  /// In the order of the names that it was loaded with.
  absl::Span<const Kernel> kernels() const { return functions; }

protected:
  std::vector<Kernel> functions;
};

/// Threads: all functions may be called from several threads at once.
class RuntimeDevice {
public:
  virtual ~RuntimeDevice() = default;
  RuntimeDevice(const RuntimeDevice &) = delete;
  RuntimeDevice &operator=(const RuntimeDevice &) = delete;

  const DeviceInfo &info() const { return about; }
  const std::string &name() const { return about.name; }
  DeviceKind kind() const { return about.kind; }

  /// Bytes that a program could still have.
  virtual absl::StatusOr<int64_t> freeBytes() const = 0;
  /// The largest block that could be allocated, where somebody knows.
  virtual std::optional<int64_t> largestFreeBytes() const { return std::nullopt; }
  DeviceStatistics statistics() const;

  /// Returns uninitialised memory, aligned to 64 bytes at least.
  /// Errors: RESOURCE_EXHAUSTED that says how much was wanted and is free, with the largest block;
  ///         INVALID_ARGUMENT for a negative size. Nothing has changed then.
  absl::StatusOr<DeviceBuffer> allocate(int64_t sizeBytes);
  /// The error of an allocation for `what` ("" for a mere buffer) that cannot be. Lines of `details`
  /// begin with two blanks, and come before the remedy.
  absl::Status outOfMemory(int64_t wantedBytes, absl::string_view what = "", absl::string_view details = "",
                           absl::string_view remedy = "") const;

  /// Copies from host memory, which may be changed after the call.
  /// Errors of all copies: FAILED_PRECONDITION by the transfer guard; what the device says.
  absl::Status copyToDevice(void *to, const void *from, int64_t sizeBytes);
  /// Waits for all work before it, and copies to host memory.
  absl::Status copyToHost(void *to, const void *from, int64_t sizeBytes);
  /// Copies from memory of `source`, after all its work so far, and waits until it is done. Directly
  /// where the devices can, else through the host. From or to a cpu device it is a copy from or to
  /// the host, for the guard and the counts.
  absl::Status copyFrom(void *to, RuntimeDevice &source, const void *from, int64_t sizeBytes);
  virtual absl::Status copyOnDevice(void *to, const void *from, int64_t sizeBytes) = 0;
  virtual absl::Status fill(void *to, uint8_t value, int64_t sizeBytes) = 0;

  /// Host memory for `copyAhead`; it dies before the device.
  virtual absl::StatusOr<std::unique_ptr<StagingBuffer>> allocateStaging(int64_t sizeBytes) = 0;
  /// Copies all of `from` to the device beside the work asked for so far, which must not touch
  /// `to`; work asked for later comes after the copy. Returns when it began and ended.
  absl::StatusOr<DeviceSpan> copyAhead(void *to, StagingBuffer &from);

  /// The point after all work asked for so far.
  virtual absl::StatusOr<std::unique_ptr<DeviceEvent>> mark() = 0;
  /// Waits for both points, and returns the time from one to the other.
  virtual absl::StatusOr<int64_t> nanosecondsBetween(const DeviceEvent &from, const DeviceEvent &to) = 0;

  /// Loads PTX text, or a cubin, and finds its kernels.
  ///
  /// Errors: INVALID_ARGUMENT with the device compiler's log, or for a name that the code has not;
  ///         UNIMPLEMENTED where kernels do not run.
  virtual absl::StatusOr<std::unique_ptr<DeviceModule>>
  loadModule(const std::string &code, absl::Span<const std::string> kernels) = 0;

  /// Asks for a run of a kernel; `arguments` points to the value of each, and is read in the call.
  virtual absl::Status launch(const Kernel &kernel, const LaunchShape &shape,
                              void **arguments) = 0;

  /// Calls `work`, and keeps the launches that it asks the recorder for, in that order, instead of
  /// running them. Meanwhile the calling thread may ask no device for anything else.
  /// Errors: what `work` returns; what the driver says of the launches.
  virtual absl::StatusOr<std::unique_ptr<LaunchGraph>>
  record(absl::FunctionRef<absl::Status(LaunchRecorder &)> work) = 0;
  /// Asks for all launches of a graph that this device recorded.
  virtual absl::Status replay(const LaunchGraph &graph) = 0;

  /// Writes to `to` what kernels take for `map`.
  /// Errors: UNIMPLEMENTED where there is no TMA; UNAVAILABLE with what the driver refuses.
  virtual absl::Status encode(const TensorMap &map, void *to) = 0;

  /// True when all work is done, or an error that synchronize would report has ended it.
  virtual bool isIdle() const { return true; }
  /// Waits for all work; an error of that work is reported here or by copyToHost.
  virtual absl::Status synchronize() = 0;

protected:
  explicit RuntimeDevice(DeviceInfo info) : about(std::move(info)) {}
  friend class DeviceBuffer;
  /// Errors: RESOURCE_EXHAUSTED when there is no such block, whatever the message.
  virtual absl::StatusOr<void *> allocateMemory(int64_t sizeBytes) = 0;
  virtual void freeMemory(void *memory) = 0;
  virtual absl::Status writeMemory(void *to, const void *from, int64_t sizeBytes) = 0;
  virtual absl::Status readMemory(void *to, const void *from, int64_t sizeBytes) = 0;
  virtual absl::StatusOr<DeviceSpan> writeAhead(void *to, StagingBuffer &from) = 0;
  /// As copyFrom. Errors: UNIMPLEMENTED when there is no direct way from that device.
  virtual absl::Status readPeer(void *to, RuntimeDevice &source, const void *from, int64_t sizeBytes);

  int64_t bytesAllocated() const { return bytesInUse; }

  /// When positive, no more than this is allocated.
  int64_t limitBytes = 0;

private:
  /// Asks the guard, and counts if it agrees.
  absl::Status beginTransfer(TransferDirection direction, int64_t sizeBytes);
  void count(TransferDirection direction, int64_t sizeBytes);
  void release(void *memory, int64_t sizeBytes);

  DeviceInfo about;
  std::atomic<int64_t> bytesInUse = 0, peakBytes = 0, numAllocations = 0, numLive = 0;
  struct AtomicCount {
    std::atomic<int64_t> copies = 0, bytes = 0;
  };
  std::array<AtomicCount, kNumTransferDirections> transfers;
};

} // namespace hjx
