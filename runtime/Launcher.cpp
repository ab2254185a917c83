// SPDX-License-Identifier: Apache-2.0
#include "runtime/Launcher.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace hjx {

void Launcher::launch(int64_t kernel, const LaunchShape &shape, void **arguments) {
  if (!firstError.ok())
    return;
  if (kernel < 0 || kernel >= static_cast<int64_t>(module.kernels().size())) {
    firstError = absl::InternalError(absl::StrCat(device.name(), ": expected a kernel below ",
                                                  module.kernels().size(), ", got ", kernel));
    return;
  }
  firstError = device.launch(module.kernels()[static_cast<size_t>(kernel)], shape, arguments);
}

void Launcher::read(const void *from, int64_t sizeBytes, void *to) {
  if (firstError.ok())
    firstError = device.copyToHost(to, from, sizeBytes);
  if (!firstError.ok())
    std::memset(to, 0, static_cast<size_t>(sizeBytes));
}

} // namespace hjx
