// SPDX-License-Identifier: Apache-2.0
//
// The HigherOrder family: calls and custom rules are in Call.cpp, loops in
// Scan.cpp and While.cpp, branches in Cond.cpp.
#include "lib/Autodiff/Rules/HigherOrder.h"

#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

// The barrier is the identity: tangents and cotangents pass through one of their own.
static LogicalResult barrierJvp(JvpContext &c, ir::OptBarrierOp op) {
  SmallVector<Value> present;
  for (Value dot : c.tangents)
    if (dot)
      present.push_back(dot);
  auto barrier = ir::OptBarrierOp::create(c.b, present);
  unsigned next = 0;
  for (auto [i, dot] : llvm::enumerate(c.tangents))
    if (dot)
      c.setTangent(i, barrier.getResult(next++));
  return success();
}

static LogicalResult barrierTranspose(TransposeContext &c, ir::OptBarrierOp op) {
  SmallVector<Value> present;
  for (Value bar : c.resultBars)
    if (bar)
      present.push_back(bar);
  auto barrier = ir::OptBarrierOp::create(c.b, present);
  unsigned next = 0;
  for (auto [i, bar] : llvm::enumerate(c.resultBars))
    if (bar)
      c.accumulate(i, barrier.getResult(next++));
  return success();
}

void populateHigherOrderAutodiffRules(RuleRegistry &rules) {
  rules.of<ir::OptBarrierOp>().jvp = jvpRule(barrierJvp);
  rules.of<ir::OptBarrierOp>().transpose = transposeRule(barrierTranspose);
  populateCallAutodiffRules(rules);
}

} // namespace hjx
