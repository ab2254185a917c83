// SPDX-License-Identifier: Apache-2.0
//
// A generated matrix product as a C++ function, for the bench and the tests: the generator and the
// compiler's own way to machine code, without the passes that recognise products.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Target/Jit.h"

namespace hjx {

/// A matrix, or a batch of them, in memory. Strides count elements.
struct GemmMatrix {
  void *data;
  int64_t batch0 = 0, batch1 = 0, row, col;
};

class GemmKernel {
public:
  /// Ends the process with a message if anything fails.
  explicit GemmKernel(const GemmConfig &config, const JitOptions &options = {});
  void operator()(GemmMatrix a, GemmMatrix b, GemmMatrix c, const ProductSizes &sizes, bool accumulate,
                  int64_t parts);
  double compileMs() const { return milliseconds; }

private:
  /// The C signature of a kernel (see lib/Codegen/Cpu/Gemm.h).
  using Function = void(void *, int64_t, int64_t, int64_t, int64_t, void *, int64_t, int64_t,
                        int64_t, int64_t, void *, int64_t, int64_t, int64_t, int64_t, int64_t,
                        int64_t, int64_t, int64_t, int64_t, bool, void *, int64_t);
  GemmConfig config;
  std::unique_ptr<Jit> jit;
  Function *function;
  std::unique_ptr<char, void (*)(void *)> workspace{nullptr, free};
  int64_t workspaceBytes = 0;
  double milliseconds = 0;
};

} // namespace hjx
