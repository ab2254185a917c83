// SPDX-License-Identifier: Apache-2.0
//
// One backward walk per block; see the header.
#include "lib/Lowering/Clusters.h"
#include "lib/Lowering/Nest.h"

using namespace mlir;
using namespace hjx;

/// Ops of one nest. Each may become a hundred instructions, and what follows is not linear in the
/// length of a function; an array stored and read again after so many costs nothing beside them.
constexpr unsigned kMaxOps = 160;

static bool isReduction(Operation *op) {
  return isa<ir::ReduceSumOp, ir::ReduceProdOp, ir::ReduceMaxOp, ir::ReduceMinOp, ir::ReduceAndOp,
             ir::ReduceOrOp, ir::ArgmaxOp, ir::ArgminOp>(op);
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Clusters::Clusters(func::FuncOp func, const LoweringRules &rules, bool fuse) {
  func.walk([&](Block *block) {
    findOnlyRead(*block, rules);
    if (fuse)
      findInside(*block, rules);
  });
  for (auto &[root, inside] : members)
    std::reverse(inside.begin(), inside.end());
}

void Clusters::findOnlyRead(Block &block, const LoweringRules &rules) {
  auto looksThrough = [&](Operation *user, Operation *op) {
    if (isa<ir::TransposeOp>(op))
      return isa<ir::DotGeneralOp>(user);
    return rules.isElementwise(user) || isReduction(user) || isa<ir::DotGeneralOp>(user) ||
           onlyRead.contains(user);
  };
  for (Operation &op : llvm::reverse(block))
    if (isLookedThrough(&op) &&
        llvm::all_of(op.getUsers(), [&](Operation *user) { return looksThrough(user, &op); }))
      onlyRead.insert(&op);
}

void Clusters::findInside(Block &block, const LoweringRules &rules) {
  // The nest that reads `use` element by element, or null.
  auto nestReading = [&](OpOperand &use) -> Operation * {
    Operation *user = use.getOwner();
    if (user->getBlock() != &block)
      return nullptr;
    if (isReduction(user))
      return user;
    // A scalar beside arrays (a bound of clamp) is better computed once.
    bool isRead = rules.isElementwise(user) && shapeOf(use.get()) == shapeOf(user->getResult(0));
    if (!isRead)
      return nullptr;
    auto it = nestOf.find(user);
    return it == nestOf.end() ? user : it->second;
  };
  for (Operation &op : llvm::reverse(block)) {
    if (!rules.isElementwise(&op) || op.use_empty())
      continue;
    Operation *nest = nullptr;
    bool isShared = false;
    for (OpOperand &use : op.getUses()) {
      Operation *reader = nestReading(use);
      isShared |= !reader || (nest && reader != nest);
      nest = reader;
    }
    if (isShared || members[nest].size() >= kMaxOps)
      continue;
    nestOf[&op] = nest;
    members[nest].push_back(&op);
  }
}
