// SPDX-License-Identifier: Apache-2.0
//
// What a call of a GPU program costs before anything runs: launches, and bytes of the device's
// memory.
//
// Concept. While kernels are functions of structured ops, each launch gets an attribute with the
// bytes that its operands are read and written for:
//
//   gpu.launch_func @device::@mul_add ... {hjx.traffic = array<i64: 12288, 4096>}
//
// An operand counts for the elements that the op's addresses reach, once, however often threads
// read it again through the caches; what a kernel has written before it reads it does not count as
// read, and an element that is gathered counts for each time.
//
// The minimum is what the same products, each of them one kernel, would move if all else (norms, losses,
// the optimizer, copies) happened on the way; attention's kernels are products:
//
//   value                          is read                         is written
//   argument that anything reads   by each product, at least once  -
//   made for or by a product       by each product, at least once  once, whoever makes it
//   result                         by each product                 once, whoever makes it
//   any other                      -                               -
//
// What a product's kernel reads and writes for the ops behind it (ProductEpilogue.h) are such values, too.
// So a program moves at least the minimum, and the ratio says how far it is from where fusion ends.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace hjx {

/// On a launch: bytes read and written.
constexpr llvm::StringLiteral kTrafficAttr = "hjx.traffic";
/// On a launch, of a kernel that computes a matrix product.
constexpr llvm::StringLiteral kProductAttr = "hjx.product";

/// Of the minimum, in bytes: on the program's function.
constexpr llvm::StringLiteral kMinimumTrafficAttr = "hjx.minimum_traffic";

/// What one launch moves.
struct Traffic {
  struct Bytes {
    int64_t read = 0, written = 0;
  };
  llvm::SmallVector<Bytes> operands; ///< of the function that is called, those that are no buffers included
  bool isProduct = false;
};

/// Of a call of `kernel`, whose body is structured ops and loops, or which is one of attention: by
/// launch, where it is known to be several.
llvm::SmallVector<Traffic> trafficOf(mlir::func::FuncOp kernel);

/// The minimum of `program`, while its kernels are functions that it calls; `traffic` is theirs.
int64_t minimumTraffic(mlir::func::FuncOp program, const llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Traffic>> &traffic);

/// Tells the launches that replace a call of that traffic what they move. If there are more, the first
/// reads, the last writes; buffers made for them are written by the first, read by the last.
void annotate(llvm::ArrayRef<mlir::gpu::LaunchFuncOp> launches, llvm::ArrayRef<Traffic> traffic, int64_t scratchBytes);

/// All launches of one kernel in a call of the program.
struct KernelCost {
  std::string name;
  int64_t launches = 0, bytes = 0;
  bool isProduct = false;
};

/// The bodies of loops of known length count for each round, those of others once; of the branches
/// of a condition, all.
struct ProgramCost {
  std::vector<KernelCost> kernels; ///< what moves most first
  int64_t launches = 0, movedBytes = 0;
  int64_t minimumBytes = 0;

  /// Of `@main` of `module`, at the kernel stage.
  static ProgramCost of(mlir::ModuleOp module);
};

} // namespace hjx
