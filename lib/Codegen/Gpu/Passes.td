// SPDX-License-Identifier: Apache-2.0
//
// The passes from buffers to the kernel stage of a GPU; those before them, and the outliner of
// kernels, are in lib/Codegen/Structured/Passes.td.

#ifndef HJX_CODEGEN_GPU_PASSES
#define HJX_CODEGEN_GPU_PASSES

include "mlir/Pass/PassBase.td"

def OutlineLoops : Pass<"hjx-outline-loops", "mlir::ModuleOp"> {
  let summary = "Make products, loops of one op and single stores calls of kernels";
  let description = [{
    A matrix product (Product.h) becomes a function, with the fill with zeros before it
    if there is one: the same as for hjx-outline-kernels, but before ops are grouped.

    The loops of a scatter or a running sum read and write elements: on a GPU they are
    one kernel. The lowering marks such loops with `hjx.nest`; those whose rounds touch
    different elements also with `hjx.parallel`, and with `hjx.parallel_rows` nests in
    which the same holds for the elements that the structured ops inside walk over. The
    kernel has a thread for each combination of these; it runs the other loops in order,
    so that the result needs no atomics and is always the same.

    A store outside of such loops becomes a kernel of one thread.
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

def GenerateGpuKernels : Pass<"hjx-generate-gpu-kernels", "mlir::ModuleOp"> {
  let summary = "Turn outlined kernels into functions of a device module, calls into launches";
  let description = [{
    Each function with `hjx.kernel` becomes a `gpu.func` of `gpu.module @device` whose
    threads share the iterations of its structured ops (ThreadSchedule.h), each call a
    `gpu.launch_func`. Products of f16, bf16 and i8, and of f32 where the module has
    `hjx.matmul_precision = "tf32"`, run on tensor cores. A reduction with few results and many terms becomes two kernels,
    with a buffer of partial results between them.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

#endif // HJX_CODEGEN_GPU_PASSES
