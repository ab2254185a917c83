// SPDX-License-Identifier: Apache-2.0
//
// A kernel that does the work of several launches: a block finds by its number whose it is, runs
// that kernel's body, and takes that launch's buffers.
//
//   launch @update blocks 3 (%p0, %g0, %rate)       launch @update_etc_x3 blocks 7
//   launch @update blocks 3 (%p1, %g1, %rate)  ->       (%p0, %p1, %g0, %g1, %rate, %y)
//   launch @sum    blocks 1 (%y)                      kernel: if block < 6 { member = block / 3
//                                                       %p, %g = member == 0 ? (%p0, %g0) : (%p1, %g1)
//                                                       update's body, as block % 3 }
//                                                     else { sum's body, as block - 6 }
//
// Parts have their buffers in shared memory in the same place: a block needs those of the neediest.
//
// Source: the multi-tensor kernels of NVIDIA's Apex, with the table of pointers among the kernel's
// parameters, and horizontal fusion (Li et al. 2022).
#pragma once

#include "lib/Codegen/Gpu/KernelModule.h"

#include "llvm/ADT/StringMap.h"

namespace hjx {

/// What a kernel needs of the block that it runs in.
struct KernelNeeds {
  explicit KernelNeeds(mlir::gpu::GPUFuncOp kernel);

  bool canBePart = false; ///< It knows its block by gpu.block_id alone, and has registers to spare.
  int64_t blockSize = 0;
  bool hasBarrier = false; ///< All threads of a block must run it.
  int64_t sharedBytes = 0;
};

/// Launches of one kernel in a batch, with as many blocks each.
struct BatchPart {
  mlir::gpu::GPUFuncOp kernel;
  int64_t numBlocks;
  llvm::SmallVector<mlir::gpu::LaunchFuncOp> members;

  /// Whether all members have the same operand there.
  bool isShared(unsigned index) const;
  /// Per argument of the kernel the operand of all, or those of each.
  llvm::SmallVector<mlir::Value> operands() const;
};

/// Whether operands of launches are one: the same value, or equal constants.
bool areSame(mlir::Value a, mlir::Value b);

class BatchedKernels {
public:
  explicit BatchedKernels(KernelModule &device) : device(device) {}

  /// The kernel for `parts`, of which those alike share one; its arguments are their operands.
  Launch get(llvm::ArrayRef<BatchPart> parts);

private:
  Launch emit(llvm::ArrayRef<BatchPart> parts);

  KernelModule &device;
  llvm::StringMap<Launch> known;
};

} // namespace hjx
