// SPDX-License-Identifier: Apache-2.0
//
// Updates of one element of each row become a comparison for each element: see Passes.td.
//
//   %r = scf.for %i = 0 to 1024 iter(%p) {             %r = generic ins(%p, %label, %u) {
//     %j = clamp(%label[%i])                             %j = clamp(%label)
//     %p[%i, %j] += %u[%i]                    ->         yield index(1) == %j ? %p + %u : %p
//   }                                                  }
#include "lib/Codegen/Gpu/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_SELECTUPDATES
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Loops over the rows of a tensor, each of which updates one element of its own.
struct RowUpdates {
  Value operand;                                    // What is updated.
  BlockArgument row;                                // It, in the innermost loop.
  tensor::InsertOp insert;                          // There.
  llvm::SmallMapVector<Value, unsigned, 4> dimOfIv; // The dimension that a loop walks along.
  unsigned updatedDim = 0;                          // That along which data says where the element is.
};

bool isNormalized(scf::ForOp loop) {
  return loop.getInitArgs().size() == 1 && loop.getStaticTripCount() && matchPattern(loop.getLowerBound(), m_Zero()) &&
         matchPattern(loop.getStep(), m_One());
}

/// The loop that is all of the body of `loop`, and carries on what it carries.
scf::ForOp onlyLoopOf(scf::ForOp loop) {
  Operation &first = loop.getBody()->front();
  auto inner = dyn_cast<scf::ForOp>(first);
  if (!inner || first.getNextNode() != loop.getBody()->getTerminator() || !isNormalized(inner) ||
      inner.getInitArgs()[0] != loop.getRegionIterArg(0) || loop.getYieldedValues()[0] != inner.getResult(0))
    return nullptr;
  return inner;
}

/// Whether `op` reads an element that each row has for itself.
bool readsOfRow(tensor::ExtractOp op, const RowUpdates &updates) {
  return llvm::all_of(op.getIndices(), [&](Value index) {
    return updates.dimOfIv.contains(index) || matchPattern(index, m_Constant());
  });
}

std::optional<RowUpdates> matchUpdates(scf::ForOp outer) {
  RowUpdates updates;
  if (!outer->hasAttr(kNestAttr) || !isNormalized(outer))
    return std::nullopt;
  llvm::SmallDenseMap<Value, int64_t> sizes;
  scf::ForOp loop = outer;
  for (scf::ForOp inner = outer; inner; inner = onlyLoopOf(inner)) {
    loop = inner;
    sizes[loop.getInductionVar()] = loop.getStaticTripCount()->getSExtValue();
  }
  updates.operand = outer.getInitArgs()[0];
  updates.row = loop.getRegionIterArg(0);
  updates.insert = loop.getYieldedValues()[0].getDefiningOp<tensor::InsertOp>();
  if (!updates.insert || updates.insert.getDest() != updates.row)
    return std::nullopt;

  auto type = cast<RankedTensorType>(updates.operand.getType());
  unsigned numUpdated = 0;
  for (auto [dim, index] : llvm::enumerate(updates.insert.getIndices())) {
    auto size = sizes.find(index);
    if (size != sizes.end() && size->second == type.getDimSize(dim) && updates.dimOfIv.try_emplace(index, dim).second)
      continue;
    if (type.getDimSize(dim) == 1 && matchPattern(index, m_Zero()))
      continue;
    updates.updatedDim = dim;
    ++numUpdated;
  }
  if (numUpdated != 1 || updates.dimOfIv.size() != sizes.size())
    return std::nullopt;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isPure(&op) || op.getNumRegions() > 0)
      return std::nullopt;
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    bool isOld = extract && extract.getTensor() == updates.row;
    if (isOld ? extract.getIndices() != updates.insert.getIndices() : extract && !readsOfRow(extract, updates))
      return std::nullopt;
    if (!isOld && &op != updates.insert && llvm::is_contained(op.getOperands(), updates.row))
      return std::nullopt;
  }
  return updates;
}

/// Whether the comparisons cost no memory: an elementwise op makes what is updated, and takes them in.
bool isMadeElementwise(Value operand) {
  auto producer = operand.getDefiningOp<linalg::GenericOp>();
  return producer && operand.hasOneUse() && producer.getNumReductionLoops() == 0;
}

void selectUpdates(scf::ForOp loop, RowUpdates updates) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto type = cast<RankedTensorType>(updates.operand.getType());
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs = {updates.operand};
  SmallVector<AffineMap> maps = {all};
  SmallVector<Operation *> steps;
  llvm::SmallDenseMap<Operation *, unsigned> inputOf;
  for (Operation &op : updates.row.getOwner()->without_terminator()) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    if (!extract) {
      if (&op != updates.insert)
        steps.push_back(&op);
      continue;
    }
    if (extract.getTensor() == updates.row) {
      inputOf[extract] = 0;
      continue;
    }
    SmallVector<AffineExpr> exprs = llvm::map_to_vector(extract.getIndices(), [&](Value index) {
      auto dim = updates.dimOfIv.find(index);
      return dim != updates.dimOfIv.end() ? b.getAffineDimExpr(dim->second)
                                          : b.getAffineConstantExpr(*getConstantIntValue(index));
    });
    inputOf[extract] = inputs.size();
    inputs.push_back(extract.getTensor());
    maps.push_back(AffineMap::get(type.getRank(), 0, exprs, b.getContext()));
  }
  maps.push_back(all);
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  auto selected = linalg::GenericOp::create(
      b, TypeRange{type}, inputs, ValueRange{empty}, maps, kinds, [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, nested);
        IRMapping mapping;
        for (auto [iv, dim] : updates.dimOfIv)
          mapping.map(iv, linalg::IndexOp::create(body, dim));
        for (auto [extract, input] : inputOf)
          mapping.map(extract->getResult(0), args[input]);
        for (Operation *step : steps)
          body.clone(*step, mapping);
        Value here = linalg::IndexOp::create(body, updates.updatedDim);
        Value there = mapping.lookupOrDefault(updates.insert.getIndices()[updates.updatedDim]);
        Value isThere = arith::CmpIOp::create(body, arith::CmpIPredicate::eq, here, there);
        Value update = mapping.lookupOrDefault(updates.insert.getScalar());
        linalg::YieldOp::create(body, arith::SelectOp::create(body, isThere, update, args[0]).getResult());
      });
  loop.getResult(0).replaceAllUsesWith(selected.getResult(0));
  loop.erase();
}

struct SelectUpdates : impl::SelectUpdatesBase<SelectUpdates> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, RowUpdates>> found;
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<RowUpdates> updates = matchUpdates(loop);
      if (updates && isMadeElementwise(updates->operand))
        found.emplace_back(loop, *updates);
    });
    for (auto &[loop, updates] : found)
      selectUpdates(loop, updates);
  }
};

} // namespace
} // namespace hjx
