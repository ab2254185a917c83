// SPDX-License-Identifier: Apache-2.0
//
// A while loop that carries its values in place forwards to its body what it takes,
// in order. Canonicalisation drops what the body does not read, and folds equal
// values into one:
//
//   scf.while (%x, %old, %n) { .. scf.condition(%c) %x, %n }  do (%x, %n) { .. yield %y, %x, %m }
//
// Here such a loop gets back one place for each value: %old is forwarded, too, and
// what the condition computes has a place of its own, which nothing reads before.
#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_ALIGNWHILE
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

/// A value that nothing reads.
Value makeAny(ImplicitLocOpBuilder &b, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor::EmptyOp::create(b, tensor.getShape(), tensor.getElementType());
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

void align(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  Block &before = *loop.getBeforeBody(), &after = *loop.getAfterBody();
  if (condition.getArgs().getTypes() == TypeRange(before.getArgumentTypes()))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> starts(loop.getInits()), forwarded(before.getArguments());
  SmallVector<unsigned> placeOf; // per value that was forwarded
  for (Value value : condition.getArgs()) {
    auto taken = dyn_cast<BlockArgument>(value);
    if (taken && taken.getOwner() == &before) {
      placeOf.push_back(taken.getArgNumber());
      continue;
    }
    placeOf.push_back(starts.size());
    starts.push_back(makeAny(b, value.getType()));
    forwarded.push_back(value);
    before.addArgument(value.getType(), value.getLoc());
  }
  condition.getArgsMutable().assign(forwarded);

  unsigned numOld = after.getNumArguments();
  for (Value start : starts)
    after.addArgument(start.getType(), start.getLoc());
  for (auto [argument, place] : llvm::zip_equal(after.getArguments().take_front(numOld), placeOf))
    argument.replaceAllUsesWith(after.getArgument(numOld + place));
  after.eraseArguments(0, numOld);
  scf::YieldOp yield = loop.getYieldOp();
  yield.getResultsMutable().append(after.getArguments().drop_front(yield.getNumOperands()));

  auto aligned = scf::WhileOp::create(b, ValueRange(starts).getTypes(), starts);
  aligned.getBefore().takeBody(loop.getBefore());
  aligned.getAfter().takeBody(loop.getAfter());
  for (auto [result, place] : llvm::zip_equal(loop.getResults(), placeOf))
    result.replaceAllUsesWith(aligned.getResult(place));
  loop.erase();
}

struct AlignWhile : impl::AlignWhileBase<AlignWhile> {
  void runOnOperation() override {
    getOperation().walk([](scf::WhileOp loop) { align(loop); });
  }
};

} // namespace
} // namespace hjx
