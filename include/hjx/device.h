// SPDX-License-Identifier: Apache-2.0
//
// Where arrays live, and how they get there.
//
//   hjx::Device gpu = hjx::device("cuda:0");          // hjx::backends() says why there is none
//   Array w = hjx::device_put(weights, gpu);          // committed: computations with w run there
//   Array y = hjx::matmul(w, x);                      // x, uncommitted, moves; y is on gpu
//   std::cout << y.device().name();
//
// Concept. An array lies in the memory of one device, and it is committed to it or not:
// device_put with a device says that the user insists. A computation runs where its
// committed arguments are; without any, on the device of the innermost default_device
// scope, else on the one that HJX_DEVICE names, else on the processor. Its results lie there, and are
// committed if an argument was. Arguments without commitment follow silently, but each
// such move is counted (Device::transfers), and a transfer_guard names or forbids it.
// Arguments that are committed to different devices are an error.
//
//                                      x uncommitted         x committed to A
//   f(x)                               default device        A, committed
//   f(x, y committed to A)             A, committed          A, committed
//   f(x, y committed to B)             B, committed          error
//
// Numbers from the program and from files stay in the memory of the host until a
// computation uses them, and indexing an array there moves the part, not the array.
//
// After JAX's placement: what is different is that arrays made of numbers wait on the
// host under a GPU as the default device, and that an unused argument still has its say.
#pragma once

#include <hjx/tree.h>

#include <span>

namespace hjx {

class RuntimeDevice;
class Device;

namespace detail {
struct DeviceEntry;
HJX_API Array devicePutFlat(const Array &leaf, const Device *device, bool donate, Where where);
HJX_API Array deviceGetFlat(const Array &leaf, Where where);
} // namespace detail

/// Copies in one direction, since the start of the process.
struct CopyCount {
  int64_t copies = 0, bytes = 0;
};

/// A copy between two devices is counted by the one that receives it.
struct Transfers {
  CopyCount host_to_device, device_to_host, device_to_device;
};

/// Of a device's memory, in bytes.
struct MemoryStatistics {
  int64_t in_use = 0, peak = 0; ///< of arrays and of programs
  int64_t total = 0, free = 0;
};

/// A handle of a device: cheap to copy, equal if it is the same one.
class HJX_API Device {
public:
  /// No device.
  Device() = default;

  bool has_value() const { return entry != nullptr; }
  /// "cpu:0", "cuda:1", "sim:0": what hjx::device takes.
  const std::string &name(Where where = Where::current()) const;
  /// "cpu", "cuda" or "sim".
  std::string backend(Where where = Where::current()) const;
  /// The number in its name.
  int id(Where where = Where::current()) const;
  /// "NVIDIA H200"
  const std::string &description(Where where = Where::current()) const;
  /// Architecture of a GPU: 90 for sm_90; 0 for the processor.
  int compute_capability(Where where = Where::current()) const;

  MemoryStatistics memory(Where where = Where::current()) const;
  Transfers transfers(Where where = Where::current()) const;
  /// Waits for all work of the device.
  ///
  /// Errors: hjx::Error if that work failed.
  void synchronize(Where where = Where::current()) const;

  bool operator==(const Device &) const = default;

private:
  friend struct detail::DeviceEntry;
  explicit Device(const detail::DeviceEntry *entry) : entry(entry) {}
  const detail::DeviceEntry *entry = nullptr;
};

/// "cpu:0"; "no device".
HJX_API std::string to_string(const Device &device);
HJX_API std::ostream &operator<<(std::ostream &os, const Device &device);

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// A way to run programs, and its devices, or why it has none.
struct BackendStatus {
  std::string name;
  std::vector<Device> devices;
  std::string reason; ///< "cuda: libcuda.so.1: cannot open shared object file ..", with a remedy
  bool is_available() const { return !devices.empty(); }
};

/// All backends that hjx knows, with the reason for each that is not there.
HJX_API std::vector<BackendStatus> backends();

/// The devices of all backends that are there, or of one.
///
/// Errors: hjx::Error with the reason if that backend is not there, or for another name.
HJX_API std::vector<Device> devices();
HJX_API std::vector<Device> devices(const std::string &backend, Where where = Where::current());

/// The device of a name; "cpu", "cuda" or "sim" is the first of theirs.
///
/// Errors: hjx::Error with the names there are, or why the backend is not there.
HJX_API Device device(const std::string &name, Where where = Where::current());

/// The backend of the device that computes where nothing else is said: "cpu", however many GPUs there
/// are, unless HJX_DEVICE in the environment of the process names another device.
///
/// Errors: hjx::Error if that one is not there; nothing stands in for it.
HJX_API std::string default_backend(Where where = Where::current());

/// Sets how many devices "cpu" or "sim" has, before they are used: to try programs of several.
///
/// Errors: hjx::Error if one is in use already, or for another backend.
HJX_API void set_num_devices(const std::string &backend, int count, Where where = Where::current());

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

struct PutOptions {
  /// The arrays are consumed: their memory is given back, and using them is an error.
  bool donate = false;
};

/// Returns the tree with its arrays on `device`, committed to it.
///
/// Inside of a recorded function (jit, grad, vmap, ..) it says where the program of that function
/// runs: a program has one device.
/// Errors: hjx::Error if there is no memory; inside of a recorded function, if an argument is
///         committed to another device, or another device is asked for.
/// Cost:   one copy of each array that is elsewhere; none for one that is there.
template <typename T>
T device_put(const T &tree, const Device &device, PutOptions options = {}, Where where = Where::current()) {
  std::vector<Array> leaves = detail::leavesOf(tree);
  for (Array &leaf : leaves)
    leaf = detail::devicePutFlat(leaf, &device, options.donate, where);
  return detail::withLeaves(tree, leaves);
}

/// Returns the tree with what waits in the memory of the host on the default device. Nothing is
/// committed, and arrays of devices stay where they are.
template <typename T>
T device_put(const T &tree, Where where = Where::current()) {
  std::vector<Array> leaves = detail::leavesOf(tree);
  for (Array &leaf : leaves)
    leaf = detail::devicePutFlat(leaf, nullptr, false, where);
  return detail::withLeaves(tree, leaves);
}

/// Returns the tree with its arrays in the memory of the host, uncommitted.
template <typename T>
T device_get(const T &tree, Where where = Where::current()) {
  std::vector<Array> leaves = detail::leavesOf(tree);
  for (Array &leaf : leaves)
    leaf = detail::deviceGetFlat(leaf, where);
  return detail::withLeaves(tree, leaves);
}

/// Waits until every array of the tree is computed.
///
/// Errors: hjx::Error if the work of one failed.
template <typename T>
const T &block_until_ready(const T &tree, Where where = Where::current()) {
  for (const Array &leaf : detail::leavesOf(tree))
    leaf.block_until_ready(where);
  return tree;
}

/// Returns an array over memory that `owner` keeps, such as a mapped file: committed to the host's
/// first device, so that it never moves as a whole unless device_put says so. The memory is only
/// read.
///
/// Errors: hjx::Error if the number of bytes is another than the type's.
/// Cost:   nothing is read or copied.
HJX_API Array from_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const Shape &shape, DType type,
                          Where where = Where::current());

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

/// While the object lives, this thread computes on that device what has no committed argument.
///
///   hjx::default_device on("sim");          // a name, or a Device
///
/// It is no part of what selects a jit program: a function is traced once for all devices. Other
/// threads do not see it; HJX_DEVICE is for all of them.
///
/// Errors: hjx::Error if there is no such device; inside of a recorded function, whose program has
///         one device.
class HJX_API default_device {
public:
  explicit default_device(const Device &device, Where where = Where::current());
  explicit default_device(const std::string &name, Where where = Where::current());
  explicit default_device(const char *name, Where where = Where::current()) : default_device(std::string(name), where) {}
  ~default_device();
  default_device(const default_device &) = delete;
  default_device &operator=(const default_device &) = delete;
  static void *operator new(size_t) = delete; ///< scopes end in reverse order, on their thread

  /// Where this thread computes now.
  static Device current(Where where = Where::current());

private:
  RuntimeDevice *outer;
};

enum class Direction { HostToDevice, DeviceToHost, DeviceToDevice };

/// While the object lives, says what becomes of transfers that this thread makes.
///
///   "allow"              nothing
///   "log"                those that nobody asked for are named on standard error: bytes, from, to, line
///   "disallow"           those are errors
///   "log_explicit"       all are named, those of device_put and device_get, too
///   "disallow_explicit"  all are errors
///
/// As JAX's. Memory of cpu devices is the host's: what a cpu device reads there is no transfer.
class HJX_API transfer_guard {
public:
  explicit transfer_guard(const std::string &level, Where where = Where::current());
  transfer_guard(Direction direction, const std::string &level, Where where = Where::current());
  ~transfer_guard();
  transfer_guard(const transfer_guard &) = delete;
  transfer_guard &operator=(const transfer_guard &) = delete;
  static void *operator new(size_t) = delete;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace hjx
