// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of reductions and running sums.
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;
using namespace hjx::ir;
using namespace hjx::emit;

namespace hjx {

/// A reduction's result, repeated along the axes that it dropped.
static Value unreduce(emit::Builder &b, Value reduced, RankedTensorType type, ArrayRef<int64_t> axes) {
  return broadcastInDim(b, reduced, type.getShape(), dimsExcept(type.getRank(), axes));
}

// y = sum(x);  x_bar += broadcast(y_bar)
static LogicalResult sumTranspose(TransposeContext &c, ReduceSumOp op) {
  c.accumulate(0, unreduce(c.b, c.resultBar(0), op.getOperand().getType(), op.getAxes()));
  return success();
}

// y = max(x);  y_dot = sum(w * x_dot), w = (x == y) / (number of such places)
template <typename Op>
static LogicalResult extremumJvp(JvpContext &c, Op op) {
  emit::Builder &b = c.b;
  auto type = op.getOperand().getType();
  Value extremum = unreduce(b, op.getResult(), type, op.getAxes());
  Value places = convert(b, compare(b, ComparisonDirection::EQ, op.getOperand(), extremum), type.getElementType());
  Value count = unreduce(b, reduceSum(b, places, op.getAxes()), type, op.getAxes());
  c.setTangent(0, reduceSum(b, mul(b, c.tangent(0), div(b, places, count)), op.getAxes()));
  return success();
}

/// Rows [start, limit) of x.
static Value rows(emit::Builder &b, Value x, int64_t start, int64_t limit) {
  SmallVector<int64_t> starts(typeOf(x).getRank(), 0), limits(typeOf(x).getShape()), strides(starts.size(), 1);
  starts[0] = start;
  limits[0] = limit;
  return SliceOp::create(b, x, starts, limits, strides);
}

// y = prod(x): a tree of products p = a * b with p_dot = a_dot * b + a * b_dot,
// which is exact when elements are zero, unlike y * sum(x_dot / x).
//   rows [0, n/2) meet rows [n/2, 2(n/2)); an odd last row waits for the next level.
static LogicalResult prodJvp(JvpContext &c, ReduceProdOp op) {
  emit::Builder &b = c.b;
  auto type = op.getOperand().getType();
  SmallVector<int64_t> kept = dimsExcept(type.getRank(), op.getAxes());
  SmallVector<int64_t> permutation(op.getAxes());
  llvm::append_range(permutation, kept);
  SmallVector<int64_t> shape{1};
  for (int64_t axis : op.getAxes())
    shape[0] *= type.getDimSize(axis);
  llvm::append_range(shape, pickDims(type.getShape(), kept));

  auto toRows = [&](Value v) { return reshape(b, transpose(b, v, permutation), shape); };
  if (shape[0] == 0) // an empty product is the constant 1
    return success();
  Value x = toRows(op.getOperand()), dot = toRows(c.tangent(0));
  for (int64_t n = shape[0]; n > 1;) {
    int64_t half = n / 2;
    Value left = rows(b, x, 0, half), right = rows(b, x, half, 2 * half);
    Value product = mul(b, left, right);
    Value productDot = add(b, mul(b, rows(b, dot, 0, half), right), mul(b, rows(b, dot, half, 2 * half), left));
    if (n % 2) {
      product = ConcatenateOp::create(b, ValueRange{product, rows(b, x, n - 1, n)}, 0);
      productDot = ConcatenateOp::create(b, ValueRange{productDot, rows(b, dot, n - 1, n)}, 0);
    }
    x = product;
    dot = productDot;
    n = half + n % 2;
  }
  c.setTangent(0, reshape(b, dot, op.getType().getShape()));
  return success();
}

// y = cumsum(x);  x_bar += cumsum from the other end of y_bar
static LogicalResult cumsumTranspose(TransposeContext &c, CumsumOp op) {
  c.accumulate(0, CumsumOp::create(c.b, op.getType(), c.resultBar(0), op.getAxis(), !op.getReverse()));
  return success();
}

void populateReductionAutodiffRules(RuleRegistry &rules) {
  rules.of<ReduceSumOp>().jvp = jvpOfLinear;
  rules.of<ReduceSumOp>().transpose = transposeRule(sumTranspose);
  rules.of<CumsumOp>().jvp = jvpOfLinear;
  rules.of<CumsumOp>().transpose = transposeRule(cumsumTranspose);
  rules.of<ReduceMaxOp>().jvp = jvpRule(extremumJvp<ReduceMaxOp>);
  rules.of<ReduceMinOp>().jvp = jvpRule(extremumJvp<ReduceMinOp>);
  rules.of<ReduceProdOp>().jvp = jvpRule(prodJvp);
  markZeroTangent<ReduceAndOp, ReduceOrOp, ArgmaxOp, ArgminOp>(rules);
}

} // namespace hjx
