// SPDX-License-Identifier: Apache-2.0
//
// The passes from the kernel stage to the machine stage on a GPU, and to PTX text.

#ifndef HJX_TARGET_PTX_PASSES
#define HJX_TARGET_PTX_PASSES

include "mlir/Pass/PassBase.td"

def LowerDeviceAbi : Pass<"hjx-lower-device-abi", "mlir::gpu::GPUModuleOp"> {
  let summary = "Make kernels plain functions of pointers";
  let description = [{
    A `gpu.func` becomes a `func.func` whose buffers are bare pointers
    (lib/Target/BarePointers.h); `hjx.threads` keeps the shape of its blocks, for which
    ptxas then allots registers. Shared memory becomes globals of the device module, or
    dynamic where it is more than 48 KiB (lib/Target/Ptx/SharedMemory.h). A buffer with
    `hjx.tensor_map` becomes a pointer to the 128 bytes of its tensor map.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::func::FuncDialect"];
}

def ConvertDeviceToNvvm : Pass<"convert-device-to-nvvm", "mlir::gpu::GPUModuleOp"> {
  let summary = "Lower device functions to the LLVM and NVVM dialects";
  let description = [{
    Thread and block numbers, barriers and shuffles become NVVM ops, the rest what it
    becomes on a CPU. Upstream's conversion would call CUDA's libdevice for every
    function of the math dialect; here those that hjx-expand-math leaves are LLVM
    intrinsics that the PTX backend selects.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def LowerLaunches : Pass<"hjx-lower-launches", "mlir::ModuleOp"> {
  let summary = "Make launches calls of the runtime";
  let description = [{
    `gpu.launch_func` becomes a call of `hjx_rt_launch` (runtime/Abi.h) with the number
    of the kernel in the device module and an array of pointers to the arguments, as
    the CUDA driver takes them. A `memref.load` that @main does itself reads device
    memory: it becomes a call of `hjx_rt_read`, which waits for the device. A
    `memref.get_global` becomes a call of `hjx_rt_constant`, which gives the device's
    copy. For a buffer that the kernel takes as a tensor map (`hjx.tensor_map`), a call of
    `hjx_rt_tensor_map` writes the map. @main gets one more argument, the launcher.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def EmitPtx : Pass<"hjx-emit-ptx", "mlir::ModuleOp"> {
  let summary = "Write the PTX text of the device module";
  let description = [{
    Expects the machine stage and leaves the module as it is.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"", "The processor, as ptxas names it">,
    Option<"path", "path", "std::string", /*default=*/"\"-\"", "Where to write; '-': standard output">,
  ];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

#endif // HJX_TARGET_PTX_PASSES
