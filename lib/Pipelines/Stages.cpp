// SPDX-License-Identifier: Apache-2.0
//
// The checks: one walk, one question per op and per type.
#include "lib/Pipelines/Stages.h"

#include "dialects/hjx/Attention.h"
#include "dialects/hjx/Signature.h"
#include "lib/Codegen/Structured/MemoryPlan.h"
#include "lib/Target/Passes.h"

using namespace mlir;
using namespace hjx;

static bool isRequest(Operation *op) {
  return isa<ir::JvpOp, ir::VjpOp, ir::LinearizeOp, ir::ApplyLinearOp, ir::ApplyTransposeOp,
             ir::VmapOp, ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp, ir::CustomLinOp, ir::PrimitiveLinOp>(op);
}

StringRef hjx::nameOf(Stage stage) {
  switch (stage) {
  case Stage::Traced:
    return "traced";
  case Stage::Pure:
    return "pure";
  case Stage::Lo:
    return "lo";
  case Stage::Tensor:
    return "tensor";
  case Stage::Kernel:
    return "kernel";
  case Stage::Machine:
    return "machine";
  }
  llvm_unreachable("unknown stage");
}

/// Why `type` has no place at `stage`, or nothing.
static StringRef objection(Type type, Stage stage) {
  if (isa<BaseMemRefType>(type) && stage != Stage::Kernel)
    return stage < Stage::Kernel ? "buffers come with the kernel stage" : "buffers are pointers";
  if (stage >= Stage::Kernel)
    return isa<TensorType>(type) ? "tensors are buffers" : "";
  if (stage >= Stage::Pure && isa<ir::LinearType>(type))
    return "linear maps are gone once transforms are expanded";
  if (stage >= Stage::Lo && isa<ir::RefType>(type))
    return "refs are values after hjx-discharge-refs";
  if (stage >= Stage::Lo && isa<ir::HiType>(type))
    return "values of hi-types are arrays after hjx-lower-hi";
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array)
    return "";
  if (stage >= Stage::Lo && isa<ir::KeyType>(array.getElementType()))
    return "keys are lowered to their words by hjx-lower-random";
  if (stage < Stage::Tensor)
    return "";
  if (array.getEncoding())
    return "shardings are gone once the program is partitioned";
  if (!array.hasStaticShape())
    return "shapes are static";
  auto integer = dyn_cast<IntegerType>(array.getElementType());
  return integer && !integer.isSignless() ? "integers are signless" : "";
}

static StringRef objection(Operation *op, Stage stage) {
  auto isOf = [dialect = op->getName().getDialectNamespace()](ArrayRef<StringRef> dialects) {
    return llvm::is_contained(dialects, dialect);
  };
  switch (stage) {
  case Stage::Machine:
    // A GPU's kernels stand in a device module.
    return isOf({"builtin", "llvm", "nvvm"}) || op->getName().getStringRef() == "gpu.module"
               ? ""
               : "expected ops of llvm and nvvm only";
  case Stage::Kernel:
    return isOf({"arith", "builtin", "func", "gpu", "llvm", "math", "memref", "nvvm", "scf", "vector"})
               ? ""
               : "expected ops of arith, func, gpu, llvm, math, memref, nvvm, scf and vector only";
  case Stage::Tensor:
    if (isa<func::CallOp>(op))
      return "calls are inlined";
    return isa<ir::OptBarrierOp, ir::AttentionOp, ir::AttentionCotangentOp>(op) || isOf({"arith", "builtin", "func", "linalg", "math", "scf", "tensor"})
               ? ""
               : "expected ops of arith, func, linalg, math, scf and tensor only";
  case Stage::Traced:
  case Stage::Pure:
  case Stage::Lo:
    if (isOf({"llvm"}))
      return "ops of llvm come with the kernel stage";
    return stage >= Stage::Pure && isRequest(op) ? "transforms are expanded by hjx-expand-transforms" : "";
  }
  llvm_unreachable("unknown stage");
}

/// What a stage asks of the module as a whole: a program, once only its memory plan and its
/// signature say what it was.
static LogicalResult verifyProgram(ModuleOp module, Stage stage) {
  if (stage >= Stage::Kernel) {
    StringRef name = stage == Stage::Kernel ? "main" : kEntryName;
    Operation *program = module.lookupSymbol(name);
    if (!program || !program->hasAttr(kMemoryPlanAttr))
      return module.emitError("expected @") << name << " with '" << kMemoryPlanAttr << "' at the " << nameOf(stage) << " stage";
  }
  bool isProgram = stage >= Stage::Kernel || module->hasAttr(kSignatureAttr);
  return success(!isProgram || succeeded(Signature::of(module)));
}

LogicalResult hjx::verifyStage(ModuleOp module, Stage stage) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef reason = objection(op, stage);
    if (!reason.empty()) {
      op->emitOpError("is not allowed at the ") << nameOf(stage) << " stage: " << reason;
      return WalkResult::interrupt();
    }
    auto isForeign = [&](TypeRange types) {
      for (Type type : types)
        if (StringRef reason = objection(type, stage); !reason.empty()) {
          op->emitOpError("has the type ")
              << type << ", which is not allowed at the " << nameOf(stage) << " stage: " << reason;
          return true;
        }
      return false;
    };
    bool stop = isForeign(op->getResultTypes());
    for (Region &region : op->getRegions())
      stop = stop || isForeign(TypeRange(ValueRange(region.getArguments())));
    return stop ? WalkResult::interrupt() : WalkResult::advance();
  });
  return success(!result.wasInterrupted() && succeeded(verifyProgram(module, stage)));
}

namespace {
struct VerifyStagePass : PassWrapper<VerifyStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStagePass)
  VerifyStagePass() = default;
  VerifyStagePass(const VerifyStagePass &other) : PassWrapper(other) { stage = other.stage; }
  explicit VerifyStagePass(Stage which) { stage = which; }
  StringRef getArgument() const final { return "hjx-verify-stage"; }
  StringRef getDescription() const final { return "Check that the module is at a stage"; }

  Option<Stage> stage{*this, "stage", llvm::cl::desc("The stage"), llvm::cl::init(Stage::Traced),
                      llvm::cl::values(clEnumValN(Stage::Traced, "traced", "anything"),
                                       clEnumValN(Stage::Pure, "pure", "no transforms"),
                                       clEnumValN(Stage::Lo, "lo", "no keys"),
                                       clEnumValN(Stage::Tensor, "tensor", "linalg on tensors"),
                                       clEnumValN(Stage::Kernel, "kernel", "kernels on buffers"),
                                       clEnumValN(Stage::Machine, "machine", "the LLVM dialect"))};

  void runOnOperation() final {
    if (failed(verifyStage(getOperation(), stage)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

std::unique_ptr<Pass> hjx::createVerifyStagePass(Stage stage) {
  return std::make_unique<VerifyStagePass>(stage);
}
void hjx::registerVerifyStagePass() { PassRegistration<VerifyStagePass>(); }
