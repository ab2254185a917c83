// SPDX-License-Identifier: Apache-2.0
//
// From the tensor stage to the kernel stage for a GPU: @main on buffers of one device arena, and
// a device module whose kernels it launches. Each pass runs alone under hjx-opt; what each does is
// in Passes.td.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Gpu/Passes.h.inc"

/// On the loops of one op of the program: see hjx-outline-loops.
constexpr llvm::StringLiteral kNestAttr = "hjx.nest";
constexpr llvm::StringLiteral kParallelAttr = "hjx.parallel";
constexpr llvm::StringLiteral kParallelRowsAttr = "hjx.parallel_rows";
/// What a kernel of attention is told: scale, and causal if it is. Its function has no body.
constexpr llvm::StringLiteral kAttentionAttr = "hjx.attention";

/// Of a row that the ops of a group share, what a block can keep, with what else is in its shared memory.
constexpr int64_t kMaxKeptRowBytes = 40 * 1024;

/// Appends the passes from the tensor stage to the kernel stage. After it the arena of @main is
/// described by MemoryPlan, as on a CPU.
void buildToGpuKernelPipeline(mlir::OpPassManager &pm,
                              const GenerateGpuKernelsOptions &options = {});
/// Its two halves: to functions that @main calls, each of them to become a kernel; and from there, with the choices
/// that depend on the chip.
void buildToGpuFunctionsPipeline(mlir::OpPassManager &pm);
void buildFromGpuFunctionsPipeline(mlir::OpPassManager &pm, const GenerateGpuKernelsOptions &options = {});

/// Lets one-shot bufferization turn attention into calls of such kernels.
void registerAttentionBufferization(mlir::DialectRegistry &registry);

/// Adds the dialects and interface models that the pipeline needs.
void registerGpuCodegenDialects(mlir::DialectRegistry &registry);
/// Registers `hjx-to-gpu-kernel` and the passes.
void registerGpuCodegenPasses();

} // namespace hjx
