// SPDX-License-Identifier: Apache-2.0
//
// A program, compiled for the processor of this process from whatever stage it is at.
//
//   auto executable = hjx::CpuExecutable::compile(module, {});
//   std::puts((*executable)->memoryPlan().print(..));   // before anything is allocated
//   (*executable)->run({x, p}, {y});                    // p is updated in place: hjx.alias
//
// The executable keeps no reference to the module or its context.
#pragma once

#include "lib/Execution/DeviceExecutable.h"
#include "lib/Pipelines/Stages.h"
#include "runtime/Backends.h"

namespace hjx {

struct CpuOptions {
  /// Fuse elementwise ops into their consumers.
  bool fuse = true;
  /// Run scalar loops from upstream's lowering instead of kernels: slow, to compare against.
  bool scalarLoops = false;
  /// 0 compiles fastest, for tests of the passes before it; 1 is meant for use.
  unsigned optLevel = 1;
  /// Time each kernel call (see `profile`). Runs must then not overlap.
  bool profile = false;
  /// A cpu device: arenas come from its memory.
  RuntimeDevice *device = &cpuDevice();
  /// Processor and features in LLVM's spelling; empty means the host's.
  std::string cpu, features;
  /// The stage that the module is at.
  Stage startFrom = Stage::Tensor;
  /// When set, dumps of the stages are written here: 4-tensor.mlir, 5-kernel.mlir, ..., 7-host.ll.
  std::string dumpDir;
};

class CpuExecutable : public DeviceExecutable {
public:
  /// Compiles `@main` of `module`, which is consumed by the lowering (clone it to keep it).
  ///
  /// Errors: INVALID_ARGUMENT with the diagnostics if the module is not at the stage that the
  ///         options name; INTERNAL with the message if code generation fails.
  static absl::StatusOr<std::unique_ptr<CpuExecutable>> compile(mlir::ModuleOp module,
                                                                const CpuOptions &options = {});
  ~CpuExecutable() override;

  /// The same code on another cpu device.
  std::unique_ptr<CpuExecutable> on(RuntimeDevice &device) const;

  absl::StatusOr<std::vector<KernelTime>> profile() const override;

private:
  struct Code;
  CpuExecutable(RuntimeDevice &device, ProgramInterface interface, std::shared_ptr<Code> code);
  absl::Status enter(absl::Span<void *const> pointers) const override;

  std::shared_ptr<Code> code;
};

/// Adds the dialects and interface models that `compile` needs; it does so itself when the
/// module's context lacks them, which no other thread may use at that moment.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace hjx
