// SPDX-License-Identifier: Apache-2.0
//
// The calls of one program as graphs of launches. What host code launches is a function of the
// pointers it is called with: grids are constants, scalars of a step lie in device memory, and a
// program that reads the device in the middle is not replayed at all. So, for one set of pointers:
//
//   first call     the host code runs; constants go to the device
//   second call    the host code runs again into a graph, which is launched
//   from then on   the graph is launched, and the host code does not run
//
// Pointers that change with every call are never recorded; two sets that take turns, as those of
// double-buffered batches do, have a graph each. A graph that cannot be made is no error: launches
// stay single.
//
// Choice not taken: one graph whose arguments are changed for other pointers
// (cuGraphExecKernelNodeSetParams): a call for each kernel, as many as launching them takes.
#pragma once

#include "runtime/Launcher.h"

#include <list>

namespace hjx {

/// Threads: may be used by several threads at once.
class ReplayedCalls {
public:
  explicit ReplayedCalls(LoadedCode &code) : code(code) {}

  /// Runs `hostCode`, which launches the same for the same pointers, or what it launched before.
  absl::Status run(absl::Span<void *const> pointers, absl::FunctionRef<void(Launcher &)> hostCode);

private:
  /// Sets of pointers that are remembered.
  static constexpr size_t kMostCalls = 8;

  struct Call {
    std::vector<void *> pointers;
    std::shared_ptr<const LaunchGraph> graph; ///< null after the first call
  };
  /// Whether these pointers were here before, and the graph if there is one.
  std::pair<bool, std::shared_ptr<const LaunchGraph>> find(absl::Span<void *const> pointers);
  void keep(absl::Span<void *const> pointers, std::shared_ptr<const LaunchGraph> graph);

  LoadedCode &code;
  absl::Mutex mutex;
  bool isRecordable ABSL_GUARDED_BY(mutex) = true;
  std::list<Call> calls ABSL_GUARDED_BY(mutex); ///< the last first
};

} // namespace hjx
