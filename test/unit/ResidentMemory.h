// SPDX-License-Identifier: Apache-2.0
//
// What a test's process has in memory: mapped files count where they were touched.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <unistd.h>

namespace hjx::test {

/// Pages of this process that are in memory, in bytes.
inline int64_t residentBytes() {
  long long total = 0, resident = 0;
  std::FILE *file = std::fopen("/proc/self/statm", "re");
  EXPECT_EQ(std::fscanf(file, "%lld %lld", &total, &resident), 2);
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

} // namespace hjx::test
