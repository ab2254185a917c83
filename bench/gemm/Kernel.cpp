// SPDX-License-Identifier: Apache-2.0
//
// See Kernel.h.
#include "bench/gemm/Kernel.h"

#include "lib/Target/Passes.h"
#include "mlir/Conversion/Passes.h"
#include <chrono>

using namespace mlir;
namespace hjx {

GemmKernel::GemmKernel(const GemmConfig &config, const JitOptions &options) : config(config) {
  auto start = std::chrono::steady_clock::now();
  MLIRContext *context = config.operandType.getContext();
  DialectRegistry registry;
  registerTargetDialects(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  PassManager passes(context);
  // The end of the machine pipeline; what comes before concerns programs.
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertKernelToLlvm());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(getOrCreateGemmKernel(*module, config)) || failed(passes.run(*module)))
    exit(1);
  llvm::ExitOnError exitOnError("gemm: ");
  jit = exitOnError(Jit::compile(*module, options));
  function = reinterpret_cast<Function *>(exitOnError(jit->lookup(gemmKernelName(config))));
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  milliseconds = elapsed.count();
}

void GemmKernel::operator()(GemmMatrix a, GemmMatrix b, GemmMatrix c, const ProductSizes &s,
                            bool accumulate, int64_t parts) {
  int64_t wanted = gemmWorkspaceBytes(config, s, parts);
  if (wanted > workspaceBytes) {
    workspaceBytes = wanted;
    workspace.reset(static_cast<char *>(std::aligned_alloc(64, (wanted + 63) / 64 * 64)));
  }
  function(a.data, a.batch0, a.batch1, a.row, a.col, b.data, b.batch0, b.batch1, b.row, b.col,
           c.data, c.batch0, c.batch1, c.row, c.col, s.batch0, s.batch1, s.m, s.n, s.k, accumulate,
           workspace.get(), parts);
}

} // namespace hjx
