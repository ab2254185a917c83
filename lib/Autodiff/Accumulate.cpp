// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/Accumulate.h"

#include "dialects/hjx/Shapes.h"
#include "lib/Rules/Emit.h"

using namespace mlir;
using namespace hjx::ir;

namespace hjx {

static bool isZero(Value value) { return getSplat(value) == 0.0; }

// sum + scatter_add(0, i, u) -> scatter_add(sum, i, u)
static Value intoScatter(emit::Builder &b, Value sum, Value bar) {
  auto scatter = bar.getDefiningOp<ScatterOp>();
  if (!scatter || scatter.getKind() != ScatterKind::Add || !isZero(scatter.getOperand()))
    return {};
  auto into = cast<ScatterOp>(b.clone(*scatter));
  into.getOperandMutable().assign(sum);
  return into;
}

// sum + dynamic_update_slice(0, u, i) -> dynamic_update_slice(sum, dynamic_slice(sum, i) + u, i)
static Value intoBox(emit::Builder &b, Value sum, Value bar) {
  auto update = bar.getDefiningOp<DynamicUpdateSliceOp>();
  if (!update || !isZero(update.getOperand()))
    return {};
  Value box = DynamicSliceOp::create(b, sum, update.getStartIndices(), update.getUpdate().getType().getShape());
  return DynamicUpdateSliceOp::create(b, sum, emit::add(b, box, update.getUpdate()), update.getStartIndices());
}

namespace {
/// A piece of an otherwise zero array, along one dimension.
struct Piece {
  Value value;
  int64_t dim, start, end;

  static std::optional<Piece> of(Value value) {
    auto pad = value.getDefiningOp<PadOp>();
    if (!pad || !isZero(pad.getPaddingValue()))
      return std::nullopt;
    std::optional<int64_t> padded;
    for (auto [dim, edges] : llvm::enumerate(llvm::zip_equal(pad.getLow(), pad.getHigh(), pad.getInterior()))) {
      auto [low, high, interior] = edges;
      if (low == 0 && high == 0 && interior == 0)
        continue;
      if (padded || low < 0 || high < 0 || interior != 0)
        return std::nullopt;
      padded = dim;
    }
    if (!padded)
      return std::nullopt;
    int64_t start = pad.getLow()[*padded];
    return Piece{pad.getOperand(), *padded, start, start + pad.getOperand().getType().getDimSize(*padded)};
  }

  /// The arrays that this piece joins already.
  SmallVector<Value> parts() const {
    auto join = value.getDefiningOp<ConcatenateOp>();
    return join && static_cast<int64_t>(join.getDimension()) == dim ? SmallVector<Value>(join.getInputs())
                                                                    : SmallVector<Value>{value};
  }
};
} // namespace

// pad(a) + pad(b) -> pad(concatenate(a, b)), where a ends as b starts
static Value joined(emit::Builder &b, Value x, Value y) {
  std::optional<Piece> first = Piece::of(x), second = Piece::of(y);
  if (!first || !second || first->dim != second->dim)
    return {};
  if (second->end == first->start)
    std::swap(first, second);
  if (first->end != second->start)
    return {};
  SmallVector<Value> parts = first->parts();
  llvm::append_range(parts, second->parts());
  Value join = ConcatenateOp::create(b, parts, first->dim);
  RankedTensorType type = emit::typeOf(x);
  SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low);
  low[first->dim] = first->start;
  high[first->dim] = type.getDimSize(first->dim) - second->end;
  if (low[first->dim] == 0 && high[first->dim] == 0)
    return join;
  return PadOp::create(b, join, emit::zeros(b, type.clone(ArrayRef<int64_t>())), low, high, interior);
}

Value addCotangents(OpBuilder &builder, Location loc, Value sum, Value bar) {
  if (!sum)
    return bar;
  emit::Builder b(loc, builder);
  // Only a bar that stands alone may be taken apart; what is left of it is dead.
  if (bar.use_empty())
    for (auto combine : {intoScatter, intoBox, joined})
      if (Value combined = combine(b, sum, bar))
        return combined;
  if (sum.use_empty())
    for (auto combine : {intoScatter, intoBox})
      if (Value combined = combine(b, bar, sum))
        return combined;
  return makeSum(b, sum, bar);
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

namespace {
/// An index under construction, one entry for each dimension.
struct PartIndex {
  SmallVector<Value> indices;
  SmallVector<int64_t> starts, sizes, strides;

  void add(int64_t start, int64_t size, int64_t stride = 1) {
    starts.push_back(start);
    sizes.push_back(size);
    strides.push_back(stride);
  }
  void addAll() { add(0, RefIndex::kAll); }
  void addAt(Value index, int64_t size) {
    indices.push_back(index);
    add(RefIndex::kDynamic, size);
  }
  void addTo(emit::Builder &b, Value ref, Value value) { RefAddOp::create(b, ref, indices, value, starts, sizes, strides); }
};
} // namespace

// ref += pad(u)  ->  ref[start:stop:step] += u
static bool padToRef(emit::Builder &b, Value ref, Value bar) {
  auto pad = bar.getDefiningOp<PadOp>();
  if (!pad || !isZero(pad.getPaddingValue()))
    return false;
  PartIndex part;
  for (auto [low, high, interior, size] : llvm::zip_equal(pad.getLow(), pad.getHigh(), pad.getInterior(),
                                                         pad.getOperand().getType().getShape())) {
    if (low < 0 || high < 0)
      return false;
    part.add(low, size, interior + 1);
  }
  part.addTo(b, ref, pad.getOperand());
  return true;
}

// ref += dynamic_update_slice(0, u, i)  ->  ref[i +: size] += u
static bool boxToRef(emit::Builder &b, Value ref, Value bar) {
  auto update = bar.getDefiningOp<DynamicUpdateSliceOp>();
  if (!update || !isZero(update.getOperand()))
    return false;
  PartIndex part;
  RankedTensorType whole = emit::typeOf(bar);
  for (auto [d, size] : llvm::enumerate(update.getUpdate().getType().getShape())) {
    if (size == whole.getDimSize(d)) // a start is clamped to 0
      part.addAll();
    else
      part.addAt(update.getStartIndices()[d], size);
  }
  part.addTo(b, ref, update.getUpdate());
  return true;
}

// ref += scatter_add(0, i, u)  ->  ref[i, :] += u, for whole windows but for the indexed dimensions
static bool scatterToRef(emit::Builder &b, Value ref, Value bar) {
  auto scatter = bar.getDefiningOp<ScatterOp>();
  if (!scatter || scatter.getKind() != ScatterKind::Add || !isZero(scatter.getOperand()))
    return false;
  RankedTensorType whole = emit::typeOf(bar), updates = scatter.getUpdates().getType();
  Value vectors = scatter.getScatterIndices();
  RankedTensorType vectorsType = emit::typeOf(vectors);
  ArrayRef<int64_t> dropped = scatter.getInsertedWindowDims(), window = scatter.getUpdateWindowDims();
  SmallVector<int64_t> indexed(scatter.getScatterDimsToOperandDims()), gathered(vectorsType.getShape().drop_back());
  llvm::sort(indexed);
  if (!scatter.getOperandBatchingDims().empty() || ArrayRef<int64_t>(indexed) != dropped || dropped.empty() || gathered.empty())
    return false;
  // Where the ref's index puts the dimensions of the index arrays.
  bool areNeighbours = dropped.back() - dropped.front() + 1 == static_cast<int64_t>(dropped.size());
  int64_t place = areNeighbours ? dropped.front() : 0;
  for (auto [k, d] : llvm::enumerate(dimsExcept(whole.getRank(), dropped))) {
    int64_t expected = static_cast<int64_t>(k) < place ? k : k + gathered.size();
    if (window[k] != expected || updates.getDimSize(expected) != whole.getDimSize(d))
      return false;
  }
  PartIndex part;
  int64_t rank = vectorsType.getRank();
  for (int64_t d = 0; d < whole.getRank(); ++d) {
    auto component = llvm::find(scatter.getScatterDimsToOperandDims(), d);
    if (component == scatter.getScatterDimsToOperandDims().end()) {
      part.addAll();
      continue;
    }
    int64_t number = component - scatter.getScatterDimsToOperandDims().begin();
    SmallVector<int64_t> starts(rank, 0), limits(vectorsType.getShape()), strides(rank, 1);
    starts.back() = number;
    limits.back() = number + 1;
    Value positions = emit::reshape(b, SliceOp::create(b, vectors, starts, limits, strides), gathered);
    if (scatter.getMode() != IndexingMode::FillOrDrop) { // a ref's writes out of range are dropped
      Type scalar = RankedTensorType::get({}, vectorsType.getElementType());
      positions = ClampOp::create(b, emit::zeros(b, scalar), positions, makeSplat(b, b.getLoc(), scalar, whole.getDimSize(d) - 1));
    }
    part.addAt(positions, RefIndex::kDropped);
  }
  part.addTo(b, ref, scatter.getUpdates());
  return true;
}

void addToRef(OpBuilder &builder, Location loc, Value ref, Value bar) {
  emit::Builder b(loc, builder);
  for (auto add : {padToRef, boxToRef, scatterToRef})
    if (add(b, ref, bar))
      return;
  PartIndex().addTo(b, ref, bar);
}

} // namespace hjx
