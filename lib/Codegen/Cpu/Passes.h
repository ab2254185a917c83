// SPDX-License-Identifier: Apache-2.0
//
// From the tensor stage (linalg on tensors) to the kernel stage (linalg-free
// functions on buffers) for a CPU. Each pass runs alone under hjx-opt; what each
// does is in Passes.td.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Cpu/Passes.h.inc"

/// On a call of a kernel whose last two operands are bounds: run it as a parallel loop over them,
/// in chunks of this many units.
constexpr llvm::StringLiteral kGrainAttr = "hjx.grain";

/// On neighbours among the ops of a group that share one loop along the row: its number.
constexpr llvm::StringLiteral kSweepAttr = "hjx.sweep";

struct KernelPipelineOptions {
  /// Fuse elementwise ops into their consumers. Off only to look at the difference.
  bool fuse = true;
  /// Lower structured ops to upstream's scalar loops in @main instead of kernels: slow and plain,
  /// to compare results against.
  bool scalarLoops = false;
};

/// Appends the passes from the tensor stage to the kernel stage.
void buildToKernelPipeline(mlir::OpPassManager &pm, const KernelPipelineOptions &options = {});

} // namespace hjx
