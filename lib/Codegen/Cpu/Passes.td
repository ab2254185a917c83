// SPDX-License-Identifier: Apache-2.0
//
// The passes to kernels for a CPU; those before and between them are in
// lib/Codegen/Structured/Passes.td.

#ifndef HJX_CODEGEN_CPU_PASSES
#define HJX_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def OutlineProducts : Pass<"hjx-outline-products", "mlir::ModuleOp"> {
  let summary = "Make each matrix product a call of the generated kernel";
  let description = [{
    Any layout, any batch axes (Product.h). The call gets a buffer to work in, so
    that scratch memory is part of the memory plan.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect"];
  let options = [
    Option<"numThreads", "num-threads", "int64_t", /*default=*/"0",
           "Into how many parts a product may be split; 0: as many as the pool has threads">,
  ];
}

def JoinSweeps : Pass<"hjx-join-sweeps", "mlir::func::FuncOp"> {
  let summary = "Let ops of a group share one loop along the row";
  let description = [{
    Ops that `hjx-fuse-rows` put into one group run one after the other in each row.
    Those that walk along the row in the same steps, and hand over step by step what
    they write, get the same number in `hjx.sweep`: one loop will do all of them, and
    what one writes the next takes from a register. Ops are moved within their group
    to stand together.
  }];
}

def GenerateKernels : Pass<"hjx-generate-kernels", "mlir::ModuleOp"> {
  let summary = "Turn the structured ops in kernels into loops and vectors";
  let description = [{
    A kernel's work is cut into units (rows, or blocks of a vector loop); the
    function gets two more arguments, the first unit and the one past the last.
    Calls get the bounds and, where the work is worth other threads, the attribute
    `hjx.grain`: how many units make a chunk of a parallel loop.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

#endif // HJX_CODEGEN_CPU_PASSES
