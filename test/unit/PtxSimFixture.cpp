// SPDX-License-Identifier: Apache-2.0
//
// The fixture: starts the simulated device, loads, assembles, launches.
#include "test/unit/PtxSimTest.h"

#include "runtime/Environment.h"

#include "absl/strings/str_cat.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace hjx::ptxsim::test {

void PtxSim::SetUp() {
  absl::StatusOr<std::shared_ptr<const Driver>> opened = Driver::open(HJX_PTXSIM_LIBRARY);
  ASSERT_TRUE(opened.ok()) << opened.status();
  driver = *opened;
  ASSERT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
}

// The last release resets the device, faults included.
void PtxSim::TearDown() {
  driver->cuStreamDestroy_v2(stream);
  driver->cuDevicePrimaryCtxRelease_v2(0);
  if (!isAssembled && !HasFailure())
    GTEST_SKIP() << "there is no ptxas: the modules ran as expected, but were not assembled";
}

static std::string withHeader(const std::string &text, const std::string &target) {
  return absl::StrCat(".version 8.0\n.target ", target, "\n.address_size 64\n", text);
}

void PtxSim::expectAssembles(const std::string &ptx, const std::string &target) {
  static const std::string ptxas = ptxasPath().empty() ? HJX_PTXAS : ptxasPath();
  static const bool hasPtxas = std::system((ptxas + " --version >/dev/null 2>&1").c_str()) == 0;
  isAssembled &= hasPtxas;
  if (!hasPtxas)
    return;
  std::string path = absl::StrCat(testing::TempDir(), "ptxsim-", getpid(), ".ptx");
  std::ofstream(path) << ptx;
  std::string command = absl::StrCat(ptxas, " -arch=", target, " ", path, " -o /dev/null 2>", path,
                                     ".log");
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(path + ".log");
    ADD_FAILURE() << "ptxas refuses the module:\n"
                  << std::string(std::istreambuf_iterator<char>(log), {}) << ptx;
  }
  std::remove(path.c_str());
  std::remove((path + ".log").c_str());
}

void PtxSim::load(const std::string &text, const std::string &target) {
  std::string ptx = withHeader(text, target);
  expectAssembles(ptx, target);
  ASSERT_EQ(driver->cuModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr), CUDA_SUCCESS)
      << driver->describe(218) << "\n" << ptx;
}

std::string PtxSim::loadError(const std::string &text) {
  char log[1024] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CUmodule refused = nullptr;
  EXPECT_NE(driver->cuModuleLoadDataEx(&refused, withHeader(text, "sm_80").c_str(), 2, options, values),
            CUDA_SUCCESS);
  return log;
}

std::string PtxSim::launchWith(const std::string &kernel, Shape shape, void **arguments) {
  CUfunction function = nullptr;
  if (CUresult result = driver->cuModuleGetFunction(&function, module, kernel.c_str()))
    return driver->describe(result);
  if (CUresult result = driver->cuLaunchKernel(function, shape.grid, 1, 1, shape.block, 1, 1,
                                               shape.shared, stream, arguments, nullptr))
    return driver->describe(result);
  return describe();
}

void *PtxSim::find(const char *name) {
  void *library = dlopen(HJX_PTXSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name) : nullptr;
  EXPECT_NE(symbol, nullptr) << name;
  return symbol;
}

std::string PtxSim::describe() {
  CUresult result = driver->cuStreamSynchronize(stream);
  return result == CUDA_SUCCESS ? "" : driver->describe(result);
}

} // namespace hjx::ptxsim::test
