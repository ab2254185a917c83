// SPDX-License-Identifier: Apache-2.0
//
// Sums that are added to something start from it: see Passes.td.
//
//   %zero = fill(0)                                  %next = reduce(%x) outs(%sum)
//   %s = reduce(%x) outs(%zero)            ->
//   %next = %sum + %s
//
// Gradients that are accumulated over micro-batches are such sums: without this each is written
// down by itself, read again, and added.
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Combiner.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_FOLDACCUMULATIONS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Whether `value` is a tensor of zeros that an op has just made.
bool isFilledWithZero(Value value) {
  auto fill = value.getDefiningOp<linalg::GenericOp>();
  if (!fill || fill.getNumDpsInits() != 1)
    return false;
  Value element = fill.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(element)) {
    if (argument.getOwner() != fill.getBody() || argument.getArgNumber() >= fill.getNumDpsInputs())
      return false;
    element = fill.getDpsInputs()[argument.getArgNumber()];
  }
  return matchPattern(element, m_AnyZeroFloat()) || matchPattern(element, m_Zero());
}

bool isAddition(Operation *op) { return isa<arith::AddFOp, arith::AddIOp>(op); }

/// Whether `op` adds two tensors, element by element, and does nothing else.
bool addsTensors(linalg::GenericOp op) {
  Block *body = op.getBody();
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         body->getOperations().size() == 2 && isAddition(&body->front()) &&
         body->getTerminator()->getOperand(0) == body->front().getResult(0) &&
         llvm::equal(body->front().getOperands(), body->getArguments().take_front(2)) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

/// Whether `value` is a sum of terms, from zero, that nothing else needs.
bool isOwnSum(Value value) {
  auto sum = value.getDefiningOp<linalg::GenericOp>();
  if (!sum || !value.hasOneUse() || sum.getNumDpsInits() != 1 || sum.getNumReductionLoops() == 0 ||
      !isFilledWithZero(sum.getDpsInits()[0]))
    return false;
  std::optional<Combiner> combiner = Combiner::match(sum, 0);
  return combiner && isAddition(combiner->op);
}

struct FoldAccumulations : impl::FoldAccumulationsBase<FoldAccumulations> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> additions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (addsTensors(op))
        additions.push_back(op);
    });
    for (linalg::GenericOp addition : additions)
      for (unsigned side : {0, 1}) {
        Value sum = addition.getDpsInputs()[side], start = addition.getDpsInputs()[1 - side];
        // Who needs the start once more would get a copy.
        if (!isOwnSum(sum) || sum == start || !start.hasOneUse() || start.getType() != sum.getType())
          continue;
        auto producer = sum.getDefiningOp<linalg::GenericOp>();
        if (producer->getBlock() != addition->getBlock())
          continue;
        producer->moveBefore(addition); // Behind whatever makes the start.
        producer.getDpsInitsMutable()[0].set(start);
        addition.getResult(0).replaceAllUsesWith(sum);
        addition.erase();
        break;
      }
  }
};

} // namespace
} // namespace hjx
