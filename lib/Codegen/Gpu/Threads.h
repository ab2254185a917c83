// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's code says about threads: who am I, what is my share, how do we join results.
//
// All numbers of threads and blocks are constants, so a share is a fixed function of sizes: the
// bits of a result never depend on how the device schedules blocks.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace hjx {

/// Threads of a warp: they exchange registers, and run in step.
constexpr int64_t kWarpSize = 32;

/// Threads that share work among them, and which of them this one is.
struct Team {
  mlir::Value thread; // In [0, size).
  int64_t size = 1;
};

/// A kernel that is being filled: one-dimensional blocks in a one-dimensional grid.
class KernelBuilder {
public:
  /// Makes `function` a kernel of that shape; inserts at the start of its body. With 0 blocks
  /// each launch chooses their number.
  KernelBuilder(mlir::gpu::GPUFuncOp function, int64_t numBlocks, int64_t blockSize);

  mlir::ImplicitLocOpBuilder b;
  const int64_t numBlocks, blockSize;

  mlir::Value index(int64_t value);
  mlir::Value block() const { return blockId; }
  Team blockTeam() const { return {threadId, blockSize}; }
  Team gridTeam();

  /// Waits until all threads of the block are here and sees what they wrote.
  void barrier() { mlir::gpu::BarrierOp::create(b); }

  /// A buffer that the threads of a block share; `alignment`, in bytes, is 0 for the usual one.
  mlir::Value sharedMemory(mlir::Type elementType, int64_t numElements, int64_t alignment = 0);

  /// Runs `body` for the units [0, numUnits) that are this thread's.
  void forEachUnit(const Team &team, int64_t numUnits,
                   llvm::function_ref<void(mlir::Value unit)> body);

  /// Runs `body` if `condition`, which is absent where it always holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body);

  /// `value` of the lane whose number differs from this one's in the bits `mask`.
  mlir::Value shuffleXor(mlir::Value value, int32_t mask);

private:
  mlir::gpu::GPUFuncOp function;
  mlir::Value threadId, blockId;
};

} // namespace hjx
