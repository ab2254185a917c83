// SPDX-License-Identifier: Apache-2.0
//
// The passes on structured ops that every target shares, in the order in which the
// pipelines run them (lib/Codegen/Cpu/Pipeline.cpp, lib/Codegen/Gpu/Pipeline.cpp).

#ifndef HJX_CODEGEN_STRUCTURED_PASSES
#define HJX_CODEGEN_STRUCTURED_PASSES

include "mlir/Pass/PassBase.td"

def GeneralizeTensorOps : Pass<"hjx-generalize-tensor-ops", "mlir::func::FuncOp"> {
  let summary = "Bring structured tensor ops to linalg.generic and slices";
  let description = [{
    Named linalg ops become `linalg.generic`; `tensor.pad` becomes a fill and an
    `insert_slice`, `tensor.concat` a chain of `insert_slice`; a select between two
    tensors becomes `scf.if`. Later passes then meet one structured op and two ways
    of moving data.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"hjx-fuse-elementwise", "mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops into their consumers";
  let description = [{
    Multi-use rule: cheap ops that read one tensor are computed again at each
    consumer, everything else is computed once. Expensive ones too, where memory costs more than arithmetic: if two
    consumers walk over rows that are too long to be kept between them, or read the op's inputs anyway.
  }];
  let options = [Option<"endProducts", "end-products", "bool", "false",
                        "the kernels of matrix products run the elementwise ops behind them">,
                 Option<"keptRowBytes", "kept-row-bytes", "int64_t", "0",
                        "what kernels can keep of a row between the ops of a group; 0: all of it, and arithmetic costs more than memory">];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def SplitReductions : Pass<"hjx-split-reductions", "mlir::func::FuncOp"> {
  let summary = "Reduce large arrays to few results in two steps";
  let description = [{
    A sum over a whole array has no parallel axis. Its slowest axis is cut into a
    fixed number of parts, which threads can share, and the parts are joined.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def FuseRows : Pass<"hjx-fuse-rows", "mlir::ModuleOp"> {
  let summary = "Join ops that walk over the same rows into one kernel";
  let description = [{
    Softmax is a maximum, an exponential, a sum and a division; as one loop over
    rows each row stays in the first-level cache. Runs on buffers: the ops of a
    group become one function, buffers that only the group uses become one row
    long.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
  let options = [
    Option<"minRows", "min-rows", "int64_t", /*default=*/"8",
           "Fewer rows leave nothing to run in parallel, unless there is little to run at all">,
    Option<"minSharedElements", "min-shared-elements", "int64_t", /*default=*/"1",
           "Ops join for a buffer of this many elements; on a GPU a scalar that all parameters share "
           "is no reason">,
  ];
}

def AlignWhile : Pass<"hjx-align-while", "mlir::func::FuncOp"> {
  let summary = "Let while loops forward to their bodies what they take";
  let description = [{
    Bufferisation gives each value that a loop carries one buffer, for its condition and its body.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::tensor::TensorDialect"];
}

def Bufferize : Pass<"hjx-bufferize", "mlir::ModuleOp"> {
  let summary = "Turn tensors into buffers, results into destinations of the caller";
  let description = [{
    `@main` gets one `memref` argument per tensor argument, then one per result
    that is not the storage of an argument (`hjx.alias = i`). Values that loops
    carry and branches yield are written into one buffer each, chosen before the
    analysis, so that no allocation ever leaves the block that makes it: the
    memory plan depends on that.

    One-shot bufferisation decides what is updated in place; empty tensors are
    replaced by their final destination first, so that a result is computed where
    it is wanted.

    The module keeps what `@main` was, in `hjx.signature` (dialects/hjx/Signature.h).
  }];
  let dependentDialects = [
    "mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
    "mlir::memref::MemRefDialect", "mlir::tensor::TensorDialect"];
}

def WidenBools : Pass<"hjx-widen-bools", "mlir::ModuleOp"> {
  let summary = "Store i1 as one byte per element";
  let description = [{
    A vector of i1 is packed bits to LLVM, an array of i1 is bytes: a vector load
    of a `memref<..xi1>` would read the wrong thing without a word. After this
    pass no buffer holds i1; loads compare with zero, stores extend.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def GeneralizeCopies : Pass<"hjx-generalize-copies", "mlir::func::FuncOp"> {
  let summary = "Make copies of buffers structured ops";
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def OutlineKernels : Pass<"hjx-outline-kernels", "mlir::ModuleOp"> {
  let summary = "Make each structured op a call of a kernel";
  let description = [{
    A `linalg.generic` on buffers, or a group that `hjx-fuse-rows` made, becomes a
    call of a private function with the attribute `hjx.kernel`. Ops with the same
    structure and types share one function: a network of twelve equal layers
    compiles each kernel once. Constants go into the kernel, buffer offsets stay
    with the caller.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"hjx-plan-memory", "mlir::ModuleOp"> {
  let summary = "Give every allocation a fixed place in one arena";
  let description = [{
    Replaces each `memref.alloc` of `@main` by a `memref.view` of a new last
    argument, the arena, and writes the plan into the attribute
    `hjx.memory_plan` of `@main` (see MemoryPlan.h).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

#endif // HJX_CODEGEN_STRUCTURED_PASSES
