// SPDX-License-Identifier: Apache-2.0
//
// From the kernel stage to the machine stage: the LLVM dialect for the host.
// What each pass does is in Passes.td.
#pragma once

#include "lib/Support/Pch.h"

namespace hjx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Target/Passes.h.inc"

/// The name of the entry of a compiled module; its signature is in runtime/Abi.h.
constexpr llvm::StringLiteral kEntryName = "hjx_entry";

/// What hjx-profile-calls leaves: the name of the table, and of the attribute with its rows' names.
constexpr llvm::StringLiteral kProfileTableName = "hjx_profile";
constexpr llvm::StringLiteral kProfileNamesAttr = "hjx.profile_names";

struct MachinePipelineOptions {
  bool profile = false; ///< Time each kernel call.
};

/// Appends the passes from the kernel stage to the machine stage.
void buildToMachinePipeline(mlir::OpPassManager &pm, const MachinePipelineOptions &options = {});

/// Arithmetic on bfloat16 becomes arithmetic in single precision, rounded by integer code: the
/// processor's own conversion flushes subnormals, and older ones have none. A GPU does the same.
void addEmulateBf16(mlir::OpPassManager &pm);

/// The end of that pipeline, which the host half of a GPU program shares.
void buildHostPipeline(mlir::OpPassManager &pm);

/// Adds the dialects that the pipeline and the translation to LLVM IR need.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace hjx
