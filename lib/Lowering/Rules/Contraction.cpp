// SPDX-License-Identifier: Apache-2.0
//
// Contractions as one linalg.generic: loops batch, lhs free, rhs free, contracting,
// and no transpose of an operand or the result is ever stored:
//
//   transpose(dot_general(x[b,q,h,d], transpose(y[b,k,h,d])))     all three by indexing maps
//
// Halves are multiplied and summed in f32 and rounded once.
//
// Attention stays what it is: hjx-decompose-attention has left what a GPU has a kernel for.
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

#include "dialects/hjx/Attention.h"
#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;

namespace {

/// Which loop each dimension of one operand walks.
SmallVector<AffineExpr> loopsOf(LocBuilder &b, int64_t rank, ArrayRef<int64_t> batch,
                                ArrayRef<int64_t> contract, ArrayRef<int64_t> free,
                                int64_t firstFree, int64_t firstContract) {
  SmallVector<AffineExpr> exprs(rank);
  for (auto [i, dim] : llvm::enumerate(batch))
    exprs[dim] = b.getAffineDimExpr(i);
  for (auto [i, dim] : llvm::enumerate(free))
    exprs[dim] = b.getAffineDimExpr(firstFree + i);
  for (auto [i, dim] : llvm::enumerate(contract))
    exprs[dim] = b.getAffineDimExpr(firstContract + i);
  return exprs;
}

/// The transpose that is the only user of the product and needs an array, if there is one.
ir::TransposeOp soleTranspose(ir::DotGeneralOp op, const Clusters &clusters) {
  auto transpose =
      op->hasOneUse() ? dyn_cast<ir::TransposeOp>(*op->user_begin()) : ir::TransposeOp();
  return transpose && !clusters.isOnlyRead(transpose) ? transpose : ir::TransposeOp();
}

LogicalResult lowerDotGeneral(ir::DotGeneralOp op, Lowering &l) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(), product = op.getType();
  SmallVector<int64_t> lhsFree =
      ir::dimsExcept(lhs.getRank(), op.getLhsBatching(), op.getLhsContracting());
  SmallVector<int64_t> rhsFree =
      ir::dimsExcept(rhs.getRank(), op.getRhsBatching(), op.getRhsContracting());
  int64_t numBatch = op.getLhsBatching().size(), numOut = product.getRank();
  int64_t numLoops = numOut + op.getLhsContracting().size();
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(numLoops, 0, exprs, l.b.getContext());
  };

  Nest nest;
  nest.sizes = llvm::to_vector(product.getShape());
  llvm::append_range(nest.sizes, ir::pickDims(lhs.getShape(), op.getLhsContracting()));
  nest.reads = {
      {op.getLhs(), map(loopsOf(l.b, lhs.getRank(), op.getLhsBatching(), op.getLhsContracting(),
                                lhsFree, numBatch, numOut))},
      {op.getRhs(), map(loopsOf(l.b, rhs.getRank(), op.getRhsBatching(), op.getRhsContracting(),
                                rhsFree, numBatch + lhsFree.size(), numOut))}};
  nest.lookThroughTransposes = true;

  SmallVector<AffineExpr> outLoops = llvm::map_to_vector(
      ir::iotaDims(numOut), [&](int64_t dim) { return l.b.getAffineDimExpr(dim); });
  ir::TransposeOp transpose = soleTranspose(op, l.clusters);
  RankedTensorType result = lowerArrayType(transpose ? transpose.getType() : product);
  if (transpose)
    outLoops = llvm::map_to_vector(transpose.getPermutation(),
                                   [&](int64_t dim) { return l.b.getAffineDimExpr(dim); });
  RankedTensorType accumulated = result.clone(widenHalf(result.getElementType()));
  Type from = lhs.getElementType(), to = product.getElementType();
  auto multiply = [&](LocBuilder &b, ValueRange elements) {
    Type wide = widenHalf(to);
    return emitMul(b, kindOf(to), emitConvert(b, elements[0], from, wide),
                   emitConvert(b, elements[1], from, wide));
  };
  nest.iterators.assign(numOut, utils::IteratorType::parallel);
  nest.initMaps = {map(outLoops)};
  if (op.getLhsContracting().empty()) {
    nest.inits = {emitEmpty(l.b, result)};
    nest.finish = [&](LocBuilder &b, ValueRange elements, ValueRange) -> SmallVector<Value> {
      Value value = multiply(b, elements);
      return {isHalf(to) ? emitFloatCast(b, value, to) : value};
    };
  } else {
    nest.iterators.append(op.getLhsContracting().size(), utils::IteratorType::reduction);
    nest.inits = {emitFilled(l.b, accumulated, l.b.getZeroAttr(accumulated.getElementType()))};
    nest.finish = [&](LocBuilder &b, ValueRange elements, ValueRange sums) -> SmallVector<Value> {
      return {emitAdd(b, kindOf(to), sums[0], multiply(b, elements))};
    };
  }
  Value value = emitNest(l, nest)[0];
  if (value.getType() != result)
    value = emitMap(l.b, result, value, [&](LocBuilder &b, ValueRange elements) {
      return emitFloatCast(b, elements[0], to);
    });
  l.set(transpose ? transpose.getResult() : op.getResult(), value);
  return success();
}

/// The same op on the lowered operands.
template <typename Op> LogicalResult keep(Op op, Lowering &l) {
  auto kept = Op::create(l.b, op->getResultTypes(), l[op->getOperands()], op.getProperties());
  for (auto [result, value] : llvm::zip_equal(op->getResults(), kept->getResults()))
    l.set(result, value);
  return success();
}

} // namespace

void hjx::registerContractionLowering(LoweringRules &rules) {
  rules.add<ir::DotGeneralOp>(lowerDotGeneral);
  rules.add<ir::AttentionOp>(keep);
  rules.add<ir::AttentionTangentOp>(keep);
  rules.add<ir::AttentionCotangentOp>(keep);
}
