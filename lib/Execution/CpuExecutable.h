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

#include "lib/Codegen/Cpu/MemoryPlan.h"
#include "lib/Pipelines/Stages.h"
#include "runtime/ElementType.h"
#include "runtime/Status.h"

#include "absl/types/span.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  /// Processor and features in LLVM's spelling; empty means the host's.
  std::string cpu, features;
  /// The stage that the module is at.
  Stage startFrom = Stage::Tensor;
  /// When set, dumps of the stages are written here: 4-tensor.mlir, 5-kernel.mlir, ..., 7-host.ll.
  std::string dumpDir;
};

/// An argument or a result of an executable.
struct BufferSpec {
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> shape; // Row-major, contiguous; i1 is one byte per element.
  int64_t sizeBytes = 0;
  bool donated = false; // Argument: its contents are undefined after a run.
  int alias = -1;       // Argument: the result that it stores; result: the argument that stores it.
};

/// What the calls of one kernel took, in all runs so far.
struct KernelTime {
  std::string name;
  int64_t timeNs = 0, numCalls = 0;
};

class CpuExecutable {
public:
  /// Compiles `@main` of `module`, which is consumed by the lowering (clone it to keep it).
  ///
  /// Errors: INVALID_ARGUMENT with the diagnostics if the module is not at the stage that the
  ///         options name; INTERNAL with the message if code generation fails.
  static absl::StatusOr<std::unique_ptr<CpuExecutable>> compile(mlir::ModuleOp module,
                                                                const CpuOptions &options = {});
  ~CpuExecutable();

  const std::vector<BufferSpec> &inputs() const { return inputSpecs; }
  const std::vector<BufferSpec> &outputs() const { return outputSpecs; }
  const MemoryPlan &memoryPlan() const { return plan; }

  /// Runs the program once. `inputs` and `outputs` hold one pointer each per argument and
  /// result, to memory of the spec's size. The output of a result with an alias must be null or
  /// the argument's pointer. Outputs must not overlap inputs or each other otherwise.
  ///
  /// Threads: may be called from several threads at once; each call in flight has an arena of
  ///          its own, and arenas are kept for later calls.
  /// Errors:  INVALID_ARGUMENT for a wrong number of pointers or a null one;
  ///          RESOURCE_EXHAUSTED if there is no memory for an arena.
  /// Cost:    under a microsecond plus the program.
  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const;

  /// Times by kernel, the longest first. Empty without CpuOptions::profile.
  std::vector<KernelTime> profile() const;

private:
  CpuExecutable();
  struct Code;
  std::vector<BufferSpec> inputSpecs, outputSpecs;
  MemoryPlan plan;
  std::unique_ptr<Code> code;
};

/// Adds the dialects and interface models that `compile` needs; it does so itself when the
/// module's context lacks them, which no other thread may use at that moment.
void registerCpuDialects(mlir::DialectRegistry &registry);

} // namespace hjx
