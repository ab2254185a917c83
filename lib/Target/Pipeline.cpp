// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from kernels to the LLVM dialect.
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Target/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void hjx::addEmulateBf16(OpPassManager &pm) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
}

void hjx::buildHostPipeline(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createLowerKernelAbi());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertKernelToLlvm());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void hjx::buildToMachinePipeline(OpPassManager &pm, const MachinePipelineOptions &options) {
  if (options.profile)
    pm.addPass(createProfileCalls());
  pm.addPass(createExpandMath());
  addEmulateBf16(pm);
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  buildHostPipeline(pm);
}

void hjx::registerTargetDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, func::FuncDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
