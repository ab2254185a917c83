// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of contractions.
#include "lib/Autodiff/Jvp.h"
#include "lib/Autodiff/Rules/Rules.h"
#include "lib/Rules/Attention.h"

using namespace mlir;
using namespace hjx::ir;
using namespace hjx::emit;

namespace hjx {

static Value dot(emit::Builder &b, DotGeneralOp like, Value lhs, Value rhs) {
  return DotGeneralOp::create(b, lhs, rhs, like.getLhsBatching(), like.getRhsBatching(), like.getLhsContracting(),
                              like.getRhsContracting(), like.getAccumTypeAttr());
}

// z = dot(x, y);  z_dot = dot(x_dot, y) + dot(x, y_dot)
static LogicalResult dotJvp(JvpContext &c, DotGeneralOp op) {
  Value sum;
  if (Value xDot = c.tangent(0))
    sum = dot(c.b, op, xDot, op.getRhs());
  if (Value yDot = c.tangent(1)) {
    Value term = dot(c.b, op, op.getLhs(), yDot);
    sum = sum ? add(c.b, sum, term) : term;
  }
  c.setTangent(0, sum);
  return success();
}

/// One operand of a contraction, seen from the contraction.
struct Side {
  RankedTensorType type;
  ArrayRef<int64_t> batching, contracting;
  SmallVector<int64_t> free() const { return dimsExcept(type.getRank(), batching, contracting); }
};

/// z[batch, x free, y free] = dot(x, y)  (`isLhs` says on which side x stands)
///   x_bar = dot(z_bar, y) over y's free dimensions: [batch, x free, x contracting],
/// or dot(y, z_bar): [batch, x contracting, x free], whichever is x's own order; else
/// a transposition follows. z_bar is rounded to y's element type first, and
/// products accumulate as in the primal.
static Value dotTranspose(emit::Builder &b, Value zBar, Value y, const Side &x, const Side &other, bool isLhs,
                          TypeAttr accumType) {
  int64_t numBatch = x.batching.size(), numXFree = x.free().size(), numYFree = other.free().size();
  SmallVector<int64_t> zDims = iotaDims(numBatch + numXFree + numYFree);
  ArrayRef<int64_t> zBatch = ArrayRef(zDims).take_front(numBatch);
  ArrayRef<int64_t> zYFree = ArrayRef(zDims).slice(isLhs ? numBatch + numXFree : numBatch, numYFree);
  zBar = convert(b, zBar, typeOf(y).getElementType());

  // What the product's dimensions are in x. y's contracting dimensions come out
  // in y's order, each as x's partner dimension.
  SmallVector<int64_t> xContracting;
  for (int64_t dim : dimsExcept(other.type.getRank(), other.batching, other.free()))
    xContracting.push_back(x.contracting[std::distance(other.contracting.begin(), llvm::find(other.contracting, dim))]);
  auto inX = [&](ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
    SmallVector<int64_t> dims(x.batching);
    llvm::append_range(dims, second);
    llvm::append_range(dims, third);
    return dims;
  };
  SmallVector<int64_t> yFree = other.free(), order = inX(x.free(), xContracting), swapped = inX(xContracting, x.free());
  Value product;
  if (!llvm::is_sorted(order) && llvm::is_sorted(swapped)) {
    order = swapped;
    product = DotGeneralOp::create(b, y, zBar, other.batching, zBatch, yFree, zYFree, accumType);
  } else {
    product = DotGeneralOp::create(b, zBar, y, zBatch, other.batching, zYFree, yFree, accumType);
  }
  return convert(b, transpose(b, product, inversePermutation(order)), x.type.getElementType());
}

static LogicalResult dotTransposeRule(TransposeContext &c, DotGeneralOp op) {
  if (c.isLinear(0) && c.isLinear(1))
    return op.emitOpError("is not linear: both operands depend on the linear inputs");
  Side lhs{op.getLhs().getType(), op.getLhsBatching(), op.getLhsContracting()};
  Side rhs{op.getRhs().getType(), op.getRhsBatching(), op.getRhsContracting()};
  bool isLhs = c.isLinear(0);
  c.accumulate(isLhs ? 0 : 1, dotTranspose(c.b, c.resultBar(0), c.nonlinear(isLhs ? 1 : 0), isLhs ? lhs : rhs,
                                           isLhs ? rhs : lhs, isLhs, op.getAccumTypeAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Value orZeros(emit::Builder &b, Value value, Value like) { return value ? value : zeros(b, like.getType()); }

// (out, lse) = attention(q, k, v);  (out_dot, lse_dot) = attention_tangent(q, k, v, out, lse, q_dot, k_dot, v_dot)
//   What reverse mode keeps are these operands: nothing of the size of the scores.
static LogicalResult attentionJvp(JvpContext &c, AttentionOp op) {
  SmallVector<Value> dots;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    dots.push_back(orZeros(c.b, c.tangent(i), operand));
  auto tangent = AttentionTangentOp::create(c.b, op.getQuery(), op.getKey(), op.getValue(), op.getOut(), op.getLogsumexp(),
                                            dots[0], dots[1], dots[2], op.getScaleAttr(), op.getCausalAttr());
  c.setTangent(0, tangent.getOutDot());
  c.setTangent(1, tangent.getLogsumexpDot());
  return success();
}

// The tangents of tangent and cotangent are those of what they stand for.
static LogicalResult decomposedJvp(JvpContext &c) {
  Block block;
  emit::Builder b(c.op->getLoc(), c.op->getContext());
  b.setInsertionPointToStart(&block);
  SmallVector<Dual> arguments;
  for (auto [operand, dot] : llvm::zip_equal(c.op->getOperands(), c.tangents)) {
    block.addArgument(operand.getType(), c.op->getLoc());
    arguments.push_back({operand, dot});
  }
  Operation *copy = b.clone(*c.op);
  copy->setOperands(block.getArguments());
  func::ReturnOp::create(b, decomposeAttention(b, copy));
  copy->erase();
  FailureOr<SmallVector<Dual>> results = jvpBlock(c.engine, block, arguments, c.b);
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(*results))
    c.setTangent(i, result.tangent);
  return success();
}

/// Fails unless none but the operands from `first` on are linear.
static LogicalResult checkLinearFrom(TransposeContext &c, unsigned first) {
  for (unsigned i = 0; i < first; ++i)
    if (c.isLinear(i))
      return c.op->emitOpError("is not linear: operand ") << i << " depends on the linear inputs";
  return success();
}

// (out_dot, lse_dot) = attention_tangent(q, k, v, out, lse, q_dot, k_dot, v_dot), linear in the last three;
//   (q_bar, k_bar, v_bar) += attention_cotangent(q, k, v, lse, out_bar, sum(out_bar * out) - lse_bar)
static LogicalResult attentionTangentTranspose(TransposeContext &c, AttentionTangentOp op) {
  if (failed(checkLinearFrom(c, 5)))
    return failure();
  emit::Builder &b = c.b;
  Value out = c.nonlinear(3), logsumexp = c.nonlinear(4), shift = zeros(b, logsumexp.getType());
  Value outBar = orZeros(b, c.resultBar(0), out);
  if (c.resultBar(0)) {
    Type wide = typeOf(logsumexp).getElementType();
    shift = reduceSum(b, mul(b, convert(b, outBar, wide), convert(b, out, wide)), typeOf(out).getRank() - 1);
  }
  if (Value logsumexpBar = c.resultBar(1))
    shift = sub(b, shift, logsumexpBar);
  auto bars = AttentionCotangentOp::create(b, c.nonlinear(0), c.nonlinear(1), c.nonlinear(2), logsumexp, outBar, shift,
                                           op.getScaleAttr(), op.getCausalAttr());
  for (unsigned i : {0, 1, 2})
    if (c.isLinear(5 + i))
      c.accumulate(5 + i, bars->getResult(i));
  return success();
}

// (q_bar, k_bar, v_bar) = attention_cotangent(q, k, v, lse, out_bar, shift), linear in the last two;
//   (out_bar_bar, -shift_bar) += attention_tangent(q, k, v, 0, lse, q_bar_bar, k_bar_bar, v_bar_bar)
static LogicalResult attentionCotangentTranspose(TransposeContext &c, AttentionCotangentOp op) {
  if (failed(checkLinearFrom(c, 4)))
    return failure();
  emit::Builder &b = c.b;
  SmallVector<Value> primals = {c.nonlinear(0), c.nonlinear(1), c.nonlinear(2)}, dots;
  for (unsigned i : {0, 1, 2})
    dots.push_back(orZeros(b, c.resultBar(i), primals[i]));
  auto tangent = AttentionTangentOp::create(b, primals[0], primals[1], primals[2], zeros(b, op.getOutBar().getType()),
                                            c.nonlinear(3), dots[0], dots[1], dots[2], op.getScaleAttr(), op.getCausalAttr());
  if (c.isLinear(4))
    c.accumulate(4, tangent.getOutDot());
  if (c.isLinear(5))
    c.accumulate(5, neg(b, tangent.getLogsumexpDot()));
  return success();
}

void populateContractionAutodiffRules(RuleRegistry &rules) {
  rules.of<AttentionOp>().jvp = jvpRule(attentionJvp);
  rules.of<AttentionTangentOp>().jvp = decomposedJvp;
  rules.of<AttentionTangentOp>().transpose = transposeRule(attentionTangentTranspose);
  rules.of<AttentionCotangentOp>().jvp = decomposedJvp;
  rules.of<AttentionCotangentOp>().transpose = transposeRule(attentionCotangentTranspose);
  rules.of<DotGeneralOp>().jvp = jvpRule(dotJvp);
  rules.of<DotGeneralOp>().transpose = transposeRule(dotTransposeRule);
}

} // namespace hjx
