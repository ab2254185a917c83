// SPDX-License-Identifier: Apache-2.0
//
// The simulated device as a test sees it: through the same driver table that the
// runtime uses. Each test gets a fresh context. Where ptxas is installed every module
// must assemble, too: what we accept, NVIDIA accepts. Elsewhere a test that loaded one runs,
// and is reported as skipped.
#pragma once

#include "runtime/cuda/Driver.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace hjx::ptxsim::test {

using namespace hjx::cuda;

/// Memory of the device that holds a vector.
template <typename T> struct Buffer {
  CUdeviceptr pointer = 0;
  size_t count = 0;
};

struct Shape {
  unsigned grid = 1, block = 32, shared = 0;
};

class PtxSim : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// `.version`, `.target` and `.address_size` are put in front.
  void load(const std::string &text, const std::string &target = "sm_80");
  /// The error of a module that must not load.
  std::string loadError(const std::string &text);

  template <typename T> Buffer<T> upload(const std::vector<T> &values) {
    Buffer<T> buffer = allocate<T>(values.size());
    EXPECT_EQ(driver->cuMemcpyHtoDAsync_v2(buffer.pointer, values.data(), values.size() * sizeof(T),
                                           stream),
              CUDA_SUCCESS);
    return buffer;
  }
  template <typename T> Buffer<T> allocate(size_t count) {
    Buffer<T> buffer{0, count};
    EXPECT_EQ(driver->cuMemAlloc_v2(&buffer.pointer, count * sizeof(T)), CUDA_SUCCESS);
    return buffer;
  }
  template <typename T> std::vector<T> download(const Buffer<T> &buffer) {
    std::vector<T> values(buffer.count);
    EXPECT_EQ(driver->cuMemcpyDtoHAsync_v2(values.data(), buffer.pointer,
                                           values.size() * sizeof(T), stream),
              CUDA_SUCCESS)
        << describe();
    return values;
  }

  /// Launches and waits. "" or what the driver says went wrong.
  template <typename... Args>
  std::string launch(const std::string &kernel, Shape shape, Args... args) {
    void *list[] = {&args..., nullptr};
    return launchWith(kernel, shape, list);
  }
  template <typename T> static CUdeviceptr argument(const Buffer<T> &buffer) { return buffer.pointer; }
  std::string launchWith(const std::string &kernel, Shape shape, void **arguments);
  std::string describe();
  /// A function of the library that hjx itself does not call.
  void *find(const char *name);

private:
  void expectAssembles(const std::string &ptx, const std::string &target);
  bool isAssembled = true; ///< Every module was.

protected:
  std::shared_ptr<const Driver> driver;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
};

} // namespace hjx::ptxsim::test
