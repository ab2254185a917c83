// SPDX-License-Identifier: Apache-2.0
//
// Check ops: the comparison and its located message, for the interpreter and for
// whoever runs the same program compiled.
#include "lib/Interpreter/Check.h"

#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Evaluate.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace hjx {

static Tolerance toleranceOf(Operation *op) {
  auto close = dyn_cast<check::ExpectCloseOp>(op);
  if (!close)
    return Tolerance::exact();
  Tolerance tolerance;
  tolerance.rtol = close.getRtol() ? close.getRtol()->convertToDouble() : 0;
  tolerance.atol = close.getAtol() ? close.getAtol()->convertToDouble() : 0;
  tolerance.ulps = close.getUlps().value_or(0);
  return tolerance;
}

/// What check.expect_true compares with.
static HostArray allTrue(RankedTensorType type) {
  HostArray array(type);
  for (int64_t i = 0, n = array.numElements(); i < n; ++i)
    array.setInteger(i, APInt(1, 1));
  return array;
}

LogicalResult compareCheckOperands(Operation *op, ArrayRef<HostArray> operands) {
  const HostArray &got = operands.front();
  HostArray expected = operands.size() == 2 ? operands[1] : allTrue(got.type());
  std::optional<Difference> difference = findDifference(got, expected, toleranceOf(op));
  if (!difference)
    return success();
  InFlightDiagnostic error = op->emitOpError("failed: ") << difference->numDifferent << " of "
                                                         << got.numElements() << " elements differ";
  for (int64_t i : difference->first)
    error.attachNote() << "at " << printIndex(got.shape(), i) << ": expected "
                       << printElement(expected, i) << ", got " << printElement(got, i);
  return error;
}

static LogicalResult evaluateCheck(Evaluation &e) {
  auto operands = llvm::map_to_vector(e.operands, [](const HostArray *array) { return *array; });
  if (failed(compareCheckOperands(e.op, operands)))
    e.checkFailed = true; // go on: the other checks may say more
  return success();
}

void populateCheckEvaluateRules(EvaluateRules &rules) {
  rules.add<check::ExpectCloseOp>(evaluateCheck);
  rules.add<check::ExpectEqOp>(evaluateCheck);
  rules.add<check::ExpectTrueOp>(evaluateCheck);
}

} // namespace hjx
