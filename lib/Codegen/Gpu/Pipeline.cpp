// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from tensors to GPU kernels.
#include "lib/Codegen/Gpu/Passes.h"

#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToGpuFunctionsPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps());
  pm.addNestedPass<func::FuncOp>(createSliceInKernels());
  pm.addNestedPass<func::FuncOp>(createSelectUpdates());
  pm.addNestedPass<func::FuncOp>(createFuseElementwise({.endProducts = true, .keptRowBytes = kMaxKeptRowBytes}));
  pm.addNestedPass<func::FuncOp>(createPeelAccumulations());
  pm.addNestedPass<func::FuncOp>(createFoldAccumulations());
  pm.addNestedPass<func::FuncOp>(createNarrowTensors());
  pm.addNestedPass<func::FuncOp>(createHoistElementwise());
  pm.addNestedPass<func::FuncOp>(createComputeInPlace());
  buildToBufferPipeline(pm, {.fuse = false});
  pm.addPass(createPlaceAttention());
  pm.addPass(createOutlineLoops());
  FuseRowsOptions rows;
  rows.minRows = 64;
  rows.minSharedElements = 2;
  pm.addPass(createFuseRows(rows));
  pm.addPass(createOutlineReductions());
  pm.addPass(createOutlineKernels());
}

void hjx::buildFromGpuFunctionsPipeline(OpPassManager &pm, const GenerateGpuKernelsOptions &options) {
  pm.addPass(createGenerateGpuKernels(options));
  pm.addPass(createBatchLaunches());
  pm.addPass(createLowerAffinePass()); // From addresses that are not linear in loops.
  pm.addPass(createPlanMemory());
}

void hjx::buildToGpuKernelPipeline(OpPassManager &pm, const GenerateGpuKernelsOptions &options) {
  buildToGpuFunctionsPipeline(pm);
  buildFromGpuFunctionsPipeline(pm, options);
}

void hjx::registerGpuCodegenPasses() { registerHjxGpuCodegenPasses(); }

void hjx::registerGpuCodegenDialects(DialectRegistry &registry) {
  registerStructuredCodegenDialects(registry);
  registerAttentionBufferization(registry);
  registry.insert<gpu::GPUDialect>();
}
