// SPDX-License-Identifier: Apache-2.0
//
// The checks: one walk, one question per op and per type.
#include "lib/Pipelines/Stages.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Support/Pch.h"

using namespace mlir;
using namespace hjx;

static bool isRequest(Operation *op) {
  return isa<ir::JvpOp, ir::VjpOp, ir::LinearizeOp, ir::ApplyLinearOp, ir::ApplyTransposeOp,
             ir::VmapOp, ir::CheckpointOp, ir::CustomJvpOp, ir::CustomVjpOp, ir::CustomLinOp>(op);
}

static StringRef nameOf(Stage stage) {
  switch (stage) {
  case Stage::Traced:
    return "traced";
  case Stage::Pure:
    return "pure";
  case Stage::Lo:
    return "lo";
  case Stage::Tensor:
    return "tensor";
  }
  llvm_unreachable("unknown stage");
}

/// Why `type` has no place at `stage`, or nothing.
static StringRef objection(Type type, Stage stage) {
  if (stage >= Stage::Pure && isa<ir::LinearType>(type))
    return "linear maps are gone once transforms are expanded";
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
  if (stage >= Stage::Pure && isRequest(op))
    return "transforms are expanded by hjx-expand-transforms";
  if (stage < Stage::Tensor)
    return "";
  if (isa<func::CallOp>(op))
    return "calls are inlined";
  StringRef dialect = op->getName().getDialectNamespace();
  bool isAllowed =
      isa<ir::OptBarrierOp>(op) ||
      llvm::is_contained({"arith", "builtin", "func", "linalg", "math", "scf", "tensor"}, dialect);
  return isAllowed ? "" : "expected ops of arith, func, linalg, math, scf and tensor only";
}

LogicalResult hjx::verifyStage(ModuleOp module, Stage stage) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef reason = objection(op, stage);
    if (!reason.empty()) {
      op->emitOpError("is not allowed at the ") << nameOf(stage) << " stage: " << reason;
      return WalkResult::interrupt();
    }
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      llvm::append_range(types, region.getArgumentTypes());
    for (Type type : types)
      if (StringRef reason = objection(type, stage); !reason.empty()) {
        op->emitOpError("has the type ")
            << type << ", which is not allowed at the " << nameOf(stage) << " stage: " << reason;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
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
                                       clEnumValN(Stage::Tensor, "tensor", "linalg on tensors"))};

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
