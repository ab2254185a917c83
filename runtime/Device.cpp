// SPDX-License-Identifier: Apache-2.0
//
// What all devices do alike: count memory and copies, ask the guard, say what is missing.
#include "runtime/Device.h"

#include "runtime/Buffer.h"
#include "runtime/Bytes.h"

#include "absl/strings/str_cat.h"

namespace hjx {

constexpr absl::string_view kHost = "host";

DeviceBuffer::~DeviceBuffer() {
  if (size > 0)
    owner->release(memory, size);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

absl::StatusOr<DeviceBuffer> RuntimeDevice::allocate(int64_t sizeBytes) {
  if (sizeBytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": expected a buffer size of at least 0, got ", sizeBytes));
  if (sizeBytes == 0)
    return DeviceBuffer(this, Buffer::borrow(nullptr, 0).data(), 0);
  // Counted first, so that two threads cannot share the last bytes below the limit.
  int64_t inUse = bytesInUse += sizeBytes;
  absl::StatusOr<void *> memory =
      limitBytes > 0 && inUse > limitBytes ? absl::ResourceExhaustedError("") : allocateMemory(sizeBytes);
  if (!memory.ok()) {
    bytesInUse -= sizeBytes;
    return absl::IsResourceExhausted(memory.status()) ? outOfMemory(sizeBytes) : memory.status();
  }
  for (int64_t peak = peakBytes; peak < inUse && !peakBytes.compare_exchange_weak(peak, inUse);) {
  }
  ++numAllocations;
  ++numLive;
  return DeviceBuffer(this, *memory, sizeBytes);
}

void RuntimeDevice::release(void *memory, int64_t sizeBytes) {
  freeMemory(memory);
  bytesInUse -= sizeBytes;
  --numLive;
}

absl::Status RuntimeDevice::outOfMemory(int64_t wantedBytes, absl::string_view what, absl::string_view details,
                                        absl::string_view remedy) const {
  std::string message = absl::StrCat(name(), ": out of memory, wanted ", printBytes(wantedBytes));
  if (!what.empty())
    absl::StrAppend(&message, " for ", what);
  if (absl::StatusOr<int64_t> free = freeBytes(); free.ok())
    absl::StrAppend(&message, ", free ", printBytes(*free), " of ", printBytes(info().totalBytes));
  if (std::optional<int64_t> largest = largestFreeBytes())
    absl::StrAppend(&message, ", largest block ", printBytes(*largest));
  absl::StrAppend(&message, "\n", details);
  if (!remedy.empty())
    absl::StrAppend(&message, "  help: ", remedy);
  else if (limitBytes > 0 || info().backend() == "sim")
    absl::StrAppend(&message, "  help: free arrays of this device, use smaller batches, or raise HJX_MEMORY_LIMIT");
  else if (kind() == DeviceKind::Cuda)
    absl::StrAppend(&message, "  help: use smaller batches, or stop what else uses the device; see nvidia-smi");
  else
    absl::StrAppend(&message, "  help: free arrays, use smaller batches, or stop other programs");
  return absl::ResourceExhaustedError(message);
}

DeviceStatistics RuntimeDevice::statistics() const {
  DeviceStatistics out;
  out.bytesInUse = bytesInUse;
  out.peakBytes = peakBytes;
  out.numAllocations = numAllocations;
  out.numLive = numLive;
  out.totalBytes = info().totalBytes;
  out.freeBytes = freeBytes().value_or(0);
  out.largestFreeBytes = largestFreeBytes();
  for (size_t i = 0; i < kNumTransferDirections; ++i)
    out.transfers[i] = {transfers[i].copies, transfers[i].bytes};
  return out;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void RuntimeDevice::count(TransferDirection direction, int64_t sizeBytes) {
  AtomicCount &at = transfers[static_cast<size_t>(direction)];
  at.copies += sizeBytes > 0;
  at.bytes += sizeBytes;
}

absl::Status RuntimeDevice::beginTransfer(TransferDirection direction, int64_t sizeBytes) {
  bool isIn = direction == TransferDirection::HostToDevice;
  HJX_RETURN_IF_ERROR(checkTransfer(direction, sizeBytes, isIn ? kHost : name(), isIn ? name() : kHost));
  count(direction, sizeBytes);
  return absl::OkStatus();
}

absl::Status RuntimeDevice::copyToDevice(void *to, const void *from, int64_t sizeBytes) {
  HJX_RETURN_IF_ERROR(beginTransfer(TransferDirection::HostToDevice, sizeBytes));
  return writeMemory(to, from, sizeBytes);
}

absl::Status RuntimeDevice::copyToHost(void *to, const void *from, int64_t sizeBytes) {
  HJX_RETURN_IF_ERROR(beginTransfer(TransferDirection::DeviceToHost, sizeBytes));
  return readMemory(to, from, sizeBytes);
}

absl::StatusOr<DeviceSpan> RuntimeDevice::copyAhead(void *to, StagingBuffer &from) {
  HJX_RETURN_IF_ERROR(beginTransfer(TransferDirection::HostToDevice, from.sizeBytes()));
  return writeAhead(to, from);
}

absl::Status RuntimeDevice::readPeer(void *, RuntimeDevice &, const void *, int64_t) {
  return absl::UnimplementedError("no direct way");
}

absl::Status RuntimeDevice::copyFrom(void *to, RuntimeDevice &source, const void *from, int64_t sizeBytes) {
  if (&source == this)
    return copyOnDevice(to, from, sizeBytes);
  bool isFromHost = source.kind() == DeviceKind::Cpu, isToHost = kind() == DeviceKind::Cpu;
  TransferDirection direction = isFromHost == isToHost ? TransferDirection::DeviceToDevice
                                : isFromHost           ? TransferDirection::HostToDevice
                                                       : TransferDirection::DeviceToHost;
  HJX_RETURN_IF_ERROR(checkTransfer(direction, sizeBytes, source.name(), name()));
  if (isFromHost) {
    count(direction, sizeBytes);
    HJX_RETURN_IF_ERROR(writeMemory(to, from, sizeBytes));
    return synchronize();
  }
  if (isToHost) {
    source.count(direction, sizeBytes);
    return source.readMemory(to, from, sizeBytes);
  }
  absl::Status direct = readPeer(to, source, from, sizeBytes);
  if (!absl::IsUnimplemented(direct)) {
    count(direction, sizeBytes);
    return direct;
  }
  source.count(TransferDirection::DeviceToHost, sizeBytes);
  count(TransferDirection::HostToDevice, sizeBytes);
  HJX_ASSIGN_OR_RETURN(Buffer between, Buffer::allocate(sizeBytes));
  HJX_RETURN_IF_ERROR(source.readMemory(between.data(), from, sizeBytes));
  HJX_RETURN_IF_ERROR(writeMemory(to, between.data(), sizeBytes));
  return synchronize();
}

} // namespace hjx
