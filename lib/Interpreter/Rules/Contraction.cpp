// SPDX-License-Identifier: Apache-2.0
//
// Contractions. result[batch, free lhs, free rhs] = sum over contracting of
// lhs * rhs, one loop nest over the definition.
#include "lib/Interpreter/Evaluate.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;

namespace hjx {

static LogicalResult evaluateDotGeneral(Evaluation &e) {
  auto op = cast<ir::DotGeneralOp>(e.op);
  const HostArray &lhs = e.operand(0), &rhs = e.operand(1);
  HostArray &result = e.results[0];
  SmallVector<int64_t> lhsFree =
      ir::dimsExcept(lhs.rank(), op.getLhsBatching(), op.getLhsContracting());
  SmallVector<int64_t> rhsFree =
      ir::dimsExcept(rhs.rank(), op.getRhsBatching(), op.getRhsContracting());
  size_t numBatching = op.getLhsBatching().size();
  SmallVector<int64_t> lhsIndex(lhs.rank()), rhsIndex(rhs.rank());
  auto place = [](MutableArrayRef<int64_t> index, ArrayRef<int64_t> dims,
                  ArrayRef<int64_t> values) {
    for (auto [dim, value] : llvm::zip_equal(dims, values))
      index[dim] = value;
  };

  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    place(lhsIndex, op.getLhsBatching(), index.take_front(numBatching));
    place(rhsIndex, op.getRhsBatching(), index.take_front(numBatching));
    place(lhsIndex, lhsFree, index.slice(numBatching, lhsFree.size()));
    place(rhsIndex, rhsFree, index.take_back(rhsFree.size()));
    double sum = 0;
    APInt integerSum(result.elementType().getIntOrFloatBitWidth(), 0);
    forEachIndex(
        ir::pickDims(lhs.shape(), op.getLhsContracting()), [&](ArrayRef<int64_t> contracted) {
          place(lhsIndex, op.getLhsContracting(), contracted);
          place(rhsIndex, op.getRhsContracting(), contracted);
          int64_t l = lhs.offsetOf(lhsIndex), r = rhs.offsetOf(rhsIndex);
          if (lhs.isFloat()) {
            sum += lhs.getFloat(l) * rhs.getFloat(r);
          } else {
            unsigned width = integerSum.getBitWidth();
            integerSum += lhs.getInteger(l).extOrTrunc(width) * rhs.getInteger(r).extOrTrunc(width);
          }
        });
    if (result.isFloat())
      result.setFloat(next++, sum);
    else
      result.setInteger(next++, integerSum);
  });
  return success();
}

void populateContractionEvaluateRules(EvaluateRules &rules) {
  rules.add<ir::DotGeneralOp>(evaluateDotGeneral);
}

} // namespace hjx
