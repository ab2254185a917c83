// SPDX-License-Identifier: Apache-2.0
//
// Compiles math functions into loops over arrays and runs them in process, so that their
// errors and their speed can be measured; or compiles them to PTX. Kept apart from the
// compiler's own pipelines: the numbers are about the expansion alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hjx::test {

/// One loop: `void(const T *a, const T *b, T *c, int64_t count)`.
struct KernelSpec {
  /// IR that computes %y from %x and %w, with TYPE for their type ("%y = math.exp %x :
  /// TYPE"), or the name of a builder-level function, "erf_inv" or "logistic".
  std::string body;
  std::string element = "f32"; ///< f16, bf16, f32, f64
  int lanes = 8;               ///< 0: scalar code
  std::string cpu = "";        ///< such as "x86-64-v3"; empty for the host's own
};

class Kernel {
public:
  explicit Kernel(const KernelSpec &spec);
  ~Kernel();
  Kernel(Kernel &&);
  /// `count` must be a multiple of the lanes.
  void operator()(const void *a, const void *b, void *c, int64_t count) const {
    entry(a, b, c, count);
  }

private:
  struct Code;
  std::unique_ptr<Code> code;
  void (*entry)(const void *, const void *, void *, int64_t) = nullptr;
};

/// One PTX module with a kernel per spec, for `chip` such as "sm_80".
std::string compileToPtx(const std::vector<KernelSpec> &specs, const std::string &chip);

} // namespace hjx::test
