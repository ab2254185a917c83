// SPDX-License-Identifier: Apache-2.0
//
// The HigherOrder family: calls and custom rules are in Call.cpp, loops in
// Scan.cpp and While.cpp, branches in Cond.cpp.
#include "lib/Autodiff/Rules/HigherOrder.h"

#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

void addJointArguments(Block &block, ArrayRef<BlockArgument> originals, ArrayRef<bool> active,
                       SmallVectorImpl<Dual> &duals) {
  unsigned first = duals.size();
  for (BlockArgument original : originals)
    duals.push_back({block.addArgument(original.getType(), original.getLoc()), Value()});
  for (auto [i, isActive] : llvm::enumerate(active))
    if (isActive)
      duals[first + i].tangent = block.addArgument(ir::tangentOf(originals[i].getType()), originals[i].getLoc());
}

SmallVector<Value> toJoint(OpBuilder &b, Location loc, ArrayRef<Dual> duals, ArrayRef<bool> active) {
  SmallVector<Value> values = llvm::map_to_vector(duals, [](Dual dual) { return dual.primal; });
  for (auto [dual, isActive] : llvm::zip_equal(duals, active))
    if (isActive)
      values.push_back(instantiate(b, loc, dual.tangent, dual.primal.getType()));
  return values;
}

void setJointResults(JvpContext &c, unsigned first, ValueRange values, ArrayRef<bool> active) {
  unsigned next = active.size();
  for (auto [i, isActive] : llvm::enumerate(active)) {
    c.results[first + i] = values[i];
    if (isActive)
      c.setTangent(first + i, values[next++]);
  }
}

SmallVector<BarSink> innerSinks(TransposeContext &c, ArrayRef<bool> linear) {
  SmallVector<BarSink> sinks(linear.size());
  llvm::SmallDenseSet<Value> taken;
  for (auto [i, isLinear] : llvm::enumerate(linear)) {
    BarSink sink = isLinear ? c.sink(i) : BarSink();
    if (sink.kind != BarSink::Ref || taken.insert(sink.ref).second)
      sinks[i] = sink;
  }
  return sinks;
}

/// The values behind a barrier of their own; symbolic zeros stay null.
static SmallVector<Value> behindBarrier(ImplicitLocOpBuilder &b, ArrayRef<Value> values) {
  SmallVector<Value> present, guarded(values.size());
  llvm::copy_if(values, std::back_inserter(present), [](Value v) { return bool(v); });
  auto barrier = ir::OptBarrierOp::create(b, present);
  unsigned next = 0;
  for (auto [i, value] : llvm::enumerate(values))
    if (value)
      guarded[i] = barrier.getResult(next++);
  return guarded;
}

// The barrier is the identity: tangents and cotangents pass through one of their own.
static LogicalResult barrierJvp(JvpContext &c, ir::OptBarrierOp op) {
  for (auto [i, dot] : llvm::enumerate(behindBarrier(c.b, c.tangents)))
    if (dot)
      c.setTangent(i, dot);
  return success();
}

static LogicalResult barrierTranspose(TransposeContext &c, ir::OptBarrierOp op) {
  for (auto [i, bar] : llvm::enumerate(behindBarrier(c.b, c.resultBars)))
    if (bar)
      c.accumulate(i, bar);
  return success();
}

void populateHigherOrderAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::OptBarrierOp>().jvp = jvpRule(barrierJvp);
  rules.of<ir::OptBarrierOp>().transpose = transposeRule(barrierTranspose);
  populateCallAutodiffRules(rules);
  populateCondAutodiffRules(rules);
  populateScanAutodiffRules(rules);
  populateWhileAutodiffRules(rules);
}

} // namespace hjx
