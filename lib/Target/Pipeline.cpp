// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from kernels to the LLVM dialect.
#include "lib/Target/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::buildToMachinePipeline(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass([] {
    arith::ArithExpandOpsPassOptions options;
    options.includeBf16 = true;
    return options;
  }()));
  pm.addPass(createLowerKernelAbi());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertKernelToLlvm());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void hjx::registerTargetDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, func::FuncDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
