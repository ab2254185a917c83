// SPDX-License-Identifier: Apache-2.0
//
// Canonicalisation of scan, while and cond. Transforms write these ops with more
// than is needed, and reverse mode stores an array for each ys of a scan, so
// what nobody reads must go:
//
//   - carries, ys, consts and xs that reach no used result;
//   - carries that never change, which are consts;
//   - equal operands and equal results, which are one;
//   - ys that are a const, or an xs as it came, which are known outside;
//   - constants passed in, which are better seen inside.
#include "dialects/hjx/Effects.h"
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Shapes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace hjx::ir;

namespace {

//===----------------------------------------------------------------------===//
// Shared by all three
//===----------------------------------------------------------------------===//

template <typename Range>
SmallVector<Value> keepValues(Range &&values, ArrayRef<bool> keep) {
  SmallVector<Value> kept;
  for (auto [value, isKept] : llvm::zip_equal(values, keep))
    if (isKept)
      kept.push_back(value);
  return kept;
}

SmallVector<Type> typesOf(ValueRange values) { return SmallVector<Type>(values.getTypes()); }

/// The values of `block` that `roots` need. `argumentNeeds` adds what a block
/// argument stands for: a carry needs what the body yields for it.
llvm::DenseSet<Value> findLive(Block &block, SmallVector<Value> roots,
                               llvm::function_ref<Value(BlockArgument)> argumentNeeds) {
  llvm::DenseSet<Value> live;
  for (Operation &op : block.without_terminator())
    if (!isRemovable(&op))
      llvm::append_range(roots, op.getOperands());
  while (!roots.empty()) {
    Value value = roots.pop_back_val();
    if (!live.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (Value needed = argumentNeeds(argument))
        roots.push_back(needed);
    } else {
      llvm::append_range(roots, value.getDefiningOp()->getOperands());
    }
  }
  return live;
}

/// Keeps only these operands of `block`'s yield and these of its arguments; ops
/// that only fed others go too.
void shrinkBlock(Block &block, ArrayRef<bool> keepYield, ArrayRef<bool> keepArgument, PatternRewriter &rewriter) {
  Operation *yield = block.getTerminator();
  SmallVector<Value> yielded = keepValues(yield->getOperands(), keepYield);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&op != yield && op.use_empty() && isRemovable(&op))
      rewriter.eraseOp(&op);
  for (unsigned i = keepArgument.size(); i-- > 0;)
    if (!keepArgument[i])
      block.eraseArgument(i);
}

/// Replaces `op` by `replacement`, whose results are those of `op` that are kept.
void replaceKept(Operation *op, Operation *replacement, ArrayRef<bool> keep, PatternRewriter &rewriter) {
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  unsigned next = 0;
  for (auto [result, isKept] : llvm::zip_equal(op->getResults(), keep))
    if (isKept)
      rewriter.replaceAllUsesWith(result, replacement->getResult(next++));
  rewriter.eraseOp(op);
}

/// Arguments of `block` from `first` on stand for `operands`: one that repeats
/// an earlier operand, or is a constant, is replaced. True if any was.
bool mergeArguments(Block &block, unsigned first, ValueRange operands, PatternRewriter &rewriter, bool areConsts) {
  bool changed = false;
  llvm::SmallDenseMap<Value, BlockArgument> seen;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    BlockArgument argument = block.getArgument(first + i);
    auto [known, isNew] = seen.try_emplace(operand, argument);
    if (argument.use_empty())
      continue;
    Operation *constant = operand.getDefiningOp();
    if (!isNew) {
      rewriter.replaceAllUsesWith(argument, known->second);
      changed = true;
    } else if (areConsts && constant && matchPattern(operand, m_Constant())) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&block);
      rewriter.replaceAllUsesWith(argument, rewriter.clone(*constant)->getResult(0));
      changed = true;
    }
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

struct DropUnusedScanParts : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    Block &body = *scan.getBlock();
    YieldOp yield = scan.getYield();
    unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
    SmallVector<Value> roots;
    for (auto [result, yielded] : llvm::zip_equal(scan.getResults(), yield.getOperands()))
      if (!result.use_empty())
        roots.push_back(yielded);
    auto carryOf = [&](BlockArgument argument) -> std::optional<unsigned> {
      unsigned i = argument.getArgNumber() - numConsts;
      return argument.getArgNumber() >= numConsts && i < numCarries ? std::optional(i) : std::nullopt;
    };
    llvm::DenseSet<Value> live = findLive(body, roots, [&](BlockArgument argument) {
      auto carry = carryOf(argument);
      return carry ? yield.getOperand(*carry) : Value();
    });
    auto keepArguments = llvm::map_to_vector(body.getArguments(), [&](BlockArgument argument) {
      auto carry = carryOf(argument);
      return live.contains(argument) || (carry && !scan.getResult(*carry).use_empty());
    });
    SmallVector<bool> keepResults(ArrayRef<bool>(keepArguments).slice(numConsts, numCarries));
    for (Value ys : scan.getYsResults())
      keepResults.push_back(!ys.use_empty());
    if (!llvm::is_contained(keepArguments, false) && !llvm::is_contained(keepResults, false))
      return rewriter.notifyMatchFailure(scan, "every part is used");

    SmallVector<Type> types = typesOf(keepValues(scan.getResults(), keepResults));
    ArrayRef<bool> keep(keepArguments);
    auto replacement = ScanOp::create(rewriter, scan.getLoc(), types, keepValues(scan.getConsts(), keep.take_front(numConsts)),
                                      keepValues(scan.getInits(), keep.slice(numConsts, numCarries)),
                                      keepValues(scan.getXs(), keep.drop_front(numConsts + numCarries)), scan.getLength(),
                                      scan.getReverse());
    shrinkBlock(body, keepResults, keepArguments, rewriter);
    rewriter.inlineRegionBefore(scan.getBody(), replacement.getBody(), replacement.getBody().end());
    replaceKept(scan, replacement, keepResults, rewriter);
    return success();
  }
};

/// A carry that the body yields as it came in is its init, in every iteration.
struct UnchangedScanCarries : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    Block &body = *scan.getBlock();
    unsigned numConsts = scan.getNumConsts();
    for (auto [i, init] : llvm::enumerate(scan.getInits())) {
      BlockArgument carry = body.getArgument(numConsts + i);
      bool hasOtherUse = llvm::any_of(carry.getUses(), [&, at = i](OpOperand &use) {
        return use.getOwner() != scan.getYield() || use.getOperandNumber() != at;
      });
      if (scan.getYield().getOperand(i) != carry || (!hasOtherUse && scan.getResult(i).use_empty()))
        continue;
      rewriter.modifyOpInPlace(scan, [&, value = init] {
        BlockArgument added = body.insertArgument(numConsts, carry.getType(), carry.getLoc());
        rewriter.replaceAllUsesWith(carry, added);
        scan.getConstsMutable().append(value);
      });
      rewriter.modifyOpInPlace(scan.getYield(), [&, at = i] { scan.getYield()->setOperand(at, carry); });
      rewriter.replaceAllUsesWith(scan.getResult(i), scan.getInits()[i]);
      return success(); // the carry is unused now
    }
    return rewriter.notifyMatchFailure(scan, "every carry changes");
  }
};

/// Equal operands and results become one; ys known outside are taken from there.
struct MergeScanParts : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    Block &body = *scan.getBlock();
    unsigned numConsts = scan.getNumConsts(), firstXs = numConsts + scan.getNumCarries();
    bool changed = mergeArguments(body, 0, scan.getConsts(), rewriter, /*areConsts=*/true);
    changed |= mergeArguments(body, firstXs, scan.getXs(), rewriter, /*areConsts=*/false);

    llvm::SmallDenseMap<Value, Value> seen;
    for (auto [ys, yielded] :
         llvm::zip_equal(scan.getYsResults(), scan.getYield().getOperands().drop_front(scan.getNumCarries()))) {
      auto [known, isNew] = seen.try_emplace(yielded, ys);
      if (ys.use_empty())
        continue;
      Value outside = isNew ? knownOutside(scan, yielded, ys.getType(), rewriter) : known->second;
      if (!outside)
        continue;
      rewriter.replaceAllUsesWith(ys, outside);
      changed = true;
    }
    return success(changed);
  }

private:
  static Value knownOutside(ScanOp scan, Value yielded, Type type, PatternRewriter &rewriter) {
    unsigned numConsts = scan.getNumConsts(), firstXs = numConsts + scan.getNumCarries();
    Value everywhere;
    if (auto argument = dyn_cast<BlockArgument>(yielded)) {
      if (argument.getArgNumber() >= firstXs)
        return scan.getXs()[argument.getArgNumber() - firstXs];
      if (argument.getArgNumber() < numConsts)
        everywhere = scan.getConsts()[argument.getArgNumber()];
    } else if (matchPattern(yielded, m_Constant())) {
      everywhere = rewriter.clone(*yielded.getDefiningOp())->getResult(0);
    }
    auto array = dyn_cast<RankedTensorType>(type);
    if (!everywhere || !array)
      return {};
    return BroadcastInDimOp::create(rewriter, scan.getLoc(), everywhere, array.getShape(), dimsExcept(array.getRank(), {0}));
  }
};

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

struct DropUnusedWhileParts : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp loop, PatternRewriter &rewriter) const override {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    YieldOp yield = loop.getBodyYield();
    unsigned numCondConsts = loop.getCondConsts().size(), numConsts = loop.getBodyConsts().size();
    bool changed = mergeArguments(cond, 0, loop.getCondConsts(), rewriter, /*areConsts=*/true);
    changed |= mergeArguments(body, 0, loop.getBodyConsts(), rewriter, /*areConsts=*/true);

    llvm::DenseSet<Value> liveInCond = findLive(cond, {loop.getCondYield().getOperand(0)}, [](BlockArgument) { return Value(); });
    SmallVector<bool> keepCarries;
    SmallVector<Value> roots;
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      keepCarries.push_back(!result.use_empty() || liveInCond.contains(cond.getArgument(numCondConsts + i)));
      if (keepCarries.back())
        roots.push_back(yield.getOperand(i));
    }
    llvm::DenseSet<Value> live = findLive(body, roots, [&](BlockArgument argument) {
      return argument.getArgNumber() >= numConsts ? yield.getOperand(argument.getArgNumber() - numConsts) : Value();
    });
    for (auto [i, keep] : llvm::enumerate(keepCarries))
      keep |= live.contains(body.getArgument(numConsts + i));
    SmallVector<bool> keepCondArguments, keepBodyArguments;
    for (unsigned i = 0; i < numCondConsts; ++i)
      keepCondArguments.push_back(liveInCond.contains(cond.getArgument(i)));
    for (unsigned i = 0; i < numConsts; ++i)
      keepBodyArguments.push_back(live.contains(body.getArgument(i)));
    SmallVector<Value> condConsts = keepValues(loop.getCondConsts(), keepCondArguments);
    SmallVector<Value> consts = keepValues(loop.getBodyConsts(), keepBodyArguments);
    llvm::append_range(keepCondArguments, keepCarries);
    llvm::append_range(keepBodyArguments, keepCarries);
    if (!llvm::is_contained(keepCondArguments, false) && !llvm::is_contained(keepBodyArguments, false))
      return success(changed);

    SmallVector<Value> inits = keepValues(loop.getInits(), keepCarries);
    auto replacement = WhileOp::create(rewriter, loop.getLoc(), typesOf(inits), condConsts, consts, inits, loop.getMaxTripAttr());
    shrinkBlock(cond, {true}, keepCondArguments, rewriter);
    shrinkBlock(body, keepCarries, keepBodyArguments, rewriter);
    rewriter.inlineRegionBefore(loop.getCond(), replacement.getCond(), replacement.getCond().end());
    rewriter.inlineRegionBefore(loop.getBody(), replacement.getBody(), replacement.getBody().end());
    replaceKept(loop, replacement, keepCarries, rewriter);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Cond
//===----------------------------------------------------------------------===//

/// A cond whose index is a constant is its branch.
struct InlineKnownCond : OpRewritePattern<CondOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CondOp op, PatternRewriter &rewriter) const override {
    std::optional<double> index = getSplat(op.getIndex());
    if (!index && op.getBranches().size() != 1)
      return rewriter.notifyMatchFailure(op, "index is not constant");
    int64_t last = op.getBranches().size() - 1;
    Block *branch = &op.getBranches()[std::clamp<int64_t>(index ? int64_t(*index) : 0, 0, last)].front();
    SmallVector<Value> yielded(branch->getTerminator()->getOperands());
    rewriter.eraseOp(branch->getTerminator());
    for (auto [value, argument] : llvm::zip_equal(op.getInputs(), branch->getArguments()))
      for (Value &y : yielded)
        if (y == argument)
          y = value;
    rewriter.inlineBlockBefore(branch, op, op.getInputs());
    rewriter.replaceOp(op, yielded);
    return success();
  }
};

/// Equal inputs and results become one; a result that every branch takes from
/// one input is that input; what is unused goes.
struct SimplifyCond : OpRewritePattern<CondOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CondOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (Region &branch : op.getBranches())
      changed |= mergeArguments(branch.front(), 0, op.getInputs(), rewriter, /*areConsts=*/true);

    std::map<SmallVector<void *>, Value> seen; // what each branch yields -> result
    for (OpResult result : op.getResults()) {
      auto yielded = llvm::map_to_vector(op.getBranches(), [&](Region &branch) {
        return branch.front().getTerminator()->getOperand(result.getResultNumber());
      });
      auto key = llvm::map_to_vector(yielded, [](Value v) { return v.getAsOpaquePointer(); });
      auto [known, isNew] = seen.try_emplace(key, result);
      if (result.use_empty())
        continue;
      auto inputOf = [](Value v) { return isa<BlockArgument>(v) ? int64_t(cast<BlockArgument>(v).getArgNumber()) : -1; };
      bool isInput = llvm::all_of(yielded, [&](Value v) { return inputOf(v) >= 0 && inputOf(v) == inputOf(yielded[0]); });
      if (isNew && !isInput)
        continue;
      rewriter.replaceAllUsesWith(result, isInput ? op.getInputs()[inputOf(yielded[0])] : known->second);
      changed = true;
    }

    auto keepResults = llvm::map_to_vector(op.getResults(), [](Value v) { return !v.use_empty(); });
    SmallVector<bool> keepInputs(op.getInputs().size(), false);
    for (Region &branch : op.getBranches()) {
      llvm::DenseSet<Value> live = findLive(branch.front(), keepValues(branch.front().getTerminator()->getOperands(), keepResults),
                                            [](BlockArgument) { return Value(); });
      for (auto [keep, argument] : llvm::zip_equal(keepInputs, branch.getArguments()))
        keep |= live.contains(argument);
    }
    if (!llvm::is_contained(keepResults, false) && !llvm::is_contained(keepInputs, false))
      return success(changed);
    auto replacement = CondOp::create(rewriter, op.getLoc(), typesOf(keepValues(op.getResults(), keepResults)), op.getIndex(),
                                      keepValues(op.getInputs(), keepInputs), op.getBranches().size());
    for (auto [branch, target] : llvm::zip_equal(op.getBranches(), replacement.getBranches())) {
      shrinkBlock(branch.front(), keepResults, keepInputs, rewriter);
      rewriter.inlineRegionBefore(branch, target, target.end());
    }
    replaceKept(op, replacement, keepResults, rewriter);
    return success();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedScanParts, MergeScanParts, UnchangedScanCarries>(context);
}
void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedWhileParts>(context);
}
void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<InlineKnownCond, SimplifyCond>(context);
}
