// SPDX-License-Identifier: Apache-2.0
//
// NumPy's indexing as slices, gathers and scatters.
//
// A subscript is read once into a plan, one entry per axis of the array: a slice
// (numbers are slices of one element that drop their axis) or a position in the
// index arrays. Without index arrays reading is a slice; with scalar ones only, a
// dynamic_slice; else a gather. Index arrays take NumPy's place in the result:
// where the first of them stands if they are neighbours, else in front.
#include "lib/Frontend/Subscript.h"

#include "dialects/hjx/Shapes.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

/// Negative positions count from the end.
static Operand wrapPositions(OpScope &op, const Array &positions, int64_t size) {
  Operand x = op.use(positions);
  if (!is_integer(x.dtype()))
    op.fail("expected integers as positions, got " + describe(x),
            x.dtype() == DType::bool_ ? "the number of true elements is not known while tracing; use hjx::where"
                                      : "convert them: i.astype(hjx::int32)");
  if (is_unsigned(x.dtype()) || item_size(x.dtype()) < 4)
    x = convert(op, x, item_size(x.dtype()) == 8 || x.dtype() == DType::uint32 ? DType::int64 : DType::int32);
  Array index = op.wrap(x);
  return op.use(hjx::where(index < 0, index + size, index));
}

Plan hjx::detail::readSubscript(OpScope &op, const Shape &shape, const std::string &what, ArrayRef<Index> indices) {
  int64_t consumed = 0, ellipses = 0;
  bool hasArrays = false;
  for (const Index &index : indices) {
    consumed += index.kind != Index::Kind::NewAxis && index.kind != Index::Kind::Ellipsis;
    ellipses += index.kind == Index::Kind::Ellipsis;
    hasArrays |= index.kind == Index::Kind::Array;
  }
  if (consumed > shape.ndim() || ellipses > 1)
    op.fail(ellipses > 1 ? "expected at most one ellipsis in a subscript"
                         : "expected at most " + std::to_string(shape.ndim()) + " indices for " + what + ", got " +
                               std::to_string(consumed),
            "index one axis with each entry");

  Plan plan;
  plan.hasArrays = hasArrays;
  SmallVector<Operand> arrays;
  SmallVector<int64_t> arrayAxes; // As NumPy, numbers count as index arrays when there are any.
  auto addToArrays = [&](int64_t axis) {
    if (arrayAxes.empty())
      plan.layout.push_back(Plan::kArrays);
    arrayAxes.push_back(axis);
  };
  auto keepWhole = [&](int64_t count) {
    for (; count > 0; --count) {
      plan.layout.push_back(plan.axes.size());
      plan.axes.push_back({.count = shape[plan.axes.size()]});
    }
  };
  for (const Index &index : indices) {
    if (index.kind == Index::Kind::NewAxis) {
      plan.layout.push_back(Plan::kNewAxis);
      continue;
    }
    if (index.kind == Index::Kind::Ellipsis) {
      keepWhole(shape.ndim() - consumed);
      continue;
    }
    int64_t axis = plan.axes.size(), size = shape[axis];
    AxisPlan entry;
    if (index.kind == Index::Kind::Number) {
      int64_t position = index.slice.start < 0 ? index.slice.start + size : index.slice.start;
      if (position < 0 || position >= size)
        op.fail("index " + std::to_string(index.slice.start) + " is out of range for axis " + std::to_string(axis) + " of " +
                    what,
                "use an index in [-" + std::to_string(size) + ", " + std::to_string(size) + ")");
      entry = {.start = position, .count = 1, .dropped = true};
      if (hasArrays)
        addToArrays(axis);
    } else if (index.kind == Index::Kind::Slice) {
      const Slice &slice = index.slice;
      if (slice.step == 0)
        op.fail("expected a slice whose step is not 0", "count up with 1, down with -1");
      // Python's rule: ends are counted from the end when negative, and clamped.
      bool isUp = slice.step > 0;
      auto clamp = [&](int64_t end, int64_t absent) {
        if (end == Slice::none)
          return absent;
        return std::clamp<int64_t>(end < 0 ? end + size : end, isUp ? 0 : -1, isUp ? size : size - 1);
      };
      int64_t start = clamp(slice.start, isUp ? 0 : size - 1), stop = clamp(slice.stop, isUp ? size : -1);
      int64_t distance = isUp ? stop - start : start - stop, stride = std::abs(slice.step);
      entry = {.start = start, .count = distance > 0 ? (distance + stride - 1) / stride : 0, .step = slice.step};
      plan.layout.push_back(axis);
    } else {
      entry.positions = wrapPositions(op, index.positions, size);
      arrays.push_back(*entry.positions);
      addToArrays(axis);
    }
    plan.axes.push_back(entry);
  }
  keepWhole(shape.ndim() - plan.axes.size());
  if (!plan.hasArrays)
    return plan;
  // Index arrays with something between them: their axes come first.
  plan.arrayShape = broadcastShape(op, arrays);
  bool areNeighbours = true;
  for (int64_t axis = arrayAxes.front(); axis <= arrayAxes.back(); ++axis)
    areNeighbours &= plan.axes[axis].positions || plan.axes[axis].dropped;
  if (!areNeighbours) {
    llvm::erase(plan.layout, Plan::kArrays);
    plan.layout.insert(plan.layout.begin(), Plan::kArrays);
  }
  return plan;
}

namespace {

Plan readSubscript(OpScope &op, const Array &x, ArrayRef<Index> indices) {
  return readSubscript(op, shapeOf(op, x), describe(x), indices);
}

/// The result's shape: that of the layout.
SmallVector<int64_t> shapeOf(const Plan &plan) {
  SmallVector<int64_t> shape;
  for (int64_t entry : plan.layout) {
    if (entry == Plan::kArrays)
      llvm::append_range(shape, plan.arrayShape);
    else
      shape.push_back(entry == Plan::kNewAxis ? 1 : plan.axes[entry].count);
  }
  return shape;
}

/// The slices of a plan; axes with index arrays stay whole.
Operand takeSlices(OpScope &op, Operand x, const Plan &plan) {
  SmallVector<int64_t> start, limit, strides, reversed;
  bool isWhole = true;
  for (auto [axis, entry] : llvm::enumerate(plan.axes)) {
    int64_t size = x.shape()[axis];
    if (entry.positions) {
      start.push_back(0), limit.push_back(size), strides.push_back(1);
      continue;
    }
    int64_t stride = std::abs(entry.step), last = entry.start + (entry.count - 1) * entry.step;
    if (entry.step < 0)
      reversed.push_back(axis);
    start.push_back(entry.count == 0 ? 0 : std::min(entry.start, last));
    limit.push_back(entry.count == 0 ? 0 : std::max(entry.start, last) + 1);
    strides.push_back(stride);
    isWhole &= entry.count == size;
  }
  if (!isWhole)
    x = op.emit<ir::SliceOp>({x}, {.limit = dims(op, limit), .start = dims(op, start), .strides = dims(op, strides)});
  return reversed.empty() ? x : op.emit<ir::RevOp>({x}, {.dims = dims(op, reversed)});
}

/// The index vectors of gather and scatter: [array shape.., number of index arrays].
Operand indexVectors(OpScope &op, const Plan &plan) {
  std::vector<Array> components;
  for (const AxisPlan &entry : plan.axes)
    if (entry.positions)
      components.push_back(op.wrap(broadcastTo(op, *entry.positions, plan.arrayShape)));
  return op.use(stack(components, -1));
}

SmallVector<int64_t> indexedAxes(const Plan &plan) {
  SmallVector<int64_t> axes;
  for (auto [axis, entry] : llvm::enumerate(plan.axes))
    if (entry.positions)
      axes.push_back(axis);
  return axes;
}

/// Where the axes that are not indexed by arrays stand in the result, when numbers' axes are
/// still there and new axes are not: [before.., arrays.., after..].
SmallVector<int64_t> windowDims(const Plan &plan) {
  int64_t numArrayDims = plan.arrayShape.size(), numBefore = 0;
  if (plan.layout.front() != Plan::kArrays)
    for (const AxisPlan &entry : plan.axes) {
      if (entry.positions)
        break;
      ++numBefore;
    }
  SmallVector<int64_t> list;
  int64_t numWindow = plan.axes.size() - indexedAxes(plan).size();
  for (int64_t i = 0; i < numWindow; ++i)
    list.push_back(i < numBefore ? i : i + numArrayDims);
  return list;
}

ir::IndexingModeAttr modeAttr(OpScope &op, ir::IndexingMode mode) { return ir::IndexingModeAttr::get(&op.context(), mode); }

Operand gather(OpScope &op, Operand x, const Plan &plan) {
  SmallVector<int64_t> axes = indexedAxes(plan), sizes(x.shape());
  for (int64_t axis : axes)
    sizes[axis] = 1;
  if (llvm::any_of(axes, [&](int64_t axis) { return x.shape()[axis] == 0; }))
    op.fail("cannot pick elements from the empty axis of " + describe(x), "check the array's size first");
  return op.emit<ir::GatherOp>({x, indexVectors(op, plan)},
                               {.collapsed_slice_dims = dims(op, axes),
                                .mode = modeAttr(op, ir::IndexingMode::Clip),
                                .offset_dims = dims(op, windowDims(plan)),
                                .operand_batching_dims = dims(op, {}),
                                .slice_sizes = dims(op, sizes),
                                .start_index_map = dims(op, axes),
                                .start_indices_batching_dims = dims(op, {})});
}

Operand read(OpScope &op, const Array &array, const Plan &plan) {
  Operand x = op.use(array);
  bool areScalars = plan.hasArrays && plan.arrayShape.empty();
  x = takeSlices(op, x, plan);
  if (areScalars) {
    SmallVector<Operand> operands{x};
    SmallVector<int64_t> sizes(x.shape());
    for (auto [axis, entry] : llvm::enumerate(plan.axes)) {
      operands.push_back(entry.positions ? toIndex(op, *entry.positions) : splat(op, 0, DType::int32));
      sizes[axis] = entry.positions ? 1 : sizes[axis];
    }
    bool isWeak = x.isWeak;
    x = op.emit<ir::DynamicSliceOp>(operands, {.slice_sizes = dims(op, sizes)});
    x.isWeak = isWeak;
  } else if (plan.hasArrays) {
    bool isWeak = x.isWeak;
    x = gather(op, x, plan);
    x.isWeak = isWeak;
  }
  return reshapeTo(op, x, shapeOf(plan));
}

/// The values of an update in the shape of the indexed elements, cast to the array's type.
Operand updateValues(OpScope &op, const Operand &x, const ArrayLike &values, const Plan &plan) {
  SmallVector<int64_t> shape = shapeOf(plan);
  Operand update = x.dtype() == DType::key ? op.use(values.array) : useAs(op, values.array, x.dtype());
  bool fits = update.rank() <= static_cast<int64_t>(shape.size());
  for (int64_t i = 1; fits && i <= update.rank(); ++i)
    fits = llvm::is_contained({int64_t(1), shape[shape.size() - i]}, update.shape()[update.rank() - i]);
  if (!fits)
    op.fail("cannot broadcast the values " + describe(update) + " to the shape " + to_string(Shape(shape.begin(), shape.end())) +
                " of the indexed elements",
            "axes match from the last, and only size 1 repeats");
  return broadcastTo(op, update, shape);
}

/// A strided box: the values spread out to the array's shape, chosen where they stand.
Operand setSlices(OpScope &op, Operand x, Operand update, const Plan &plan) {
  SmallVector<int64_t> boxShape, low, high, interior, reversed;
  bool isDense = true;
  for (auto [axis, entry] : llvm::enumerate(plan.axes)) {
    boxShape.push_back(entry.count);
    int64_t last = entry.start + (entry.count - 1) * entry.step, first = entry.step < 0 ? last : entry.start;
    int64_t stride = std::abs(entry.step), extent = (entry.count - 1) * stride + 1;
    if (entry.step < 0)
      reversed.push_back(axis);
    isDense &= stride == 1 || entry.count == 1;
    low.push_back(first);
    high.push_back(x.shape()[axis] - first - extent);
    interior.push_back(stride - 1);
  }
  if (llvm::is_contained(boxShape, 0))
    return x;
  update = reshapeTo(op, update, boxShape);
  if (!reversed.empty())
    update = op.emit<ir::RevOp>({update}, {.dims = dims(op, reversed)});
  if (isDense) {
    SmallVector<Operand> operands{x, update};
    for (int64_t start : low)
      operands.push_back(splat(op, start, DType::int32));
    return op.emit<ir::DynamicUpdateSliceOp>(operands);
  }
  auto spread = [&](Operand values, Operand fill) {
    return op.emit<ir::PadOp>({values, fill}, {.high = dims(op, high), .interior = dims(op, interior), .low = dims(op, low)});
  };
  Operand isSet = spread(splat(op, 1, DType::bool_, boxShape), splat(op, 0, DType::bool_));
  return op.emit<ir::SelectNOp>({isSet, x, spread(update, splat(op, 0, x.dtype()))});
}

Array update(const char *name, ir::ScatterKind kind, const Array &array, ArrayRef<Index> indices, const ArrayLike &values) {
  OpScope op(name, values.where);
  Plan plan = readSubscript(op, array, indices);
  if (!plan.hasArrays) {
    if (kind == ir::ScatterKind::Add) // Every element once: read, add, write.
      return op.finish(update(name, ir::ScatterKind::Set, array, indices, op.wrap(read(op, array, plan)) + values.array));
    Operand x = op.use(array);
    Operand result = setSlices(op, x, updateValues(op, x, values, plan), plan);
    result.isWeak = x.isWeak;
    return op.finish(result);
  }
  Operand x = op.use(array);
  for (const AxisPlan &entry : plan.axes)
    if (!entry.positions && entry.step != 1 && entry.count > 1)
      op.fail("cannot update strided slices together with index arrays", "use slices of step 1, or index arrays only");
  Operand updates = updateValues(op, x, values, plan);

  // Window dimensions are the slices; numbers and partial slices start theirs by a constant.
  SmallVector<int64_t> axes = indexedAxes(plan), scatterAxes(axes);
  std::vector<Array> components;
  for (const AxisPlan &entry : plan.axes)
    if (entry.positions)
      components.push_back(op.wrap(broadcastTo(op, *entry.positions, plan.arrayShape)));
  for (auto [axis, entry] : llvm::enumerate(plan.axes))
    if (!entry.positions && entry.count != x.shape()[axis]) {
      DType type = components.front().dtype();
      components.push_back(op.wrap(splat(op, entry.start, type, plan.arrayShape)));
      scatterAxes.push_back(axis);
    }
  Operand vectors = op.use(stack(components, -1));
  SmallVector<int64_t> window = windowDims(plan), fullShape(plan.arrayShape);
  size_t next = 0;
  for (auto [axis, entry] : llvm::enumerate(plan.axes))
    if (!entry.positions)
      fullShape.insert(fullShape.begin() + window[next++], entry.count);
  Operand result = op.emit<ir::ScatterOp>(
      {x, vectors, reshapeTo(op, updates, fullShape)},
      {.inserted_window_dims = dims(op, axes),
       .kind = ir::ScatterKindAttr::get(&op.context(), kind),
       .mode = modeAttr(op, ir::IndexingMode::FillOrDrop),
       .operand_batching_dims = dims(op, {}),
       .scatter_dims_to_operand_dims = dims(op, scatterAxes),
       .scatter_indices_batching_dims = dims(op, {}),
       .unique_indices = {},
       .update_window_dims = dims(op, window)});
  result.isWeak = x.isWeak;
  return op.finish(result);
}

} // namespace

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static Array readAt(const Array &array, ArrayRef<Index> indices) {
  OpScope op("index", indices.empty() ? Where::current() : indices.front().where);
  Plan plan = readSubscript(op, array, indices);
  if (!plan.hasArrays && isReadOnHost(op, array))
    return readOnHost(op, array, plan, shapeOf(plan));
  stayHome(op, array);
  return op.finish(read(op, array, plan));
}

Array Array::operator[](const Index &index) const { return readAt(*this, index); }
Array Array::operator[](std::initializer_list<Index> indices) const {
  return readAt(*this, ArrayRef(indices.begin(), indices.size()));
}
Indexed Array::at(const Index &index) const { return {*this, {index}}; }
Indexed Array::at(std::initializer_list<Index> indices) const { return {*this, indices}; }

Array Indexed::get() const { return readAt(array, indices); }
Array Indexed::set(ArrayLike values) const { return update("set", ir::ScatterKind::Set, array, indices, values); }
Array Indexed::add(ArrayLike values) const { return update("add", ir::ScatterKind::Add, array, indices, values); }

ArrayLike::ArrayLike(const Indexed &indexed, Where where) : array(indexed.get()), where(where) {}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Array hjx::slice(ArrayLike x, const std::vector<int64_t> &start, const std::vector<int64_t> &limit,
                 const std::vector<int64_t> &strides) {
  OpScope op("slice", x.where);
  stayHome(op, x.array);
  Operand operand = op.use(x.array);
  std::vector<int64_t> steps = strides.empty() ? std::vector<int64_t>(start.size(), 1) : strides;
  if (llvm::all_of(llvm::seq<size_t>(0, start.size()), [&](size_t i) {
        return start.size() == static_cast<size_t>(operand.rank()) && limit.size() == start.size() && start[i] == 0 &&
               limit[i] == operand.shape()[i] && steps[i] == 1;
      }))
    return op.finish(operand);
  Operand part = op.emit<ir::SliceOp>({operand}, {.limit = dims(op, limit), .start = dims(op, start), .strides = dims(op, steps)});
  if (!isReadOnHost(op, x.array))
    return op.finish(part);
  Plan plan;
  for (size_t axis = 0; axis < start.size(); ++axis)
    plan.axes.push_back({.start = start[axis], .count = part.shape()[axis], .step = steps[axis]});
  return readOnHost(op, x.array, plan, part.shape());
}

/// Scalar starts, one for each axis, counted from its end when negative.
static void appendStarts(OpScope &op, const Operand &x, const std::vector<Array> &start, SmallVectorImpl<Operand> &operands) {
  if (static_cast<int64_t>(start.size()) != x.rank())
    op.fail("expected one start for each of the " + std::to_string(x.rank()) + " axes of " + describe(x) + ", got " +
                std::to_string(start.size()),
            "give 0 for axes that are taken from the beginning");
  for (auto [axis, index] : llvm::enumerate(start)) {
    Operand scalar = op.use(index);
    if (scalar.rank() != 0 || !is_integer(scalar.dtype()))
      op.fail("expected integer scalars as starts, got " + describe(scalar), "index or convert it first");
    operands.push_back(toIndex(op, wrapPositions(op, index, x.shape()[axis])));
  }
}

Array hjx::dynamic_slice(ArrayLike x, const std::vector<Array> &start, const std::vector<int64_t> &sizes) {
  OpScope op("dynamic_slice", x.where);
  stayHome(op, x.array);
  SmallVector<Operand> operands{op.use(x.array)};
  appendStarts(op, operands[0], start, operands);
  Operand result = op.emit<ir::DynamicSliceOp>(operands, {.slice_sizes = dims(op, sizes)});
  result.isWeak = operands[0].isWeak;
  return op.finish(result);
}

Array hjx::dynamic_update_slice(ArrayLike x, ArrayLike update, const std::vector<Array> &start) {
  OpScope op("dynamic_update_slice", x.where);
  Operand operand = op.use(x.array);
  SmallVector<Operand> operands{operand, useAs(op, update.array, operand.dtype())};
  appendStarts(op, operand, start, operands);
  Operand result = op.emit<ir::DynamicUpdateSliceOp>(operands);
  result.isWeak = operand.isWeak;
  return op.finish(result);
}

Array hjx::take(ArrayLike x, ArrayLike indices, int axis) {
  OpScope op("take", x.where);
  stayHome(op, x.array);
  Operand operand = op.use(x.array);
  int64_t along = normalizeAxis(op, axis, operand.rank(), describe(operand));
  if (operand.shape()[along] == 0)
    op.fail("cannot take from the empty axis " + std::to_string(along) + " of " + describe(operand),
            "check the array's size first");
  Operand positions = wrapPositions(op, indices.array, operand.shape()[along]);
  // [.., n, ..] at [i..]: the axes of the indices stand where the axis was.
  SmallVector<int64_t> sizes(operand.shape()), vectors(positions.shape()), offset;
  sizes[along] = 1;
  vectors.push_back(1);
  for (int64_t dim = 0; dim < operand.rank() - 1; ++dim)
    offset.push_back(dim < along ? dim : dim + positions.rank());
  Operand result = op.emit<ir::GatherOp>({operand, reshapeTo(op, positions, vectors)},
                                         {.collapsed_slice_dims = dims(op, {along}),
                                          .mode = modeAttr(op, ir::IndexingMode::FillOrDrop),
                                          .offset_dims = dims(op, offset),
                                          .operand_batching_dims = dims(op, {}),
                                          .slice_sizes = dims(op, sizes),
                                          .start_index_map = dims(op, {along}),
                                          .start_indices_batching_dims = dims(op, {})});
  result.isWeak = operand.isWeak;
  return op.finish(result);
}

Array hjx::take_along_axis(ArrayLike x, ArrayLike indices, int axis) {
  OpScope op("take_along_axis", x.where);
  stayHome(op, x.array);
  Operand operand = op.use(x.array);
  int64_t along = normalizeAxis(op, axis, operand.rank(), describe(operand));
  Operand positions = wrapPositions(op, indices.array, operand.shape()[along]);
  if (positions.rank() != operand.rank())
    op.fail("expected indices with the " + std::to_string(operand.rank()) + " axes of " + describe(operand) + ", got " +
                describe(positions),
            "add axes of size 1 with hjx::expand_dims");
  // All other axes walk together, so that both sides must have one size there.
  SmallVector<int64_t> xShape(operand.shape()), shape(positions.shape()), batch;
  for (int64_t dim = 0; dim < operand.rank(); ++dim) {
    if (dim == along)
      continue;
    batch.push_back(dim);
    if (xShape[dim] != shape[dim] && xShape[dim] != 1 && shape[dim] != 1)
      op.fail("axis " + std::to_string(dim) + " differs: " + describe(operand) + " and indices " + describe(positions),
              "sizes must be equal or 1 in every axis but " + std::to_string(along));
    xShape[dim] = shape[dim] = xShape[dim] == 1 ? shape[dim] : xShape[dim];
  }
  operand = broadcastTo(op, operand, xShape);
  positions = broadcastTo(op, positions, shape);
  shape.push_back(1);
  SmallVector<int64_t> ones(operand.rank(), 1);
  Operand result = op.emit<ir::GatherOp>({operand, reshapeTo(op, positions, shape)},
                                         {.collapsed_slice_dims = dims(op, {along}),
                                          .mode = modeAttr(op, ir::IndexingMode::FillOrDrop),
                                          .offset_dims = dims(op, {}),
                                          .operand_batching_dims = dims(op, batch),
                                          .slice_sizes = dims(op, ones),
                                          .start_index_map = dims(op, {along}),
                                          .start_indices_batching_dims = dims(op, batch)});
  result.isWeak = operand.isWeak;
  return op.finish(result);
}
