// SPDX-License-Identifier: Apache-2.0
//
// Reductions as linalg.generic over the identity; running sums as loops.
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;

namespace {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A nest over the elements of `operand` that reduces `axes`; inits are the caller's.
Nest reductionNest(Lowering &l, Operation *op, Value operand, ArrayRef<int64_t> axes,
                   unsigned numOutputs) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t rank = type.getRank();
  AffineMap all = l.b.getMultiDimIdentityMap(rank);
  SmallVector<unsigned> kept = llvm::to_vector_of<unsigned>(ir::dimsExcept(rank, axes));
  Nest nest;
  nest.sizes = llvm::to_vector(type.getShape());
  nest.members = l.clusters.inside(op);
  nest.reads = {{operand, all}};
  nest.initMaps.assign(numOutputs, all.getSubMap(kept));
  nest.iterators.assign(rank, utils::IteratorType::parallel);
  for (int64_t axis : axes)
    nest.iterators[axis] = utils::IteratorType::reduction;
  return nest;
}

template <typename Op, Value (*combine)(LocBuilder &, Kind, Value, Value)>
LogicalResult lowerReduce(Op op, Lowering &l, TypedAttr identity) {
  RankedTensorType result = lowerArrayType(op.getType());
  Type element = result.getElementType(), wide = widenHalf(element);
  Kind kind = kindOf(op.getType());
  Nest nest = reductionNest(l, op, op.getOperand(), op.getAxes(), 1);
  nest.inits = {emitFilled(l.b, result.clone(wide), identity)};
  nest.finish = [&](LocBuilder &b, ValueRange elements,
                    ValueRange accumulators) -> SmallVector<Value> {
    return {combine(b, kind, accumulators[0], widenHalf(b, elements[0]))};
  };
  Value value = emitNest(l, nest)[0];
  if (wide != element)
    value = emitMap(l.b, result, value, [&](LocBuilder &b, ValueRange wides) {
      return emitFloatCast(b, wides[0], element);
    });
  l.set(op, value);
  return success();
}

Type wideElement(Value array) { return widenHalf(getElementTypeOrSelf(array.getType())); }

TypedAttr numberAttr(Lowering &l, Type type, int64_t value) {
  return isa<FloatType>(type) ? TypedAttr(l.b.getFloatAttr(type, static_cast<double>(value)))
                              : TypedAttr(l.b.getIntegerAttr(signless(type), value));
}

Value combineAnd(LocBuilder &b, Kind, Value lhs, Value rhs) {
  return arith::AndIOp::create(b, lhs, rhs);
}
Value combineOr(LocBuilder &b, Kind, Value lhs, Value rhs) {
  return arith::OrIOp::create(b, lhs, rhs);
}

LogicalResult lowerSum(ir::ReduceSumOp op, Lowering &l) {
  return lowerReduce<ir::ReduceSumOp, emitAdd>(op, l, numberAttr(l, wideElement(op), 0));
}
LogicalResult lowerProd(ir::ReduceProdOp op, Lowering &l) {
  return lowerReduce<ir::ReduceProdOp, emitMul>(op, l, numberAttr(l, wideElement(op), 1));
}
LogicalResult lowerMax(ir::ReduceMaxOp op, Lowering &l) {
  return lowerReduce<ir::ReduceMaxOp, emitMax>(op, l, leastOf(wideElement(op)));
}
LogicalResult lowerMin(ir::ReduceMinOp op, Lowering &l) {
  return lowerReduce<ir::ReduceMinOp, emitMin>(op, l, greatestOf(wideElement(op)));
}
LogicalResult lowerAnd(ir::ReduceAndOp op, Lowering &l) {
  return lowerReduce<ir::ReduceAndOp, combineAnd>(op, l, numberAttr(l, wideElement(op), -1));
}
LogicalResult lowerOr(ir::ReduceOrOp op, Lowering &l) {
  return lowerReduce<ir::ReduceOrOp, combineOr>(op, l, numberAttr(l, wideElement(op), 0));
}

/// Value and index side by side. The first NaN, else the first extreme, wins: a later element
/// replaces the best so far only if it is better, or NaN when the best is not.
template <typename Op> LogicalResult lowerArgReduce(Op op, Lowering &l) {
  constexpr bool isMax = std::is_same_v<Op, ir::ArgmaxOp>;
  Type source = op.getOperand().getType().getElementType(),
       indexType = op.getType().getElementType();
  Type element = widenHalf(signless(source));
  RankedTensorType indices = lowerArrayType(op.getType());
  Kind kind = kindOf(source);
  int64_t axis = op.getAxis();
  Nest nest = reductionNest(l, op, op.getOperand(), {axis}, 2);
  nest.inits = {emitFilled(l.b, indices.clone(element),
                           isMax ? leastOf(widenHalf(source)) : greatestOf(widenHalf(source))),
                emitFilled(l.b, indices, numberAttr(l, indexType, 0))};
  nest.finish = [&](LocBuilder &b, ValueRange elements, ValueRange best) -> SmallVector<Value> {
    Value x = widenHalf(b, elements[0]), isBetter;
    if (kind == Kind::Float) {
      auto compare = [&](arith::CmpFPredicate predicate, Value lhs, Value rhs) -> Value {
        return arith::CmpFOp::create(b, predicate, lhs, rhs);
      };
      Value isBeyond =
          compare(isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, best[0]);
      Value isFirstNan =
          arith::AndIOp::create(b, compare(arith::CmpFPredicate::UNO, x, x),
                                compare(arith::CmpFPredicate::ORD, best[0], best[0]));
      isBetter = arith::OrIOp::create(b, isBeyond, isFirstNan);
    } else {
      using P = arith::CmpIPredicate;
      P beyond = kind == Kind::Signed ? (isMax ? P::sgt : P::slt) : (isMax ? P::ugt : P::ult);
      isBetter = arith::CmpIOp::create(b, beyond, x, best[0]);
    }
    Value index = emitIndexAs(b, linalg::IndexOp::create(b, axis), indexType);
    return {arith::SelectOp::create(b, isBetter, x, best[0]),
            arith::SelectOp::create(b, isBetter, index, best[1])};
  };
  l.set(op, emitNest(l, nest)[1]);
  return success();
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

/// for each index of the dimensions before the axis: sum = 0; for i along the axis:
///   sum += x[.., i, ..]; y[.., i, ..] = sum        on slices of the dimensions after it
LogicalResult lowerCumsum(ir::CumsumOp op, Lowering &l) {
  LocBuilder &b = l.b;
  RankedTensorType type = lowerArrayType(op.getType());
  Type element = type.getElementType(), wide = widenHalf(element);
  Kind kind = kindOf(op.getType());
  int64_t axis = op.getAxis(), rank = type.getRank(), length = type.getDimSize(axis);
  RankedTensorType slice = RankedTensorType::get(type.getShape().drop_front(axis + 1), wide);
  Value operand = l[op.getOperand()];
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  auto constant = [&](int64_t size) -> Value { return arith::ConstantIndexOp::create(b, size); };
  SmallVector<Value> outerBounds = llvm::map_to_vector(type.getShape().take_front(axis), constant);
  Value end = constant(length), last = constant(length - 1);
  SmallVector<OpFoldResult> sizes(axis + 1, b.getIndexAttr(1)), strides(rank, b.getIndexAttr(1));
  for (int64_t size : slice.getShape())
    sizes.push_back(b.getIndexAttr(size));

  auto running = [&](LocBuilder &b, ValueRange outer, Value result) -> Value {
    Value sum = emitFilled(b, slice, numberAttr(l, wide, 0));
    auto loop = scf::ForOp::create(b, zero, end, one, ValueRange{sum, result});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    if (op.getReverse())
      i = arith::SubIOp::create(b, last, i);
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(outer);
    offsets.push_back(i);
    offsets.append(slice.getRank(), b.getIndexAttr(0));
    Value x =
        tensor::ExtractSliceOp::create(b, slice.clone(element), operand, offsets, sizes, strides);
    Value next = emitMap(b, slice, {loop.getRegionIterArg(0), x},
                         [&](LocBuilder &body, ValueRange elements) {
                           return emitAdd(body, kind, elements[0], widenHalf(body, elements[1]));
                         });
    Value rounded = wide == element ? next
                                    : emitMap(b, slice.clone(element), next,
                                              [&](LocBuilder &body, ValueRange elements) {
                                                return emitFloatCast(body, elements[0], element);
                                              });
    Value updated = tensor::InsertSliceOp::create(b, rounded, loop.getRegionIterArg(1), offsets,
                                                  sizes, strides);
    scf::YieldOp::create(b, ValueRange{next, updated});
    markLoops(loop, false, /*rowsAreParallel=*/true);
    return loop.getResult(1);
  };
  Value empty = emitEmpty(b, type);
  auto nest = scf::buildLoopNest(
      b, b.getLoc(), SmallVector<Value>(axis, zero), outerBounds, SmallVector<Value>(axis, one),
      empty, [&](OpBuilder &nested, Location loc, ValueRange outer, ValueRange carried) {
        LocBuilder body(loc, nested);
        return scf::ValueVector{running(body, outer, carried[0])};
      });
  markLoops(nest.loops, SmallVector<bool>(axis, true), /*rowsAreParallel=*/true);
  l.set(op, nest.results[0]);
  return success();
}

} // namespace

void hjx::registerReductionLowering(LoweringRules &rules) {
  rules.add<ir::ReduceSumOp>(lowerSum);
  rules.add<ir::ReduceProdOp>(lowerProd);
  rules.add<ir::ReduceMaxOp>(lowerMax);
  rules.add<ir::ReduceMinOp>(lowerMin);
  rules.add<ir::ReduceAndOp>(lowerAnd);
  rules.add<ir::ReduceOrOp>(lowerOr);
  rules.add<ir::ArgmaxOp>(lowerArgReduce<ir::ArgmaxOp>);
  rules.add<ir::ArgminOp>(lowerArgReduce<ir::ArgminOp>);
  rules.add<ir::CumsumOp>(lowerCumsum);
}
