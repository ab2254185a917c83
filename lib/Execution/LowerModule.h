// SPDX-License-Identifier: Apache-2.0
//
// A module from any stage to any later one, with a file for each stage on the way.
#pragma once

#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Pipelines/Stages.h"
#include "lib/Target/Passes.h"
#include "runtime/Status.h"

#include <functional>
#include <string>

namespace hjx {

struct LowerOptions {
  bool forGpu = false; ///< kernels and host code of a GPU program, in place of the processor's
  GenerateGpuKernelsOptions gpu;
  KernelPipelineOptions kernel;
  MachinePipelineOptions machine;
  /// Called on the way to the kernel stage of a GPU program, with what buildToGpuFunctionsPipeline makes.
  std::function<absl::Status(mlir::ModuleOp)> onGpuFunctions;
  std::string dumpDir; ///< gets 1-traced.mlir, 2-pure.mlir, ... unless empty
};

/// Inverse of nameOf.
absl::StatusOr<Stage> parseStage(std::string_view name);

/// "3-lo.mlir": the file of a stage in a folder of dumps.
std::string dumpName(Stage stage);

/// Errors: INVALID_ARGUMENT, located, unless `module` is at `stage`.
absl::Status checkStage(mlir::ModuleOp module, Stage stage);

/// Lowers `module`, which is at stage `from`, to stage `to`.
/// Errors: INVALID_ARGUMENT with the diagnostics if it is not at `from`, is for another kind of
/// machine, or a pipeline fails.
absl::Status lowerModule(mlir::ModuleOp module, Stage from, Stage to, const LowerOptions &options = {});

} // namespace hjx
