// SPDX-License-Identifier: Apache-2.0
//
// Attention writes its results where they are wanted: see Passes.td.
//
//   call @attention(%q, .., %bar)              %part = subview %all[0, 768] [1024, 768]
//   %flat = collapse_shape %bar        ->      %bar = expand_shape %part
//   copy %flat to subview %all[0, 768]         call @attention(%q, .., %bar)
//
// The cotangents of queries, keys and values are thirds of one matrix, which two products read.
#include "lib/Codegen/Gpu/AttentionKernel.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/BufferEffects.h"
#include "lib/Codegen/Structured/Motion.h"
#include "lib/Codegen/Structured/RowLoops.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_PLACEATTENTION
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// What becomes of a result: reshapes, one after the other, and a copy.
struct Journey {
  SmallVector<Operation *> reshapes;
  linalg::GenericOp copy;

  Value target() { return copy.getDpsInits()[0]; }
};

bool isCopy(linalg::GenericOp op) {
  return op && op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) &&
         op.getBody()->getTerminator()->getOperand(0) == op.getBody()->getArgument(0) &&
         op.getBody()->getArgument(0).getType() == op.getBody()->getArgument(1).getType();
}

/// The journey of a buffer that `call` fills, if there is no other user.
std::optional<Journey> journeyOf(memref::AllocOp buffer, func::CallOp call) {
  if (!buffer || buffer->getBlock() != call->getBlock() || !llvm::hasNItems(buffer->getUses(), 2))
    return std::nullopt;
  Journey journey;
  Operation *next = *buffer->user_begin() == call ? *std::next(buffer->user_begin()) : *buffer->user_begin();
  Value value = buffer;
  while (next->getBlock() == call->getBlock() && call->isBeforeInBlock(next)) {
    if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(next)) {
      journey.reshapes.push_back(next);
      value = next->getResult(0);
      if (!value.hasOneUse())
        break;
      next = *value.user_begin();
      continue;
    }
    journey.copy = dyn_cast<linalg::GenericOp>(next);
    if (!isCopy(journey.copy) || journey.copy.getDpsInputs()[0] != value)
      break;
    return journey;
  }
  return std::nullopt;
}

class Placer {
public:
  Placer(func::CallOp call, func::FuncOp kernel) : call(call), kernel(kernel) {}

  void run() {
    for (OpOperand &operand : call->getOpOperands())
      if (std::optional<Journey> journey = journeyOf(operand.get().getDefiningOp<memref::AllocOp>(), call))
        place(operand, *journey);
    kernel.setType(FunctionType::get(call->getContext(), call->getOperandTypes(), {}));
  }

private:
  void place(OpOperand &operand, Journey &journey) {
    Value target = journey.target();
    if (!isFree(target, journey.copy) || !canMoveBefore(target, call))
      return;
    auto type = cast<MemRefType>(target.getType());
    for (Operation *reshape : llvm::reverse(journey.reshapes)) {
      std::optional<MemRefType> undone = undo(reshape, type);
      if (!undone)
        return;
      type = *undone;
    }
    if (!isReadableByAttention(type, /*hasFeatures=*/true))
      return;
    moveBefore(target, call);
    ImplicitLocOpBuilder b(call.getLoc(), call);
    Value view = target;
    for (Operation *reshape : llvm::reverse(journey.reshapes))
      view = emitUndo(b, reshape, view);
    Operation *buffer = operand.get().getDefiningOp();
    operand.set(view);
    journey.copy.erase();
    for (Operation *reshape : llvm::reverse(journey.reshapes))
      reshape->erase();
    buffer->erase();
    placed.push_back(target);
  }

  /// Whether no op from the call to `copy` knows what is in `target`, but for what the call itself writes
  /// beside it.
  bool isFree(Value target, Operation *copy) {
    Value root = rootBuffer(target);
    if (!overlapsNoOther(root))
      return false;
    for (Value operand : call.getOperands())
      if (rootBuffer(operand) == root && llvm::none_of(placed, [&](Value other) { return withoutReshapes(operand) == other; }))
        return false;
    if (llvm::any_of(placed, [&](Value other) { return rootBuffer(other) == root && !areDisjoint(other, target); }))
      return false;
    for (Operation *op = call->getNextNode(); op != copy; op = op->getNextNode()) {
      if (op->getNumRegions() > 0 && !isa<linalg::GenericOp>(op))
        return false;
      if (isMovable(op))
        continue;
      bool isTouched = false;
      op->walk([&](Operation *nested) {
        isTouched |= llvm::any_of(nested->getOperands(), [&](Value value) { return isa<MemRefType>(value.getType()) && rootBuffer(value) == root; });
      });
      if (isTouched)
        return false;
    }
    return true;
  }

  /// The type of a buffer like `type` before `reshape`.
  static std::optional<MemRefType> undo(Operation *reshape, MemRefType type) {
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(reshape)) {
      FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
          type, collapse.getSrcType().getShape(), collapse.getReassociationIndices());
      return failed(expanded) ? std::nullopt : std::optional<MemRefType>(*expanded);
    }
    auto expand = cast<memref::ExpandShapeOp>(reshape);
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, expand.getReassociationIndices()))
      return std::nullopt;
    return memref::CollapseShapeOp::computeCollapsedType(type, expand.getReassociationIndices());
  }

  static Value emitUndo(ImplicitLocOpBuilder &b, Operation *reshape, Value view) {
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(reshape))
      return memref::ExpandShapeOp::create(b, *undo(reshape, cast<MemRefType>(view.getType())), view,
                                           collapse.getReassociationIndices());
    return memref::CollapseShapeOp::create(b, view, cast<memref::ExpandShapeOp>(reshape).getReassociationIndices());
  }

  func::CallOp call;
  func::FuncOp kernel;
  SmallVector<Value> placed; // What the call writes now.
};

struct PlaceAttention : impl::PlaceAttentionBase<PlaceAttention> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      if (kernel && kernel->hasAttr(kAttentionAttr)) // Each call has its own, of its types.
        Placer(call, kernel).run();
    }
  }
};

} // namespace
} // namespace hjx
