// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's assembler says of the kernels of a test.
#pragma once

#include "lib/Target/Ptx/Ptxas.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace hjx::test {

/// The assembler; skips the test, by returning nothing, where there is none.
inline std::optional<std::string> assembler() {
  auto ptxas = findPtxas();
  EXPECT_TRUE(ptxas.ok()) << ptxas.status();
  return ptxas.ok() ? *ptxas : std::nullopt;
}

/// Fails unless `ptxas` takes `ptx` for `chip` and finds registers for all of it.
inline void expectNoSpills(const std::string &ptxas, const std::string &ptx, const std::string &chip) {
  TemporaryFolder folder;
  std::string path = folder.path("device.ptx");
  std::ofstream(path) << ptx;
  auto resources = assemble(ptxas, chip, path, folder.path("device.cubin"));
  ASSERT_TRUE(resources.ok()) << resources.status();
  for (const KernelResources &kernel : *resources)
    EXPECT_EQ(kernel.spillBytes, 0) << kernel.name << " on " << chip;
}

} // namespace hjx::test
