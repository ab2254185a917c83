// SPDX-License-Identifier: Apache-2.0
//
// Refs that are still there when a function is differentiated come from outside
// and hold values, not tangents: hjx-expand-transforms has discharged all others.
// What is read from them is a constant; what is written must be one.
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;

namespace hjx {

static LogicalResult refuseTangent(JvpContext &c) {
  return c.op->emitOpError("writes a value that has a tangent into a ref that has none: expected a ref made inside the "
                           "differentiated function, or one that is differentiated itself; to write the value alone, "
                           "apply hjx.stop_gradient to it");
}

void populateRefsAutodiffRules(RuleRegistry &rules) {
  markZeroTangent<ir::RefGetOp>(rules);
  rules.of<ir::RefSwapOp>().jvp = refuseTangent;
  rules.of<ir::RefAddOp>().jvp = refuseTangent;
}

} // namespace hjx
