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
// The minimum is what the same products would move if nothing else did: every argument read once,
// every result written once, and the operands and results of every matrix product, once for each
// product, with what its kernel reads and writes for the ops behind it. All else (norms, losses, the
// optimizer, copies) is taken to happen on the way. It says how far a program is from where fusion ends.
// An argument that a product reads counts as both, so a program of little but products can move less.
#pragma once

#include "lib/Support/Pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace hjx {

/// On a launch: bytes read and written.
constexpr llvm::StringLiteral kTrafficAttr = "hjx.traffic";
/// On a launch, of a kernel that computes a matrix product.
constexpr llvm::StringLiteral kProductAttr = "hjx.product";

struct Traffic {
  int64_t readBytes = 0, writtenBytes = 0;
  bool isProduct = false;

  /// Of a call of `function`, whose body is structured ops and loops.
  static Traffic of(mlir::func::FuncOp function);
  /// Splits what a call moves among the launches that replace it: the first reads, the last writes;
  /// buffers made for them are written by the first, read by the last.
  void annotate(llvm::ArrayRef<mlir::gpu::LaunchFuncOp> launches, int64_t scratchBytes) const;
};

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
  int64_t productBytes = 0; ///< of these, what products move
  int64_t boundaryBytes = 0; ///< of arguments and results

  int64_t minimumBytes() const { return boundaryBytes + productBytes; }

  /// Of `@main` of `module`, at the kernel stage.
  static ProgramCost of(mlir::ModuleOp module);
};

} // namespace hjx
