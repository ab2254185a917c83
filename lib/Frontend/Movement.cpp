// SPDX-License-Identifier: Apache-2.0
//
// Shape and order. Functions that only rename the shape of a concrete array share
// its memory.
#include "lib/Frontend/Operands.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// The array under another shape of as many elements: without a program when it is concrete.
static Array reshaped(OpScope &op, const Array &x, const Shape &shape) {
  ArrayImpl &impl = Access::checked(x, op.name(), op.where());
  if (impl.shape == shape)
    return op.finish(x);
  if (!op.isEager() || !impl.storage)
    return op.finish(reshapeTo(op, op.use(x), shape.vec()));
  return makeConcrete({impl.dtype, shape, impl.isWeak}, impl.storage, op.where(), impl.isCommitted);
}

Array hjx::reshape(ArrayLike x, const Shape &shape) {
  OpScope op("reshape", x.where);
  Shape sizes = shape, from = shapeOf(op, x.array);
  int64_t known = 1;
  int unknown = -1;
  for (int axis = 0; axis < sizes.ndim(); ++axis) {
    if (sizes[axis] == -1 && unknown < 0)
      unknown = axis;
    else if (sizes[axis] < 0)
      op.fail("expected sizes that are not negative, and -1 at most once, got " + to_string(shape),
              "leave one size to be computed");
    else
      known *= sizes[axis];
  }
  if (unknown >= 0 && known != 0 && from.size() % known == 0)
    sizes[unknown] = from.size() / known;
  if (sizes.size() != from.size())
    op.fail(describe(x.array) + " has " + std::to_string(from.size()) + " elements, which do not fill shape " + to_string(shape),
            "give sizes whose product is " + std::to_string(from.size()) + ", or -1 for one of them");
  return reshaped(op, x.array, sizes);
}

Array hjx::ravel(ArrayLike x) { return reshape(x, {-1}); }

Array hjx::expand_dims(ArrayLike x, Axes axes) {
  OpScope op("expand_dims", x.where);
  std::vector<int64_t> shape = shapeOf(op, x.array).vec();
  if (axes.isAll)
    op.fail("expected at least one axis", "expand_dims(x, 0) adds a leading axis");
  int64_t rank = shape.size() + axes.list.size();
  for (int64_t axis : normalizeAxes(op, axes, rank, "a result of " + plural(rank, "axis", "axes")))
    shape.insert(shape.begin() + axis, 1);
  return reshaped(op, x.array, shape);
}

Array hjx::squeeze(ArrayLike x, Axes axes) {
  OpScope op("squeeze", x.where);
  const Shape &shape = shapeOf(op, x.array);
  SmallVector<int64_t> removed;
  if (axes.isAll) {
    for (int axis = 0; axis < shape.ndim(); ++axis)
      if (shape[axis] == 1)
        removed.push_back(axis);
  } else {
    removed = normalizeAxes(op, axes, shape.ndim(), describe(x.array));
    for (int64_t axis : removed)
      if (shape[axis] != 1)
        op.fail("expected axis " + std::to_string(axis) + " of size 1, got " + describe(x.array),
                "index or reduce the axis instead");
  }
  std::vector<int64_t> kept;
  for (int64_t axis : ir::dimsExcept(shape.ndim(), removed))
    kept.push_back(shape[axis]);
  return reshaped(op, x.array, kept);
}

Array hjx::broadcast_to(ArrayLike x, const Shape &shape) {
  OpScope op("broadcast_to", x.where);
  checkShape(shape, op.name(), op.where());
  return op.finish(broadcastTo(op, op.use(x.array), shape.vec()));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Array hjx::transpose(ArrayLike x, Axes axes) {
  OpScope op("transpose", x.where);
  Operand operand = op.use(x.array);
  SmallVector<int64_t> permutation;
  if (axes.isAll) {
    permutation = ir::iotaDims(operand.rank());
    std::reverse(permutation.begin(), permutation.end());
  } else {
    for (int axis : axes.list)
      permutation.push_back(normalizeAxis(op, axis, operand.rank(), describe(operand)));
    if (static_cast<int64_t>(permutation.size()) != operand.rank() || !ir::areDistinctDims(permutation, operand.rank()))
      op.fail("expected a permutation of the " + plural(operand.rank(), "axis", "axes") + " of " + describe(operand) + ", got " +
                  plural(permutation.size(), "axis", "axes") + (ir::areDistinctDims(permutation, operand.rank()) ? "" : ", one of them twice"),
              "name every axis once");
  }
  return op.finish(transposeBy(op, operand, permutation));
}

Array hjx::swapaxes(ArrayLike x, int axis1, int axis2) {
  OpScope op("swapaxes", x.where);
  Operand operand = op.use(x.array);
  SmallVector<int64_t> permutation = ir::iotaDims(operand.rank());
  std::swap(permutation[normalizeAxis(op, axis1, operand.rank(), describe(operand))],
            permutation[normalizeAxis(op, axis2, operand.rank(), describe(operand))]);
  return op.finish(transposeBy(op, operand, permutation));
}

Array hjx::moveaxis(ArrayLike x, int source, int destination) {
  OpScope op("moveaxis", x.where);
  Operand operand = op.use(x.array);
  int64_t from = normalizeAxis(op, source, operand.rank(), describe(operand));
  int64_t to = normalizeAxis(op, destination, operand.rank(), describe(operand));
  SmallVector<int64_t> permutation = ir::dimsExcept(operand.rank(), {from});
  permutation.insert(permutation.begin() + to, from);
  return op.finish(transposeBy(op, operand, permutation));
}

Array hjx::flip(ArrayLike x, Axes axes) {
  OpScope op("flip", x.where);
  Operand operand = op.use(x.array);
  SmallVector<int64_t> list = normalizeAxes(op, axes, operand.rank(), describe(operand));
  return op.finish(op.emit<ir::RevOp>({operand}, {.dims = dims(op, list)}));
}

Array hjx::roll(ArrayLike x, int64_t shift, int axis) {
  OpScope op("roll", x.where);
  const Shape &shape = shapeOf(op, x.array);
  int64_t along = normalizeAxis(op, axis, shape.ndim(), describe(x.array)), size = shape[along];
  int64_t offset = size ? ((shift % size) + size) % size : 0;
  if (offset == 0)
    return op.finish(x.array);
  std::vector<Array> pieces = split(x, std::vector<int64_t>{size - offset}, along);
  return op.finish(concatenate({pieces[1], pieces[0]}, along));
}

Array hjx::repeat(ArrayLike x, int64_t count, int axis) {
  OpScope op("repeat", x.where);
  if (count < 0)
    op.fail("expected a count that is not negative, got " + std::to_string(count), "count 1 changes nothing");
  std::vector<int64_t> shape = shapeOf(op, x.array).vec();
  int64_t along = normalizeAxis(op, axis, shape.size(), describe(x.array));
  std::vector<int64_t> spread = shape;
  spread.insert(spread.begin() + along + 1, count);
  shape[along] *= count;
  return op.finish(reshape(broadcast_to(expand_dims(x, along + 1), spread), shape));
}

Array hjx::tile(ArrayLike x, const std::vector<int64_t> &counts) {
  OpScope op("tile", x.where);
  std::vector<int64_t> sizes = shapeOf(op, x.array).vec(), repeats = counts;
  for (int64_t count : counts)
    if (count < 0)
      op.fail("expected counts that are not negative, got " + std::to_string(count), "count 1 changes nothing");
  while (sizes.size() < repeats.size())
    sizes.insert(sizes.begin(), 1);
  while (repeats.size() < sizes.size())
    repeats.insert(repeats.begin(), 1);
  // [a, b] tiled [m, n]: [1, a, 1, b] -> [m, a, n, b] -> [m * a, n * b]
  std::vector<int64_t> apart, spread, joined;
  for (size_t i = 0; i < sizes.size(); ++i) {
    apart.insert(apart.end(), {1, sizes[i]});
    spread.insert(spread.end(), {repeats[i], sizes[i]});
    joined.push_back(repeats[i] * sizes[i]);
  }
  return op.finish(reshape(broadcast_to(reshape(x, apart), spread), joined));
}

//===----------------------------------------------------------------------===//
// Joining and parting
//===----------------------------------------------------------------------===//

Array hjx::concatenate(const std::vector<Array> &arrays, int axis, Where where) {
  OpScope op("concatenate", where);
  if (arrays.empty())
    op.fail("expected at least one array", "an empty list has no element type");
  bool areKeys = llvm::all_of(arrays, [&](const Array &array) { return array.dtype(where) == DType::key; });
  SmallVector<Operand> operands;
  if (areKeys)
    operands = llvm::map_to_vector(arrays, [&](const Array &array) { return op.use(array); });
  else
    operands = promote(op, arrays);
  const Operand &first = operands.front();
  int64_t along = normalizeAxis(op, axis, first.rank(), describe(first));
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.rank() != first.rank() || ir::dropAxis(operand.type(), along) != ir::dropAxis(first.type(), along))
      op.fail("expected arrays that agree in every axis but " + std::to_string(along) + ", got " + describe(first) + " and " +
                  describe(operand) + " at position " + std::to_string(i),
              "reshape or broadcast them first");
  if (operands.size() == 1)
    return op.finish(first);
  return op.finish(op.emit<ir::ConcatenateOp>(operands, {.dimension = op.builder().getI64IntegerAttr(along)}));
}

Array hjx::stack(const std::vector<Array> &arrays, int axis, Where where) {
  OpScope op("stack", where);
  if (arrays.empty())
    op.fail("expected at least one array", "an empty list has no element type");
  std::vector<Array> expanded;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    if (shapeOf(op, array) != shapeOf(op, arrays.front()))
      op.fail("expected arrays of one shape, got " + describe(arrays.front()) + " and " + describe(array) + " at position " +
                  std::to_string(i),
              "broadcast them to one shape first");
    expanded.push_back(expand_dims(array, axis));
  }
  int64_t rank = arrays.front().ndim(where) + 1;
  return op.finish(concatenate(expanded, normalizeAxis(op, axis, rank, "a result of " + plural(rank, "axis", "axes"))));
}

std::vector<Array> hjx::split(ArrayLike x, int count, int axis) {
  OpScope op("split", x.where);
  const Shape &shape = shapeOf(op, x.array);
  int64_t along = normalizeAxis(op, axis, shape.ndim(), describe(x.array));
  if (count <= 0 || shape[along] % count != 0)
    op.fail("cannot split axis " + std::to_string(along) + " of " + describe(x.array) + " into " + std::to_string(count) +
                " equal pieces",
            "give the indices where pieces begin instead");
  std::vector<int64_t> indices;
  for (int i = 1; i < count; ++i)
    indices.push_back(i * (shape[along] / count));
  return op.finish(split(x, indices, along));
}

std::vector<Array> hjx::split(ArrayLike x, const std::vector<int64_t> &indices, int axis) {
  OpScope op("split", x.where);
  std::vector<int64_t> shape = shapeOf(op, x.array).vec(), ends = indices;
  int64_t along = normalizeAxis(op, axis, shape.size(), describe(x.array));
  ends.push_back(shape[along]);
  std::vector<Array> pieces;
  std::vector<int64_t> start(shape.size(), 0), limit = shape;
  for (int64_t end : ends) {
    if (end < start[along] || end > shape[along])
      op.fail("expected ascending indices in [0, " + std::to_string(shape[along]) + "], got " + std::to_string(end),
              "indices say where pieces begin");
    limit[along] = end;
    pieces.push_back(slice(x, start, limit));
    start[along] = end;
  }
  return op.finish(pieces);
}

Array hjx::pad(ArrayLike x, const std::vector<std::pair<int64_t, int64_t>> &widths, ArrayLike value) {
  OpScope op("pad", x.where);
  Operand operand = op.use(x.array);
  if (static_cast<int64_t>(widths.size()) != operand.rank())
    op.fail("expected one pair of widths for each axis of " + describe(operand) +
                ", got " + std::to_string(widths.size()),
            "write {0, 0} for axes to leave alone");
  SmallVector<int64_t> low, high, interior(operand.rank(), 0);
  for (auto [before, after] : widths) {
    if (before < 0 || after < 0)
      op.fail("expected widths that are not negative, got {" + std::to_string(before) + ", " + std::to_string(after) + "}",
              "remove elements with slice");
    low.push_back(before);
    high.push_back(after);
  }
  Operand fill = useAs(op, value.array, operand.dtype());
  if (fill.rank() != 0)
    op.fail("expected a scalar to fill with, got " + describe(fill), "pad with 0 and add the values where they belong");
  fill.isWeak = operand.isWeak;
  return op.finish(op.emit<ir::PadOp>(
      {operand, fill}, {.high = dims(op, high), .interior = dims(op, interior), .low = dims(op, low)}));
}

Array Array::reshape(const Shape &shape, Where where) const { return hjx::reshape({*this, where}, shape); }
Array Array::T(Where where) const { return hjx::transpose({*this, where}); }
Array Array::transpose(std::initializer_list<int> axes, Where where) const {
  return hjx::transpose({*this, where}, axes.size() ? Axes(axes) : Axes());
}
