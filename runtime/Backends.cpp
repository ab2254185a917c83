// SPDX-License-Identifier: Apache-2.0
//
// One table a backend, of devices that are made at the first call that names them, and never
// destroyed: buffers may die after statics do.
#include "runtime/Backends.h"

#include "runtime/CpuDevice.h"
#include "runtime/Environment.h"
#include "runtime/cuda/CudaDevice.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"

#include <filesystem>
#include <functional>

#include <dlfcn.h>

namespace hjx {
namespace {

using DriverPtr = std::shared_ptr<const cuda::Driver>;

/// The open devices of a backend; empty slots are devices nobody has named.
class DeviceTable {
public:
  absl::StatusOr<RuntimeDevice *> open(int index,
                                       const std::function<absl::StatusOr<std::unique_ptr<RuntimeDevice>>()> &make) {
    absl::MutexLock lock(&mutex);
    if (devices.size() <= static_cast<size_t>(index))
      devices.resize(static_cast<size_t>(index) + 1);
    std::unique_ptr<RuntimeDevice> &slot = devices[static_cast<size_t>(index)];
    if (!slot) {
      HJX_ASSIGN_OR_RETURN(slot, make());
    }
    return slot.get();
  }
  /// One more than the largest index that is open.
  int end() {
    absl::MutexLock lock(&mutex);
    return static_cast<int>(devices.size());
  }

private:
  absl::Mutex mutex;
  std::vector<std::unique_ptr<RuntimeDevice>> devices ABSL_GUARDED_BY(mutex);
};

template <typename T> T &immortal() {
  static auto *object = new T;
  return *object;
}

//===----------------------------------------------------------------------===//
// cpu
//===----------------------------------------------------------------------===//

struct CpuBackend {
  DeviceTable table;
  std::atomic<int> numDevices{numCpuDevices()};
  const int64_t limit = memoryLimit().value_or(0);

  absl::StatusOr<RuntimeDevice *> open(int index) {
    return table.open(index, [&] { return makeCpuDevice(index, limit); });
  }
};
CpuBackend &cpu() { return immortal<CpuBackend>(); }

//===----------------------------------------------------------------------===//
// sim
//===----------------------------------------------------------------------===//

// libhjx-ptxsim.so, where a build or an installation has it: beside the library that this is part of,
// in ../lib or beside the program, else where the loader looks.
std::string simulatorPath() {
  constexpr const char *kName = "libhjx-ptxsim.so";
  std::error_code ignored;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored), library = program;
  if (Dl_info here; dladdr(reinterpret_cast<void *>(&simulatorPath), &here) && here.dli_fname)
    library = here.dli_fname;
  for (const std::filesystem::path &folder : {library.parent_path(), program.parent_path() / "../lib", program.parent_path()}) {
    std::filesystem::path path = folder / kName;
    if (std::filesystem::exists(path, ignored))
      return path.lexically_normal().string();
  }
  return kName;
}

struct SimBackend {
  absl::Mutex mutex;
  DeviceTable table;
  int (*configure)(unsigned capability, int numDevices) = nullptr; ///< of the library
  const absl::StatusOr<DriverPtr> driver = openDriver();
  unsigned capability ABSL_GUARDED_BY(mutex) = simulatedCapability();
  int numDevices ABSL_GUARDED_BY(mutex) = numSimulatedDevices();

  absl::StatusOr<DriverPtr> openDriver() {
    std::string path = simulatorPath();
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return absl::UnavailableError(absl::StrCat("sim: the simulated device's library is not installed: ", dlerror(),
                                                 "\n  help: build the target hjx-ptxsim, or install hjx with it"));
    configure = reinterpret_cast<decltype(configure)>(dlsym(library, "hjxPtxsimConfigure"));
    if (!configure)
      return absl::UnavailableError(absl::StrCat("sim: ", path, ": expected the library of this version of hjx, got one "
                                                 "without hjxPtxsimConfigure\n  help: build or install it again"));
    absl::StatusOr<DriverPtr> opened = cuda::Driver::open(path);
    if (!opened.ok()) // It speaks of cuda, which is not the user's word for it.
      return absl::UnavailableError(
          absl::StrCat("sim: ", absl::StripPrefix(opened.status().message(), "cuda: ")));
    return opened;
  }

  /// Gives the library what is wanted of it; only while no device is open.
  absl::Status set(unsigned wantedCapability, int wantedDevices) {
    HJX_RETURN_IF_ERROR(driver.status());
    absl::MutexLock lock(&mutex);
    if (wantedCapability == capability && wantedDevices == numDevices)
      return absl::OkStatus();
    if (table.end() > 0 || configure(wantedCapability, wantedDevices) != 0) {
      if (wantedCapability != capability)
        return absl::FailedPreconditionError(absl::StrCat(
            "sim:sm_", wantedCapability, ": expected sm_", capability, ", which the simulated devices of this "
            "process are, got sm_", wantedCapability, "\n  help: use one simulated architecture a process"));
      return absl::FailedPreconditionError(
          absl::StrCat("sim: expected ", numDevices, " devices, of which one is open, got ", wantedDevices,
                       "\n  help: set the number before a device is used"));
    }
    capability = wantedCapability;
    numDevices = wantedDevices;
    return absl::OkStatus();
  }
  absl::Status setCapability(unsigned wanted) { return set(wanted, count()); }
  absl::Status setCount(int wanted) {
    mutex.Lock();
    unsigned now = capability;
    mutex.Unlock();
    return set(now, wanted);
  }
  int count() {
    absl::MutexLock lock(&mutex);
    return numDevices;
  }
  absl::StatusOr<RuntimeDevice *> open(int index) {
    HJX_RETURN_IF_ERROR(driver.status());
    return table.open(index, [&] { return makeCudaDevice(*driver, index, absl::StrCat("sim:", index)); });
  }
};
SimBackend &sim() { return immortal<SimBackend>(); }

//===----------------------------------------------------------------------===//
// cuda
//===----------------------------------------------------------------------===//

absl::StatusOr<RuntimeDevice *> openCuda(int index) {
  const absl::StatusOr<DriverPtr> &driver = cuda::Driver::global();
  HJX_RETURN_IF_ERROR(driver.status());
  return immortal<DeviceTable>().open(index, [&] { return makeCudaDevice(*driver, index); });
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

BackendInfo describeBackend(const std::string &name) {
  BackendInfo backend{name, {}, {}};
  auto describe = [&](const absl::StatusOr<DriverPtr> &driver, int count) {
    backend.status = driver.status();
    for (int i = 0; driver.ok() && i < count; ++i) {
      backend.devices.push_back(describeCudaDevice(**driver, i));
      backend.devices.back().name = absl::StrCat(name, ":", i);
    }
  };
  if (name == "cuda")
    describe(cuda::Driver::global(), cuda::Driver::global().ok() ? (*cuda::Driver::global())->numDevices : 0);
  else if (name == "sim")
    describe(sim().driver, sim().count());
  else
    for (int i = 0; i < cpu().numDevices; ++i)
      backend.devices.push_back(describeCpuDevice(i, cpu().limit));
  return backend;
}

std::string namesOf(const std::vector<DeviceInfo> &devices) {
  return absl::StrJoin(devices, ", ", [](std::string *out, const DeviceInfo &info) { out->append(info.name); });
}

absl::Status noSuchDevice(const std::string &name, const std::vector<DeviceInfo> &known, absl::string_view help) {
  return absl::NotFoundError(
      absl::StrCat("device: expected one of ", namesOf(known), ", got '", name, "'\n  help: ", help));
}

} // namespace

std::vector<BackendInfo> listBackends() {
  return {describeBackend("cpu"), describeBackend("cuda"), describeBackend("sim")};
}

std::vector<DeviceInfo> listDevices() {
  std::vector<DeviceInfo> devices;
  for (const BackendInfo &backend : listBackends())
    devices.insert(devices.end(), backend.devices.begin(), backend.devices.end());
  return devices;
}

RuntimeDevice &cpuDevice() {
  static RuntimeDevice &device = **cpu().open(0);
  return device;
}

absl::StatusOr<RuntimeDevice *> openDevice(const std::string &name) {
  std::string backendName = name.substr(0, name.find(':'));
  absl::string_view rest = absl::string_view(name).substr(std::min(backendName.size() + 1, name.size()));
  if (backendName != "cpu" && backendName != "cuda" && backendName != "sim")
    return noSuchDevice(name, listDevices(), "hjx-run devices lists them, and why others are missing");
  if (backendName == "sim" && absl::ConsumePrefix(&rest, "sm_")) {
    unsigned capability = 0;
    while (!rest.empty() && absl::ascii_isalpha(static_cast<unsigned char>(rest.back())))
      rest.remove_suffix(1); // sm_90a is what devices of capability 9.0 run
    if (!absl::SimpleAtoi(rest, &capability) || capability < 80)
      return noSuchDevice(name, describeBackend("sim").devices, "an architecture is spelled sim:sm_80, which is the first one");
    HJX_RETURN_IF_ERROR(sim().setCapability(capability));
    return sim().open(0);
  }
  BackendInfo backend = describeBackend(backendName);
  HJX_RETURN_IF_ERROR(backend.status);
  int index = name == backendName ? 0 : -1;
  bool isNumber = !rest.empty() && rest.find_first_not_of("0123456789") == rest.npos;
  if (isNumber && !absl::SimpleAtoi(rest, &index))
    index = -1;
  if (index < 0 || index >= static_cast<int>(backend.devices.size()))
    return noSuchDevice(name, backend.devices,
                        backendName == "cuda"  ? "number devices from 0"
                        : backendName == "cpu" ? "number devices from 0; HJX_NUM_CPU_DEVICES sets how many there are"
                                               : "number devices from 0; HJX_PTXSIM_DEVICES sets how many there are");
  return backendName == "cpu" ? cpu().open(index) : backendName == "cuda" ? openCuda(index) : sim().open(index);
}

absl::Status setNumDevices(const std::string &backend, int count) {
  if (backend != "cpu" && backend != "sim")
    return absl::InvalidArgumentError(absl::StrCat("devices: expected the backend cpu or sim, got '", backend,
                                                   "'\n  help: how many others there are is up to the machine"));
  int most = backend == "cpu" ? kMostCpuDevices : kMostSimulatedDevices;
  if (count < 1 || count > most)
    return absl::InvalidArgumentError(
        absl::StrCat(backend, ": expected 1 to ", most, " devices, got ", count, "\n  help: a test rarely needs more than 8"));
  if (backend == "sim")
    return sim().setCount(count);
  if (count < cpu().table.end())
    return absl::FailedPreconditionError(absl::StrCat("cpu: expected at least ", cpu().table.end(),
                                                      " devices, of which the last is open, got ", count,
                                                      "\n  help: set the number before devices are used"));
  cpu().numDevices = count;
  return absl::OkStatus();
}

} // namespace hjx
