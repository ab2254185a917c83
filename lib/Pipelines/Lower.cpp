// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes from traced programs to linalg, and the names of all pipelines.
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/HiTypes/Passes.h"
#include "lib/Lowering/Passes.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Stages.h"
#include "lib/Refs/Passes.h"
#include "lib/Target/Passes.h"
#include "lib/Target/Ptx/Ptx.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace hjx;

void hjx::buildToPurePipeline(OpPassManager &pm, AttentionSupportOf attention) {
  pm.addPass(createDecomposeAttention(attention));
  pm.addPass(createExpandTransforms());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createInlineSingleUse());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyStagePass(Stage::Pure));
}

void hjx::buildToLoPipeline(OpPassManager &pm) {
  pm.addPass(createDischargeRefs());
  pm.addPass(createLowerHi());
  pm.addPass(createLowerRandom());
  pm.addPass(createVerifyStagePass(Stage::Lo));
}

void hjx::buildToTensorPipeline(OpPassManager &pm, const TensorPipelineOptions &options) {
  // Without the inliner's own simplification of each function: one clean-up comes at the end.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createDecomposeAttention(options.attention));
  pm.addNestedPass<func::FuncOp>(createJoinPads());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertHjxToLinalg({options.fuse}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyStagePass(Stage::Tensor));
}

/// The pipeline `name` from stage `from` on. What it is given is checked first: a pass would say of
/// an op that an earlier stage removes that it has never heard of it.
static void registerPipeline(StringRef name, StringRef description, Stage from,
                             void (*build)(OpPassManager &)) {
  PassPipelineRegistration<>(name, description, [=](OpPassManager &pm) {
    pm.addPass(createVerifyStagePass(from));
    build(pm);
  });
}

namespace {
struct GpuOption : PassPipelineOptions<GpuOption> {
  Option<bool> gpu{*this, "gpu", llvm::cl::desc("Leave attention that a GPU has kernels for; remark on other")};
  AttentionSupportOf attention() const { return gpu ? gpuAttentionSupport : nullptr; }
};

struct ChipOption : PassPipelineOptions<ChipOption> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("The processor, as ptxas names it"),
                           llvm::cl::init("sm_80")};
};
} // namespace

void hjx::registerPipelines() {
  PassPipelineRegistration<GpuOption>(
      "hjx-to-pure", "Expand requests: programs of arrays, control flow and calls",
      [](OpPassManager &pm, const GpuOption &options) {
        pm.addPass(createVerifyStagePass(Stage::Traced));
        buildToPurePipeline(pm, options.attention());
      });
  registerPipeline("hjx-to-lo", "Discharge refs, lower hi-types and random keys: first-order programs on arrays of numbers",
                   Stage::Pure, buildToLoPipeline);
  PassPipelineRegistration<GpuOption>(
      "hjx-to-tensor", "Lower to linalg on tensors", [](OpPassManager &pm, const GpuOption &options) {
        pm.addPass(createVerifyStagePass(Stage::Lo));
        buildToTensorPipeline(pm, {.attention = options.attention()});
      });
  registerPipeline("hjx-to-kernel", "Lower to kernels on buffers in one planned arena, for a CPU",
                   Stage::Tensor, [](OpPassManager &pm) {
                     buildToKernelPipeline(pm);
                     pm.addPass(createVerifyStagePass(Stage::Kernel));
                   });
  PassPipelineRegistration<ChipOption>(
      "hjx-to-gpu-kernel", "Lower to kernels and launches on buffers in one planned arena, for a GPU",
      [](OpPassManager &pm, const ChipOption &options) {
        pm.addPass(createVerifyStagePass(Stage::Tensor));
        buildToGpuKernelPipeline(pm, {options.chip});
        pm.addPass(createVerifyStagePass(Stage::Kernel));
      });
  registerPipeline("hjx-to-machine", "Lower to the LLVM dialect, for a CPU", Stage::Kernel,
                   [](OpPassManager &pm) {
                     buildToMachinePipeline(pm);
                     pm.addPass(createVerifyStagePass(Stage::Machine));
                   });
  registerPipeline("hjx-to-gpu-machine", "Lower the kernels and launches of a GPU program", Stage::Kernel,
                   [](OpPassManager &pm) {
                     buildToGpuMachinePipeline(pm);
                     pm.addPass(createVerifyStagePass(Stage::Machine));
                   });
}
