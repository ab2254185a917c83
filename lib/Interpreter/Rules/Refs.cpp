// SPDX-License-Identifier: Apache-2.0
//
// Refs: an access visits the elements that its index names, one after the other,
// in the memory itself. What the index means is said here once more, without
// lib/Refs: this is what discharge is compared with.
#include "lib/Interpreter/Evaluate.h"

using namespace mlir;

namespace hjx {

namespace {

constexpr int64_t kDropped = -1;

/// The elements that one access names.
class Part {
public:
  /// `positions`: the values of the index's operands.
  Part(const Cell &cell, ir::RefIndex index, ArrayRef<const HostArray *> positions)
      : cell(cell), index(index), shape(cell.type.getShape()) {
    int64_t first = -1, last = -1, numDropped = 0;
    for (int64_t d = 0, rank = index.starts.size(); d < rank; ++d) {
      bool isDynamic = index.starts[d] == ir::RefIndex::kDynamic;
      position.push_back(isDynamic ? positions.front() : nullptr);
      positions = positions.drop_front(isDynamic);
      if (isDynamic && position.back()->rank() > 0)
        gatheredRank = position.back()->rank();
      if (index.sizes[d] != ir::RefIndex::kDropped)
        continue;
      if (numDropped++ == 0)
        first = d;
      last = d;
    }
    // The dimensions of integer arrays stand where neighbours were dropped, else in front.
    bool areNeighbours = last - first + 1 == numDropped;
    gatheredAt = areNeighbours && first > 0 ? first : 0;
  }

  /// Calls visit(place in memory, element of the part), in row-major order of the part, of type
  /// `type`. Integer arrays out of range: the nearest element, or with `isWrite` kDropped.
  void forEach(RankedTensorType type, bool isWrite, llvm::function_ref<void(int64_t, int64_t)> visit) const {
    int64_t element = 0;
    forEachIndex(type.getShape(), [&](ArrayRef<int64_t> at) { visit(placeOf(at, isWrite), element++); });
  }

private:
  int64_t placeOf(ArrayRef<int64_t> at, bool isWrite) const {
    if (index.isWhole()) {
      int64_t place = 0;
      for (auto [i, size] : llvm::zip_equal(at, shape))
        place = place * size + i;
      return cell.first + place;
    }
    SmallVector<int64_t> kept(at.take_front(gatheredAt));
    llvm::append_range(kept, at.drop_front(gatheredAt + gatheredRank));
    ArrayRef<int64_t> gathered = at.slice(gatheredAt, gatheredRank);
    int64_t place = 0, nextKept = 0;
    for (auto [d, size] : llvm::enumerate(shape)) {
      int64_t i = index.starts[d];
      if (position[d]) {
        bool isArray = position[d]->rank() > 0;
        i = position[d]->getIndex(isArray ? position[d]->offsetOf(gathered) : 0);
        bool isSlice = index.sizes[d] != ir::RefIndex::kDropped;
        int64_t last = isSlice ? size - index.sizes[d] : size - 1;
        // A scalar among integer arrays is one of them.
        if (isWrite && !isSlice && gatheredRank > 0 && (i < 0 || i > last))
          return kDropped;
        i = std::clamp<int64_t>(i, 0, last);
      }
      if (index.sizes[d] == ir::RefIndex::kAll)
        i = kept[nextKept++];
      else if (index.sizes[d] != ir::RefIndex::kDropped)
        i += kept[nextKept++] * index.strides[d];
      place = place * size + i;
    }
    return cell.first + place;
  }

  const Cell &cell;
  ir::RefIndex index;
  ArrayRef<int64_t> shape;
  SmallVector<const HostArray *> position; // per dimension, of a start at run time
  int64_t gatheredRank = 0, gatheredAt = 0;
};

template <typename Op>
Part partOf(Evaluation &e, Op op) {
  return Part(e.cell(0), op.getIndex(), ArrayRef(e.operands).slice(1, op.getIndices().size()));
}

HostArray read(const Cell &cell, const Part &part, RankedTensorType type) {
  HostArray result(type);
  part.forEach(type, /*isWrite=*/false, [&](int64_t place, int64_t i) { result.setElement(i, *cell.memory, place); });
  return result;
}

LogicalResult evaluateNew(Evaluation &e) {
  e.results.front() = e.operand(0);
  return success();
}

LogicalResult evaluateGet(Evaluation &e) {
  e.results.front() = read(e.cell(0), partOf(e, cast<ir::RefGetOp>(e.op)), e.results.front().type());
  return success();
}

LogicalResult evaluateSwap(Evaluation &e) {
  Part part = partOf(e, cast<ir::RefSwapOp>(e.op));
  const HostArray &value = *e.operands.back();
  HostArray &memory = *e.cell(0).memory;
  e.results.front() = read(e.cell(0), part, value.type());
  part.forEach(value.type(), /*isWrite=*/true, [&](int64_t place, int64_t i) {
    if (place != kDropped)
      memory.setElement(place, value, i);
  });
  return success();
}

LogicalResult evaluateAdd(Evaluation &e) {
  const HostArray &value = *e.operands.back();
  HostArray &memory = *e.cell(0).memory;
  partOf(e, cast<ir::RefAddOp>(e.op)).forEach(value.type(), /*isWrite=*/true, [&](int64_t place, int64_t i) {
    if (place == kDropped)
      return;
    if (value.isFloat())
      memory.setFloat(place, memory.getFloat(place) + value.getFloat(i));
    else
      memory.setInteger(place, memory.getInteger(place) + value.getInteger(i));
  });
  return success();
}

LogicalResult evaluateFreeze(Evaluation &e) {
  e.results.front() = *e.cell(0).memory;
  return success();
}

} // namespace

void populateRefsEvaluateRules(EvaluateRules &rules) {
  rules.add<ir::RefNewOp>(evaluateNew);
  rules.add<ir::RefEmptyOp>([](Evaluation &) { return success(); }); // zeros are as good as anything
  rules.add<ir::RefGetOp>(evaluateGet);
  rules.add<ir::RefSwapOp>(evaluateSwap);
  rules.add<ir::RefAddOp>(evaluateAdd);
  rules.add<ir::RefFreezeOp>(evaluateFreeze);
}

} // namespace hjx
