// SPDX-License-Identifier: Apache-2.0
//
// The one reader of HJX_* variables in the runtime (table in the header).
#include "runtime/Environment.h"

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

#include <algorithm>
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

static int readNumThreads() {
  const char *text = std::getenv("HJX_NUM_THREADS");
  if (!text || !*text)
    return numProcessors();
  int value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= 1)
    return value;
  int processors = numProcessors();
  std::fprintf(stderr,
               "cpu: HJX_NUM_THREADS: expected a number of at least 1, got '%s'; using %d\n", text,
               processors);
  return processors;
}

int hjx::defaultNumThreads() {
  static const int value = readNumThreads();
  return value;
}

static hjx::Backend readBackend() {
  const char *text = std::getenv("HJX_BACKEND");
  absl::string_view name = text ? text : "";
  if (name == "interpreter")
    return hjx::Backend::Interpreter;
  if (!name.empty() && name != "cpu")
    std::fprintf(stderr, "hjx: HJX_BACKEND: expected cpu or interpreter, got '%s'; using cpu\n", text);
  return hjx::Backend::Cpu;
}

hjx::Backend hjx::defaultBackend() {
  static const Backend value = readBackend();
  return value;
}

bool hjx::explainRetraces() {
  const char *text = std::getenv("HJX_EXPLAIN_RETRACES");
  return text && *text && absl::string_view(text) != "0";
}

std::string hjx::cudaDriverPath() {
  const char *text = std::getenv("HJX_CUDA_DRIVER");
  return text && *text ? text : "libcuda.so.1";
}

std::string hjx::ptxasPath() {
  const char *text = std::getenv("HJX_PTXAS");
  return text ? text : "";
}
