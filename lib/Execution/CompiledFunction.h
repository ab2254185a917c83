// SPDX-License-Identifier: Apache-2.0
//
// One function of a module, compiled by itself, stage by stage.
//
// The function becomes the @main of a module of its own, so functions that share helpers never
// wait for each other's code. Its state arguments are tied to the results of the same name
// (hjx.alias): the compiled code updates them in place. Every stage can be dumped, left, and
// entered again from its dump; the same code, and so the same bits, come out.
#pragma once

#include "lib/Execution/DeviceExecutable.h"
#include "lib/Execution/GraphFunction.h"
#include "runtime/Backends.h"

namespace hjx {

struct FunctionCompileOptions {
  Stage startFrom = Stage::Traced; ///< what the module holds already
  std::string dumpDir;             ///< gets 1-traced.mlir, 2-pure.mlir, ...
  bool profile = false;            ///< time each kernel: DeviceExecutable::profile
  Trace *trace = nullptr;          ///< gets the kernels of a GPU, if they are timed
  RuntimeDevice *device = &cpuDevice();   ///< what it will run on
};

struct CompiledFunction {
  GraphFunction signature;
  std::unique_ptr<DeviceExecutable> code;
  double compileSeconds = 0;
  double numFlops = 0; ///< of matrix products in one call; see countFlops

  /// Compiles the @main of `program`, which `name` has in messages; its context must outlive the
  /// result. HJX_BACKEND=interpreter makes no code for the processor: see InterpretedFunction.h.
  static absl::StatusOr<CompiledFunction> compile(mlir::OwningOpRef<mlir::ModuleOp> program, const std::string &name,
                                                  const FunctionCompileOptions &options = {});
};

/// Returns the floating-point operations of the matrix products of @main, two for each
/// multiply-add; the body of a while loop counts once. `module` is at stage pure or lo: later ones
/// have no product to count.
double countFlops(mlir::ModuleOp module);

} // namespace hjx
