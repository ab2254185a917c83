// SPDX-License-Identifier: Apache-2.0
//
// See Kernel.h.
#include "bench/gemm/Kernel.h"

using namespace mlir;
namespace hjx::bench {

GemmKernel::GemmKernel(GemmConfig config, const JitTarget &target, const JitSymbols &symbols)
    : config(config) {
  auto loc = UnknownLoc::get(config.operandType.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  if (failed(getOrCreateGemmKernel(*module, config)) || failed(lowerToLlvm(*module)))
    exit(1);
  jit = std::make_unique<Jit>(Jit::compile(*module, target, symbols));
  function = jit->lookup<GemmFunction>(gemmKernelName(config));
}

void GemmKernel::operator()(Matrix a, Matrix b, Matrix c, const GemmSizes &s, bool accumulate,
                            int64_t parts) {
  int64_t wanted = gemmWorkspaceBytes(config, s, parts);
  if (wanted > workspaceBytes) {
    workspaceBytes = wanted;
    workspace.reset(static_cast<char *>(std::aligned_alloc(64, (wanted + 63) / 64 * 64)));
  }
  function(a.data, a.batch0, a.batch1, a.row, a.col, b.data, b.batch0, b.batch1, b.row, b.col,
           c.data, c.batch0, c.batch1, c.row, c.col, s.batch0, s.batch1, s.m, s.n, s.k, accumulate,
           workspace.get(), parts);
}

} // namespace hjx::bench
