// SPDX-License-Identifier: Apache-2.0
//
// Changes of element type. A bitcast between widths also changes the shape:
//
//   tensor<2xf32> -> tensor<2x4xi8>     out[i, k] = trunc(bits(x[i]) >> 8 k)
//   tensor<2x4xi8> -> tensor<2xf32>     bits(out[i]) = or over k of zext(x[i, k]) << 8 k
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

namespace {

Value emitConversion(ir::ConvertOp op, LocBuilder &b, ValueRange args) {
  return emitConvert(b, args[0], op.getOperand().getType().getElementType(),
                     op.getType().getElementType());
}

Value castBits(LocBuilder &b, Value value, Type type) {
  return value.getType() == type ? value : arith::BitcastOp::create(b, type, value).getResult();
}

Value emitSameWidth(ir::BitcastOp op, LocBuilder &b, ValueRange args) {
  return castBits(b, args[0], signless(op.getType().getElementType()));
}

/// width * index, as an integer of `type`.
Value emitOffset(LocBuilder &b, int64_t dim, int64_t width, Type type) {
  Value index = arith::IndexCastOp::create(b, type, linalg::IndexOp::create(b, dim).getResult());
  return arith::MulIOp::create(b, index, emitNumber(b, type, width));
}

LogicalResult lowerBitcast(ir::BitcastOp op, Lowering &l) {
  RankedTensorType from = lowerArrayType(op.getOperand().getType()),
                   to = lowerArrayType(op.getType());
  int64_t fromWidth = from.getElementTypeBitWidth(), toWidth = to.getElementTypeBitWidth();
  Type fromBits = l.b.getIntegerType(fromWidth), toBits = l.b.getIntegerType(toWidth);
  int64_t partDim = std::min(from.getRank(), to.getRank());
  if (fromWidth > toWidth) {
    AffineMap wholes = l.b.getMultiDimIdentityMap(to.getRank()).getMajorSubMap(partDim);
    l.set(op, emitCopy(l, {op.getOperand(), wholes}, to, [&](LocBuilder &b, Value whole) -> Value {
            Value bits = castBits(b, whole, fromBits);
            Value shifted =
                arith::ShRUIOp::create(b, bits, emitOffset(b, partDim, toWidth, fromBits));
            return castBits(b, arith::TruncIOp::create(b, toBits, shifted), to.getElementType());
          }));
    return success();
  }
  RankedTensorType bitsType = to.clone(toBits);
  Nest nest;
  nest.sizes = llvm::to_vector(from.getShape());
  nest.reads = {{op.getOperand(), l.b.getMultiDimIdentityMap(from.getRank())}};
  nest.inits = {emitFilled(l.b, bitsType, l.b.getIntegerAttr(toBits, 0))};
  nest.initMaps = {l.b.getMultiDimIdentityMap(from.getRank()).getMajorSubMap(partDim)};
  nest.iterators.assign(from.getRank(), utils::IteratorType::parallel);
  nest.iterators.back() = utils::IteratorType::reduction;
  nest.finish = [&](LocBuilder &b, ValueRange parts, ValueRange wholes) -> SmallVector<Value> {
    Value bits = arith::ExtUIOp::create(b, toBits, castBits(b, parts[0], fromBits));
    Value shifted = arith::ShLIOp::create(b, bits, emitOffset(b, partDim, fromWidth, toBits));
    return {arith::OrIOp::create(b, wholes[0], shifted)};
  };
  Value bits = emitNest(l, nest)[0];
  l.set(op, to == bitsType ? bits : emitMap(l.b, to, bits, [&](LocBuilder &b, ValueRange elements) {
          return castBits(b, elements[0], to.getElementType());
        }));
  return success();
}

} // namespace

void hjx::registerConversionLowering(LoweringRules &rules) {
  rules.addScalar<ir::ConvertOp>(emitConversion, /*raw=*/true);
  rules.addScalar<ir::BitcastOp>(emitSameWidth, /*raw=*/true);
  rules.add<ir::BitcastOp>(lowerBitcast);
}
