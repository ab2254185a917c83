// SPDX-License-Identifier: Apache-2.0
//
// What was just rounded is stored rounded: see Passes.td.
//
//   %a = generic ins(%x) { yield extf(truncf(...)) }      %a = generic ins(%x) { yield truncf(...) }
//   %b = generic ins(%a) { ... }                    ->    %b = generic ins(%a) { extf; ... }
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Product.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_NARROWTENSORS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Whether the user can widen for itself what it reads at `use`.
bool canWiden(OpOperand &use) {
  if (isa<tensor::ExtractOp>(use.getOwner()))
    return true;
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  return consumer && consumer.isDpsInput(&use) && !isMatrixProduct(consumer);
}

/// Reads `narrow` at `use`, and widens its elements there to what `use` reads now.
void widenAt(OpOperand &use, Value narrow) {
  Operation *user = use.getOwner();
  Type element = getElementTypeOrSelf(narrow.getType()), wide = getElementTypeOrSelf(use.get().getType());
  if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
    ImplicitLocOpBuilder b(user->getLoc(), user);
    Value scalar = tensor::ExtractOp::create(b, narrow, extract.getIndices());
    extract.getResult().replaceAllUsesWith(arith::ExtFOp::create(b, wide, scalar));
    extract.erase();
    return;
  }
  BlockArgument argument = cast<linalg::GenericOp>(user).getMatchingBlockArgument(&use);
  argument.setType(element);
  auto b = ImplicitLocOpBuilder::atBlockBegin(argument.getLoc(), argument.getOwner());
  auto widened = arith::ExtFOp::create(b, wide, argument);
  argument.replaceAllUsesExcept(widened, widened);
  use.set(narrow);
}

/// The tensor of what `op` widens as its last step.
Value narrowed(linalg::GenericOp op, arith::ExtFOp widening) {
  auto argument = dyn_cast<BlockArgument>(widening.getIn());
  bool isCopy = argument && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
  if (isCopy && argument.getArgNumber() < op.getNumDpsInputs())
    return op.getDpsInputs()[argument.getArgNumber()];
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getResult(0).getType()).clone(widening.getIn().getType());
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  auto narrow = linalg::GenericOp::create(b, TypeRange{type}, op.getDpsInputs(), ValueRange{empty},
                                          op.getIndexingMapsArray(), op.getIteratorTypesArray());
  narrow.getRegion().takeBody(op.getRegion());
  Block *body = narrow.getBody();
  body->getArguments().back().setType(type.getElementType());
  body->getTerminator()->setOperand(0, widening.getIn());
  widening.erase();
  return narrow.getResult(0);
}

/// What `op` widens as its last step, for consumers that could widen it themselves; null if there is no such thing.
arith::ExtFOp lastWidening(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0 || op->getNumResults() != 1 ||
      !op.getRegionOutputArgs()[0].use_empty() || op->use_empty() || !llvm::all_of(op->getUses(), canWiden))
    return nullptr;
  auto widening = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  return widening && widening->hasOneUse() && widening->getBlock() == op.getBody() ? widening : nullptr;
}

struct NarrowTensors : impl::NarrowTensorsBase<NarrowTensors> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (arith::ExtFOp widening = lastWidening(op)) {
        Value narrow = narrowed(op, widening);
        for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
          widenAt(use, narrow);
        op.erase();
      }
  }
};

} // namespace
} // namespace hjx
