// SPDX-License-Identifier: Apache-2.0
#include "lib/Refs/Parts.h"

#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {
namespace {

using ir::RefIndex;

/// One dimension of an index, its operand looked up.
struct Entry {
  int64_t start, size, stride; // of a slice; size 1 for a dropped dimension that is not gathered
  bool isDropped;
  Value position; // of a start at run time: a scalar, or an array to gather from

  bool isGathered() const { return position && emit::typeOf(position).getRank() > 0; }
};

/// An index on an array type, read once.
struct Plan {
  SmallVector<Entry> entries;
  SmallVector<int64_t> gatheredShape;
  bool isGather = false; // then every dropped dimension is an index dimension

  Plan(RankedTensorType type, const RefIndex &index) {
    ValueRange operands = index.indices;
    for (auto [d, dim] : llvm::enumerate(type.getShape())) {
      bool isDropped = index.sizes[d] == RefIndex::kDropped;
      Entry entry{index.starts[d], isDropped ? 1 : index.sizes[d] == RefIndex::kAll ? dim : index.sizes[d], index.strides[d],
                  isDropped, {}};
      if (entry.start == RefIndex::kDynamic) {
        entry.start = 0;
        entry.position = operands.front();
        operands = operands.drop_front();
      }
      if (entry.isGathered()) {
        isGather = true;
        gatheredShape.assign(emit::typeOf(entry.position).getShape().begin(), emit::typeOf(entry.position).getShape().end());
      }
      entries.push_back(entry);
    }
  }

  /// Dimensions that the slices keep.
  SmallVector<int64_t> keptShape() const {
    SmallVector<int64_t> shape;
    for (const Entry &entry : entries)
      if (!entry.isDropped)
        shape.push_back(entry.size);
    return shape;
  }
  SmallVector<int64_t> droppedDims() const {
    SmallVector<int64_t> dims;
    for (auto [d, entry] : llvm::enumerate(entries))
      if (entry.isDropped)
        dims.push_back(d);
    return dims;
  }
  /// In the result of a gather, where the kept dimensions stand: those of the integer arrays are
  /// where the dropped dimensions were, or in front when those were not neighbours.
  SmallVector<int64_t> windowDims() const {
    SmallVector<int64_t> dropped = droppedDims(), window;
    bool areNeighbours = dropped.back() - dropped.front() + 1 == static_cast<int64_t>(dropped.size());
    int64_t numBefore = areNeighbours ? dropped.front() : 0, numKept = entries.size() - dropped.size();
    for (int64_t i = 0; i < numKept; ++i)
      window.push_back(i < numBefore ? i : i + static_cast<int64_t>(gatheredShape.size()));
    return window;
  }
};

/// Index operands in one type that holds them all.
Type indexElement(ImplicitLocOpBuilder &b, const Plan &plan) {
  unsigned width = 32;
  for (const Entry &entry : plan.entries)
    if (entry.position) {
      auto type = cast<IntegerType>(emit::typeOf(entry.position).getElementType());
      if (type.getWidth() == 64 || (type.isUnsigned() && type.getWidth() == 32))
        width = 64;
    }
  return b.getIntegerType(width);
}

//===----------------------------------------------------------------------===//
// Boxes: slices with static and dynamic starts
//===----------------------------------------------------------------------===//

/// The static slices of `x`; other dimensions stay whole.
Value staticBox(ImplicitLocOpBuilder &b, Value x, const Plan &plan) {
  SmallVector<int64_t> starts, limits, strides;
  bool isWhole = true;
  for (auto [entry, dim] : llvm::zip_equal(plan.entries, emit::typeOf(x).getShape())) {
    bool stays = entry.position || (plan.isGather && entry.isDropped);
    starts.push_back(stays ? 0 : entry.start);
    limits.push_back(stays ? dim : entry.size ? entry.start + (entry.size - 1) * entry.stride + 1 : entry.start);
    strides.push_back(stays ? 1 : entry.stride);
    isWhole &= stays || entry.size == dim;
  }
  return isWhole ? x : ir::SliceOp::create(b, x, starts, limits, strides).getResult();
}

/// Starts of the dynamic slices, zero elsewhere; empty when there is none.
SmallVector<Value> dynamicStarts(ImplicitLocOpBuilder &b, const Plan &plan) {
  auto isDynamic = [](const Entry &entry) { return entry.position && !entry.isGathered(); };
  bool any = llvm::any_of(plan.entries, [&](const Entry &entry) { return isDynamic(entry) && !(plan.isGather && entry.isDropped); });
  SmallVector<Value> starts;
  if (!any)
    return starts;
  Type element = indexElement(b, plan);
  for (const Entry &entry : plan.entries)
    starts.push_back(isDynamic(entry) && !(plan.isGather && entry.isDropped)
                         ? emit::convert(b, entry.position, element)
                         : emit::zeros(b, RankedTensorType::get({}, element)));
  return starts;
}

/// What the slices cut out of `x`: dropped dimensions are still there, of size 1, or whole for a gather.
Value readBox(ImplicitLocOpBuilder &b, Value x, const Plan &plan) {
  x = staticBox(b, x, plan);
  SmallVector<Value> starts = dynamicStarts(b, plan);
  if (starts.empty())
    return x;
  SmallVector<int64_t> sizes;
  for (auto [entry, dim] : llvm::zip_equal(plan.entries, emit::typeOf(x).getShape()))
    sizes.push_back(entry.position && !(plan.isGather && entry.isDropped) ? entry.size : dim);
  return ir::DynamicSliceOp::create(b, x, starts, sizes);
}

/// `x` with its static slices replaced by `box`.
Value writeStaticBox(ImplicitLocOpBuilder &b, Value x, const Plan &plan, Value box) {
  RankedTensorType type = emit::typeOf(x);
  SmallVector<int64_t> low, high, interior;
  bool isDense = true, isWhole = true;
  for (auto [entry, dim] : llvm::zip_equal(plan.entries, type.getShape())) {
    bool stays = entry.position || (plan.isGather && entry.isDropped);
    int64_t size = stays ? dim : entry.size, stride = stays ? 1 : entry.stride, start = stays ? 0 : entry.start;
    low.push_back(start);
    high.push_back(dim - start - (size ? (size - 1) * stride + 1 : 0));
    interior.push_back(stride - 1);
    isDense &= stride == 1 || size == 1;
    isWhole &= size == dim;
  }
  if (isWhole)
    return box;
  if (isDense) {
    SmallVector<Value> starts;
    for (int64_t start : low)
      starts.push_back(ir::makeSplat(b, b.getLoc(), RankedTensorType::get({}, b.getI32Type()), start));
    return ir::DynamicUpdateSliceOp::create(b, x, box, starts);
  }
  // The fill is never chosen. Keys have no zero: any element will do.
  auto spread = [&](Value values) {
    RankedTensorType type = emit::typeOf(values);
    SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
    Value fill = isa<ir::KeyType>(type.getElementType())
                     ? emit::reshape(b, ir::SliceOp::create(b, values, zeros, ones, ones), {})
                     : emit::zeros(b, RankedTensorType::get({}, type.getElementType()));
    return ir::PadOp::create(b, values, fill, low, high, interior);
  };
  Value ones = ir::makeSplat(b, b.getLoc(), emit::typeOf(box).clone(b.getI1Type()), 1);
  return emit::select(b, spread(ones), spread(box), x);
}

/// `x` with what the slices cut out replaced by `box`.
Value writeBox(ImplicitLocOpBuilder &b, Value x, const Plan &plan, Value box) {
  SmallVector<Value> starts = dynamicStarts(b, plan);
  if (!starts.empty())
    box = ir::DynamicUpdateSliceOp::create(b, staticBox(b, x, plan), box, starts);
  return writeStaticBox(b, x, plan, box);
}

//===----------------------------------------------------------------------===//
// Gathers and scatters within a box
//===----------------------------------------------------------------------===//

/// Index vectors [gathered shape.., number of dropped dimensions].
Value indexVectors(ImplicitLocOpBuilder &b, const Plan &plan) {
  Type element = indexElement(b, plan);
  SmallVector<Value> components;
  SmallVector<int64_t> shape(plan.gatheredShape);
  shape.push_back(1);
  for (const Entry &entry : plan.entries) {
    if (!entry.isDropped)
      continue;
    RankedTensorType type = RankedTensorType::get(plan.gatheredShape, element);
    Value position = entry.position ? emit::convert(b, entry.position, element) : ir::makeSplat(b, b.getLoc(), type, entry.start);
    components.push_back(emit::reshape(b, emit::broadcastInDim(b, position, plan.gatheredShape, ir::iotaDims(emit::typeOf(position).getRank())), shape));
  }
  if (components.size() == 1)
    return components.front();
  return ir::ConcatenateOp::create(b, components, static_cast<int64_t>(plan.gatheredShape.size()));
}

Value gather(ImplicitLocOpBuilder &b, Value box, const Plan &plan) {
  SmallVector<int64_t> dropped = plan.droppedDims(), sizes(emit::typeOf(box).getShape());
  for (int64_t d : dropped)
    sizes[d] = 1;
  return ir::GatherOp::create(b, box, indexVectors(b, plan), plan.windowDims(), dropped, ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, dropped,
                              sizes, ir::IndexingMode::Clip);
}

Value scatter(ImplicitLocOpBuilder &b, Value box, const Plan &plan, Value value, ir::ScatterKind kind) {
  SmallVector<int64_t> dropped = plan.droppedDims();
  return ir::ScatterOp::create(b, kind, box, indexVectors(b, plan), value, plan.windowDims(), dropped, ArrayRef<int64_t>{},
                               ArrayRef<int64_t>{}, dropped, ir::IndexingMode::FillOrDrop, /*unique_indices=*/false);
}

Value readArray(ImplicitLocOpBuilder &b, Value array, const RefIndex &index) {
  Plan plan(emit::typeOf(array), index);
  Value box = readBox(b, array, plan);
  return plan.isGather ? gather(b, box, plan) : emit::reshape(b, box, plan.keptShape());
}

Value writeArray(ImplicitLocOpBuilder &b, Value array, const RefIndex &index, Value value) {
  Plan plan(emit::typeOf(array), index);
  if (emit::typeOf(value).getNumElements() == 0)
    return array;
  if (plan.isGather)
    return writeBox(b, array, plan, scatter(b, readBox(b, array, plan), plan, value, ir::ScatterKind::Set));
  SmallVector<int64_t> box;
  for (const Entry &entry : plan.entries)
    box.push_back(entry.size);
  return writeBox(b, array, plan, emit::reshape(b, value, box));
}

Value addToArray(ImplicitLocOpBuilder &b, Value array, const RefIndex &index, Value value) {
  Plan plan(emit::typeOf(array), index);
  if (emit::typeOf(value).getNumElements() == 0)
    return array;
  if (plan.isGather)
    return writeBox(b, array, plan, scatter(b, readBox(b, array, plan), plan, value, ir::ScatterKind::Add));
  return writeArray(b, array, index, emit::add(b, readArray(b, array, index), value));
}

const ir::HiTypeDef *hiTypeOf(Value value) {
  auto type = dyn_cast<ir::HiType>(value.getType());
  return type ? type.getDef() : nullptr;
}

} // namespace

FailureOr<Value> readPart(ImplicitLocOpBuilder &b, Value whole, const RefIndex &index) {
  if (index.isWhole())
    return whole;
  const ir::HiTypeDef *hi = hiTypeOf(whole);
  return hi ? hi->readPart(b, whole, index) : readArray(b, whole, index);
}

FailureOr<Value> writePart(ImplicitLocOpBuilder &b, Value whole, const RefIndex &index, Value value) {
  if (index.isWhole())
    return value;
  const ir::HiTypeDef *hi = hiTypeOf(whole);
  return hi ? hi->writePart(b, whole, index, value) : writeArray(b, whole, index, value);
}

FailureOr<Value> addPart(ImplicitLocOpBuilder &b, Value whole, const RefIndex &index, Value value) {
  if (index.isWhole())
    return ir::makeSum(b, whole, value);
  if (!hiTypeOf(whole))
    return addToArray(b, whole, index, value);
  auto part = readPart(b, whole, index);
  return failed(part) ? FailureOr<Value>() : writePart(b, whole, index, ir::makeSum(b, *part, value));
}

} // namespace hjx
