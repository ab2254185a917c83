// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from tensors to GPU kernels.
#include "lib/Codegen/Gpu/Passes.h"

#include "lib/Codegen/Cpu/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToGpuKernelPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps());
  pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  pm.addPass(createCSEPass());
  pm.addPass(createBufferize());
  pm.addPass(createCSEPass()); // First: a copy between equal views folds away after it.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGeneralizeCopies());
  pm.addPass(createWidenBools());
  pm.addPass(createOutlineLoops());
  FuseRowsOptions rows;
  rows.minRows = 64;
  rows.minSharedElements = 2;
  pm.addPass(createFuseRows(rows));
  pm.addPass(createOutlineKernels());
  pm.addPass(createGenerateGpuKernels());
  pm.addPass(createLowerAffinePass()); // From addresses that are not linear in loops.
  pm.addPass(createPlanMemory());
}

void hjx::registerGpuCodegenPasses() {
  registerHjxGpuCodegenPasses();
  PassPipelineRegistration<>("hjx-to-gpu-kernel",
                             "Lower linalg on tensors to kernels and launches",
                             [](OpPassManager &pm) { buildToGpuKernelPipeline(pm); });
}

void hjx::registerGpuCodegenDialects(DialectRegistry &registry) {
  registerCpuCodegenDialects(registry);
  registry.insert<gpu::GPUDialect>();
}
