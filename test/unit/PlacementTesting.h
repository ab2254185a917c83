// SPDX-License-Identifier: Apache-2.0
//
// What the tests of placement share: three devices of the processor and two simulated
// ones, and what a statement moved.
#pragma once

#include "test/unit/FrontendTesting.h"

namespace hjx::testing {

/// Copies that were added on a device since the object was made.
class Moved {
public:
  explicit Moved(const Device &device) : device(device), before(device.transfers()) {}
  int64_t toDevice() const { return device.transfers().host_to_device.bytes - before.host_to_device.bytes; }
  int64_t toHost() const { return device.transfers().device_to_host.bytes - before.device_to_host.bytes; }
  int64_t between() const { return device.transfers().device_to_device.bytes - before.device_to_device.bytes; }
  /// Whatever the direction is, between that device and the first of the processor.
  int64_t in() const { return toDevice() + between(); }

private:
  Device device;
  Transfers before;
};

/// A test for two devices, `a` and `b`, of a backend; computations run on `host` where nothing is said.
class Placement : public ::testing::TestWithParam<std::string> {
protected:
  Placement() {
    set_num_devices("cpu", 3);
    set_num_devices("sim", 2);
    int first = isSim() ? 0 : 1;
    host = device("cpu:0");
    a = device(GetParam() + ":" + std::to_string(first));
    b = device(GetParam() + ":" + std::to_string(first + 1));
  }
  bool isSim() const { return GetParam() == "sim"; }

  Device host, a, b;
};

} // namespace hjx::testing
