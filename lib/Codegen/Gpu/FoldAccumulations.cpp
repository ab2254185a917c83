// SPDX-License-Identifier: Apache-2.0
//
// Sums that are added to something start from it: see Passes.td.
//
//   %zero = fill(0)                                  %next = reduce(%x) outs(%sum)
//   %s = reduce(%x) outs(%zero)            ->
//   %next = %sum + %s
//
// and zeros + %s is %s. Gradients that are accumulated over micro-batches are such sums: without this each is written
// down by itself, read again, and added. Zeros that an op adds to what it computes itself are dropped from it.
#include "lib/Codegen/Gpu/Accumulations.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Combiner.h"

using namespace mlir;

bool hjx::isFilledWithZero(Value value) {
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

static bool isAddition(Operation *op) { return isa<arith::AddFOp, arith::AddIOp>(op); }

bool hjx::addsTensors(linalg::GenericOp op) {
  Block *body = op.getBody();
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         body->getOperations().size() == 2 && isAddition(&body->front()) &&
         body->getTerminator()->getOperand(0) == body->front().getResult(0) &&
         llvm::equal(body->front().getOperands(), body->getArguments().take_front(2)) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

bool hjx::onlyAddsTo(linalg::GenericOp op, unsigned input) {
  return input < op.getNumDpsInputs() && op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
         llvm::all_of(op.getBody()->getArgument(input).getUsers(), isAddition);
}

namespace hjx {
#define GEN_PASS_DEF_FOLDACCUMULATIONS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Whether `value` is a sum of terms, from zero, that nothing else needs.
bool isOwnSum(Value value) {
  auto sum = value.getDefiningOp<linalg::GenericOp>();
  if (!sum || !value.hasOneUse() || sum.getNumDpsInits() != 1 || sum.getNumReductionLoops() == 0 ||
      !isFilledWithZero(sum.getDpsInits()[0]))
    return false;
  std::optional<Combiner> combiner = Combiner::match(sum, 0);
  return combiner && isAddition(combiner->op);
}

/// The operands of an addition, what is made last first: what it is added to is there by then, and its own
/// operands need not wait.
std::array<unsigned, 2> sidesOf(linalg::GenericOp addition) {
  Operation *first = addition.getDpsInputs()[0].getDefiningOp(), *second = addition.getDpsInputs()[1].getDefiningOp();
  bool secondIsLater = first && second && first->getBlock() == second->getBlock() && first->isBeforeInBlock(second);
  return secondIsLater ? std::array{1u, 0u} : std::array{0u, 1u};
}

/// `op` without its inputs that are zeros which it adds to something: their sums are the other terms.
void dropZeros(linalg::GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(op.getBody()->getNumArguments());
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned index = input->getOperandNumber();
    if (isFilledWithZero(input->get()) && onlyAddsTo(op, index)) {
      BlockArgument zero = op.getBody()->getArgument(index);
      for (Operation *sum : llvm::make_early_inc_range(zero.getUsers())) {
        sum->getResult(0).replaceAllUsesWith(sum->getOperand(sum->getOperand(0) == zero));
        sum->erase();
      }
      if (zero.use_empty()) { // It was not added to itself.
        dropped.set(index);
        continue;
      }
    }
    inputs.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input));
  }
  if (dropped.none())
    return;
  for (OpOperand &output : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&output));
  OpBuilder b(op);
  auto rest = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(), maps,
                                        op.getIteratorTypesArray());
  op.getBody()->eraseArguments(dropped);
  rest.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(rest);
  op.erase();
}

struct FoldAccumulations : impl::FoldAccumulationsBase<FoldAccumulations> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> additions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (addsTensors(op))
        additions.push_back(op);
    });
    for (linalg::GenericOp addition : additions)
      for (unsigned side : sidesOf(addition)) {
        Value sum = addition.getDpsInputs()[side], start = addition.getDpsInputs()[1 - side];
        if (isFilledWithZero(start) && sum.getType() == start.getType()) {
          addition.getResult(0).replaceAllUsesWith(sum);
          addition.erase();
          break;
        }
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
    SmallVector<linalg::GenericOp> others;
    getOperation().walk([&](linalg::GenericOp op) { others.push_back(op); });
    for (linalg::GenericOp op : others)
      dropZeros(op);
  }
};

} // namespace
} // namespace hjx
