// SPDX-License-Identifier: Apache-2.0
//
// The public face of placement: handles of devices, moves that users ask for, scopes.
#include "lib/Frontend/Placement.h"

#include <hjx/device.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"

#include <ostream>

using namespace hjx;
using namespace hjx::detail;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

/// What a handle points to: one for each name, as long as the process. The device is opened by the
/// first who needs it, so that listing devices costs none a context.
struct hjx::detail::DeviceEntry {
  DeviceInfo info;
  mutable std::atomic<RuntimeDevice *> opened = nullptr;

  explicit DeviceEntry(DeviceInfo info) : info(std::move(info)) {}

  RuntimeDevice &open(const Call &call) const {
    if (RuntimeDevice *device = opened)
      return *device;
    RuntimeDevice &device = openNamed(info.name, call);
    opened = &device;
    return device;
  }

  static Device of(const DeviceInfo &info) {
    static auto *entries = new absl::flat_hash_map<std::string, std::unique_ptr<DeviceEntry>>; // As long as the process.
    static absl::Mutex mutex;
    absl::MutexLock lock(&mutex);
    std::unique_ptr<DeviceEntry> &entry = (*entries)[info.name];
    if (!entry)
      entry = std::make_unique<DeviceEntry>(info);
    return Device(entry.get());
  }
  static Device of(RuntimeDevice &device) {
    Device handle = of(device.info());
    handle.entry->opened = &device;
    return handle;
  }
  static const DeviceEntry &checked(const Device &device, const Call &call) {
    if (!device.entry)
      call.fail("expected a device, got none (default-constructed)", "take one of hjx::devices(), or name it: hjx::device(\"cpu:0\")");
    return *device.entry;
  }
  static RuntimeDevice &open(const Device &device, const Call &call) { return checked(device, call).open(call); }
};

RuntimeDevice &detail::deviceOf(const Device &device, const Call &call) { return DeviceEntry::open(device, call); }

const std::string &Device::name(Where where) const { return DeviceEntry::checked(*this, {"name", where}).info.name; }
std::string Device::backend(Where where) const { return DeviceEntry::checked(*this, {"backend", where}).info.backend(); }
int Device::id(Where where) const { return std::stoi(name(where).substr(backend(where).size() + 1)); }
const std::string &Device::description(Where where) const {
  return DeviceEntry::checked(*this, {"description", where}).info.description;
}
int Device::compute_capability(Where where) const {
  return DeviceEntry::checked(*this, {"compute_capability", where}).info.computeCapability;
}

MemoryStatistics Device::memory(Where where) const {
  DeviceStatistics statistics = DeviceEntry::open(*this, {"memory", where}).statistics();
  return {statistics.bytesInUse, statistics.peakBytes, statistics.totalBytes, statistics.freeBytes};
}

Transfers Device::transfers(Where where) const {
  DeviceStatistics statistics = DeviceEntry::open(*this, {"transfers", where}).statistics();
  auto count = [&](TransferDirection direction) {
    return CopyCount{statistics.count(direction).copies, statistics.count(direction).bytes};
  };
  return {count(TransferDirection::HostToDevice), count(TransferDirection::DeviceToHost), count(TransferDirection::DeviceToDevice)};
}

void Device::synchronize(Where where) const {
  Call call("synchronize", where);
  if (absl::Status status = DeviceEntry::open(*this, call).synchronize(); !status.ok())
    failWith(status, call);
}

std::string hjx::to_string(const Device &device) { return device.has_value() ? device.name() : "no device"; }
std::ostream &hjx::operator<<(std::ostream &os, const Device &device) { return os << to_string(device); }

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

std::vector<BackendStatus> hjx::backends() {
  std::vector<BackendStatus> list;
  for (const BackendInfo &info : listBackends()) {
    BackendStatus status{info.name, {}, std::string(info.status.message())};
    for (const DeviceInfo &device : info.devices)
      status.devices.push_back(DeviceEntry::of(device));
    list.push_back(std::move(status));
  }
  return list;
}

std::vector<Device> hjx::devices() {
  std::vector<Device> list;
  for (const BackendStatus &backend : backends())
    list.insert(list.end(), backend.devices.begin(), backend.devices.end());
  return list;
}

std::vector<Device> hjx::devices(const std::string &name, Where where) {
  Call call("devices", where);
  std::string names;
  for (const BackendStatus &backend : backends()) {
    if (backend.name == name && !backend.is_available())
      failWith(absl::UnavailableError(backend.reason), call);
    if (backend.name == name)
      return backend.devices;
    names += (names.empty() ? "" : ", ") + backend.name;
  }
  call.fail("expected a backend, one of " + names + ", got '" + name + "'", "name a backend, not a device; hjx::device takes both");
}

Device hjx::device(const std::string &name, Where where) { return DeviceEntry::of(openNamed(name, {"device", where})); }

std::string hjx::default_backend(Where where) { return processDevice({"default_backend", where}).info().backend(); }

void hjx::set_num_devices(const std::string &backend, int count, Where where) {
  if (absl::Status status = setNumDevices(backend, count); !status.ok())
    failWith(status, {"set_num_devices", where});
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Device Array::device(Where where) const { return DeviceEntry::of(storageOf(*this, "device", where)->device()); }

bool Array::committed(Where where) const {
  (void)storageOf(*this, "committed", where);
  return impl->isCommitted;
}

bool Array::is_ready(Where where) const {
  Call call("is_ready", where);
  bool isReady = true;
  forEachArray(*this, call, [&](const Array &array) { isReady &= storageOf(array, call.name(), where)->device().isIdle(); });
  return isReady;
}

const Array &Array::block_until_ready(Where where) const {
  Call call("block_until_ready", where);
  forEachArray(*this, call, [&](const Array &array) {
    if (absl::Status status = storageOf(array, call.name(), where)->device().synchronize(); !status.ok())
      failWith(status, call);
  });
  return *this;
}

Array hjx::from_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const Shape &shape, DType type,
                       Where where) {
  Call call("from_memory", where);
  checkShape(shape, call.name(), where);
  int64_t expected = shape.size() * item_size(type);
  if (static_cast<int64_t>(bytes.size()) != expected)
    call.fail("expected " + std::to_string(expected) + " bytes for " + describe(type, shape) + ", got " + std::to_string(bytes.size()),
              "pass the storage of every element, row-major");
  if (!owner)
    call.fail("expected an owner of the memory, got null", "pass what keeps it alive, or copy it: hjx::from_bytes");
  Buffer borrowed = Buffer::borrow(const_cast<std::byte *>(bytes.data()), expected);
  return makeConcrete({type, shape}, std::make_shared<Memory>(std::move(borrowed), std::move(owner)), where, /*isCommitted=*/true);
}

/// Something of a leaf lies in the memory of the host and may be moved from there.
static bool waitsOnHost(const Array &leaf) {
  const ArrayImpl &impl = *Access::get(leaf);
  if (impl.parts)
    return llvm::any_of(*impl.parts, waitsOnHost);
  return !impl.isCommitted && impl.storage && impl.storage->isOnHost();
}

Array detail::devicePutFlat(const Array &leaf, const Device *device, bool donate, Where where) {
  Call call("device_put", where);
  if (!leaf.has_value())
    return leaf;
  const ArrayImpl &impl = Access::alive(leaf, call.name(), where);
  if (impl.isRef)
    call.fail("expected values, got the ref " + describe(leaf) + ", which stays where it was made", "make one there: hjx::new_ref of a value that was put there");
  RuntimeDevice *target = device ? &DeviceEntry::open(*device, call) : nullptr;
  if (target && Frame::current())
    demandDevice(Frame::current()->session, *target, call);
  if (impl.value && donate)
    call.fail("expected a concrete array to donate, got the traced " + describe(leaf), "donate arguments of jit: {.donate = {0}}");
  if (impl.value) // It is where its program runs.
    return leaf;
  if (!target) {
    RuntimeDevice &there = defaultDevice(call);
    return waitsOnHost(leaf) && there.kind() != DeviceKind::Cpu ? moveTo(leaf, {&there, false}, call, TransferKind::Explicit) : leaf;
  }
  Array moved = moveTo(leaf, {target, true}, call, TransferKind::Explicit);
  if (donate)
    consume(leaf, call, [](Storage) {});
  return moved;
}

Array detail::deviceGetFlat(const Array &leaf, Where where) {
  Call call("device_get", where);
  if (!leaf.has_value())
    return leaf;
  if (Access::alive(leaf, call.name(), where).isRef)
    call.fail("expected values, got the ref " + describe(leaf), "get what it holds: ref.get()");
  return moveTo(leaf, {&cpuDevice(), false}, call, TransferKind::Explicit);
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

static RuntimeDevice *enterScope(RuntimeDevice &device, const Call &call) {
  if (Frame::current())
    call.fail("expected a scope around the call of a recorded function, got one inside of it, where it would change nothing",
              "open it around the call, or move an argument there: a program runs on one device");
  return exchangeDefaultDevice(&device);
}

default_device::default_device(const Device &device, Where where)
    : outer(enterScope(deviceOf(device, {"default_device", where}), {"default_device", where})) {}
default_device::default_device(const std::string &name, Where where)
    : outer(enterScope(openNamed(name, {"default_device", where}), {"default_device", where})) {}
default_device::~default_device() { exchangeDefaultDevice(outer); }
Device default_device::current(Where where) { return DeviceEntry::of(defaultDevice({"default_device", where})); }

struct transfer_guard::Impl {
  TransferGuard guard;
  template <typename... Args>
  explicit Impl(Args... args) : guard(args...) {}
};

static TransferLevel levelOf(const std::string &text, Where where) {
  absl::StatusOr<TransferLevel> level = parseTransferLevel(text);
  if (!level.ok())
    failWith(absl::InvalidArgumentError(absl::StripPrefix(level.status().message(), "transfer guard: ")), {"transfer_guard", where});
  return *level;
}

transfer_guard::transfer_guard(const std::string &level, Where where) : impl(std::make_unique<Impl>(levelOf(level, where))) {}
transfer_guard::transfer_guard(Direction direction, const std::string &level, Where where)
    : impl(std::make_unique<Impl>(static_cast<TransferDirection>(direction), levelOf(level, where))) {}
transfer_guard::~transfer_guard() = default;
