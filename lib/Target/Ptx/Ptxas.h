// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's assembler, where there is one. The driver assembles PTX as well, so nothing
// needs it; what it adds is a check without a GPU, and what each kernel uses.
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hjx {

/// What the assembler says of one kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0;   ///< per thread
  int64_t sharedBytes = 0; ///< per block, static
  int64_t spillBytes = 0;  ///< per thread, stores and loads of registers that were not there
};

/// Looks for ptxas: HJX_PTXAS, then PATH, then /usr/local/cuda/bin. Nothing if there is none, or if
/// HJX_PTXAS is "none".
/// Errors: HJX_PTXAS names no program.
absl::StatusOr<std::optional<std::string>> findPtxas();

/// Assembles the file `ptxPath` for `chip` into `cubinPath`.
/// Errors: INTERNAL with what ptxas says.
absl::StatusOr<std::vector<KernelResources>> assemble(const std::string &ptxas,
                                                      const std::string &chip,
                                                      const std::string &ptxPath,
                                                      const std::string &cubinPath);

/// Reads what `ptxas -v` prints.
std::vector<KernelResources> parseResources(const std::string &log);

} // namespace hjx
