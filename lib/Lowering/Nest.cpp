// SPDX-License-Identifier: Apache-2.0
//
// Looking through producers, and the emission of linalg.generic; see the header.
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Looking through producers
//===----------------------------------------------------------------------===//

static DenseElementsAttr splatConstant(Value value) {
  auto constant = value.getDefiningOp<ir::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.isSplat() ? dense : DenseElementsAttr();
}

static SmallVector<int64_t> withoutUnits(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
}

/// Whether `op` only inserts or removes dimensions of size 1.
static bool movesOnlyUnitDims(ir::ReshapeOp op) {
  return withoutUnits(op.getOperand().getType().getShape()) ==
         withoutUnits(op.getType().getShape());
}

bool hjx::isLookedThrough(Operation *op) {
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return movesOnlyUnitDims(reshape);
  return isa<ir::BroadcastInDimOp, ir::TransposeOp, ir::IotaOp>(op) ||
         (op->getNumResults() == 1 && splatConstant(op->getResult(0)));
}

/// How the operand of `op` is indexed where its result is indexed by `exprs`.
static SmallVector<AffineExpr> operandExprs(Operation *op, ArrayRef<AffineExpr> exprs) {
  ArrayRef<int64_t> from = typeOf(op->getOperand(0)).getShape();
  AffineExpr zero = getAffineConstantExpr(0, op->getContext());
  SmallVector<AffineExpr> result(from.size(), zero);
  if (auto broadcast = dyn_cast<ir::BroadcastInDimOp>(op)) {
    for (auto [dim, target] : llvm::enumerate(broadcast.getDims()))
      if (from[dim] != 1)
        result[dim] = exprs[target];
  } else if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation()))
      result[source] = exprs[dim];
  } else {
    ArrayRef<int64_t> to = typeOf(op->getResult(0)).getShape();
    size_t next = 0;
    for (auto [dim, size] : llvm::enumerate(from)) {
      if (size == 1)
        continue;
      while (to[next] == 1)
        ++next;
      result[dim] = exprs[next++];
    }
  }
  return result;
}

/// `read` at the place where its elements come from.
static Read lookThrough(Read read, bool transposes) {
  SmallVector<AffineExpr> exprs(read.map.getResults());
  while (Operation *op = read.value.getDefiningOp()) {
    if (op->getNumOperands() == 0 || !isLookedThrough(op) ||
        (isa<ir::TransposeOp>(op) && !transposes))
      break;
    exprs = operandExprs(op, exprs);
    read.value = op->getOperand(0);
  }
  read.map = AffineMap::get(read.map.getNumDims(), 0, exprs, read.value.getContext());
  return read;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

namespace {
class NestEmitter {
public:
  NestEmitter(Lowering &lowering, const Nest &nest) : l(lowering), nest(nest) {}

  SmallVector<Value> emit() {
    for (Operation *member : nest.members)
      computed.insert_range(member->getResults());
    for (Operation *member : nest.members)
      for (Value operand : member->getOperands())
        collect(readOf(operand));
    for (const Read &read : nest.reads)
      collect(read);
    addLoopBounds();

    SmallVector<AffineMap> maps = inputMaps;
    llvm::append_range(maps, nest.initMaps);
    auto generic = linalg::GenericOp::create(l.b, TypeRange(ValueRange(nest.inits)), inputs,
                                             nest.inits, maps, nest.iterators,
                                             [&](OpBuilder &nested, Location loc, ValueRange args) {
                                               LocBuilder body(loc, nested);
                                               emitBody(body, args);
                                             });
    return llvm::to_vector_of<Value>(generic.getResults());
  }

private:
  /// How a member reads its operand: element by element, or a scalar.
  Read readOf(Value operand) {
    unsigned numLoops = nest.sizes.size();
    bool isScalar = typeOf(operand).getRank() == 0;
    return {operand, isScalar ? AffineMap::get(numLoops, 0, l.b.getContext())
                              : l.b.getMultiDimIdentityMap(numLoops)};
  }

  bool isComputed(Value value) const { return computed.contains(value); }

  void collect(const Read &read) {
    if (isComputed(read.value))
      return;
    Read source = lookThrough(read, nest.lookThroughTransposes);
    if (splatConstant(source.value) || source.value.getDefiningOp<ir::IotaOp>())
      return;
    auto [it, isNew] = inputOf.try_emplace({source.value, source.map}, inputs.size());
    if (!isNew)
      return;
    inputs.push_back(l[source.value]);
    inputMaps.push_back(source.map);
  }

  /// linalg derives the loops' bounds from its operands: where none has a dimension that a loop
  /// walks, adds one that is there for its shape alone.
  void addLoopBounds() {
    SmallVector<bool> isBounded(nest.sizes.size());
    for (AffineMap map : llvm::concat<const AffineMap>(inputMaps, nest.initMaps))
      for (AffineExpr expr : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          isBounded[dim.getPosition()] = true;
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> exprs;
    for (auto [dim, size] : llvm::enumerate(nest.sizes)) {
      if (isBounded[dim])
        continue;
      shape.push_back(size);
      exprs.push_back(l.b.getAffineDimExpr(dim));
    }
    if (shape.empty())
      return;
    inputs.push_back(tensor::EmptyOp::create(l.b, shape, l.b.getI8Type()));
    inputMaps.push_back(AffineMap::get(nest.sizes.size(), 0, exprs, l.b.getContext()));
  }

  void emitBody(LocBuilder &b, ValueRange args) {
    auto element = [&](const Read &read) -> Value {
      if (isComputed(read.value))
        return elements.at(read.value);
      Read source = lookThrough(read, nest.lookThroughTransposes);
      if (DenseElementsAttr splat = splatConstant(source.value))
        return arith::ConstantOp::create(b, signlessAttr(splat.getSplatValue<TypedAttr>()));
      if (auto iota = source.value.getDefiningOp<ir::IotaOp>())
        return emitIndexAs(b, emitIndex(b, source.map.getResult(iota.getDimension())),
                           typeOf(source.value).getElementType());
      return args[inputOf.at({source.value, source.map})];
    };
    for (Operation *member : nest.members) {
      SmallVector<Value> operands;
      for (Value operand : member->getOperands())
        operands.push_back(element(readOf(operand)));
      b.setLoc(member->getLoc());
      for (auto [result, value] :
           llvm::zip_equal(member->getResults(), l.rules.emitScalar(member, b, operands)))
        elements[result] = value;
    }
    b.setLoc(l.b.getLoc());
    SmallVector<Value> read = llvm::map_to_vector(nest.reads, element);
    linalg::YieldOp::create(b, nest.finish(b, read, args.take_back(nest.inits.size())));
  }

  /// The value of a map's result in this iteration: a loop, a constant, or size - 1 - loop.
  static Value emitIndex(LocBuilder &b, AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return linalg::IndexOp::create(b, dim.getPosition());
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return arith::ConstantIndexOp::create(b, constant.getValue());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = emitIndex(b, binary.getLHS()), rhs = emitIndex(b, binary.getRHS());
    return expr.getKind() == AffineExprKind::Add ? arith::AddIOp::create(b, lhs, rhs).getResult()
                                                 : arith::MulIOp::create(b, lhs, rhs).getResult();
  }

  Lowering &l;
  const Nest &nest;
  llvm::DenseSet<Value> computed;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> inputMaps;
  llvm::DenseMap<std::pair<Value, AffineMap>, unsigned> inputOf;
  llvm::DenseMap<Value, Value> elements; // Of the members.
};
} // namespace

SmallVector<Value> hjx::emitNest(Lowering &lowering, const Nest &nest) {
  return NestEmitter(lowering, nest).emit();
}

static SmallVector<utils::IteratorType> parallelLoops(int64_t rank) {
  return SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel);
}

Value hjx::emitCopy(Lowering &lowering, Read read, RankedTensorType type,
                    function_ref<Value(LocBuilder &, Value)> finish) {
  Nest nest;
  nest.sizes = llvm::to_vector(type.getShape());
  nest.reads = {read};
  nest.inits = {emitEmpty(lowering.b, type)};
  nest.initMaps = {lowering.b.getMultiDimIdentityMap(type.getRank())};
  nest.iterators = parallelLoops(type.getRank());
  nest.finish = [&](LocBuilder &b, ValueRange elements, ValueRange) {
    return SmallVector<Value>{finish ? finish(b, elements[0]) : elements[0]};
  };
  return emitNest(lowering, nest)[0];
}

Value hjx::emitMap(LocBuilder &b, RankedTensorType type, ValueRange inputs,
                   function_ref<Value(LocBuilder &, ValueRange)> element) {
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, inputs, emitEmpty(b, type), maps, parallelLoops(type.getRank()),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        LocBuilder body(loc, nested);
        linalg::YieldOp::create(body, element(body, args.drop_back()));
      });
  return generic.getResult(0);
}

Value hjx::emitGenerate(LocBuilder &b, RankedTensorType type,
                        function_ref<Value(LocBuilder &, ValueRange)> element) {
  return emitMap(b, type, {}, [&](LocBuilder &body, ValueRange) {
    SmallVector<Value> indices;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      indices.push_back(linalg::IndexOp::create(body, dim));
    return element(body, indices);
  });
}

Value hjx::emitEmpty(LocBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

Value hjx::emitFilled(LocBuilder &b, RankedTensorType type, Value value) {
  return linalg::FillOp::create(b, value, emitEmpty(b, type)).getResult(0);
}

Value hjx::emitFilled(LocBuilder &b, RankedTensorType type, TypedAttr value) {
  return emitFilled(b, type, arith::ConstantOp::create(b, value).getResult());
}
