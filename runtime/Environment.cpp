// SPDX-License-Identifier: Apache-2.0
//
// The one reader of HJX_* variables in the runtime (table in the header).
#include "runtime/Environment.h"

#include "runtime/Bytes.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

static int numProcessors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

static absl::string_view valueOf(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

static void complain(const char *name, absl::string_view expected, const std::string &fallback) {
  std::fprintf(stderr, "hjx: %s: expected %s, got '%s'; using %s\n", name, std::string(expected).c_str(),
               std::string(valueOf(name)).c_str(), fallback.c_str());
}

/// The number from 1 to `most` that `name` is set to, or `fallback`.
static int countOr(const char *name, int fallback, int most = INT_MAX) {
  int value = 0;
  if (valueOf(name).empty())
    return fallback;
  if (absl::SimpleAtoi(valueOf(name), &value) && value >= 1 && value <= most)
    return value;
  complain(name, most == INT_MAX ? "a number of at least 1" : absl::StrCat("a number from 1 to ", most), std::to_string(fallback));
  return fallback;
}

/// The index of the value of `name` among `choices`; 0, the default's, where it is none of them.
template <size_t n>
static size_t choice(const char *name, const absl::string_view (&choices)[n]) {
  absl::string_view value = valueOf(name);
  auto found = std::find(std::begin(choices), std::end(choices), value);
  if (found != std::end(choices))
    return found - std::begin(choices);
  if (!value.empty())
    complain(name, absl::StrJoin(choices, " or "), std::string(choices[0]));
  return 0;
}

int hjx::defaultNumThreads() {
  static const int value = countOr("HJX_NUM_THREADS", numProcessors());
  return value;
}

hjx::Backend hjx::defaultBackend() {
  static const Backend value = choice("HJX_BACKEND", {"cpu", "interpreter"}) ? Backend::Interpreter : Backend::Cpu;
  return value;
}

std::string hjx::defaultDeviceName() {
  absl::string_view name = valueOf("HJX_DEVICE");
  return name.empty() ? "cpu" : std::string(name);
}

bool hjx::explainRetraces() {
  absl::string_view value = valueOf("HJX_EXPLAIN_RETRACES");
  return !value.empty() && value != "0";
}

bool hjx::autotune() { return choice("HJX_AUTOTUNE", {"0", "1"}) == 1; }

std::string hjx::cacheFolder() {
  if (absl::string_view folder = valueOf("HJX_CACHE_DIR"); !folder.empty())
    return folder == "none" ? "" : std::string(folder);
  if (absl::string_view caches = valueOf("XDG_CACHE_HOME"); !caches.empty())
    return absl::StrCat(caches, "/hjx");
  return valueOf("HOME").empty() ? "" : absl::StrCat(valueOf("HOME"), "/.cache/hjx");
}

std::optional<int64_t> hjx::memoryLimit() {
  absl::string_view value = valueOf("HJX_MEMORY_LIMIT");
  std::optional<int64_t> bytes = parseBytes(value);
  if (!value.empty() && !bytes)
    complain("HJX_MEMORY_LIMIT", "bytes, as in 1000000, 512MiB or 8G", "no limit");
  return bytes;
}

int hjx::numCpuDevices() { return countOr("HJX_NUM_CPU_DEVICES", 1, kMostCpuDevices); }

int hjx::numSimulatedDevices() { return countOr("HJX_PTXSIM_DEVICES", 1, kMostSimulatedDevices); }

std::string hjx::cudaDriverPath() {
  absl::string_view value = valueOf("HJX_CUDA_DRIVER");
  return std::string(value.empty() ? "libcuda.so.1" : value);
}

bool hjx::cudaGraphs() { return choice("HJX_CUDA_GRAPHS", {"1", "0"}) == 0 && !cudaLaunchBlocking(); }

bool hjx::cudaLaunchBlocking() { return choice("CUDA_LAUNCH_BLOCKING", {"0", "1"}) == 1; }

std::string hjx::ptxasPath() { return std::string(valueOf("HJX_PTXAS")); }

unsigned hjx::simulatedCapability() { return choice("HJX_PTXSIM_ARCH", {"sm_80", "sm_90"}) ? 90 : 80; }

bool hjx::simulatorChecks() { return choice("HJX_PTXSIM_CHECKS", {"1", "0"}) == 0; }

int hjx::simulatorThreads() { return countOr("HJX_PTXSIM_THREADS", defaultNumThreads()); }
