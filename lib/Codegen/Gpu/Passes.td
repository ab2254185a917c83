// SPDX-License-Identifier: Apache-2.0
//
// The passes from buffers to the kernel stage of a GPU; those before them, and the outliner of
// kernels, are in lib/Codegen/Structured/Passes.td.

#ifndef HJX_CODEGEN_GPU_PASSES
#define HJX_CODEGEN_GPU_PASSES

include "mlir/Pass/PassBase.td"

def FoldAccumulations : Pass<"hjx-fold-accumulations", "mlir::func::FuncOp"> {
  let summary = "Let a sum start from what it is added to";
  let description = [{
    `start + reduce(x, 0)` becomes `reduce(x, start)`, if nothing else needs either of the two: a
    gradient that is added to an accumulator is never written down by itself. The sum is added
    last where a reduction is split among threads, and first where one thread sums alone.
    What is added to zeros is the sum, also within an elementwise op.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def PeelAccumulations : Pass<"hjx-peel-accumulations", "mlir::func::FuncOp"> {
  let summary = "Let the first round of a loop make the sums that later rounds add to";
  let description = [{
    A loop that adds to tensors of zeros, such as the gradients of micro-batches, has its first
    round before it: nothing is filled with zeros, and nothing reads them. The additions of zeros
    that this leaves are gone after hjx-fold-accumulations.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def ComputeInPlace : Pass<"hjx-compute-in-place", "mlir::func::FuncOp"> {
  let summary = "Let elementwise ops on long rows overwrite what they read last";
  let description = [{
    Softmax over a vocabulary scales what exp left, which nothing else reads, and whose rows no
    block can keep: it is scaled where it is. Rows that fit stay on chip without this. What
    a product made is left to its epilogue, and what is gathered from is left whole.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def HoistElementwise : Pass<"hjx-hoist-elementwise", "mlir::func::FuncOp"> {
  let summary = "Move elementwise ops up to what they read, where that needs no memory";
  let description = [{
    An optimizer is written as one pass over all parameters after the other; here the ops
    on one parameter come together, so that `hjx-fuse-rows` finds them. An op moves up
    if it is the last to read a tensor of its result's size, what is alive in between
    being no larger then, or if its results are scalars.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def NarrowTensors : Pass<"hjx-narrow-tensors", "mlir::func::FuncOp"> {
  let summary = "Store what was rounded to a narrow float as that float";
  let description = [{
    An elementwise op whose last step widens a float leaves the float as it is, and its consumers widen
    what they read: the logits of a bf16 model are never in memory as f32. Not if a consumer is a matrix
    product or carries the tensor on.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def PlaceAttention : Pass<"hjx-place-attention", "mlir::ModuleOp"> {
  let summary = "Let kernels of attention write where their results are copied to";
  let description = [{
    A result that is only copied, such as into a third of the gradient of one projection, is
    written there at once: the kernels take strides. If nothing else touches the place between the
    call and the copy, and it begins at multiples of 16 bytes.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def SelectUpdates : Pass<"hjx-select-updates", "mlir::func::FuncOp"> {
  let summary = "Make updates of one element of each row elementwise";
  let description = [{
    The gradient of a softmax's loss subtracts from one element of each row, at a label. Where the tensor
    is made elementwise, these loops become a select behind that, which compares indices: what follows
    elementwise, such as the rounding to bf16, then needs no pass of its own.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def OutlineReductions : Pass<"hjx-outline-reductions", "mlir::ModuleOp"> {
  let summary = "Make a reduction and the fill with zeros before it a call of one kernel";
  let description = [{
    Reductions that joined no group. The kernel starts from zero, and nothing fills a buffer for it.
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

def OutlineLoops : Pass<"hjx-outline-loops", "mlir::ModuleOp"> {
  let summary = "Make products, loops of one op and single stores calls of kernels";
  let description = [{
    A matrix product (Product.h) becomes a function, with the fill with zeros before it
    if there is one and the elementwise ops on its result that can be brought behind it
    (ProductEpilogue.h). A buffer that nothing else needs is made in the function: its
    elements will be registers.

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

def SliceInKernels : Pass<"hjx-slice-in-kernels", "mlir::func::FuncOp"> {
  let summary = "Read the places of slices in kernels, not on the host";
  let description = [{
    A slice whose place is an element of a tensor is a view to a processor. On a GPU the host would wait
    for the device to know the place, and the program could not be one graph: there a slice is a
    gather, whose body reads the place, and elementwise ops on it join it. An update at such a place is a
    nest of parallel loops, as a scatter is.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
}

def GenerateGpuKernels : Pass<"hjx-generate-gpu-kernels", "mlir::ModuleOp"> {
  let summary = "Turn outlined kernels into functions of a device module, calls into launches";
  let description = [{
    Each function with `hjx.kernel` becomes a `gpu.func` of `gpu.module @device` whose
    threads share the iterations of its structured ops (ThreadSchedule.h), each call a
    `gpu.launch_func`. Products of f16, bf16 and i8, and of f32 where the module has
    `hjx.matmul_precision = "tf32"`, run on tensor cores. A reduction with few results and many terms becomes two kernels,
    with a buffer of partial results between them.

    A product gets the tile, and the number of blocks among which its sums are split, that a model of the chip takes
    for best (ProductCost.h), or what `hjx.product_schedule` of its function says: "128x128", "64x64 split 2".

    The target of the device module says for what chip that is: what has instructions of its own
    there may use them.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"", "The processor, as ptxas names it">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def BatchLaunches : Pass<"hjx-batch-launches", "mlir::ModuleOp"> {
  let summary = "Make one launch of launches that do not depend on each other";
  let description = [{
    Launches that do not depend on each other, or on what is launched between them, run as one:
    of a kernel that takes all their buffers and chooses by the number of its block. Those of one
    kernel share its body, and arguments that are the same; others have bodies side by side, if
    their blocks are alike, and their buffers in shared memory lie in the same place (`hjx.turn`).
    Products join products, such as the two gradients of a layer: registers of a product
    would leave few blocks of a small kernel on a multiprocessor.

    First every launch that is no product sinks behind products, so that small sums wait for each other.
    Products that no other joined sink behind each other, and join.
    Nothing moves to where more memory would be alive than at the program's worst moment.
    Kernels that nothing launches any more are erased.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::scf::SCFDialect"];
}

#endif // HJX_CODEGEN_GPU_PASSES
