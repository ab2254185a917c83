// SPDX-License-Identifier: Apache-2.0
//
// A program, compiled for a GPU from whatever stage it is at.
//
//   auto program = hjx::GpuProgram::compile(module, {.chip = "sm_90"});
//   (*program)->ptx();                                    // needs no GPU, and no CUDA
//   auto executable = (*program)->load(**hjx::openDevice("cuda"));
//   (*executable)->run({x, p}, {y});                      // pointers to device memory
//
// A program is device code as text, and code for the host that launches its kernels. A call copies
// nothing: arguments and results lie on the device, and the host runs ahead. It waits for the
// device only where a value that the device computed decides what is launched next (hjx_rt_read in
// runtime/Abi.h): the condition of a while loop or of a cond, and starts of dynamic slices. A
// program without such a value is recorded at its second call with the same pointers, and replayed
// at later ones (runtime/Replay.h).
#pragma once

#include "lib/Codegen/Gpu/ProgramCost.h"
#include "lib/Execution/DeviceExecutable.h"
#include "lib/Pipelines/Stages.h"

namespace hjx {

struct GpuOptions {
  /// The architecture: one of kChips in Target.h.
  std::string chip = "sm_80";
  /// The stage that the module is at.
  Stage startFrom = Stage::Tensor;
  /// With HJX_AUTOTUNE, where products are timed (ProductTuner.h). Without it, or without a device, the model chooses.
  RuntimeDevice *device = nullptr;
  /// When set, dumps of the stages are written here: 4-tensor.mlir, ..., 7-device.ll, 8-device.ptx.
  std::string dumpDir;
};

struct GpuLoadOptions {
  bool profile = false;   ///< time each kernel: launches are single then
  Trace *trace = nullptr; ///< gets the kernels, with `profile`
};

/// What is known of a program once it is lowered, before code is generated for it.
struct GpuPlan {
  ProgramInterface interface;
  /// Launches of one call, and what they move. Nothing if the program comes from the stage machine.
  std::optional<ProgramCost> cost;
  /// Values that the host code reads from the device in a call; with any, launches stay single.
  int64_t numReads = 0;

  /// Lowers `module` to the stage machine. Errors: those of GpuProgram::compile.
  static absl::StatusOr<GpuPlan> of(mlir::ModuleOp module, const GpuOptions &options = {});
};

class GpuProgram {
public:
  /// Compiles `@main` of `module`, which is consumed by the lowering (clone it to keep it).
  ///
  /// Errors: INVALID_ARGUMENT with the diagnostics if the module is not at the stage that the
  ///         options name, or a GPU cannot run it; INTERNAL if code generation fails.
  static absl::StatusOr<std::unique_ptr<GpuProgram>> compile(mlir::ModuleOp module,
                                                             const GpuOptions &options = {});
  ~GpuProgram();

  const GpuPlan &plan() const { return planned; }
  const ProgramInterface &interface() const { return planned.interface; }
  const std::string &ptx() const;
  const std::vector<std::string> &kernelNames() const;
  const std::optional<ProgramCost> &cost() const { return planned.cost; }

  /// Loads the kernels. The result keeps what it needs of the program; it dies before `device`.
  /// Errors: those of RuntimeDevice::loadModule.
  absl::StatusOr<std::unique_ptr<DeviceExecutable>> load(RuntimeDevice &device, const GpuLoadOptions &options = {}) const;

private:
  GpuProgram() = default;
  struct Code;
  GpuPlan planned;
  std::shared_ptr<const Code> code;
};

/// Adds the dialects and interface models that `compile` needs; it does so itself when the
/// module's context lacks them, which no other thread may use at that moment.
void registerGpuDialects(mlir::DialectRegistry &registry);

} // namespace hjx
