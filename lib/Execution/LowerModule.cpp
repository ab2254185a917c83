// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/LowerModule.h"

#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Data/Status.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace hjx {

absl::StatusOr<Stage> parseStage(std::string_view name) {
  std::vector<std::string> names;
  for (Stage stage : kStages) {
    if (name == nameOf(stage).str())
      return stage;
    names.push_back(nameOf(stage).str());
  }
  std::string nearest = nearestName(name, names);
  return badInput("stage", "traced, pure, lo, tensor, kernel or machine", absl::StrCat("'", printable(name), "'"),
                  nearest.empty() ? "see docs/debugging.md" : absl::StrCat("did you mean '", nearest, "'?"));
}

std::string dumpName(Stage stage) {
  return absl::StrCat(static_cast<int>(stage) + 1, "-", nameOf(stage).str(), ".mlir");
}

absl::Status checkStage(ModuleOp module, Stage stage) {
  CollectedDiagnostics diagnostics(module.getContext());
  if (succeeded(verifyStage(module, stage)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(diagnostics.text(), "\n  help: name the stage that the module is at with --start-from"));
}

/// From the kernel stage on a program is for one kind of machine; the host code of one entered as the
/// other's would find other arguments.
static absl::Status checkMachine(ModuleOp module, Stage stage, bool forGpu) {
  bool isForGpu = !module.getOps<gpu::GPUModuleOp>().empty();
  if (stage < Stage::Kernel || isForGpu == forGpu)
    return absl::OkStatus();
  auto name = [](bool gpu) { return gpu ? "a program for a GPU" : "a program for the processor"; };
  return badInput(absl::StrCat("the ", nameOf(stage).str(), " stage"), name(forGpu), name(isForGpu),
                  "name the machine that it was lowered for with --target, or start from the tensor stage");
}

static absl::Status dump(ModuleOp module, const std::string &folder, Stage stage) {
  if (folder.empty())
    return absl::OkStatus();
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return absl::InvalidArgumentError(absl::StrCat(folder, ": cannot create: ", error.message()));
  std::string path = absl::StrCat(folder, "/", dumpName(stage));
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    module.print(os);
    os << "\n";
    os.close();
    error = os.error();
    os.clear_error();
  }
  return error ? absl::InvalidArgumentError(absl::StrCat(path, ": cannot write: ", error.message())) : absl::OkStatus();
}

static void buildPipelineTo(Stage stage, OpPassManager &pm, const LowerOptions &options) {
  AttentionSupportOf attention = options.forGpu ? gpuAttentionSupport : nullptr;
  switch (stage) {
  case Stage::Traced:
    return;
  case Stage::Pure:
    return buildToPurePipeline(pm, attention);
  case Stage::Lo:
    return buildToLoPipeline(pm);
  case Stage::Tensor:
    return buildToTensorPipeline(pm, {.attention = attention});
  case Stage::Kernel:
    return options.forGpu ? buildToGpuKernelPipeline(pm, options.gpu) : buildToKernelPipeline(pm, options.kernel);
  case Stage::Machine:
    return options.forGpu ? buildToGpuMachinePipeline(pm) : buildToMachinePipeline(pm, options.machine);
  }
}

absl::Status lowerModule(ModuleOp module, Stage from, Stage to, const LowerOptions &options) {
  HJX_RETURN_IF_ERROR(checkStage(module, from));
  HJX_RETURN_IF_ERROR(checkMachine(module, from, options.forGpu));
  CollectedDiagnostics diagnostics(module.getContext());
  HJX_RETURN_IF_ERROR(dump(module, options.dumpDir, from));
  for (int number = static_cast<int>(from) + 1; number <= static_cast<int>(to); ++number) {
    auto stage = static_cast<Stage>(number);
    auto run = [&](llvm::function_ref<void(OpPassManager &)> build) {
      PassManager pm(module.getContext());
      pm.enableVerifier(false); // Once below, up to the stage that people write by hand.
      build(pm);
      return failed(pm.run(module)) || diagnostics.hasErrors() ? absl::InvalidArgumentError(diagnostics.text()) : absl::OkStatus();
    };
    if (stage == Stage::Kernel && options.forGpu && options.onGpuFunctions) {
      HJX_RETURN_IF_ERROR(run(buildToGpuFunctionsPipeline));
      HJX_RETURN_IF_ERROR(options.onGpuFunctions(module));
      HJX_RETURN_IF_ERROR(run([&](OpPassManager &pm) { buildFromGpuFunctionsPipeline(pm, options.gpu); }));
    } else {
      HJX_RETURN_IF_ERROR(run([&](OpPassManager &pm) { buildPipelineTo(stage, pm, options); }));
    }
    if (stage <= Stage::Tensor && failed(mlir::verify(module)))
      return absl::InvalidArgumentError(diagnostics.text());
    HJX_RETURN_IF_ERROR(dump(module, options.dumpDir, stage));
  }
  return absl::OkStatus();
}

} // namespace hjx
