// SPDX-License-Identifier: Apache-2.0
//
// Arrays from nothing. While recording they are operations of the program;
// otherwise they are computed at once.
#include "lib/Frontend/Operands.h"

#include <cmath>

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

static void checkNumbers(OpScope &op, DType type) {
  if (type == DType::key)
    op.fail("expected a type of numbers, got key", "make keys with hjx::random::key(seed)");
}

static bool fitsIn(int64_t number, DType type) {
  std::byte element[8];
  return writeElement(element, type, 0, Literal(number));
}

Array hjx::full(const Shape &shape, ArrayLike value, std::optional<DType> type) {
  OpScope op("full", value.where);
  checkShape(shape, op.name(), op.where());
  if (type && value.array.dtype(value.where) != *type)
    checkNumbers(op, *type);
  Operand scalar = type ? useAs(op, value.array, *type) : op.use(value.array);
  Operand result = broadcastTo(op, scalar, shape.vec());
  result.isWeak = false;
  return op.finish(result);
}

Array hjx::zeros(const Shape &shape, DType type, Where where) {
  OpScope op("zeros", where);
  checkShape(shape, op.name(), op.where());
  checkNumbers(op, type);
  return op.finish(splat(op, 0, type, shape.vec()));
}

Array hjx::ones(const Shape &shape, DType type, Where where) {
  OpScope op("ones", where);
  checkShape(shape, op.name(), op.where());
  checkNumbers(op, type);
  return op.finish(splat(op, 1, type, shape.vec()));
}

Array hjx::zeros_like(ArrayLike x) { return full_like(x, 0); }
Array hjx::ones_like(ArrayLike x) { return full_like(x, 1); }
Array hjx::full_like(ArrayLike x, ArrayLike value) {
  OpScope op("full_like", x.where);
  if (Access::checked(x.array, op.name(), op.where()).storage)
    op.session().placedLike.push_back(x.array);
  return op.finish(full(shapeOf(op, x.array), value, x.array.dtype(x.where)));
}

Array hjx::iota(const Shape &shape, int axis, DType type, Where where) {
  OpScope op("iota", where);
  checkShape(shape, op.name(), op.where());
  if (type == DType::key || type == DType::bool_)
    op.fail("expected a type that counts, got " + std::string(name(type)), "count in hjx::int32 and convert");
  RankedTensorType result = arrayTypeOf({type, shape}, &op.context());
  int64_t dim = normalizeAxis(op, axis, shape.ndim(), "shape " + to_string(shape));
  return op.finish(op.emitAs<ir::IotaOp>(result, {}, {.dimension = op.builder().getI64IntegerAttr(dim)}));
}

Array hjx::arange(int64_t stop, DType type, Where where) { return arange(0, stop, 1, type, where); }

Array hjx::arange(int64_t start, int64_t stop, int64_t step, DType type, Where where) {
  OpScope op("arange", where);
  if (step == 0)
    op.fail("expected a step other than 0", "count up with 1, down with -1");
  int64_t distance = step > 0 ? stop - start : start - stop, stride = std::abs(step);
  int64_t count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  for (int64_t end : {start, start + (count - 1) * step})
    if (count > 0 && is_integer(type) && !fitsIn(end, type))
      op.fail("the number " + std::to_string(end) + " does not fit in " + name(type), "choose a wider type");
  Array indices = iota({count}, 0, type, where);
  if (step != 1)
    indices = indices * step;
  if (start != 0)
    indices = indices + start;
  return op.finish(indices);
}

Array hjx::linspace(double start, double stop, int64_t count, DType type, Where where) {
  OpScope op("linspace", where);
  if (count < 0 || !is_floating(type))
    op.fail("expected a count that is not negative and a floating type, got " + std::to_string(count) + " and " + name(type),
            "use arange for integers");
  if (count == 1)
    return op.finish(full({1}, start, type));
  Array step = iota({count}, 0, type, where) / double(count - 1);
  Array values = start * (1 - step) + stop * step;
  // The last number is exactly `stop`, whatever was rounded on the way.
  return op.finish(hjx::where(iota({count}, 0, int32, where) == count - 1, full({count}, stop, type), values));
}

Array hjx::eye(int64_t rows, std::optional<int64_t> columns, DType type, Where where) {
  OpScope op("eye", where);
  Shape shape{rows, columns.value_or(rows)};
  return op.finish(astype(iota(shape, 0, int32, where) == iota(shape, 1, int32, where), type));
}

Array hjx::one_hot(ArrayLike labels, int64_t num_classes, DType type) {
  OpScope op("one_hot", labels.where);
  DType labelType = labels.array.dtype(labels.where);
  if (!is_integer(labelType))
    op.fail("expected integer labels, got " + describe(labels.array), "convert them: labels.astype(hjx::int32)");
  Array classes = iota({num_classes}, 0, labelType, labels.where);
  return op.finish(astype(expand_dims(labels, -1) == classes, type));
}

static Array triangle(const char *name, const ArrayLike &x, int k, bool isLower) {
  OpScope op(name, x.where);
  const Shape &shape = shapeOf(op, x.array);
  if (shape.ndim() < 2)
    op.fail("expected at least two dimensions, got " + describe(x.array), "reshape it to a matrix");
  Shape matrix{shape[shape.ndim() - 2], shape[shape.ndim() - 1]};
  Array rows = iota(matrix, 0), columns = iota(matrix, 1);
  Array isKept = isLower ? columns <= rows + k : columns >= rows + k;
  return op.finish(hjx::where(isKept, x, zeros_like(x)));
}

Array hjx::tril(ArrayLike x, int k) { return triangle("tril", x, k, true); }
Array hjx::triu(ArrayLike x, int k) { return triangle("triu", x, k, false); }
