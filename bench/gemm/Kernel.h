// SPDX-License-Identifier: Apache-2.0
//
// A generated matrix product as a C++ function, for the bench and the tests.
#pragma once

#include "bench/gemm/Jit.h"
#include "lib/Codegen/Cpu/Gemm.h"

namespace hjx::bench {

/// A matrix, or a batch of them, in memory. Strides count elements.
struct Matrix {
  void *data;
  int64_t batch0 = 0, batch1 = 0, row, col;
};

/// The C signature of a kernel (see lib/Codegen/Cpu/Gemm.h).
using GemmFunction = void(void *, int64_t, int64_t, int64_t, int64_t, void *, int64_t, int64_t,
                          int64_t, int64_t, void *, int64_t, int64_t, int64_t, int64_t, int64_t,
                          int64_t, int64_t, int64_t, int64_t, bool, void *, int64_t);

class GemmKernel {
public:
  GemmKernel(GemmConfig config, const JitTarget &target = {}, const JitSymbols &symbols = {});
  void operator()(Matrix a, Matrix b, Matrix c, const GemmSizes &sizes, bool accumulate,
                  int64_t parts);
  double compileMs() const { return jit->compileMs; }

private:
  GemmConfig config;
  std::unique_ptr<Jit> jit;
  GemmFunction *function;
  std::unique_ptr<char, void (*)(void *)> workspace{nullptr, free};
  int64_t workspaceBytes = 0;
};

} // namespace hjx::bench
