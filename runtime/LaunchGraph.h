// SPDX-License-Identifier: Apache-2.0
//
// Launches that are asked for as one. A training step is a few hundred kernels that are the same
// in each step: the host asks for each of them once, the driver keeps the list (a CUDA graph),
// and from then on a step is one call.
#pragma once

#include "runtime/Status.h"

#include <cstdint>

namespace hjx {

struct Kernel;
struct LaunchShape;

/// Where launches go while a graph is recorded: see RuntimeDevice::record.
class LaunchRecorder {
public:
  virtual ~LaunchRecorder() = default;
  virtual absl::Status launch(const Kernel &kernel, const LaunchShape &shape, void **arguments) = 0;
};

/// What was recorded, with the values of all arguments. It dies before the kernels' module; a
/// replay that is still to come when it dies is done all the same.
class LaunchGraph {
public:
  virtual ~LaunchGraph() = default;
  int64_t numLaunches() const { return launches; }

protected:
  explicit LaunchGraph(int64_t launches) : launches(launches) {}

private:
  int64_t launches;
};

} // namespace hjx
