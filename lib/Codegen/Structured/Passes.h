// SPDX-License-Identifier: Apache-2.0
//
// Structured ops on tensors and buffers, on their way to kernels: what is the same for
// every target. Each pass runs alone under hjx-opt; what each does is in Passes.td.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Structured/Passes.h.inc"

/// On a private function that holds the body of one kernel.
constexpr llvm::StringLiteral kKernelAttr = "hjx.kernel";
/// On structured ops that share a loop over rows, until they are one kernel: the number of their
/// group; and on them and their kernel, the number of rows.
constexpr llvm::StringLiteral kGroupAttr = "hjx.group";
constexpr llvm::StringLiteral kRowsAttr = "hjx.rows";
/// On an argument of a private function: the function only reads that buffer.
constexpr llvm::StringLiteral kReadOnlyAttr = "llvm.readonly";

struct BufferPipelineOptions {
  /// Fuse elementwise ops into their consumers. Off only to look at the difference.
  bool fuse = true;
  /// Cut large reductions to few results in two steps, for threads that share nothing.
  bool splitReductions = false;
};

/// Appends the passes from the tensor stage to structured ops on buffers, which every target begins
/// with.
void buildToBufferPipeline(mlir::OpPassManager &pm, const BufferPipelineOptions &options = {});

/// Lets hjx.opt_barrier stand at the tensor stage: see BufferizeBarrier.cpp.
void registerBarrierBufferization(mlir::DialectRegistry &registry);

/// Adds the dialects and interface models that the pipelines need.
void registerStructuredCodegenDialects(mlir::DialectRegistry &registry);

} // namespace hjx
