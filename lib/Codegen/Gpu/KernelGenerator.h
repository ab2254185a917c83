// SPDX-License-Identifier: Apache-2.0
//
// Kernels to threads, one function at a time: chooses the shape of the grid, emits the structured
// ops, and turns calls into launches. See ThreadSchedule.h for how one op is spread.
#pragma once

#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/KernelModule.h"
#include "lib/Codegen/Gpu/OutlinedProduct.h"
#include "lib/Codegen/Gpu/ThreadNestEmitter.h"
#include "lib/Codegen/Structured/FlatBuffers.h"
#include "lib/Codegen/Structured/RowLoops.h"

namespace hjx {

/// Makes the launches that stand for the calls of one function.
class KernelGenerator {
  using LogicalResult = mlir::LogicalResult;
  using GenericOp = mlir::linalg::GenericOp;
  using MemRefType = mlir::MemRefType;
  using Type = mlir::Type;
  using Value = mlir::Value;

public:
  KernelGenerator(KernelModule &device, mlir::func::FuncOp function,
                  llvm::ArrayRef<mlir::func::CallOp> calls, MatmulPrecision precision)
      : device(device), function(function), calls(calls), precision(precision),
        facts(bufferFacts(function, calls)) {}

  LogicalResult generate();

private:
  static constexpr int64_t kBlockSize = 256;

  // One op (GenerateOpKernels.cpp).
  LogicalResult generateSingle(GenericOp op);
  /// An emitter of the op's kernel, told where reductions start.
  ThreadNestEmitter emitterFor(KernelBuilder &k, const LoopNest &nest, const ThreadSchedule &schedule,
                               const mlir::IRMapping &buffers) const;
  /// Addresses that are not linear in the loops: slow and plain.
  LogicalResult generateInOneThread(GenericOp op);
  void generateUnits(const LoopNest &nest, const ThreadSchedule &schedule);
  void generateReduction(const LoopNest &nest, const ThreadSchedule &schedule);
  /// The second kernel of a split reduction: takes the partial results, then what the first takes.
  Launch generateJoin(const LoopNest &nest, const ThreadSchedule &schedule, int64_t numSplits,
                      llvm::ArrayRef<MemRefType> partialTypes);
  LogicalResult generateProduct(const OutlinedProduct &outlined);

  // Attention (GenerateAttention.cpp).
  LogicalResult generateAttention();
  /// Launches the kernel of `part` for `call`.
  void launchAttention(mlir::func::CallOp call, AttentionPart part);

  // Loops around ops, and single stores (GenerateLoopKernels.cpp).
  /// Each thread takes its round of the parallel loops, and its element of the structured ops, and
  /// runs the other loops for these.
  LogicalResult generateLoops();
  /// Buffers made in the loops become a thread's own.
  void placeBuffers(KernelBuilder &k, mlir::scf::ForOp loops, llvm::SmallVector<LoopNest> &nests,
                    bool ofRows);
  /// The op of `nest` where it stands, for row `row` of it or as a whole.
  void emitInLoops(KernelBuilder &k, LoopNest &nest, Value row);
  LogicalResult generateStore();

  // Groups (GenerateRowKernels.cpp).
  LogicalResult generateGroup(llvm::ArrayRef<GenericOp> ops, int64_t numRows);
  void generateThreadRows(llvm::SmallVector<LoopNest> &nests);
  void generateBlockRows(llvm::SmallVector<LoopNest> &nests, int64_t rowSize);
  /// Leaves buffers whole, in the arena, that do not fit into shared memory together.
  void moveLargeRowsToArena(llvm::MutableArrayRef<LoopNest> nests);
  /// Gives buffers that live within a row their place, which `make` makes.
  void keepRows(llvm::SmallVector<LoopNest> &nests, llvm::function_ref<Value(Type, int64_t)> make);

  // What these share.
  /// The induction variables of the row loops of `nest` in row `row`.
  static llvm::SmallVector<Value> digitsOf(KernelBuilder &k, const LoopNest &nest, Value row);
  /// A builder of the kernel, at the end of what came with its body.
  KernelBuilder begin(const Launch &launch);
  std::function<int64_t(Value)> alignments();
  /// One more argument of the kernel: a buffer of the arena that only it uses.
  Value addScratch(MemRefType type);
  /// Launches the kernel instead of `call`; returns the scratch buffers made for that.
  llvm::SmallVector<Value> launchWithScratch(mlir::ImplicitLocOpBuilder &b, const Launch &launch,
                                             mlir::func::CallOp call);
  void launchAll(const Launch &launch);

  KernelModule &device;
  mlir::func::FuncOp function;
  llvm::ArrayRef<mlir::func::CallOp> calls;
  MatmulPrecision precision;
  llvm::SmallVector<BufferFacts> facts;
  bool isFromZero = false; // The reduction of a function {fill with zero, reduction}.
  mlir::gpu::GPUFuncOp kernel;
  llvm::SmallVector<MemRefType> scratchTypes; // Of the kernel's last arguments.
  mlir::IRMapping flatBuffers;
};

} // namespace hjx
