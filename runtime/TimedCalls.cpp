// SPDX-License-Identifier: Apache-2.0
#include "runtime/TimedCalls.h"

#include "runtime/Abi.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace hjx {

absl::StatusOr<DeviceClock> DeviceClock::start(RuntimeDevice &device) {
  DeviceClock clock;
  HJX_RETURN_IF_ERROR(device.synchronize());
  clock.hostNs = hjx_rt_now_ns();
  HJX_ASSIGN_OR_RETURN(clock.event, device.mark());
  return clock;
}

absl::StatusOr<int64_t> DeviceClock::at(RuntimeDevice &device, const DeviceEvent &other) const {
  HJX_ASSIGN_OR_RETURN(int64_t since, device.nanosecondsBetween(*event, other));
  return hostNs + since;
}

class TimedCalls::TimedLauncher : public Launcher {
public:
  explicit TimedLauncher(TimedCalls &calls) : Launcher(calls.code), calls(calls) {}

protected:
  absl::Status ask(const Kernel &kernel, const LaunchShape &shape, void **arguments) override
      ABSL_NO_THREAD_SAFETY_ANALYSIS { // `run` holds the mutex.
    HJX_RETURN_IF_ERROR(Launcher::ask(kernel, shape, arguments));
    HJX_ASSIGN_OR_RETURN(std::unique_ptr<DeviceEvent> end, calls.code.device.mark());
    calls.launches.emplace_back(kernel.name, std::move(end));
    return absl::OkStatus();
  }

private:
  TimedCalls &calls;
};

absl::Status TimedCalls::run(absl::FunctionRef<void(Launcher &)> hostCode) {
  absl::MutexLock lock(&mutex);
  HJX_RETURN_IF_ERROR(collect());
  HJX_ASSIGN_OR_RETURN(clock, DeviceClock::start(code.device));
  TimedLauncher launcher(*this);
  hostCode(launcher);
  return launcher.status();
}

absl::Status TimedCalls::collect() {
  const DeviceEvent *begin = clock.event.get();
  for (auto &[name, end] : launches) {
    HJX_ASSIGN_OR_RETURN(int64_t timeNs, code.device.nanosecondsBetween(*begin, *end));
    KernelTime &kernel = kernels[name];
    kernel.name = name;
    kernel.timeNs += timeNs;
    ++kernel.numCalls;
    if (trace) {
      HJX_ASSIGN_OR_RETURN(int64_t beginNs, clock.at(code.device, *begin));
      trace->add(absl::StrCat(code.device.name(), " kernels"), name, beginNs, timeNs);
    }
    begin = end.get();
  }
  launches.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KernelTime>> TimedCalls::times() {
  absl::MutexLock lock(&mutex);
  HJX_RETURN_IF_ERROR(collect());
  std::vector<KernelTime> times;
  for (auto &[name, kernel] : kernels)
    times.push_back(kernel);
  std::stable_sort(times.begin(), times.end(), [](const KernelTime &a, const KernelTime &b) { return a.timeNs > b.timeNs; });
  return times;
}

} // namespace hjx
