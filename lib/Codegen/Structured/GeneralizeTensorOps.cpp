// SPDX-License-Identifier: Apache-2.0
//
// One structured op for everything that follows: see Passes.td.
#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERALIZETENSOROPS
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

/// A tensor of equal elements that something will overwrite or copy is filled where it is needed,
/// not stored in the program. (As an input of a structured op it becomes a scalar by fusion.)
void fillSplats(func::FuncOp func) {
  SmallVector<std::pair<OpOperand *, DenseElementsAttr>> uses;
  func.walk([&](arith::ConstantOp op) {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat || !isa<RankedTensorType>(splat.getType()))
      return;
    for (OpOperand &use : op->getUses()) {
      auto structured = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!structured || !structured.isDpsInput(&use))
        uses.emplace_back(&use, splat);
    }
  });
  for (auto [use, splat] : uses) {
    ImplicitLocOpBuilder b(use->getOwner()->getLoc(), use->getOwner());
    Value element = arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(b, splat.getType().getShape(), splat.getElementType());
    use->set(linalg::FillOp::create(b, element, empty)->getResult(0));
  }
}

/// A choice between two tensors is a branch: one is moved, neither buffer takes over the other. (A
/// branch without ops was folded to a select.)
void branchOnSelects(func::FuncOp func) {
  SmallVector<arith::SelectOp> selects;
  func.walk([&](arith::SelectOp op) {
    if (isa<RankedTensorType>(op.getType()) && op.getCondition().getType().isInteger(1))
      selects.push_back(op);
  });
  auto yield = [](Value value) {
    return [=](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, value); };
  };
  for (arith::SelectOp op : selects) {
    OpBuilder b(op);
    auto branch = scf::IfOp::create(b, op.getLoc(), op.getCondition(), yield(op.getTrueValue()), yield(op.getFalseValue()));
    op.replaceAllUsesWith(branch.getResult(0));
    op.erase();
  }
}

struct GeneralizeTensorOps : impl::GeneralizeTensorOpsBase<GeneralizeTensorOps> {
  void runOnOperation() override {
    branchOnSelects(getOperation());
    fillSplats(getOperation());
    RewritePatternSet patterns(&getContext());
    linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace hjx
