// SPDX-License-Identifier: Apache-2.0
//
// Fusion of elementwise ops into what consumes them, on tensors. The rewriting is
// MLIR's; the decisions are ours:
//
//   1. One consumer: fuse.
//   2. Several consumers: each gets a copy if the op is cheap (no exp, tanh, division
//      or the like) and reads at most one tensor of its own size, so that a copy
//      neither costs arithmetic that counts nor reads more memory than its result. But not if its
//      result, of full size, is needed in memory anyway, and not if it is
//      all that a matrix product's result is for, and the target's kernels of products run it. An
//      op that is not cheap gets one copy more if its rows are longer than what kernels can keep.
//   3. Never repeat an expensive op because the consumer broadcasts its result.
//   4. A matrix product takes in transpositions, which are strides to it, and whole numbers in
//      bytes becoming floats (Packing), with their scales: quantized weights are never written down as floats.
//   5. Where arithmetic costs less than memory, an op of whatever cost is computed again by the ops that
//      read its inputs anyway: the backward pass of gelu does not read tanh, but what it is a function of.
//
// What stays apart although it walks over the same rows is joined later, on
// buffers (FuseRows.cpp).
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/Product.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

constexpr unsigned kMaxOperands = 24, kMaxBodyOps = 160;
constexpr unsigned kMaxCopies = 6, kMaxExpensiveCopies = 2, kMaxCopiedBodyOps = 12;

/// Whether `op` divides by a power of two, which is a multiplication.
bool isExactDivision(Operation &op) {
  APFloat divisor(0.0);
  return isa<arith::DivFOp>(op) && matchPattern(op.getOperand(1), m_ConstantFloat(&divisor)) && divisor.getExactInverse(nullptr);
}

bool isExpensive(Operation &op) {
  if (isExactDivision(op))
    return false;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::RemFOp>(op))
    return true;
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::CopySignOp, math::FmaOp,
          math::RoundEvenOp, math::TruncOp>(op))
    return false;
  return isa_and_present<math::MathDialect>(op.getDialect()) || op.getNumRegions() > 0;
}

bool isExpensive(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(),
                      [](Operation &nested) { return isExpensive(nested); });
}

bool isTransposition(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         op.getBody()->getOperations().size() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) == op.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); });
}

/// Whether `op` makes floats of bytes, which have scales only if `mayScale`.
bool isUnpacking(linalg::GenericOp op, bool mayScale) {
  if (op.getNumDpsInits() != 1)
    return false;
  auto number = PackedNumber::match(op.getBody()->getTerminator()->getOperand(0));
  auto mapOf = [&](BlockArgument argument) { return op.getIndexingMapsArray()[argument.getArgNumber()]; };
  if (!number || op.getNumDpsInputs() != (number->scale ? 2 : 1) || !mapOf(number->byte).isPermutation())
    return false;
  return !number->scale || (mayScale && mapOf(number->scale).isProjectedPermutation() &&
                            isa<RankedTensorType>(op->getOperand(number->scale.getArgNumber()).getType()));
}

int64_t numIterations(linalg::GenericOp op) {
  int64_t product = 1;
  for (int64_t size : op.getStaticLoopRanges())
    product *= size;
  return product;
}

struct Fusion {
  bool endProducts;
  int64_t keptRowBytes;

  bool fits(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *operand) const;
  bool shouldFuse(OpOperand *operand) const;
  bool canCopyTo(linalg::GenericOp op, OpOperand &use) const;
  unsigned maxCopies(linalg::GenericOp op) const;
  void repeatProducers(func::FuncOp func) const;
  bool readsItsInputs(linalg::GenericOp op, OpOperand &use) const;
  bool repeatAtReadersOfInputs(func::FuncOp func) const;
};

/// Rules 3 and 4, and limits of size.
bool Fusion::fits(linalg::GenericOp producer, linalg::GenericOp consumer, OpOperand *operand) const {
  if (producer.getNumReductionLoops() > 0 || !producer.hasPureTensorSemantics())
    return false;
  if (isMatrixProduct(consumer))
    return isTransposition(producer) || isUnpacking(producer, /*mayScale=*/consumer.getNumDpsInputs() == 2);
  if (!consumer.getMatchingIndexingMap(operand).isProjectedPermutation())
    return false;
  if (producer->getNumOperands() + consumer->getNumOperands() > kMaxOperands ||
      producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size() >
          kMaxBodyOps)
    return false;
  return numIterations(consumer) <= numIterations(producer) || !isExpensive(producer);
}

/// Whether `op` alone needs the result of a matrix product.
bool endsProduct(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto producer = input.getDefiningOp<linalg::GenericOp>();
    return producer && producer->hasOneUse() && isMatrixProduct(producer);
  });
}

bool Fusion::shouldFuse(OpOperand *operand) const {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return producer && consumer && llvm::hasSingleElement(llvm::SmallPtrSet<Operation *, 4>(
                                     producer->user_begin(), producer->user_end())) &&
         fits(producer, consumer, operand);
}

/// Whether loops of `op` read the same elements by `map` again, as all of a row read its mean.
bool isBroadcast(linalg::GenericOp op, AffineMap map) {
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (size > 1 && !map.isFunctionOfDim(loop))
      return true;
  return false;
}

bool Fusion::canCopyTo(linalg::GenericOp op, OpOperand &use) const {
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  return consumer && use.getOperandNumber() < consumer.getNumDpsInputs() && fits(op, consumer, &use);
}

/// Rule 2: how many consumers may compute `op` each for itself.
unsigned Fusion::maxCopies(linalg::GenericOp op) const {
  if (op->getNumResults() != 1 || op.getBody()->getOperations().size() > kMaxCopiedBodyOps)
    return 0;
  unsigned width = getElementTypeOrSelf(op.getResult(0).getType()).getIntOrFloatBitWidth(), fullSize = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (op.getNumLoops() == 0 || isBroadcast(op, op.getMatchingIndexingMap(input)))
      continue;
    ++fullSize;
    if (getElementTypeOrSelf(input->get().getType()).getIntOrFloatBitWidth() > width)
      return 0;
  }
  bool gathers = llvm::any_of(op.getBody()->without_terminator(), [](Operation &nested) {
    return isa<tensor::ExtractOp>(nested);
  });
  bool isKept = fullSize > 0 && !llvm::all_of(op->getUses(), [&](OpOperand &use) { return canCopyTo(op, use); });
  if (fullSize > 1 || gathers || isKept)
    return 0;
  if (!isExpensive(op))
    return kMaxCopies;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  bool isLong = type.getRank() > 0 && keptRowBytes > 0 &&
                type.getShape().back() * elementBytes(type) > keptRowBytes;
  return isLong ? kMaxExpensiveCopies : 0;
}

void Fusion::repeatProducers(func::FuncOp func) const {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  // Consumers first: a copy may need a copy of its own producer.
  for (linalg::GenericOp op : llvm::reverse(ops)) {
    unsigned copies = op.getNumReductionLoops() > 0 || (endProducts && endsProduct(op)) ? 0 : maxCopies(op);
    if (copies == 0)
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getUses())
      if (canCopyTo(op, use))
        uses.push_back(&use);
    if (op->hasOneUse() || uses.size() > copies)
      continue;
    for (OpOperand *use : uses) {
      OpBuilder b(use->getOwner());
      use->set(b.clone(*op)->getResult(0));
    }
    if (op->use_empty())
      op->erase();
  }
}

/// Whether `use` is by an op that reads for itself what `op` reads of full size.
bool Fusion::readsItsInputs(linalg::GenericOp op, OpOperand &use) const {
  if (!canCopyTo(op, use))
    return false;
  auto consumer = cast<linalg::GenericOp>(use.getOwner());
  AffineMap where = consumer.getMatchingIndexingMap(&use);
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return isBroadcast(op, map) || llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
             return other->get() == input->get() && consumer.getMatchingIndexingMap(other) == map.compose(where);
           });
  });
}

/// Rule 5. Returns whether there are new producers to fuse.
bool Fusion::repeatAtReadersOfInputs(func::FuncOp func) const {
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  bool repeats = false;
  for (linalg::GenericOp op : llvm::reverse(ops)) {
    if (op.getNumReductionLoops() > 0 || op->getNumResults() != 1 || op->use_empty() || op->hasOneUse() ||
        op->getResult(0).hasNUsesOrMore(kMaxExpensiveCopies + 1) || op.getNumDpsInputs() == 0 ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
        !llvm::all_of(op->getUses(), [&](OpOperand &use) { return readsItsInputs(op, use); }))
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      OpBuilder b(use.getOwner());
      use.set(b.clone(*op)->getResult(0));
    }
    op.erase();
    repeats = true;
  }
  return repeats;
}

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    Fusion fusion{endProducts, keptRowBytes};
    fusion.repeatProducers(getOperation());
    auto fuse = [&] {
      RewritePatternSet patterns(&getContext());
      linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) { return fusion.shouldFuse(operand); });
      GreedyRewriteConfig config;
      config.setUseTopDownTraversal(true);
      return applyPatternsGreedily(getOperation(), std::move(patterns), config);
    };
    if (failed(fuse()) || (keptRowBytes > 0 && fusion.repeatAtReadersOfInputs(getOperation()) && failed(fuse())))
      signalPassFailure();
  }
};

} // namespace
} // namespace hjx
