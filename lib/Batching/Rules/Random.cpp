// SPDX-License-Identifier: Apache-2.0
//
// Random: each key is an element, so that a batch of keys gives what a loop over
// them would.
#include "lib/Batching/Rules/Shared.h"

using namespace hjx;
using namespace hjx::ir;
using namespace hjx::batching;

// split, bits: new dimensions come after the keys', the mapped axis stays
static LogicalResult batchInPlace(BatchContext &ctx) {
  int64_t axis = *ctx.axes[0];
  setResults(ctx, copyWith(ctx, ctx.operands, axis), axis);
  return success();
}

// wrap, unwrap: the last dimension is the key's words
static LogicalResult batchAtFront(BatchContext &ctx) {
  setResults(ctx, copyWith(ctx, atFront(ctx, 0), 0), 0);
  return success();
}

void hjx::registerRandomBatchRules(RuleRegistry &rules) {
  rules.of<Threefry2x32Op>().batch = batchElementwise;
  rules.of<RandomFoldInOp>().batch = batchElementwise;
  rules.of<RandomSeedOp>().batch = batchElementwise;
  rules.of<RandomSplitOp>().batch = batchInPlace;
  rules.of<RandomBitsOp>().batch = batchInPlace;
  rules.of<RandomWrapOp>().batch = batchAtFront;
  rules.of<RandomUnwrapOp>().batch = batchAtFront;
}
