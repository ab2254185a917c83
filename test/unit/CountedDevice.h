// SPDX-License-Identifier: Apache-2.0
//
// A simulated device that counts what it is asked for: launches, and replays of recorded ones.
#pragma once

#include "runtime/cuda/CudaDevice.h"

#include <map>
#include <string>

namespace hjx::test {

inline std::map<std::string, int> asked;
inline cuda::Driver simulatedDriver;

inline std::unique_ptr<RuntimeDevice> openCounted() {
  simulatedDriver = **cuda::Driver::global();
  auto counted = std::make_shared<cuda::Driver>(simulatedDriver);
  counted->cuLaunchKernel = [](auto... arguments) {
    ++asked["launch"];
    return simulatedDriver.cuLaunchKernel(arguments...);
  };
  counted->cuGraphLaunch = [](auto... arguments) {
    ++asked["replay"];
    return simulatedDriver.cuGraphLaunch(arguments...);
  };
  asked.clear();
  return *makeCudaDevice(counted, 0);
}

} // namespace hjx::test
