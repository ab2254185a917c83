// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of contractions.
#include "lib/Autodiff/Rules/Rules.h"

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

void populateContractionAutodiffRules(RuleRegistry &rules) {
  rules.of<DotGeneralOp>().jvp = jvpRule(dotJvp);
  rules.of<DotGeneralOp>().transpose = transposeRule(dotTransposeRule);
}

} // namespace hjx
