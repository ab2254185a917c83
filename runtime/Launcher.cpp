// SPDX-License-Identifier: Apache-2.0
#include "runtime/Launcher.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace hjx {

static absl::Status notInGraph(const RuntimeDevice &device, absl::string_view expected, absl::string_view got) {
  return absl::FailedPreconditionError(absl::StrCat(device.name(), ": recording launches: expected ", expected, ", got ", got));
}

absl::StatusOr<void *> LoadedCode::constant(const void *data, int64_t sizeBytes, bool mayCopy) {
  absl::MutexLock lock(&mutex);
  auto found = constants.find(data);
  if (found != constants.end())
    return found->second.data();
  if (!mayCopy)
    return notInGraph(device, "a constant that is on the device already", "one to copy");
  TransferScope scope(TransferKind::Implicit, {{}, 0, "a constant of the program", {}});
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
  auto index = static_cast<size_t>(kernel);
  firstError = ask(kernels[index], shape, arguments);
  if (!firstError.ok() && index < code.places.size() && !code.places[index].empty())
    firstError = absl::Status(firstError.code(), absl::StrCat(code.places[index], ": ", firstError.message()));
}

absl::Status Launcher::ask(const Kernel &kernel, const LaunchShape &shape, void **arguments) {
  return recorder ? recorder->launch(kernel, shape, arguments) : code.device.launch(kernel, shape, arguments);
}

void Launcher::encode(const TensorMap &map, void *to) {
  if (firstError.ok())
    firstError = code.device.encode(map, to);
}

void Launcher::read(const void *from, int64_t sizeBytes, void *to) {
  TransferScope scope(TransferKind::Implicit, {{}, 0, "a value that decides what runs next",
                                               "compute the condition, or the start of the slice, from what the host "
                                               "knows, or allow transfers"});
  if (firstError.ok())
    firstError = recorder ? notInGraph(code.device, "launches alone", "a value for the host to read")
                          : code.device.copyToHost(to, from, sizeBytes);
  if (!firstError.ok())
    std::memset(to, 0, static_cast<size_t>(sizeBytes));
}

void *Launcher::constant(const void *data, int64_t sizeBytes) {
  if (!firstError.ok())
    return nullptr;
  absl::StatusOr<void *> copy = code.constant(data, sizeBytes, /*mayCopy=*/!recorder);
  firstError = copy.status();
  return copy.ok() ? *copy : nullptr;
}

} // namespace hjx
