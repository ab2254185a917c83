// SPDX-License-Identifier: Apache-2.0
//
// What the IR may hold after each stage, as a check. Errors in the passes before it
// show here, at the op, instead of far below.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hjx {

enum class Stage {
  Traced,  ///< anything the dialect can say
  Pure,    ///< no request ops, no linear maps
  Lo,      ///< also no keys
  Tensor,  ///< linalg, tensor, arith, math, scf and func on static, signless, unsharded arrays, and
           ///< hjx.opt_barrier, which bufferisation removes
  Kernel,  ///< @main on buffers and a planned arena, kernels in functions of their own
  Machine, ///< the LLVM dialect, with the entry hjx_entry
};

/// All stages in their order, and their names: "traced", "pure", ...
constexpr Stage kStages[] = {Stage::Traced, Stage::Pure, Stage::Lo, Stage::Tensor, Stage::Kernel, Stage::Machine};
llvm::StringRef nameOf(Stage stage);

/// Success if `module` is at `stage`, or at most as far as Tensor and beyond it; else a located
/// error for the first offender.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// `hjx-verify-stage{stage=traced|pure|lo|tensor|kernel|machine}`.
std::unique_ptr<mlir::Pass> createVerifyStagePass(Stage stage = Stage::Traced);
void registerVerifyStagePass();

} // namespace hjx
