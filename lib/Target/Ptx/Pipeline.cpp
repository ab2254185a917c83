// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from GPU kernels to the machine stage, and the pass that prints PTX.
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Target/Passes.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_EMITPTX
#include "lib/Target/Ptx/Passes.h.inc"

namespace {
struct EmitPtx : impl::EmitPtxBase<EmitPtx> {
  using EmitPtxBase::EmitPtxBase;

  void runOnOperation() override {
    gpu::GPUModuleOp device = deviceModule(getOperation());
    if (!device) {
      getOperation().emitOpError("expected a device module @") << kDeviceModuleName;
      return signalPassFailure();
    }
    PtxOptions options;
    options.chip = chip;
    llvm::Expected<DeviceCode> code = emitPtx(device, options);
    if (!code) {
      device.emitError(llvm::toString(code.takeError()));
      return signalPassFailure();
    }
    std::error_code error;
    llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
    if (error) {
      device.emitError("cannot write '") << path << "': " << error.message();
      return signalPassFailure();
    }
    file.os() << code->ptx;
    file.keep();
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace hjx

gpu::GPUModuleOp hjx::deviceModule(ModuleOp module) {
  return module.lookupSymbol<gpu::GPUModuleOp>(kDeviceModuleName);
}

void hjx::buildToGpuMachinePipeline(OpPassManager &pm) {
  pm.addPass(createExpandMath());
  pm.addPass(createLowerLaunches()); // While kernels are what a launch may name.
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  addEmulateBf16(device);
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createLowerDeviceAbi());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertDeviceToNvvm());
  device.addPass(createConvertNVVMToLLVMPass()); // What LLVM has as assembly only: wgmma.
  device.addPass(createReconcileUnrealizedCastsPass());
  buildHostPipeline(pm);
}

void hjx::registerPtxPasses() { registerHjxPtxPasses(); }

void hjx::registerPtxDialects(DialectRegistry &registry) {
  registerTargetDialects(registry);
  registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
