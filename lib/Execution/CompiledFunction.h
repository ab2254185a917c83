// SPDX-License-Identifier: Apache-2.0
//
// One function of a module, compiled by itself, stage by stage.
//
// The function becomes the @main of a module of its own, so functions that share helpers never
// wait for each other's code. Its state arguments are tied to the results of the same name
// (hjx.alias): the compiled code updates them in place. Every stage can be dumped, left, and
// entered again from its dump; the same code, and so the same bits, come out.
#pragma once

#include "lib/Execution/CpuExecutable.h"
#include "lib/Execution/TrainingGraph.h"

namespace hjx {

/// What a module holds; docs/debugging.md lists the pipelines between them.
enum class ModuleStage { Traced, Pure, Lo, Tensor, Kernel };
/// Inverse of "traced", "pure", "lo", "tensor", "kernel".
absl::StatusOr<ModuleStage> parseModuleStage(std::string_view name);

struct FunctionCompileOptions {
  ModuleStage startFrom = ModuleStage::Traced; ///< what the module holds already
  std::string dumpDir;                         ///< gets <function>/1-traced.mlir, 2-pure.mlir, ...
  bool profile = false;                        ///< time each kernel, see CpuExecutable::profile
};

/// Returns the module whose @main is `name` of `module`, with state arguments tied to results.
/// Errors: no such public function; the message lists them.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> extractFunction(mlir::ModuleOp module, const std::string &name);

/// Lowers a module from one stage to another, at most Tensor; dumps each into `folder` unless empty.
/// Errors: INVALID_ARGUMENT with the diagnostics.
absl::Status lowerModule(mlir::ModuleOp module, ModuleStage from, ModuleStage to, const std::string &folder);

struct CompiledFunction {
  GraphFunction signature;
  std::unique_ptr<CpuExecutable> code;
  double compileSeconds = 0;
  double numFlops = 0; ///< of matrix products in one call; see countFlops

  static absl::StatusOr<CompiledFunction> compile(mlir::ModuleOp module, const std::string &name,
                                                  const FunctionCompileOptions &options = {});
};

/// Returns the floating-point operations of the matrix products of @main, two for each
/// multiply-add; the body of a while loop counts once. `module` is at stage pure or lo.
double countFlops(mlir::ModuleOp module);

} // namespace hjx
