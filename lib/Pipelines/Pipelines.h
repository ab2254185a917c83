// SPDX-License-Identifier: Apache-2.0
//
// The compiler, stage by stage. Each pipeline takes a module from one stage to the
// next and ends in that stage's check (Stages.h); `hjx-opt --hjx-to-<stage>` checks what it is
// given, too, and runs it.
#pragma once

#include "lib/Transforms/DecomposeAttention.h"

#include "mlir/Pass/PassManager.h"

namespace hjx {

/// traced → pure: requests expanded, single-use functions inlined. Attention is written out first,
/// unless `attention`, of a target, has a kernel for it.
void buildToPurePipeline(mlir::OpPassManager &pm, AttentionSupportOf attention = nullptr);

/// pure → lo: no keys left.
void buildToLoPipeline(mlir::OpPassManager &pm);

struct TensorPipelineOptions {
  /// Compute elementwise ops inside the op that uses them.
  bool fuse = true;
  /// As for buildToPurePipeline; says it again of what derivatives have made.
  AttentionSupportOf attention = nullptr;
};
/// lo → tensor: linalg, tensor, arith, math and scf in one function per public one.
void buildToTensorPipeline(mlir::OpPassManager &pm, const TensorPipelineOptions &options = {});

void registerPipelines();

} // namespace hjx
