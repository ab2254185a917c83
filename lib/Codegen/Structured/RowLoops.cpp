// SPDX-License-Identifier: Apache-2.0
//
// Rows of structured ops as functions of one number: see the header.
#include "lib/Codegen/Structured/RowLoops.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace hjx;

static bool bodyAsksForIndex(const LoopNest &nest, unsigned loop) {
  WalkResult result = nest.op.getBody()->walk([&](linalg::IndexOp index) {
    bool asks = nest.loopOfDim[index.getDim()] == static_cast<int>(loop);
    return asks ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Makes loop `loop` two loops, the outer of size `outerSize`; the outer keeps the number.
static void splitLoop(LoopNest &nest, unsigned loop, int64_t outerSize) {
  int64_t innerSize = nest.loops[loop].size / outerSize;
  Loop inner = nest.loops[loop];
  inner.size = innerSize;
  nest.loops[loop].size = outerSize;
  nest.loops.push_back(inner);
  for (Access &access : nest.accesses) {
    access.strides.push_back(access.strides[loop]);
    access.strides[loop] *= innerSize;
  }
}

bool hjx::splitRows(LoopNest &nest, int64_t numRows) {
  SmallVector<unsigned> parallel;
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (!info.isReduction)
      parallel.push_back(loop);
  ArrayRef<int64_t> strides = nest.outputs().front().strides;
  llvm::sort(parallel, [&](unsigned a, unsigned b) {
    return std::make_pair(-strides[a], a) < std::make_pair(-strides[b], b);
  });
  int64_t rows = 1;
  int digit = 0;
  for (unsigned loop : parallel) {
    if (rows == numRows)
      break;
    int64_t wanted = numRows / rows, size = nest.loops[loop].size;
    if (size > wanted) {
      if (size % wanted != 0 || bodyAsksForIndex(nest, loop))
        return false;
      splitLoop(nest, loop, wanted);
      size = wanted;
    }
    if (wanted % size != 0)
      return false;
    nest.loops[loop].row = digit++;
    rows *= size;
  }
  return rows == numRows;
}

FailureOr<SmallVector<LoopNest>> hjx::rowNests(ArrayRef<linalg::GenericOp> ops, int64_t numRows) {
  SmallVector<LoopNest> nests;
  for (linalg::GenericOp op : ops) {
    FailureOr<LoopNest> nest = LoopNest::get(op);
    if (failed(nest))
      return op.emitOpError("in a group: expected linear addresses");
    nest->collapseAll();
    if (!splitRows(*nest, numRows))
      return op.emitOpError("in a group: expected ") << numRows << " rows";
    nests.push_back(std::move(*nest));
  }
  return nests;
}

RowAddress hjx::rowAddress(const LoopNest &nest, const Access &access) {
  SmallVector<std::pair<int64_t, int64_t>> digits;
  for (auto [loop, info] : llvm::enumerate(nest.loops)) {
    if (info.row < 0)
      continue;
    digits.resize(std::max<size_t>(digits.size(), info.row + 1));
    digits[info.row] = {info.size, access.strides[loop]};
  }
  RowAddress address;
  for (auto [size, stride] : digits) {
    bool merges = !address.digits.empty() && address.digits.back().second == size * stride;
    if (merges)
      address.digits.back() = {address.digits.back().first * size, stride};
    else
      address.digits.push_back({size, stride});
  }
  return address;
}

Stretch hjx::rowStretch(const LoopNest &nest, const Access &access) {
  Stretch stretch{access.offset, access.offset};
  for (auto [info, stride] : llvm::zip(nest.loops, access.strides)) {
    if (info.row >= 0)
      continue;
    (stride < 0 ? stretch.first : stretch.last) += stride * (info.size - 1);
  }
  return stretch;
}

bool hjx::rowsAreDisjoint(const RowAddress &address, Stretch stretch) {
  int64_t width = stretch.last - stretch.first + 1;
  for (auto [size, stride] : llvm::reverse(address.digits)) {
    if (stride < width)
      return false;
    width += (size - 1) * stride;
  }
  return true;
}

Value hjx::rootBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

bool hjx::overlapsNoOther(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return root.getDefiningOp<memref::AllocOp>() || root.getDefiningOp<memref::GetGlobalOp>();
}

Value hjx::withoutReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether all accesses of `nests` to `root` are to the same stretch in each row, and no two rows
/// meet.
static bool rowsAgreeOn(Value root, ArrayRef<LoopNest> nests) {
  std::optional<RowAddress> address;
  Value buffer;
  Stretch all{INT64_MAX, INT64_MIN};
  for (const LoopNest &nest : nests)
    for (const Access &access : nest.accesses) {
      if (access.byValue || rootBuffer(access.operand) != root)
        continue;
      RowAddress here = rowAddress(nest, access);
      Value hereBuffer = withoutReshapes(access.operand);
      if (address && (*address != here || buffer != hereBuffer))
        return false;
      address = here;
      buffer = hereBuffer;
      Stretch stretch = rowStretch(nest, access);
      all = {std::min(all.first, stretch.first), std::max(all.last, stretch.last)};
    }
  return rowsAreDisjoint(*address, all);
}

bool hjx::rowsAgree(ArrayRef<LoopNest> nests) {
  llvm::SmallDenseSet<Value> written, gathered;
  for (const LoopNest &nest : nests) {
    for (const Access &access : nest.outputs())
      written.insert(rootBuffer(access.operand));
    nest.op.getBody()->walk(
        [&](memref::LoadOp load) { gathered.insert(rootBuffer(load.getMemRef())); });
  }
  return llvm::all_of(written, [&](Value root) {
    return !gathered.contains(root) && rowsAgreeOn(root, nests);
  });
}
