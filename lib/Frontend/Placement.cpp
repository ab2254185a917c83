// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Placement.h"

#include "lib/Frontend/Run.h"
#include "runtime/Bytes.h"
#include "runtime/Environment.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// The default
//===----------------------------------------------------------------------===//

static thread_local RuntimeDevice *scopedDevice = nullptr;

RuntimeDevice &openNamed(const std::string &name, const Call &call) {
  absl::StatusOr<RuntimeDevice *> device = openDevice(name);
  if (!device.ok())
    failWith(device.status(), call);
  return **device;
}

RuntimeDevice &processDevice(const Call &call) {
  static std::atomic<RuntimeDevice *> known = nullptr;
  if (RuntimeDevice *device = known)
    return *device;
  std::string name = defaultDeviceName();
  absl::StatusOr<RuntimeDevice *> device = openDevice(name);
  if (!device.ok())
    failWith(absl::Status(device.status().code(), absl::StrCat("HJX_DEVICE=", name, ": ", device.status().message())), call);
  return *(known = *device);
}

RuntimeDevice &defaultDevice(const Call &call) { return scopedDevice ? *scopedDevice : processDevice(call); }
RuntimeDevice *exchangeDefaultDevice(RuntimeDevice *device) { return std::exchange(scopedDevice, device); }

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// An array that is committed, in the leaf of that number.
struct Commitment {
  const Array *leaf = nullptr;
  size_t number = 0;
  RuntimeDevice *device = nullptr;
};

static int64_t bytesOf(const Array &leaf) {
  const ArrayImpl &impl = *Access::get(leaf);
  int64_t bytes = impl.storage ? impl.storage->sizeBytes() : 0;
  if (impl.parts)
    for (const Array &part : *impl.parts)
      bytes += bytesOf(part);
  return bytes;
}

static std::string madeAt(const Commitment &c) { return "made at " + placeOf(Access::get(*c.leaf)->where); }

/// "args[0], f32[2] (8 bytes),"
static std::string print(const Commitment &c, NameOf nameOf) {
  std::string text = describe(*c.leaf) + " (" + printBytes(bytesOf(*c.leaf)) + ")";
  return nameOf ? nameOf(c.number) + ", " + text + "," : text + ", " + madeAt(c) + ",";
}

/// "device_put at train.cpp:12 asks for sim:0"
static std::string print(const Demand &demand) {
  return std::string(demand.by) + " at " + placeOf(demand.where) + " asks for " + demand.device->name();
}

[[noreturn]] static void failConflict(const Commitment &a, const Commitment &b, const Call &call, NameOf nameOf) {
  // Data move to the GPU, not the model from it; else the smaller one.
  bool isFirstOnHost = a.device->kind() == DeviceKind::Cpu, isSecondOnHost = b.device->kind() == DeviceKind::Cpu;
  bool movesFirst = isFirstOnHost == isSecondOnHost ? bytesOf(*a.leaf) < bytesOf(*b.leaf) : isFirstOnHost;
  const Commitment &moved = movesFirst ? a : b, &stays = movesFirst ? b : a;
  call.fail("expected arguments that are committed to one device: " + print(a, nameOf) + " is committed to " + a.device->name() + ", " +
                print(b, nameOf) + " to " + b.device->name(),
            "move one: hjx::device_put(" + (nameOf ? nameOf(moved.number) : "x") + ", hjx::device(\"" + stays.device->name() + "\"))" +
                (nameOf ? "" : " for the x that was " + madeAt(moved)));
}

/// The device that the arrays of a leaf are committed to, or null.
static RuntimeDevice *commitmentOf(const Array &leaf) {
  const ArrayImpl *impl = Access::get(leaf).get();
  if (!impl)
    return nullptr;
  if (impl->isCommitted && impl->storage)
    return &impl->storage->device();
  if (impl->parts)
    for (const Array &part : *impl->parts)
      if (RuntimeDevice *device = commitmentOf(part))
        return device;
  return nullptr;
}

[[noreturn]] static void failConflict(const Commitment &a, const Demand &demand, const Call &call, NameOf nameOf) {
  std::string device = "hjx::device(\"" + demand.device->name() + "\")";
  call.fail("expected a program of one device: " + print(a, nameOf) + " is committed to " + a.device->name() + ", " + print(demand),
            nameOf ? "put it there before the call: hjx::device_put(" + nameOf(a.number) + ", " + device + ")"
                   : "put it there before the call: hjx::device_put(x, " + device + ") for the x that was " + madeAt(a));
}

Place choosePlace(ArrayRef<ArrayRef<Array>> lists, const Call &call, const Demand &demand, NameOf nameOf) {
  Commitment first;
  size_t number = 0;
  for (ArrayRef<Array> list : lists)
    for (const Array &leaf : list) {
      RuntimeDevice *device = commitmentOf(leaf);
      if (device && first.device && device != first.device)
        failConflict(first, {&leaf, number, device}, call, nameOf);
      if (device && !first.device)
        first = {&leaf, number, device};
      ++number;
    }
  if (demand.device && first.device && first.device != demand.device)
    failConflict(first, demand, call, nameOf);
  if (RuntimeDevice *device = demand.device ? demand.device : first.device)
    return {device, true};
  return {&defaultDevice(call), false};
}

void demandDevice(Session &session, RuntimeDevice &device, const Call &call) {
  if (session.constants == Constants::EmbedOwn)
    call.fail("expected a rule to leave open where its program runs, got a move to " + device.name(),
              "put the operands of the primitive there before the call");
  if (session.demand.device && session.demand.device != &device)
    call.fail("expected a program of one device, got a move to " + device.name() + " where " + print(session.demand),
              "make two programs of it, and move what one gives the other between their calls");
  session.demand = {&device, call.name(), call.where()};
}

void refuseDemand(Session &session, const Call &call) {
  if (Demand demand = std::exchange(session.demand, {}); demand.device)
    call.fail("expected a program for any device: " + print(demand), "leave the move to whoever runs the program");
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

void failWith(const absl::Status &status, const Call &call) {
  StringRef text(status.message().data(), status.message().size());
  text.consume_front(placeOf(call.where()) + ": ");
  text.consume_front(std::string(call.name()) + ": ");
  auto [message, help] = text.split("\n  help: ");
  call.fail(message.str(), help.str());
}

static Storage copyOf(const Memory &memory, RuntimeDevice &device, const Call &call, TransferKind kind) {
  absl::string_view file(call.where().line() ? call.where().file_name() : "");
  if (size_t slash = file.rfind('/'); slash != file.npos)
    file.remove_prefix(slash + 1);
  TransferOrigin origin{file, static_cast<int>(call.where().line()), call.name()};
  TransferScope scope(kind, origin);
  absl::StatusOr<DeviceBuffer> buffer = device.allocate(memory.sizeBytes());
  if (!buffer.ok())
    failWith(buffer.status(), call);
  if (absl::Status status = device.copyFrom(buffer->data(), memory.device(), memory.data(), memory.sizeBytes()); !status.ok())
    failWith(status, call);
  return std::make_shared<Memory>(*std::move(buffer));
}

Storage moveTo(const Storage &storage, RuntimeDevice &device, const Call &call, TransferKind kind) {
  bool isThere = &storage->device() == &device && storage->isAligned();
  return isThere ? storage : copyOf(*storage, device, call, kind);
}

Array moveTo(const Array &leaf, const Place &place, const Call &call, TransferKind kind) {
  const ArrayImpl &impl = Access::alive(leaf, call.name(), call.where());
  Aval aval = avalOf(leaf, call.name(), call.where());
  Array moved;
  if (impl.parts) {
    std::vector<Array> parts;
    for (const Array &part : *impl.parts)
      parts.push_back(moveTo(part, place, call, kind));
    moved = makeConcrete(aval, std::move(parts), call.where());
  } else {
    const Storage &storage = storageOf(leaf, call.name(), call.where());
    bool isThere = &storage->device() == place.device; // As it lies: a part of a file stays one.
    moved = makeConcrete(aval, isThere ? storage : moveTo(storage, *place.device, call, kind), call.where(), place.isCommitted);
  }
  // It is as old as what it is a copy of: jit refuses both, or none.
  Access::get(moved)->serial = impl.serial;
  Access::get(moved)->isFrozen = impl.isFrozen;
  return moved;
}

SmallVector<Storage> copyTo(const Array &leaf, RuntimeDevice &device, const Call &call) {
  SmallVector<Storage> copies;
  forEachArray(leaf, call, [&](const Array &array) {
    copies.push_back(copyOf(*storageOf(array, call.name(), call.where()), device, call, TransferKind::Implicit));
  });
  return copies;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

void forEachArray(const Array &leaf, const Call &call, llvm::function_ref<void(const Array &)> f) {
  ArrayImpl &impl = Access::alive(leaf, call.name(), call.where());
  if (impl.isArray())
    return f(leaf);
  if (!impl.parts)
    call.fail(std::string("expected a concrete value, got the ") + (impl.value ? "traced " : "abstract ") + describe(leaf),
              impl.value ? "return it from the traced function" : "pass a value that is made of numbers");
  for (const Array &part : *impl.parts)
    forEachArray(part, call, f);
}

void consume(const Array &leaf, const Call &call, llvm::function_ref<void(Storage)> take) {
  ArrayImpl &impl = *Access::get(leaf);
  if (impl.isDonated)
    call.fail((impl.isArray() ? "the array " : "the value ") + describe(leaf) + " is donated twice in one call",
              "pass a copy for one of the arguments");
  if (impl.storage)
    take(std::exchange(impl.storage, nullptr));
  if (impl.parts)
    for (const Array &part : *impl.parts)
      consume(part, call, take);
  impl.donatedAt = call.where();
  impl.isDonated = true;
}

} // namespace hjx::detail
