// SPDX-License-Identifier: Apache-2.0
#include "lib/Autodiff/Accumulate.h"

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

} // namespace hjx
