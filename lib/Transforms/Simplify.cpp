// SPDX-License-Identifier: Apache-2.0
#include "lib/Transforms/Simplify.h"

#include "dialects/hjx/Effects.h"
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace hjx {

namespace {
/// Functions have no side effects, so a call whose results nobody reads is dead.
struct EraseDeadCall : OpRewritePattern<func::CallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(func::CallOp call, PatternRewriter &rewriter) const override {
    if (!call.use_empty() || !ir::isRemovable(call))
      return rewriter.notifyMatchFailure(call, "is needed");
    rewriter.eraseOp(call);
    return success();
  }
};
} // namespace

Simplifier::Simplifier(MLIRContext *context) {
  RewritePatternSet set(context);
  for (RegisteredOperationName op : context->getRegisteredOperationsByDialect(ir::HjxDialect::getDialectNamespace()))
    op.getCanonicalizationPatterns(set, context);
  set.add<EraseDeadCall>(context);
  patterns = FrozenRewritePatternSet(std::move(set));
}

void Simplifier::mergeEqualOps(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

void Simplifier::run(func::FuncOp function) const {
  mergeEqualOps(function);
  // Simplifying regions would erase values that only a linear program under
  // construction elsewhere reads; there is one block in each region anyway.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Stopping at the iteration limit leaves valid, merely less tidy IR.
  (void)applyPatternsGreedily(function, patterns, config);
  mergeEqualOps(function);
}

} // namespace hjx
