// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops on long rows overwrite what they read last: see Passes.td.
//
//   %e = exp(%x)   outs(empty)              %e = exp(%x)   outs(empty)
//   %s = sum(%e)                     ->     %s = sum(%e)
//   %p = %e / %s   outs(empty)              %p = %e / %s   outs(%e)
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Support/SizeBytes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_COMPUTEINPLACE
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

bool hasLongRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 &&
         type.getShape().back() * elementBytes(type) > kMaxKeptRowBytes;
}

bool isElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1;
}

/// Whether `op` is the last to need `value`, which an elementwise op of the same block has made. What is gathered
/// from must be whole until the kernel of the gather ends, which `op` could not join.
bool isEndedBy(Value value, linalg::GenericOp op) {
  auto producer = value.getDefiningOp<linalg::GenericOp>();
  if (!isElementwise(producer) || producer->getBlock() != op->getBlock())
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    bool isOther = isa<ViewLikeOpInterface, tensor::ExtractOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user);
    return here && !isOther && (here == op || here->isBeforeInBlock(op));
  });
}

struct ComputeInPlace : impl::ComputeInPlaceBase<ComputeInPlace> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      if (!isElementwise(op) || !hasLongRows(op.getResult(0)))
        return;
      OpOperand &place = op.getDpsInitsMutable()[0];
      if (!place.get().getDefiningOp<tensor::EmptyOp>() || !op.getMatchingIndexingMap(&place).isIdentity())
        return;
      for (OpOperand *input : op.getDpsInputOperands())
        if (input->get().getType() == place.get().getType() && op.getMatchingIndexingMap(input).isIdentity() &&
            isEndedBy(input->get(), op)) {
          place.set(input->get());
          return;
        }
    });
  }
};

} // namespace
} // namespace hjx
