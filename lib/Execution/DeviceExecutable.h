// SPDX-License-Identifier: Apache-2.0
//
// A compiled program on the device whose memory it reads and writes: what is the same
// for the processor and for a GPU. Callers hold their data in DeviceBuffers and need
// not know which of the two it is.
#pragma once

#include "lib/Codegen/Structured/MemoryPlan.h"
#include "runtime/Device.h"
#include "runtime/ElementType.h"
#include "runtime/TimedCalls.h"

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hjx {

/// An argument or a result of an executable.
struct BufferSpec {
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> shape; // Row-major, contiguous; i1 is one byte per element.
  int64_t sizeBytes = 0;
  bool donated = false; // Argument: its contents are undefined after a run.
  int alias = -1;       // Argument: the result that it stores; result: the argument that stores it.
};

/// What a caller of a program must know.
struct ProgramInterface {
  std::vector<BufferSpec> inputs, outputs;
  MemoryPlan plan;

  /// Reads the signature of `module`, which may be at any stage.
  static absl::StatusOr<ProgramInterface> of(mlir::ModuleOp module);
  /// Reads the memory plan of `module`, at the stage machine.
  absl::Status readPlan(mlir::ModuleOp module);
};

class DeviceExecutable {
public:
  virtual ~DeviceExecutable() = default;

  RuntimeDevice &device() const { return where; }
  const std::vector<BufferSpec> &inputs() const { return interface.inputs; }
  const std::vector<BufferSpec> &outputs() const { return interface.outputs; }
  const MemoryPlan &memoryPlan() const { return interface.plan; }

  /// Runs the program once; on a GPU, asks for it: `RuntimeDevice` says when it happens. `inputs` and
  /// `outputs` hold one pointer each per argument and result, to memory of the device, of the
  /// spec's size. The output of a result with an alias must be null or the argument's pointer.
  /// Outputs must not overlap inputs or each other otherwise.
  ///
  /// Threads: may be called from several threads at once; each call in flight has an arena of
  ///          its own, and arenas are kept for later calls.
  /// Errors:  INVALID_ARGUMENT for a wrong number of pointers or a null one;
  ///          RESOURCE_EXHAUSTED if there is no memory for an arena; what the device says.
  /// Cost:    under a microsecond plus the program.
  absl::Status run(absl::Span<const void *const> inputs, absl::Span<void *const> outputs) const;

  /// Allocates the arena of the first call now.
  ///
  /// Errors: RESOURCE_EXHAUSTED before anything is allocated when the memory plan does not fit into
  ///         what is free, with the largest buffers of the plan; `remedy` replaces the usual one.
  absl::Status reserve(absl::string_view remedy = "") const;

  /// Times by kernel, the longest first; empty unless compiled, or loaded, to take them. On a GPU it
  /// waits for the last call, whose kernels are in the trace then.
  virtual absl::StatusOr<std::vector<KernelTime>> profile() const { return std::vector<KernelTime>(); }

protected:
  DeviceExecutable(RuntimeDevice &device, ProgramInterface interface)
      : where(device), interface(std::move(interface)) {}

  const ProgramInterface &programInterface() const { return interface; }

  /// Calls the entry of the compiled code: see runtime/Abi.h. `pointers` are the buffers, the arena
  /// behind them.
  virtual absl::Status enter(absl::Span<void *const> pointers) const = 0;

private:
  absl::StatusOr<DeviceBuffer> takeArena(absl::string_view remedy = "") const;
  void returnArena(DeviceBuffer arena) const;

  RuntimeDevice &where;
  ProgramInterface interface;
  mutable absl::Mutex mutex;
  mutable std::vector<DeviceBuffer> idleArenas ABSL_GUARDED_BY(mutex);
};

} // namespace hjx
