// SPDX-License-Identifier: Apache-2.0
//
// Small programs of the tensor stage, one for each way in which kernels differ, with random inputs and a
// comparison: what CpuKernelTest and GpuKernelTest run. They are in KernelPrograms/, a file for each kind of
// kernel, in which a line `// ----- name tolerance` begins one. The tolerance is relative, for float results;
// without it bits are equal.
#pragma once

#include "lib/Execution/DeviceExecutable.h"

#include <string>
#include <vector>

namespace hjx {

struct KernelProgram {
  std::string name;
  std::string text; // Body of the module; `#` maps included.
  double tolerance = 0; // Relative, for float results; 0: equal bits.
};

llvm::ArrayRef<KernelProgram> kernelPrograms();

/// One array per input or output.
using Bytes = std::vector<std::vector<char>>;

/// The same numbers every time.
Bytes randomInputs(const std::vector<BufferSpec> &specs);

/// Expects equal bits, or numbers within the tolerance.
void expectClose(const std::vector<BufferSpec> &specs, const Bytes &expected, const Bytes &got,
                 double tolerance);

} // namespace hjx
