// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of data movement. All these ops are linear in what they move, so
// the tangent is the same op on the tangent, and the work is in the transposes:
// broadcast <-> sum, slice <-> pad, concatenate <-> slices, dynamic_slice <->
// dynamic_update_slice. Gather and scatter have theirs in Indexing.cpp.
#include "lib/Autodiff/Rules/Indexing.h"
#include "lib/Autodiff/Rules/Rules.h"

using namespace mlir;
using namespace hjx::ir;
using namespace hjx::emit;

namespace hjx {

static Value scalarZero(emit::Builder &b, RankedTensorType like) { return zeros(b, like.clone(ArrayRef<int64_t>())); }

static Value sumAll(emit::Builder &b, Value x) { return reduceSum(b, x, iotaDims(typeOf(x).getRank())); }

// y = broadcast(x);  x_bar += sum of y_bar over new and repeated dimensions
static LogicalResult broadcastTranspose(TransposeContext &c, BroadcastInDimOp op) {
  RankedTensorType x = op.getOperand().getType(), y = op.getType();
  SmallVector<int64_t> kept;
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (x.getDimSize(i) == y.getDimSize(dim))
      kept.push_back(dim);
  Value sum = reduceSum(c.b, c.resultBar(0), dimsExcept(y.getRank(), kept));
  c.accumulate(0, reshape(c.b, sum, x.getShape()));
  return success();
}

// y = reshape(x);  x_bar += reshape(y_bar) back
static LogicalResult reshapeTranspose(TransposeContext &c, ReshapeOp op) {
  c.accumulate(0, reshape(c.b, c.resultBar(0), op.getOperand().getType().getShape()));
  return success();
}

// y = transpose(x, p);  x_bar += transpose(y_bar, inverse of p)
static LogicalResult transposeTranspose(TransposeContext &c, TransposeOp op) {
  c.accumulate(0, transpose(c.b, c.resultBar(0), inversePermutation(op.getPermutation())));
  return success();
}

// y = rev(x);  x_bar += rev(y_bar)
static LogicalResult revTranspose(TransposeContext &c, RevOp op) {
  c.accumulate(0, RevOp::create(c.b, op.getType(), c.resultBar(0), op.getDims()));
  return success();
}

// y = concatenate(x0, x1, ..);  xi_bar += its slice of y_bar
static LogicalResult concatenateTranspose(TransposeContext &c, ConcatenateOp op) {
  SmallVector<int64_t> start(op.getType().getRank(), 0), limit(op.getType().getShape()), strides(start.size(), 1);
  int64_t dim = op.getDimension(), offset = 0;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    start[dim] = offset;
    limit[dim] = offset += typeOf(input).getDimSize(dim);
    if (c.isLinear(i))
      c.accumulate(i, SliceOp::create(c.b, c.resultBar(0), start, limit, strides));
  }
  return success();
}

// y = pad(x, v);  x_bar += y_bar at the places of x;  v_bar += sum of the other places
//   Negative low and high removed elements of x; padding y_bar puts zeros there.
static LogicalResult padTranspose(TransposeContext &c, PadOp op) {
  emit::Builder &b = c.b;
  Value yBar = c.resultBar(0);
  auto negated = [](ArrayRef<int64_t> xs) { return llvm::map_to_vector(xs, [](int64_t x) { return -x; }); };
  SmallVector<int64_t> none(op.getInterior().size(), 0);
  auto strides = llvm::map_to_vector(op.getInterior(), [](int64_t n) { return n + 1; });
  Value unpadded = PadOp::create(b, yBar, scalarZero(b, op.getType()), negated(op.getLow()), negated(op.getHigh()), none);
  Value xBar = SliceOp::create(b, unpadded, none, typeOf(unpadded).getShape(), strides);
  c.accumulate(0, xBar);
  if (c.isLinear(1))
    c.accumulate(1, sub(b, sumAll(b, yBar), sumAll(b, xBar)));
  return success();
}

// y = slice(x);  x_bar += pad(y_bar) with zeros where the slice did not look
static LogicalResult sliceTranspose(TransposeContext &c, SliceOp op) {
  RankedTensorType x = op.getOperand().getType(), y = op.getType();
  SmallVector<int64_t> high, interior;
  for (int64_t i = 0; i < x.getRank(); ++i) {
    int64_t covered = y.getDimSize(i) == 0 ? 0 : (y.getDimSize(i) - 1) * op.getStrides()[i] + 1;
    high.push_back(x.getDimSize(i) - op.getStart()[i] - covered);
    interior.push_back(op.getStrides()[i] - 1);
  }
  c.accumulate(0, PadOp::create(c.b, c.resultBar(0), scalarZero(c.b, y), op.getStart(), high, interior));
  return success();
}

static SmallVector<Value> nonlinearFrom(TransposeContext &c, unsigned first) {
  SmallVector<Value> values;
  for (unsigned i = first; i < c.op->getNumOperands(); ++i)
    values.push_back(c.nonlinear(i));
  return values;
}

// y = dynamic_slice(x, i);  x_bar += dynamic_update_slice(0, y_bar, i)
static LogicalResult dynamicSliceTranspose(TransposeContext &c, DynamicSliceOp op) {
  c.accumulate(0, DynamicUpdateSliceOp::create(c.b, zeros(c.b, op.getOperand().getType()), c.resultBar(0),
                                               nonlinearFrom(c, 1)));
  return success();
}

// y = dynamic_update_slice(x, u, i);  x_bar += y_bar with zeros in the box;  u_bar += the box
static LogicalResult dynamicUpdateSliceTranspose(TransposeContext &c, DynamicUpdateSliceOp op) {
  SmallVector<Value> starts = nonlinearFrom(c, 2);
  RankedTensorType update = op.getUpdate().getType();
  if (c.isLinear(0))
    c.accumulate(0, DynamicUpdateSliceOp::create(c.b, c.resultBar(0), zeros(c.b, update), starts));
  if (c.isLinear(1))
    c.accumulate(1, DynamicSliceOp::create(c.b, c.resultBar(0), starts, update.getShape()));
  return success();
}

template <typename Op>
static void linear(RuleRegistry &rules, LogicalResult (*transpose)(TransposeContext &, Op)) {
  rules.of<Op>().jvp = jvpOfLinear;
  rules.of<Op>().transpose = transposeRule(transpose);
}

void populateMovementAutodiffRules(RuleRegistry &rules) {
  linear(rules, broadcastTranspose);
  linear(rules, reshapeTranspose);
  linear(rules, transposeTranspose);
  linear(rules, revTranspose);
  linear(rules, concatenateTranspose);
  linear(rules, padTranspose);
  linear(rules, sliceTranspose);
  linear(rules, dynamicSliceTranspose);
  linear(rules, dynamicUpdateSliceTranspose);
  linear(rules, gatherTranspose);
  linear(rules, scatterTranspose);
  rules.of<GatherOp>().jvp = jvpRule(gatherJvp);
  markZeroTangent<ConstantOp, IotaOp>(rules);
}

} // namespace hjx
