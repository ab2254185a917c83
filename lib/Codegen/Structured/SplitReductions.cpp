// SPDX-License-Identifier: Apache-2.0
//
// Large reductions to few results, in two steps, so that threads can share the first:
//
//   loss = sum over (i, j) of x[i, j]             64x30 of x
//   part[p] = sum over (i', j) of x[4 p + i', j]  16 parts, parallel
//   loss = sum over p of part[p]
//
// The parts depend on the sizes alone: bits do not depend on the number of threads,
// and sums of many terms round better than one running total.
#include "lib/Codegen/Structured/Combiner.h"
#include "lib/Codegen/Structured/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

constexpr int64_t kMinReduced = 1 << 16;  // Terms per result that are worth two steps.
constexpr int64_t kFewResults = 32;       // More results keep the threads busy by themselves.
constexpr int64_t kMaxParts = 64;

/// The largest divisor of `size` that is at most kMaxParts.
int64_t chooseParts(int64_t size) {
  for (int64_t parts = std::min(size, kMaxParts); parts > 1; --parts)
    if (size % parts == 0)
      return parts;
  return 1;
}

/// What to split, and how.
struct Split {
  unsigned dim;
  int64_t parts, rest;
};

std::optional<Split> chooseSplit(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      linalg::isaContractionOpInterface(op) || op.hasIndexSemantics())
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  int64_t results = 1, reduced = 1;
  std::optional<Split> best;
  for (auto [dim, size, kind] : llvm::enumerate(sizes, kinds)) {
    if (kind != utils::IteratorType::reduction) {
      results *= size;
      continue;
    }
    reduced *= size;
    // The slowest axis with enough parts: each part is then one stretch of memory.
    int64_t parts = chooseParts(size);
    if (parts > 1 && (!best || (best->parts < kMaxParts / 4 && parts > best->parts)))
      best = Split{static_cast<unsigned>(dim), parts, size / parts};
  }
  if (results > kFewResults || reduced < kMinReduced)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (isa<RankedTensorType>(input->get().getType()) && !map.isProjectedPermutation())
      return std::nullopt;
  }
  for (unsigned output = 0; output < op->getNumResults(); ++output)
    if (!Combiner::match(op, output))
      return std::nullopt;
  return best;
}

/// `input` with axis `axis` cut into (parts, rest).
Value cutAxis(ImplicitLocOpBuilder &b, Value input, int64_t axis, const Split &split) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = split.rest;
  shape.insert(shape.begin() + axis, split.parts);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t at = i + (i > axis);
    groups.push_back(i == axis ? ReassociationIndices{at, at + 1} : ReassociationIndices{at});
  }
  return tensor::ExpandShapeOp::create(b, type.clone(shape), input, groups);
}

void splitReduction(linalg::GenericOp op, const Split &split) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned numDims = op.getNumLoops(); // The new dimension, the parts, comes last.
  AffineExpr part = b.getAffineDimExpr(numDims);

  SmallVector<Value> inputs, partials;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<AffineExpr> exprs(op.getMatchingIndexingMap(input).getResults());
    Value value = input->get();
    for (int64_t axis = exprs.size() - 1; axis >= 0; --axis)
      if (exprs[axis] == b.getAffineDimExpr(split.dim)) {
        value = cutAxis(b, value, axis, split);
        exprs.insert(exprs.begin() + axis, part);
      }
    inputs.push_back(value);
    maps.push_back(AffineMap::get(numDims + 1, 0, exprs, b.getContext()));
  }
  SmallVector<Combiner> combiners;
  for (auto [output, init] : llvm::enumerate(op.getDpsInits())) {
    combiners.push_back(*Combiner::match(op, output));
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), split.parts);
    Value identity = arith::ConstantOp::create(b, combiners.back().identity());
    Value empty = tensor::EmptyOp::create(b, shape, type.getElementType());
    partials.push_back(linalg::FillOp::create(b, identity, empty)->getResult(0));
    SmallVector<AffineExpr> exprs(
        op.getMatchingIndexingMap(op.getDpsInitOperand(output)).getResults());
    exprs.insert(exprs.begin(), part);
    maps.push_back(AffineMap::get(numDims + 1, 0, exprs, b.getContext()));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::parallel);
  auto first = linalg::GenericOp::create(b, TypeRange(ValueRange(partials)), inputs, partials,
                                         maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&first.getRegion(), mapping);

  // The second step: per result, parts first.
  for (auto [output, init] : llvm::enumerate(op.getDpsInits())) {
    int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
    AffineMap all = b.getMultiDimIdentityMap(rank + 1);
    SmallVector<utils::IteratorType> joinKinds(rank + 1, utils::IteratorType::parallel);
    joinKinds[0] = utils::IteratorType::reduction;
    const Combiner &combiner = combiners[output];
    auto joined = linalg::GenericOp::create(
        b, TypeRange{init.getType()}, ValueRange{first.getResult(output)}, ValueRange{init},
        ArrayRef<AffineMap>{all, all.dropResult(0)}, joinKinds,
        [&](OpBuilder &nested, Location loc, ValueRange args) {
          ImplicitLocOpBuilder body(loc, nested);
          linalg::YieldOp::create(body, combiner.emit(body, args[1], args[0]));
        });
    op.getResult(output).replaceAllUsesWith(joined.getResult(0));
  }
  op.erase();
}

struct SplitReductions : impl::SplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    SmallVector<std::pair<linalg::GenericOp, Split>> found;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (std::optional<Split> split = chooseSplit(op))
        found.emplace_back(op, *split);
    });
    for (auto &[op, split] : found)
      splitReduction(op, split);
  }
};

} // namespace
} // namespace hjx
