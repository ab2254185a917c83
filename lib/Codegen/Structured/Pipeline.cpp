// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from tensors to buffers.
#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/Arith/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/BufferViewFlowOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToBufferPipeline(OpPassManager &pm, const BufferPipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps());
  if (options.fuse)
    pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  if (options.splitReductions) {
    pm.addNestedPass<func::FuncOp>(createSplitReductions());
    pm.addNestedPass<func::FuncOp>(createGeneralizeTensorOps()); // The fills of the last one.
  }
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createAlignWhile());
  pm.addPass(createBufferize());
  pm.addPass(createCSEPass()); // First: a copy between equal views folds away after it.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGeneralizeCopies());
  pm.addPass(createWidenBools());
}

void hjx::registerStructuredCodegenDialects(DialectRegistry &registry) {
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
