// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Operands.h"

#include "lib/Frontend/Promotion.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;

namespace hjx::detail {

std::string describe(const Operand &operand) { return describe(avalOf(operand.value.getType())); }

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

Operand convert(OpScope &op, Operand x, DType type) {
  if (x.dtype() == type)
    return x;
  if (x.dtype() == DType::key || type == DType::key)
    op.fail("expected numbers, got " + describe(x) + " to convert to " + name(type),
            "hjx::random::bits turns keys into numbers");
  return op.emitAs<ir::ConvertOp>(x.type().clone(elementTypeOf(type, &op.context())), {x});
}

Operand useAs(OpScope &op, const Array &array, DType type) {
  ArrayImpl &impl = Access::checked(array, op.name(), op.where());
  if (!impl.literal || impl.dtype == type)
    return convert(op, op.use(array), type);
  // A number as written takes the type directly, with all of its digits.
  Aval aval{type, impl.shape, impl.isWeak};
  Storage storage = allocate(aval, cpuDevice(), op.where());
  if (!writeElement(storage->as<std::byte>(), type, 0, *impl.literal))
    op.fail("the number " + print(*impl.literal) + " does not fit in " + name(type) + ", the type of the other operand",
            type == DType::key ? "hjx::random::bits turns keys into numbers"
            : std::holds_alternative<double>(*impl.literal)
                ? "convert the array to a floating type first: x.astype(hjx::float32)"
                : "convert the array to a wider type first: x.astype(hjx::int64)");
  Array number = makeConcrete(aval, std::move(storage), op.where());
  // The constant is as old as the number it stands for.
  Access::get(number)->serial = impl.serial;
  Access::get(number)->isFrozen = impl.isFrozen;
  return op.use(number);
}

SmallVector<Operand> promote(OpScope &op, ArrayRef<Array> arrays, bool inexact) {
  std::vector<Promoted> types;
  for (const Array &array : arrays) {
    ArrayImpl &impl = Access::checked(array, op.name(), op.where());
    if (impl.dtype == DType::key)
      op.fail("expected numbers, got random keys: " + describe(array), "hjx::random::bits turns keys into numbers");
    types.push_back({impl.dtype, impl.isWeak});
  }
  Promoted common = promote(types);
  if (inexact && !is_floating(common.dtype))
    common.dtype = DType::float32;
  SmallVector<Operand> operands;
  for (const Array &array : arrays) {
    operands.push_back(useAs(op, array, common.dtype));
    operands.back().isWeak = common.isWeak;
  }
  return operands;
}

Operand toIndex(OpScope &op, const Operand &x) {
  if (item_size(x.dtype()) < 4 || x.dtype() == DType::int32)
    return convert(op, x, DType::int32);
  Array wide = minimum(op.wrap(x), std::numeric_limits<int32_t>::max());
  if (!is_unsigned(x.dtype()))
    wide = maximum(wide, std::numeric_limits<int32_t>::min());
  return convert(op, op.use(wide), DType::int32);
}

Operand toFloat(OpScope &op, const Array &array) { return promote(op, {array}, /*inexact=*/true).front(); }

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

SmallVector<int64_t> broadcastShape(OpScope &op, ArrayRef<Operand> operands) {
  int64_t rank = 0;
  for (const Operand &operand : operands)
    rank = std::max(rank, operand.rank());
  SmallVector<int64_t> shape(rank, 1);
  for (const Operand &operand : operands)
    for (auto [i, size] : llvm::enumerate(operand.shape())) {
      int64_t &common = shape[rank - operand.rank() + i];
      if (common != size && common != 1 && size != 1) {
        std::string shapes;
        for (const Operand &other : operands)
          shapes += (shapes.empty() ? "" : " and ") + describe(other);
        op.fail("shapes do not broadcast: " + shapes + " differ in axis " + std::to_string(static_cast<int64_t>(i) - operand.rank()) + " (" +
                    std::to_string(common) + " against " + std::to_string(size) + ")",
                "axes match from the last; give one operand size 1 there, for example with hjx::expand_dims");
      }
      common = common == 1 ? size : common;
    }
  return shape;
}

Operand broadcastInDim(OpScope &op, Operand x, ArrayRef<int64_t> shape, ArrayRef<int64_t> resultDims) {
  if (x.shape() == shape)
    return x;
  // A constant scalar becomes a constant of the whole shape, which reads better than two operations.
  if (auto constant = x.value.getDefiningOp<ir::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()); elements && elements.isSplat()) {
      RankedTensorType type = x.type().clone(shape);
      Value whole = ir::ConstantOp::create(op.builder(), type, elements.resizeSplat(type));
      return {whole, x.isWeak};
    }
  return op.emit<ir::BroadcastInDimOp>({x}, {.dims = dims(op, resultDims), .shape = dims(op, shape)});
}

Operand broadcastTo(OpScope &op, Operand x, ArrayRef<int64_t> shape) {
  int64_t shift = static_cast<int64_t>(shape.size()) - x.rank();
  bool fits = shift >= 0;
  for (int64_t i = 0; fits && i < x.rank(); ++i)
    fits = x.shape()[i] == 1 || x.shape()[i] == shape[i + shift];
  if (!fits)
    op.fail("cannot broadcast " + describe(x) + " to shape " + to_string(Shape(shape.begin(), shape.end())),
            "axes match from the last, and only size 1 repeats");
  SmallVector<int64_t> resultDims;
  for (int64_t i = 0; i < x.rank(); ++i)
    resultDims.push_back(shift + i);
  return broadcastInDim(op, x, shape, resultDims);
}

SmallVector<Operand> promoteAndBroadcast(OpScope &op, ArrayRef<Array> arrays, bool inexact) {
  SmallVector<Operand> operands = promote(op, arrays, inexact);
  SmallVector<int64_t> shape = broadcastShape(op, operands);
  for (Operand &operand : operands)
    operand = broadcastTo(op, operand, shape);
  return operands;
}

Operand splat(OpScope &op, double value, DType type, ArrayRef<int64_t> shape) {
  RankedTensorType array = RankedTensorType::get(shape, elementTypeOf(type, &op.context()));
  return {ir::makeSplat(op.builder(), op.builder().getLoc(), array, value)};
}

//===----------------------------------------------------------------------===//
// Axes and shapes
//===----------------------------------------------------------------------===//

int64_t normalizeAxis(const Call &op, int64_t axis, int64_t rank, const std::string &what) {
  int64_t normal = axis < 0 ? axis + rank : axis;
  if (normal < 0 || normal >= rank)
    op.fail("axis " + std::to_string(axis) + " is out of range for " + what,
            rank == 0 ? "a scalar has no axes"
                      : "use an axis in [-" + std::to_string(rank) + ", " + std::to_string(rank) + ")");
  return normal;
}

SmallVector<int64_t> normalizeAxes(const Call &op, const Axes &axes, int64_t rank, const std::string &what) {
  if (axes.isAll)
    return ir::iotaDims(rank);
  SmallVector<int64_t> list;
  for (int axis : axes.list) {
    list.push_back(normalizeAxis(op, axis, rank, what));
    if (llvm::count(list, list.back()) > 1)
      op.fail("axis " + std::to_string(axis) + " of " + what + " is named twice", "name every axis once");
  }
  llvm::sort(list);
  return list;
}

Operand reshapeTo(OpScope &op, Operand x, ArrayRef<int64_t> shape) {
  return x.shape() == shape ? x : op.emit<ir::ReshapeOp>({x}, {.shape = dims(op, shape)});
}

Operand transposeBy(OpScope &op, Operand x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x : op.emit<ir::TransposeOp>({x}, {.permutation = dims(op, permutation)});
}

} // namespace hjx::detail
