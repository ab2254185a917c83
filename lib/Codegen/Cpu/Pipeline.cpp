// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from tensors to kernels.
#include "lib/Codegen/Cpu/Passes.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToKernelPipeline(OpPassManager &pm, const KernelPipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps());
  if (options.fuse && !options.scalarLoops)
    pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  if (!options.scalarLoops) {
    pm.addNestedPass<func::FuncOp>(createSplitReductions());
    pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps()); // The fills of the last one.
  }
  pm.addPass(createCSEPass());
  pm.addPass(createBufferize());
  pm.addPass(createCSEPass()); // First: a copy between equal views folds away after it.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGeneralizeCopies());
  pm.addPass(createWidenBools());
  if (options.scalarLoops) {
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    pm.addPass(createPlanMemory());
    return;
  }
  pm.addPass(createOutlineProducts());
  if (options.fuse)
    pm.addPass(createFuseRows());
  pm.addPass(createOutlineKernels());
  pm.addPass(createPlanMemory());
  pm.addPass(createGenerateKernels());
}

void hjx::registerCpuCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerBarrierBufferization(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  arith::registerBufferViewFlowOpInterfaceExternalModels(registry);
  memref::registerBufferViewFlowOpInterfaceExternalModels(registry);
}
