// SPDX-License-Identifier: Apache-2.0
#include "runtime/Replay.h"

#include <algorithm>

namespace hjx {

std::pair<bool, std::shared_ptr<const LaunchGraph>> ReplayedCalls::find(absl::Span<void *const> pointers) {
  absl::MutexLock lock(&mutex);
  auto found = std::find_if(calls.begin(), calls.end(), [&](const Call &call) { return call.pointers == pointers; });
  if (found == calls.end()) {
    calls.push_front({{pointers.begin(), pointers.end()}, nullptr});
    if (calls.size() > kMostCalls)
      calls.pop_back();
    return {false, nullptr};
  }
  calls.splice(calls.begin(), calls, found);
  return {isRecordable, found->graph};
}

void ReplayedCalls::keep(absl::Span<void *const> pointers, std::shared_ptr<const LaunchGraph> graph) {
  absl::MutexLock lock(&mutex);
  isRecordable &= graph != nullptr;
  for (Call &call : calls)
    if (call.pointers == pointers)
      call.graph = std::move(graph);
}

absl::Status ReplayedCalls::run(absl::Span<void *const> pointers, absl::FunctionRef<void(Launcher &)> hostCode) {
  auto [isKnown, graph] = find(pointers);
  if (isKnown && !graph) {
    absl::StatusOr<std::unique_ptr<LaunchGraph>> recorded = code.device.record([&](LaunchRecorder &recorder) {
      Launcher launcher(code, &recorder);
      hostCode(launcher);
      return launcher.status();
    });
    if (recorded.ok())
      graph = *std::move(recorded);
    keep(pointers, graph);
  }
  if (graph)
    return code.device.replay(*graph);
  Launcher launcher(code);
  hostCode(launcher);
  return launcher.status();
}

} // namespace hjx
