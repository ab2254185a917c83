// SPDX-License-Identifier: Apache-2.0
#include "runtime/Launcher.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace hjx {

absl::StatusOr<void *> LoadedCode::constant(const void *data, int64_t sizeBytes) {
  absl::MutexLock lock(&mutex);
  auto found = constants.find(data);
  if (found != constants.end())
    return found->second.data();
  HJX_ASSIGN_OR_RETURN(DeviceBuffer copy, device.allocate(sizeBytes));
  HJX_RETURN_IF_ERROR(device.copyToDevice(copy.data(), data, sizeBytes));
  return constants.emplace(data, std::move(copy)).first->second.data();
}

void Launcher::launch(int64_t kernel, const LaunchShape &shape, void **arguments) {
  if (!firstError.ok())
    return;
  absl::Span<const Kernel> kernels = code.module->kernels();
  if (kernel < 0 || kernel >= static_cast<int64_t>(kernels.size())) {
    firstError = absl::InternalError(absl::StrCat(code.device.name(), ": expected a kernel below ",
                                                  kernels.size(), ", got ", kernel));
    return;
  }
  firstError = code.device.launch(kernels[static_cast<size_t>(kernel)], shape, arguments);
}

void Launcher::read(const void *from, int64_t sizeBytes, void *to) {
  if (firstError.ok())
    firstError = code.device.copyToHost(to, from, sizeBytes);
  if (!firstError.ok())
    std::memset(to, 0, static_cast<size_t>(sizeBytes));
}

void *Launcher::constant(const void *data, int64_t sizeBytes) {
  if (!firstError.ok())
    return nullptr;
  absl::StatusOr<void *> copy = code.constant(data, sizeBytes);
  firstError = copy.status();
  return copy.ok() ? *copy : nullptr;
}

} // namespace hjx
