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

void hjx::buildToMachinePipeline(OpPassManager &pm, const MachinePipelineOptions &options) {
  if (options.profile)
    pm.addPass(createProfileCalls());
  pm.addPass(createExpandMath());
  // Arithmetic on bfloat16 is arithmetic in single precision, rounded by integer code: the
  // processor's own conversion flushes subnormals, and older ones have none.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
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
