// SPDX-License-Identifier: Apache-2.0
//
// The passes from the kernel stage to the machine stage (LLVM dialect) on a CPU.

#ifndef HJX_TARGET_PASSES
#define HJX_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def ProfileCalls : Pass<"hjx-profile-calls", "mlir::ModuleOp"> {
  let summary = "Time each call of @main, by callee";
  let description = [{
    Exports the table `hjx_profile`: per callee the nanoseconds and the number of
    calls. The attribute `hjx.profile_names` of the module names the callees.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def LowerKernelAbi : Pass<"hjx-lower-kernel-abi", "mlir::ModuleOp"> {
  let summary = "Pass buffers as bare pointers";
  let description = [{
    All sizes and strides are static, so a buffer is a pointer: a call passes the
    address of its first element (the offset is added by the caller), a function
    rebuilds the descriptor from constants. `@main` becomes the entry of the
    executable, `@hjx_entry(buffers, arena)` (runtime/Abi.h).
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def ConvertKernelToLlvm : Pass<"convert-kernel-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower functions, memory, vectors and arithmetic to the LLVM dialect";
  let description = [{
    One conversion with the patterns of all dialects of the kernel stage, where
    upstream has a pass for each.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

#endif // HJX_TARGET_PASSES
