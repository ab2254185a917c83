// SPDX-License-Identifier: Apache-2.0
//
// Control flow: verifiers and canonicalisation.
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace hjx::ir;

#define GET_OP_CLASSES
#include "dialects/hjx/HigherOrder.cpp.inc"

void HjxDialect::registerHigherOrderOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/HigherOrder.cpp.inc"
      >();
}

void YieldOp::build(OpBuilder &, OperationState &) {}

YieldOp ScanOp::getYield() { return cast<YieldOp>(getBlock()->getTerminator()); }
YieldOp WhileOp::getCondYield() { return cast<YieldOp>(getCond().front().getTerminator()); }
YieldOp WhileOp::getBodyYield() { return cast<YieldOp>(getBody().front().getTerminator()); }
YieldOp CondOp::getYield(unsigned branch) { return cast<YieldOp>(getBranches()[branch].front().getTerminator()); }

/// Checks `got` against `expected`, element by element, with a message that
/// names the first difference.
static LogicalResult checkTypes(Operation *op, const Twine &what, TypeRange expected, TypeRange got) {
  if (expected.size() != got.size())
    return op->emitOpError(what) << ": expected " << expected.size() << " values, got " << got.size();
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(expected, got)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError(what) << ": expected " << std::get<0>(types) << " at position " << i << ", got "
                                   << std::get<1>(types);
  return success();
}

static LogicalResult checkTerminator(Operation *op, Region &region, const Twine &what) {
  if (region.front().empty() || !isa<YieldOp>(region.front().back()))
    return op->emitOpError(what) << " must end in hjx.yield";
  return success();
}

LogicalResult ScanOp::verify() {
  int64_t length = getLength();
  if (length < 0)
    return emitOpError("(C1) expected a length that is not negative, got ") << length;
  SmallVector<Type> arguments(getConsts().getTypes());
  llvm::append_range(arguments, getInits().getTypes());
  for (Type type : getXs().getTypes()) {
    auto xs = cast<RankedTensorType>(type);
    if (xs.getRank() == 0 || xs.getDimSize(0) != length)
      return emitOpError("(C1) expected xs with a leading dimension of ") << length << ", got " << xs;
    arguments.push_back(dropAxis(xs, 0));
  }
  if (failed(checkTypes(*this, "(C2) body arguments", arguments, getBlock()->getArgumentTypes())))
    return failure();
  TypeRange yielded = getYield().getOperandTypes();
  unsigned carries = getNumCarries();
  if (yielded.size() < carries)
    return emitOpError("(C3) body yields ") << yielded.size() << " values, expected at least the " << carries << " carries";
  if (failed(checkTypes(*this, "(C3) carries yielded by the body", getInits().getTypes(), yielded.take_front(carries))))
    return failure();
  SmallVector<Type> results(getInits().getTypes());
  for (Type type : yielded.drop_front(carries)) {
    auto array = dyn_cast<RankedTensorType>(type);
    if (!array)
      return emitOpError("(C4) expected arrays as ys, got ") << type;
    results.push_back(insertAxis(array, 0, length));
  }
  return checkTypes(*this, "(C4) results", results, getResultTypes());
}

LogicalResult WhileOp::verify() {
  auto withConsts = [&](OperandRange consts) {
    SmallVector<Type> types(consts.getTypes());
    llvm::append_range(types, getInits().getTypes());
    return types;
  };
  if (failed(checkTerminator(*this, getCond(), "cond")) || failed(checkTerminator(*this, getBody(), "body")))
    return failure();
  if (failed(checkTypes(*this, "(C1) cond arguments", withConsts(getCondConsts()), getCond().getArgumentTypes())))
    return failure();
  TypeRange predicate = getCondYield().getOperandTypes();
  auto type = predicate.size() == 1 ? dyn_cast<RankedTensorType>(predicate.front()) : RankedTensorType();
  if (!type || type.getRank() != 0 || !type.getElementType().isInteger(1))
    return emitOpError("(C1) cond must yield one tensor<i1>");
  if (failed(checkTypes(*this, "(C2) body arguments", withConsts(getBodyConsts()), getBody().getArgumentTypes())) ||
      failed(checkTypes(*this, "(C2) carries yielded by body", getInits().getTypes(), getBodyYield().getOperandTypes())) ||
      failed(checkTypes(*this, "(C3) results", getInits().getTypes(), getResultTypes())))
    return failure();
  // The accessor's type is unsigned.
  if (int64_t maxTrip = getMaxTrip().value_or(0); maxTrip < 0)
    return emitOpError("(C4) expected max_trip not to be negative, got ") << maxTrip;
  return success();
}

LogicalResult CondOp::verify() {
  auto index = cast<RankedTensorType>(getIndex().getType());
  if (index.getRank() != 0)
    return emitOpError("(C1) expected a scalar index, got ") << index;
  if (getBranches().empty() || (index.getElementType().isInteger(1) && getBranches().size() != 2))
    return emitOpError("(C1) expected ") << (getBranches().empty() ? "at least one branch" : "two branches for a bool index")
                                         << ", got " << getBranches().size();
  for (auto [i, branch] : llvm::enumerate(getBranches())) {
    if (failed(checkTypes(*this, "(C2) arguments of branch " + Twine(i), getInputs().getTypes(), branch.getArgumentTypes())) ||
        failed(checkTerminator(*this, branch, "branch " + Twine(i))) ||
        failed(checkTypes(*this, "(C3) values yielded by branch " + Twine(i), getResultTypes(),
                          branch.front().getTerminator()->getOperandTypes())))
      return failure();
  }
  return success();
}

LogicalResult OptBarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getOperands().getTypes());
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalisation
//===----------------------------------------------------------------------===//

namespace {

/// Rebuilds `scan` without the operands, carries and ys that `keep*` clear.
/// A dropped carry's body argument must already be unused or replaced.
struct ScanParts {
  SmallVector<bool> keepConst, keepCarry, keepXs, keepYs;
  explicit ScanParts(ScanOp scan)
      : keepConst(scan.getNumConsts(), true), keepCarry(scan.getNumCarries(), true), keepXs(scan.getNumXs(), true),
        keepYs(scan.getNumYs(), true) {}
};

template <typename Range>
SmallVector<Value> keepValues(Range &&values, ArrayRef<bool> keep) {
  SmallVector<Value> kept;
  for (auto [value, isKept] : llvm::zip_equal(values, keep))
    if (isKept)
      kept.push_back(value);
  return kept;
}

void rebuildScan(ScanOp scan, const ScanParts &parts, PatternRewriter &rewriter) {
  SmallVector<Value> consts = keepValues(scan.getConsts(), parts.keepConst);
  SmallVector<Value> inits = keepValues(scan.getInits(), parts.keepCarry);
  SmallVector<Value> xs = keepValues(scan.getXs(), parts.keepXs);
  SmallVector<bool> keepResult(parts.keepCarry), keepArgument(parts.keepConst);
  llvm::append_range(keepResult, parts.keepYs);
  llvm::append_range(keepArgument, parts.keepCarry);
  llvm::append_range(keepArgument, parts.keepXs);

  SmallVector<Value> yielded = keepValues(scan.getYield().getOperands(), keepResult);
  rewriter.modifyOpInPlace(scan.getYield(), [&] { scan.getYield()->setOperands(yielded); });
  SmallVector<Type> types = llvm::map_to_vector(keepValues(scan.getResults(), keepResult), [](Value v) { return v.getType(); });
  auto replacement = ScanOp::create(rewriter, scan.getLoc(), types, consts, inits, xs, scan.getLength(), scan.getReverse());
  replacement->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(scan.getBody(), replacement.getBody(), replacement.getBody().end());
  Block *block = replacement.getBlock();
  for (int64_t i = keepArgument.size() - 1; i >= 0; --i)
    if (!keepArgument[i])
      block->eraseArgument(i);
  unsigned next = 0;
  for (auto [result, isKept] : llvm::zip_equal(scan.getResults(), keepResult))
    if (isKept)
      rewriter.replaceAllUsesWith(result, replacement.getResult(next++));
  rewriter.eraseOp(scan);
}

/// Drops what nobody reads: unused consts and xs, unused ys, and carries that
/// only feed themselves; turns carries that never change into consts' values.
/// Residual stacks of reverse mode rely on this to stay small.
struct SimplifyScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    ScanParts parts(scan);
    Block *block = scan.getBlock();
    YieldOp yield = scan.getYield();
    unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
    bool changed = false;

    // A carry yielded as it came in is its init everywhere: make it a const.
    for (unsigned i = 0; i < numCarries; ++i) {
      BlockArgument argument = block->getArgument(numConsts + i);
      if (yield.getOperand(i) != argument)
        continue;
      rewriter.replaceAllUsesWith(scan.getResult(i), scan.getInits()[i]);
      if (llvm::any_of(argument.getUses(), [&](OpOperand &use) {
            return use.getOwner() != yield || use.getOperandNumber() != i;
          })) {
        return makeConst(scan, i, rewriter);
      }
      parts.keepCarry[i] = false;
      changed = true;
    }
    for (unsigned i = 0; i < scan.getNumYs(); ++i)
      if (scan.getYsResults()[i].use_empty()) {
        parts.keepYs[i] = false;
        changed = true;
      }
    // A dead carry: its result is unused and its argument reaches only its own yield.
    for (unsigned i = 0; i < numCarries; ++i)
      if (parts.keepCarry[i] && scan.getResult(i).use_empty() && isDeadCarry(scan, i, parts)) {
        parts.keepCarry[i] = false;
        // The argument is still read by ops that only feed its own yield;
        // a placeholder keeps them valid until they are erased as dead.
        BlockArgument argument = block->getArgument(numConsts + i);
        rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(i, argument); });
        eraseDead(argument, rewriter);
        changed = true;
      }
    for (unsigned i = 0; i < numConsts; ++i)
      if (block->getArgument(i).use_empty()) {
        parts.keepConst[i] = false;
        changed = true;
      }
    for (unsigned i = 0; i < scan.getNumXs(); ++i)
      if (block->getArgument(numConsts + numCarries + i).use_empty()) {
        parts.keepXs[i] = false;
        changed = true;
      }
    if (!changed)
      return rewriter.notifyMatchFailure(scan, "nothing to drop");
    rebuildScan(scan, parts, rewriter);
    return success();
  }

private:
  /// The carry's argument is used by nothing that reaches a kept yield operand
  /// other than its own.
  static bool isDeadCarry(ScanOp scan, unsigned carry, const ScanParts &parts) {
    Block *block = scan.getBlock();
    SmallVector<Value> worklist{block->getArgument(scan.getNumConsts() + carry)};
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (!worklist.empty()) {
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (user == scan.getYield()) {
          unsigned position = use.getOperandNumber();
          bool isOwn = position == carry;
          bool isDropped = position >= scan.getNumCarries() && !parts.keepYs[position - scan.getNumCarries()];
          if (!isOwn && !isDropped)
            return false;
        } else if (user->getBlock() == block && isPure(user)) {
          if (seen.insert(user).second)
            llvm::append_range(worklist, user->getResults());
        } else {
          return false;
        }
      }
    }
    return true;
  }

  /// Erases the ops that read `argument` (all dead but for dropped yields).
  static void eraseDead(BlockArgument argument, PatternRewriter &rewriter) {
    Block *block = argument.getOwner();
    auto yield = cast<YieldOp>(block->getTerminator());
    llvm::SmallPtrSet<Operation *, 16> readers;
    SmallVector<Value> worklist{argument};
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers())
        if (user != yield && readers.insert(user).second)
          llvm::append_range(worklist, user->getResults());
    // Dropped yields may still name these ops' results.
    for (OpOperand &operand : yield->getOpOperands())
      if (readers.contains(operand.get().getDefiningOp()))
        rewriter.modifyOpInPlace(yield, [&] { operand.set(argument); });
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (readers.contains(&op))
        rewriter.eraseOp(&op);
  }

  LogicalResult makeConst(ScanOp scan, unsigned carry, PatternRewriter &rewriter) const {
    Block *block = scan.getBlock();
    unsigned numConsts = scan.getNumConsts();
    Value init = scan.getInits()[carry];
    BlockArgument added = block->insertArgument(numConsts, init.getType(), scan.getLoc());
    BlockArgument argument = block->getArgument(numConsts + 1 + carry);
    rewriter.replaceAllUsesWith(argument, added);
    rewriter.modifyOpInPlace(scan.getYield(), [&] { scan.getYield()->setOperand(carry, argument); });
    rewriter.modifyOpInPlace(scan, [&] { scan.getConstsMutable().append(init); });
    ScanParts parts(scan);
    parts.keepCarry[carry] = false;
    rebuildScan(scan, parts, rewriter);
    return success();
  }
};

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

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) { patterns.add<SimplifyScan>(context); }
void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) { patterns.add<InlineKnownCond>(context); }
