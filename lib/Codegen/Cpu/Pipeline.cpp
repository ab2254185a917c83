// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from tensors to kernels.
#include "lib/Codegen/Cpu/Passes.h"

#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToKernelPipeline(OpPassManager &pm, const KernelPipelineOptions &options) {
  bool isPlain = options.scalarLoops;
  buildToBufferPipeline(pm, {.fuse = options.fuse && !isPlain, .splitReductions = !isPlain});
  if (isPlain) {
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    pm.addPass(createPlanMemory());
    return;
  }
  pm.addPass(createOutlineProducts());
  if (options.fuse) {
    pm.addPass(createFuseRows());
    pm.addNestedPass<func::FuncOp>(createJoinSweeps());
  }
  pm.addPass(createOutlineKernels());
  pm.addPass(createPlanMemory());
  pm.addPass(createGenerateKernels());
}
