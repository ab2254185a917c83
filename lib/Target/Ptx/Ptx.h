// SPDX-License-Identifier: Apache-2.0
//
// From the kernel stage of a GPU program to PTX text, in this process and without any CUDA
// installation: MLIR to LLVM IR, LLVM's optimiser at O3, its NVPTX backend. ptxas or the
// driver turns the text into machine code later.
//
//   kernel stage                          machine stage
//   @main with gpu.launch_func      ->    hjx_entry(buffers, arena, launcher), for the host's JIT
//   gpu.module @device, gpu.func    ->    gpu.module @device, llvm.func   ->   emitPtx
//
// The mathematical functions are hjx's own (lib/Codegen/Math), so the bits of a result do not
// depend on an installed toolkit. Multiplication and addition are never contracted behind the
// program's back.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Target/Ptx/Passes.h.inc"

/// The device module of a program at the kernel or machine stage.
constexpr llvm::StringLiteral kDeviceModuleName = "device";

/// The function of the runtime by which host code waits for the device and reads (runtime/Abi.h).
constexpr llvm::StringLiteral kReadName = "hjx_rt_read";

/// What LLVM calls the target.
constexpr llvm::StringLiteral kPtxTriple = "nvptx64-nvidia-cuda";

/// On a kernel between hjx-lower-device-abi and convert-device-to-nvvm: the shape of its blocks.
constexpr llvm::StringLiteral kThreadsAttr = "hjx.threads";

/// On a kernel after hjx-lower-device-abi whose blocks have dynamic shared memory: bytes of it. The PTX
/// says them in a comment, for launches by others.
constexpr llvm::StringLiteral kDynamicSharedAttr = "hjx.dynamic_shared";

/// On a buffer that is an argument of a kernel: the kernel gets a tensor map of it by value, which
/// the launch makes of the buffer's sizes and strides, {box = array<i64: ...>, element = <type>}. All
/// that a kernel may do with it is an unrealized_conversion_cast to !llvm.ptr.
constexpr llvm::StringLiteral kTensorMapAttr = "hjx.tensor_map";

struct PtxOptions {
  std::string chip = "sm_80"; ///< sm_80, sm_90, ...
  /// The lowest PTX version that has all that is emitted, so that older drivers take the text.
  std::string features = "+ptx80";
  /// When set, receives the LLVM IR after optimisation.
  llvm::raw_ostream *dumpIr = nullptr;
};

struct DeviceCode {
  std::string ptx;
  /// hjx_rt_launch's kernel number is the index.
  std::vector<std::string> kernelNames;
  std::vector<std::string> kernelPlaces; ///< "model.cpp:42" of each: where the program asks for it first.
};

/// Appends the passes from the kernel stage to the machine stage of a GPU program.
void buildToGpuMachinePipeline(mlir::OpPassManager &pm);

/// The device module of `module`; null if there is none.
mlir::gpu::GPUModuleOp deviceModule(mlir::ModuleOp module);

/// Compiles a device module at the machine stage. Erase it before the host module is compiled.
///
/// Errors: the message of whatever failed: an unknown chip, a module whose target is another that
///         ends with an `a`, or code that PTX cannot express, by the name of the kernel.
llvm::Expected<DeviceCode> emitPtx(mlir::gpu::GPUModuleOp device, const PtxOptions &options = {});

/// Adds the dialects and translations that the pipeline and emitPtx need.
void registerPtxDialects(mlir::DialectRegistry &registry);
/// Registers `hjx-to-gpu-machine` and the passes.
void registerPtxPasses();

} // namespace hjx
