// SPDX-License-Identifier: Apache-2.0
//
// Opening the driver. A machine without one is an ordinary machine: the status
// says what is missing, and nothing is printed.
#include "runtime/cuda/Driver.h"

#include "runtime/Environment.h"

#include "absl/strings/str_cat.h"

#include <dlfcn.h>

namespace hjx::cuda {

constexpr int kOldestVersion = 12000;
constexpr const char *kWithoutDevice = "or compile only, or run on cpu";

static absl::Status unavailable(const std::string &path, const std::string &what,
                                const std::string &remedy) {
  return absl::UnavailableError(absl::StrCat("cuda: ", path, ": ", what, "\n  help: ", remedy));
}

static std::string printVersion(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return absl::StrCat("CUDA error ", result);
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    return name;
  return absl::StrCat(name, " (", text, ")");
}

absl::StatusOr<std::shared_ptr<const Driver>> Driver::open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unavailable(path, absl::StrCat("cannot load the driver: ", dlerror()),
                       absl::StrCat("install NVIDIA's driver, or name another library in "
                                    "HJX_CUDA_DRIVER, ",
                                    kWithoutDevice));
  auto driver = std::make_shared<Driver>();
  driver->path = path;
#define HJX_CUDA_FIND(name, parameters)                                                            \
  driver->name = reinterpret_cast<decltype(driver->name)>(dlsym(library, #name));                  \
  if (!driver->name)                                                                               \
    return unavailable(path, "expected a CUDA driver of version 12.0 or newer, got a library "     \
                             "without " #name,                                                     \
                       "update the driver, or correct HJX_CUDA_DRIVER");
  HJX_CUDA_FUNCTIONS(HJX_CUDA_FIND)
#undef HJX_CUDA_FIND

  driver->isSimulated = dlsym(library, "hjxIsSimulated") != nullptr;

  // The version first: it answers without a device, and an old driver is the likelier reason.
  int version = 0;
  if (driver->cuDriverGetVersion(&version) == CUDA_SUCCESS && version < kOldestVersion)
    return unavailable(path,
                       absl::StrCat("expected a CUDA driver of version ",
                                    printVersion(kOldestVersion), " or newer, got ",
                                    printVersion(version)),
                       absl::StrCat("update the driver, ", kWithoutDevice));
  CUresult started = driver->cuInit(0);
  if (started == CUDA_SUCCESS)
    started = driver->cuDeviceGetCount(&driver->numDevices);
  if (started == CUDA_ERROR_NO_DEVICE || (started == CUDA_SUCCESS && driver->numDevices == 0))
    return unavailable(path, "the driver sees no device",
                       absl::StrCat("see what nvidia-smi says, and whether CUDA_VISIBLE_DEVICES "
                                    "hides them, ",
                                    kWithoutDevice));
  if (started != CUDA_SUCCESS)
    return unavailable(path, absl::StrCat("the driver does not start: ", driver->describe(started)),
                       absl::StrCat("see what nvidia-smi says, ", kWithoutDevice));
  return std::shared_ptr<const Driver>(std::move(driver));
}

const absl::StatusOr<std::shared_ptr<const Driver>> &Driver::global() {
  // Leaked on purpose: devices live until the process ends.
  static auto *driver = new absl::StatusOr<std::shared_ptr<const Driver>>(open(cudaDriverPath()));
  return *driver;
}

} // namespace hjx::cuda
